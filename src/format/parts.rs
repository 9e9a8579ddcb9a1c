//! The envelope of a record: its members as stored, found in one pass, and what is wrong with them.

use super::kind::Kind;
use super::packed::Tally;
use crate::fault::Code;
use crate::json::Raw;

/// The members of a record's envelope as stored; of duplicate keys the last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts<'a> {
    /// `type`
    pub type_name: Option<Raw<'a>>,
    /// `seq`
    pub seq: Option<Raw<'a>>,
    /// `time`
    pub time: Option<Raw<'a>>,
    /// `data`
    pub data: Option<Raw<'a>>,
    /// `ignorable`
    pub ignorable: Option<Raw<'a>>,
    /// `surfaceOp`
    pub op: Option<Raw<'a>>,
    /// `sourceEventSeqs`
    pub sources: Option<Raw<'a>>,
    /// The value of a key that no record has.
    pub foreign_key: Option<Raw<'a>>,
    /// `seq0` of a packed row.
    pub seq0: Option<Raw<'a>>,
    /// `time0` of a packed row.
    pub time0: Option<Raw<'a>>,
    /// What stands in the data of a packed row, when one pass could tell.
    pub tally: Option<Tally>,
}

impl Parts<'_> {
    /// The type as one of the known kinds.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self.type_name.and_then(Raw::text) {
            Some(name) => Kind::of(&name),
            None => Kind::Unknown,
        }
    }

    /// Whether a key stands there that no event has.
    #[must_use]
    pub fn has_foreign_key(&self) -> bool {
        self.foreign_key.is_some() || self.seq0.is_some() || self.time0.is_some()
    }

    /// Whether the record is marked ignorable.
    #[must_use]
    pub fn is_ignorable(&self) -> bool {
        self.ignorable.is_some_and(Raw::is_true)
    }
}

/// A fault that one record shows without regard to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowFault {
    /// Which.
    pub code: Code,
    /// What is wrong, lower case, without place.
    pub message: String,
}

impl RowFault {
    /// A fault with its message.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> RowFault {
        RowFault { code, message: message.into() }
    }
}
