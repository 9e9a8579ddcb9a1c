//! Two lists of moves beside each other: what both did in the same order, and what only one did.

use super::moves::Move;
use imara_diff::{Algorithm, InternedInput};

/// A place of the alignment; numbers count the moves of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// Both made this move, and the same came of it.
    Same(usize, usize),
    /// Both made this call, and something else came of it.
    Otherwise(usize, usize),
    /// Only the first made it.
    First(usize),
    /// Only the second made it.
    Second(usize),
}

impl Pair {
    /// The word used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Pair::Same(..) => "same",
            Pair::Otherwise(..) => "other-result",
            Pair::First(_) => "first-only",
            Pair::Second(_) => "second-only",
        }
    }
}

/// Aligns two lists. The work is bounded however often moves repeat.
#[must_use]
pub fn align(first: &[Move], second: &[Move]) -> Vec<Pair> {
    let mut input = InternedInput::default();
    input.update_before(first.iter().map(|m| m.says));
    input.update_after(second.iter().map(|m| m.says));
    let diff = imara_diff::Diff::compute(Algorithm::Histogram, &input);
    let mut pairs = Vec::with_capacity(first.len().max(second.len()));
    let (mut a, mut b) = (0, 0);
    let both = |a: usize, b: usize| {
        if first[a].came == second[b].came { Pair::Same(a, b) } else { Pair::Otherwise(a, b) }
    };
    for hunk in diff.hunks() {
        let (before, after) = (hunk.before.start as usize, hunk.after.start as usize);
        pairs.extend((a..before).zip(b..after).map(|(a, b)| both(a, b)));
        (a, b) = (hunk.before.end as usize, hunk.after.end as usize);
        pairs.extend((before..a).map(Pair::First));
        pairs.extend((after..b).map(Pair::Second));
    }
    pairs.extend((a..first.len()).zip(b..second.len()).map(|(a, b)| both(a, b)));
    pairs
}
