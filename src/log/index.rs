//! The index: one small entry for each stored record, no payload.

use crate::format::event::Location;
use crate::format::kind::Kind;
use crate::position::TextOffset;
use crate::seq::Seq;

/// What is marked about a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// An old shape, to be upgraded when it is read.
    pub const LEGACY: Flags = Flags(1);
    /// A packed chunk row.
    pub const PACKED: Flags = Flags(2);
    /// A chunk that ends an attempt.
    pub const ENDS_ATTEMPT: Flags = Flags(4);
    /// A surface event that replaces others.
    pub const REPLACES: Flags = Flags(8);
    /// A tagged end-seed.
    pub const INHERITED_SEED: Flags = Flags(16);
    /// It stands in the frame that a crash cut short.
    pub const TORN: Flags = Flags(32);
    /// A record over the limit: its place is kept, it is not read.
    pub const TOO_LONG: Flags = Flags(64);

    /// Both sets together.
    #[must_use]
    pub fn with(self, other: Flags, set: bool) -> Flags {
        if set { Flags(self.0 | other.0) } else { self }
    }

    /// Whether all of `other` are set.
    #[must_use]
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One stored record; 40 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Where its line starts.
    pub text: TextOffset,
    /// Its seq; the first member's of a packed row.
    pub seq: Seq,
    /// Its time, epoch milliseconds; the first member's of a packed row.
    pub time: i64,
    turn: u32,
    step: u32,
    /// Its type, after upgrade.
    pub kind: Kind,
    /// What is marked about it.
    pub flags: Flags,
}

/// Stands for "outside of one" in the compact form.
const NONE: u32 = u32::MAX;

impl Entry {
    /// An entry.
    #[must_use]
    pub fn new(text: TextOffset, seq: Seq, time: i64, location: Location, kind: Kind, flags: Flags) -> Entry {
        let turn = location.turn.unwrap_or(NONE);
        let step = location.step.unwrap_or(NONE);
        Entry { text, seq, time, turn, step, kind, flags }
    }

    /// The turn and step it stands in.
    #[must_use]
    pub fn location(&self) -> Location {
        let some = |n| (n != NONE).then_some(n);
        Location { turn: some(self.turn), step: some(self.step) }
    }
}

/// The records of a log in order, their seqs without holes.
#[derive(Clone, Debug, Default)]
pub struct Index {
    entries: Vec<Entry>,
    first: u64,
    next: u64,
}

impl Index {
    /// Begins the log at another seq than 0: what stood before it is gone.
    pub fn start_at(&mut self, seq: u64) {
        self.first = seq;
        self.next = seq;
    }

    /// Adds a record that stands for `members` events.
    pub fn push(&mut self, entry: Entry, members: u64) {
        self.entries.push(entry);
        self.next += members;
    }

    /// Takes the index back to an earlier state.
    pub fn truncate(&mut self, records: usize, next: u64) {
        self.entries.truncate(records);
        self.next = next;
    }

    /// The records.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The seq of the first event; 0 unless what stood before it is gone.
    #[must_use]
    pub fn first_seq(&self) -> Seq {
        Seq(self.first)
    }

    /// The seq that the next event would have.
    #[must_use]
    pub fn next_seq(&self) -> Seq {
        Seq(self.next)
    }

    /// How many events there are.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.next - self.first
    }

    /// The number of the record that holds an event.
    #[must_use]
    pub fn record_of(&self, seq: Seq) -> Option<usize> {
        if seq.0 < self.first || seq.0 >= self.next {
            return None;
        }
        Some(self.entries.partition_point(|entry| entry.seq <= seq) - 1)
    }

    /// How many events a record stands for.
    #[must_use]
    pub fn members(&self, record: usize) -> u64 {
        let start = self.entries[record].seq.0;
        self.entries.get(record + 1).map_or(self.next, |entry| entry.seq.0) - start
    }

    /// The last record of a kind at or before `seq`.
    #[must_use]
    pub fn last_of(&self, kind: Kind, upto: Seq) -> Option<&Entry> {
        let after = self.entries.partition_point(|entry| entry.seq <= upto);
        self.entries[..after].iter().rev().find(|entry| entry.kind == kind)
    }
}
