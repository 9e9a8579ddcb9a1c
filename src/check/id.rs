//! Ids by their hash: what a rule remembers of an id that may be long.

use crate::json::Raw;
use std::hash::{DefaultHasher, Hash, Hasher};

/// An id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Id(u64);

impl Id {
    /// The id in a string; all that is no string is one id of its own.
    pub(super) fn of(value: Option<Raw<'_>>) -> Id {
        Id::of_text(value.and_then(Raw::text).as_deref())
    }

    /// The id that some bytes are.
    pub(super) fn of_text(text: Option<&[u8]>) -> Id {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Id(hasher.finish())
    }
}

/// The beginning of an id, for a message.
pub(super) fn shown(value: Option<Raw<'_>>) -> String {
    value.and_then(|id| id.display_start(60)).unwrap_or_else(|| "none".to_owned())
}
