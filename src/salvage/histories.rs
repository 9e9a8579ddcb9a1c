//! Histories: the ways in which records continue one another from the first event on. With one seq
//! twice there are two, and none is chosen silently.

use super::record::{Fate, Record};
use super::scan::Scan;
use crate::format::kind::Kind;
use crate::limits::HISTORIES;
use std::collections::BTreeMap;

/// Which of several histories is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The one that was written first.
    First,
    /// The one that was written last.
    Last,
    /// The one of that name.
    Named(String),
}

/// Records that continue one another, and where they leave another history.
#[derive(Clone, Debug, Default)]
struct History {
    /// The history it leaves, and the seq at which it does.
    leaves: Option<(usize, u64)>,
    /// Its own records by number, ascending in seq and in place.
    own: Vec<usize>,
    first: u64,
    next: u64,
}

/// All histories of a log.
#[derive(Clone, Debug, Default)]
pub struct Histories {
    list: Vec<History>,
    doubled: Vec<usize>,
}

/// One of several histories, from where it leaves the others.
#[derive(Clone, Debug)]
pub struct Branch {
    /// Its name: `A` for the one written first.
    pub name: String,
    /// The first seq that is its own.
    pub from: u64,
    /// Its last seq.
    pub upto: u64,
    /// How many records are its own.
    pub records: u64,
    /// The time of the first and the last of them, epoch milliseconds.
    pub times: (i64, i64),
    /// The place in the text of the first of them.
    pub text: u64,
    /// How many of its own records there are of each kind.
    pub kinds: Vec<(Kind, u64)>,
    /// Whether its own records are only closers and end-seeds, as a resume writes them.
    pub only_closers: bool,
}

impl Histories {
    /// Follows the records in file order.
    #[must_use]
    pub fn of(records: &[Record]) -> Histories {
        let mut all = Histories::default();
        let mut current = None;
        for (n, record) in records.iter().enumerate() {
            current = all.follow(records, n, record, current).or(current);
        }
        all
    }

    /// Gives a record its history; which one it was.
    fn follow(
        &mut self,
        records: &[Record],
        n: usize,
        record: &Record,
        current: Option<usize>,
    ) -> Option<usize> {
        let latest_first = || current.into_iter().chain((0..self.list.len()).rev());
        let same = |h: usize| self.at(records, h, record.seq).is_some_and(|m| is_same(&records[m], record));
        if latest_first().any(same) {
            self.doubled.push(n);
            return None;
        }
        if let Some(h) = latest_first().find(|h| self.list[*h].next == record.seq) {
            self.extend(h, n, record);
            return Some(h);
        }
        if self.list.len() >= HISTORIES {
            return None;
        }
        let contains = |h: &usize| (self.list[*h].first..self.list[*h].next).contains(&record.seq);
        // A packed row cannot be left in its middle: what stands there is apart.
        let parent = latest_first().find(contains).filter(|h| self.at(records, *h, record.seq).is_some());
        let leaves = parent.map(|parent| (parent, record.seq));
        self.list.push(History { leaves, own: Vec::new(), first: record.seq, next: record.seq });
        let h = self.list.len() - 1;
        self.extend(h, n, record);
        Some(h)
    }

    fn extend(&mut self, h: usize, n: usize, record: &Record) {
        self.list[h].own.push(n);
        self.list[h].next = record.next();
    }

    /// The own record of a history that begins at a seq.
    fn at(&self, records: &[Record], h: usize, seq: u64) -> Option<usize> {
        let own = &self.list[h].own;
        own.binary_search_by_key(&seq, |n| records[*n].seq).ok().map(|i| own[i])
    }

    /// Whether a history begins at the first event, by way of those that it leaves.
    fn is_rooted(&self, h: usize) -> bool {
        let mut h = h;
        // A history leaves one that was there before it, so this ends.
        while let Some((parent, _)) = self.list[h].leaves {
            h = parent;
        }
        self.list[h].first == 0
    }

