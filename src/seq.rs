//! Sequence numbers.

use std::fmt;

/// The largest integer that every JavaScript number below it keeps exact: 2^53 - 1.
pub const MAX_SAFE: u64 = (1 << 53) - 1;

/// The sequence number of an event: its index in the log, dense from 0 (format v0, section 1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(pub u64);

impl Seq {
    /// The sequence number that follows this one.
    #[must_use]
    pub fn next(self) -> Seq {
        Seq(self.0.saturating_add(1))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
