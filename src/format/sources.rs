//! `sourceEventSeqs`: which earlier events an event was made from, with runs written as pairs
//! (v0 section 9.3 S7, generations 1.3).

use crate::json::Raw;

/// A run of consecutive seqs, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
}

/// The source list of an event, kept as runs so that a pair never grows with its span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// The runs in ascending order, joined where they touch.
    runs: Vec<Run>,
    /// How many seqs the list names.
    pub count: u64,
    /// Whether the list holds at least one pair.
    pub has_ranges: bool,
}

/// What is wrong with a source list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourcesFault {
    /// Not an array.
    NotAList,
    /// A member is neither a seq nor a pair of seqs in order.
    Member,
    /// A member is not below the event's own seq.
    NotEarlier,
    /// One seq stands twice.
    Repeated,
    /// A pair is present and the list is not increasing.
    NotIncreasing,
}

impl SourcesFault {
    /// What is wrong, for a message.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            SourcesFault::NotAList => "not a list",
            SourcesFault::Member => "a member that is no seq and no range of seqs",
            SourcesFault::NotEarlier => "a member that is not an earlier event",
            SourcesFault::Repeated => "one event named twice",
            SourcesFault::NotIncreasing => "ranges in a list that does not increase",
        }
    }
}

impl Sources {
    /// Reads a list for the event `own`.
    ///
    /// With `negative_zero_refused`, `-0` is no seq.
    pub fn parse(value: Raw<'_>, own: u64, negative_zero_refused: bool) -> Result<Sources, SourcesFault> {
        if !value.is_array() {
            return Err(SourcesFault::NotAList);
        }
        let seq = |value: Raw<'_>| match value.count() {
            Some(n) if !(negative_zero_refused && value.is_negative_zero()) => Ok(n),
            _ => Err(SourcesFault::Member),
        };
        let mut runs: Vec<Run> = Vec::new();
        let mut has_ranges = false;
        let mut increasing = true;
        let mut previous: Option<u64> = None;
        let mut earlier = true;
        for member in value.elements() {
            let run = if member.is_array() {
                has_ranges = true;
                let mut ends = member.elements();
                let (Some(first), Some(last), None) = (ends.next(), ends.next(), ends.next()) else {
                    return Err(SourcesFault::Member);
                };
                let run = Run { first: seq(first)?, last: seq(last)? };
                if run.first > run.last {
                    return Err(SourcesFault::Member);
                }
                run
            } else {
                let n = seq(member)?;
                Run { first: n, last: n }
            };
            earlier &= run.last < own;
            increasing &= previous.is_none_or(|p| p < run.first);
            previous = Some(run.last);
            match runs.last_mut() {
                Some(tail) if tail.last + 1 == run.first => tail.last = run.last,
                _ => runs.push(run),
            }
        }
        if !earlier {
            return Err(SourcesFault::NotEarlier);
        }
        if has_ranges && !increasing {
            return Err(SourcesFault::NotIncreasing);
        }
        if !increasing {
            runs.sort_unstable();
            if runs.windows(2).any(|pair| pair[0].last >= pair[1].first) {
                return Err(SourcesFault::Repeated);
            }
        }
        let count = runs.iter().map(|run| run.last - run.first + 1).sum();
        Ok(Sources { runs, count, has_ranges })
    }

    /// Whether the list names that seq.
    #[must_use]
    pub fn contains(&self, seq: u64) -> bool {
        let after = self.runs.partition_point(|run| run.first <= seq);
        after > 0 && self.runs[after - 1].last >= seq
    }

    /// The runs, ascending.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The only seq of a list of one.
    #[must_use]
    pub fn only(&self) -> Option<u64> {
        (self.count == 1).then(|| self.runs[0].first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, own: u64) -> Result<Sources, SourcesFault> {
        Sources::parse(Raw::parse(text.as_bytes()).unwrap(), own, true)
    }

    #[test]
    fn ranges_are_expanded_only_in_meaning() {
        let sources = parse("[[9,11],14]", 20).unwrap();
        assert_eq!((sources.count, sources.has_ranges), (4, true));
        assert!([9, 10, 11, 14].iter().all(|n| sources.contains(*n)) && !sources.contains(12));
    }

    #[test]
    fn the_bad_twins_of_ranges_are_refused_without_memory() {
        assert_eq!(parse("[[11,9]]", 20), Err(SourcesFault::Member));
        assert_eq!(parse("[[9,10],10]", 20), Err(SourcesFault::NotIncreasing));
        assert_eq!(parse("[[0,9007199254740990]]", 20), Err(SourcesFault::NotEarlier));
    }

    #[test]
    fn a_plain_list_may_be_in_any_order_but_not_repeat() {
        assert!(parse("[19,21,8]", 22).unwrap().contains(8));
        assert_eq!(parse("[8,9,8]", 22), Err(SourcesFault::Repeated));
        assert_eq!(parse("[22]", 22), Err(SourcesFault::NotEarlier));
        assert_eq!(parse("[-0]", 22), Err(SourcesFault::Member));
    }
}