    /// The histories that can be kept, the one written first in front.
    fn rooted(&self) -> Vec<usize> {
        (0..self.list.len()).filter(|h| self.is_rooted(*h)).collect()
    }

    /// The histories side by side, each from where another leaves it or it leaves another; none when
    /// there is but one.
    #[must_use]
    pub fn branches(&self, records: &[Record]) -> Vec<Branch> {
        let rooted = self.rooted();
        if rooted.len() < 2 {
            return Vec::new();
        }
        let branch = |(n, h): (usize, &usize)| {
            let history = &self.list[*h];
            let left = self.list.iter().filter_map(|other| other.leaves.filter(|l| l.0 == *h)).map(|l| l.1);
            let from = match history.leaves {
                Some((_, seq)) => seq,
                None => left.min().unwrap_or(history.first),
            };
            let own = history.own.iter().map(|n| &records[*n]).filter(|record| record.seq >= from);
            let mut kinds: BTreeMap<usize, (Kind, u64)> = BTreeMap::new();
            let mut out = Branch {
                name: name(n),
                from,
                upto: history.next.saturating_sub(1),
                records: 0,
                times: (0, 0),
                text: 0,
                kinds: Vec::new(),
                only_closers: true,
            };
            for record in own {
                if out.records == 0 {
                    out.times.0 = record.time;
                    out.text = record.text;
                }
                out.records += 1;
                out.times.1 = record.time;
                out.only_closers &= record.closer;
                kinds.entry(record.kind as usize).or_insert((record.kind, 0)).1 += 1;
            }
            out.kinds = kinds.into_values().collect();
            out
        };
        rooted.iter().enumerate().map(branch).collect()
    }

    /// Chooses a history and gives every record its fate; `None` when the choice is open or names
    /// none. The records that are kept, in order.
    #[must_use]
    pub fn choose(&self, scan: &mut Scan, keep: Option<&Keep>) -> Option<Vec<usize>> {
        let rooted = self.rooted();
        let chosen = match (rooted.as_slice(), keep) {
            ([], _) => None,
            ([only], _) => Some(*only),
            ([first, ..], Some(Keep::First)) => Some(*first),
            (_, Some(Keep::Last)) => rooted.iter().copied().max_by_key(|h| self.list[*h].own.last().copied()),
            (_, Some(Keep::Named(wanted))) => {
                let found = (0..rooted.len()).find(|n| name(*n).eq_ignore_ascii_case(wanted))?;
                Some(rooted[found])
            }
            (_, None) => return None,
        };
        for h in &rooted {
            for n in &self.list[*h].own {
                scan.records[*n].fate = Fate::OtherHistory;
            }
        }
        for n in &self.doubled {
            scan.records[*n].fate = Fate::Doubled;
        }
        let kept = chosen.map_or_else(Vec::new, |h| self.chain(&scan.records, h));
        for n in &kept {
            scan.records[*n].fate = Fate::Kept;
        }
        Some(kept)
    }

    /// The records of a history from the first event on.
    fn chain(&self, records: &[Record], h: usize) -> Vec<usize> {
        let mut parts = Vec::new();
        let (mut h, mut before) = (h, u64::MAX);
        loop {
            let own = &self.list[h].own;
            let upto = own.partition_point(|n| records[*n].seq < before);
            parts.push(&own[..upto]);
            let Some((parent, seq)) = self.list[h].leaves else { break };
            before = before.min(seq);
            h = parent;
        }
        parts.into_iter().rev().flatten().copied().collect()
    }
}

fn is_same(a: &Record, b: &Record) -> bool {
    (a.hash, a.bytes, a.seq, a.members) == (b.hash, b.bytes, b.seq, b.members)
}

/// `A` to `Z`, then numbers.
fn name(n: usize) -> String {
    match u8::try_from(n) {
        Ok(n @ 0..26) => char::from(b'A' + n).to_string(),
        _ => (n + 1).to_string(),
    }
}
