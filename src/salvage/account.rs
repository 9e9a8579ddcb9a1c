//! What was read, and what became of it; the parts add up.

use super::record::{Fate, Record};
use super::scan::Scan;

/// Records and bytes. A run of bytes that gives no record counts as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// How many records, the header among them.
    pub records: u64,
    /// How many bytes: of text where it decodes, as stored where it does not.
    pub bytes: u64,
}

impl Count {
    fn add(&mut self, bytes: u64) {
        self.records += 1;
        self.bytes += bytes;
    }
}

/// The account of a salvage: `read` is the sum of the others, counted on its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// All of it.
    pub read: Count,
    /// What stands in the new session.
    pub kept: Count,
    /// Whole records that do not.
    pub aside: Count,
    /// Runs that give no record.
    pub lost: Count,
    /// How many events the new session holds.
    pub events: u64,
    /// Seqs of which no record was found, first and last, below the last one found.
    pub missing: Vec<(u64, u64)>,
}

impl Account {
    pub(super) fn of(scan: &Scan, stored_header: bool) -> Account {
        let mut account = Account::default();
        if let Some((_, _, span)) = scan.header {
            match stored_header {
                true => account.kept.add(span),
                false => account.aside.add(span),
            }
        }
        for record in &scan.records {
            match record.fate {
                Fate::Kept => {
                    account.kept.add(record.span);
                    account.events += record.members;
                }
                _ => account.aside.add(record.span),
            }
        }
        for run in &scan.runs {
            account.lost.add(run.bytes);
        }
        let headers = u64::from(scan.header.is_some());
        account.read.records = (scan.records.len() + scan.runs.len()) as u64 + headers;
        account.read.bytes = scan.read_bytes;
        account.missing = missing(&scan.records);
        account
    }

    /// Whether the parts are the whole.
    #[must_use]
    pub fn adds_up(&self) -> bool {
        let sum = |part: fn(&Count) -> u64| part(&self.kept) + part(&self.aside) + part(&self.lost);
        self.read == Count { records: sum(|count| count.records), bytes: sum(|count| count.bytes) }
    }
}

/// The holes between the seqs of all records.
fn missing(records: &[Record]) -> Vec<(u64, u64)> {
    let mut spans: Vec<(u64, u64)> = records.iter().map(|record| (record.seq, record.next())).collect();
    spans.sort_unstable();
    let mut holes = Vec::new();
    let mut next = 0;
    for (from, end) in spans {
        if from > next {
            holes.push((next, from - 1));
        }
        next = next.max(end);
    }
    holes
}
