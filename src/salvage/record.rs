//! What a salvaged log is made of: whole records, and runs of bytes that give none.

use crate::format::kind::Kind;

/// What becomes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stands in the new session.
    Kept,
    /// It stands there already, byte for byte the same.
    Doubled,
    /// It belongs to another history than the one chosen.
    OtherHistory,
    /// It does not continue any history that begins at the first event.
    Apart,
    /// The harness would refuse the session with it, or it stands behind such a record.
    CannotStand,
}

impl Fate {
    /// The stable name used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Fate::Kept => "kept",
            Fate::Doubled => "doubled",
            Fate::OtherHistory => "other-history",
            Fate::Apart => "apart",
            Fate::CannotStand => "cannot-stand",
        }
    }
}

/// One whole record; about 64 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Where its text starts, in the text of all that decodes.
    pub text: u64,
    /// The bytes of its text.
    pub bytes: u64,
    /// The bytes it accounts for: its text, and the newline when that is its own.
    pub span: u64,
    /// Its seq; the first member's of a packed row.
    pub seq: u64,
    /// How many events it stands for.
    pub members: u64,
    /// Its time, epoch milliseconds.
    pub time: i64,
    /// A hash of its text, to tell a doubled record from another one.
    pub hash: u64,
    /// Its type.
    pub kind: Kind,
    /// Whether it is a closer of an interrupted turn or an end-seed: what a second writer adds first.
    pub closer: bool,
    /// Whether a newline inside cut it in two.
    pub joined: bool,
    /// What becomes of it.
    pub fate: Fate,
}

impl Record {
    /// The seq that the next record would have.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.seq.saturating_add(self.members)
    }
}

/// Why bytes give no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A zstd frame that does not decode, or whose checksum differs or is missing behind damage.
    Undecodable,
    /// A frame that ends early.
    Torn,
    /// Zero bytes.
    Zeros,
    /// Bytes that are no frame.
    Foreign,
    /// A line that is no record, or the part of one.
    NoRecord,
    /// A blank line.
    Blank,
    /// A record without a seq, so without a place.
    NoSeq,
    /// A record longer than the limit in force.
    TooLong,
    /// A further header line.
    SecondHeader,
}

impl Why {
    /// The stable name used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Why::Undecodable => "undecodable-frame",
            Why::Torn => "torn-frame",
            Why::Zeros => "zeros",
            Why::Foreign => "foreign-bytes",
            Why::NoRecord => "no-record",
            Why::Blank => "blank",
            Why::NoSeq => "no-seq",
            Why::TooLong => "too-long",
            Why::SecondHeader => "second-header",
        }
    }
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// At this byte of the file, as stored.
    File(u64),
    /// At this byte of the decoded text.
    Text(u64),
}

/// Bytes that give no record.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Where they stand.
    pub at: At,
    /// How many they are: stored bytes, or bytes of text.
    pub bytes: u64,
    /// The seq that was due there.
    pub seq: Option<u64>,
    /// Why they give none.
    pub why: Why,
}
