//! How strongly a source shares its text with the target: a measure, not a proof.
//!
//! What tells is rare in the session and hard to hit by chance: paths, names, numbers, phrases. What
//! stands together in the source counts more than what is strewn over it, and what the model may have
//! from elsewhere (a prompt, an earlier answer) counts less or not at all.

use super::needle::{Match, Needle};
use std::collections::BTreeMap;

/// Bytes of a source that count as one place.
const WINDOW: usize = 240;

/// The score from which on shared text supports a statement.
pub const SUPPORTS: f64 = 1.2;

/// What the model had of each token of the target before or beside the source.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The first message of people or of the harness that has it.
    people: BTreeMap<usize, u64>,
    /// The first earlier answer or summary that has it.
    own: BTreeMap<usize, u64>,
}

/// Whose words a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// A prompt, context, the system.
    People,
    /// The model: answers, calls, summaries.
    Model,
}

impl Known {
    /// Takes in a message that stood in the context. Of words and small numbers only those count that
    /// stand in a phrase or beside something telling: alone they are met everywhere.
    pub fn learn(&mut self, seq: u64, speaker: Speaker, matches: &[Match], needle: &Needle) {
        let mut by_place: Vec<&Match> = matches.iter().collect();
        by_place.sort_unstable_by_key(|m| m.source);
        let telling = |m: &Match| (m.from..m.from + m.length).any(|t| needle.is_telling(t));
        for (n, run) in by_place.iter().enumerate() {
            let near = |other: &&Match| other.source.abs_diff(run.source) <= WINDOW && telling(other);
            let weights = needle.weights(run);
            let phrase = weights.iter().filter(|w| **w > 0.0).count() >= 2;
            let beside = phrase
                || by_place[..n].iter().rev().take(16).any(near)
                || by_place[n + 1..].iter().take(16).any(near);
            let map = if speaker == Speaker::People { &mut self.people } else { &mut self.own };
            for token in run.from..run.from + run.length {
                if beside || needle.is_telling(token) {
                    map.entry(token).and_modify(|first| *first = seq.min(*first)).or_insert(seq);
                }
            }
        }
    }

    /// How much of a token's weight is left for a source, and the message that has the rest. What the
    /// messages of `aside`, ascending, have takes nothing away.
    fn left(&self, token: usize, source: u64, aside: &[u64]) -> (f64, Option<u64>) {
        if let Some(seq) = self.people.get(&token) {
            return (0.0, Some(*seq));
        }
        match self.own.get(&token).filter(|seq| aside.binary_search(seq).is_err()) {
            Some(seq) if *seq < source => (0.3, Some(*seq)),
            Some(seq) => (0.6, Some(*seq)),
            None => (1.0, None),
        }
    }
}

/// What a source and the target share.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// The score: 0 = nothing that tells; [`SUPPORTS`] and more supports.
    pub score: f64,
    /// The runs behind it, heaviest first.
    pub runs: Vec<Weighted>,
}

/// One shared run with its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighted {
    /// The run.
    pub run: Match,
    /// What is left of its weight.
    pub weight: f64,
    /// The earlier message that has a part of it too.
    pub also_in: Option<u64>,
}

/// A source to be scored: its seq, what it shares, and the messages that stand in its place: what they
/// have they have from it.
#[derive(Clone, Copy, Debug)]
pub struct Scored<'a> {
    /// Its seq.
    pub seq: u64,
    /// What it shares with the target.
    pub matches: &'a [Match],
    /// What stands in its place, ascending.
    pub via: &'a [u64],
}

/// Scores one source.
#[must_use]
pub fn score(source: Scored<'_>, known: &Known, needle: &Needle) -> Shared {
    if source.matches.is_empty() {
        return Shared::default();
    }
    let mut by_place: Vec<Match> = source.matches.to_vec();
    by_place.sort_unstable_by_key(|m| (m.source, std::cmp::Reverse(m.length)));
    let weighed: Vec<Vec<f64>> = by_place.iter().map(|m| needle.weights(m)).collect();
    let mut cover = Cover::new(source, &by_place, known);
    let mut best = 0.0_f64;
    let mut reached = 0;
    for first in 0..by_place.len() {
        let place = by_place[first].source + WINDOW;
        let upto = by_place.partition_point(|run| run.source <= place);
        // A place that reaches no further than the one before is a part of it.
        if upto > reached {
            best = best.max(cover.sum(&by_place[first..upto], &weighed[first..upto]));
            reached = upto;
        }
    }
    let all = cover.sum(&by_place, &weighed);
    let runs = weighted(&by_place, &weighed, &cover);
    Shared { score: best + 0.25 * (all - best).max(0.0), runs }
}

/// What is known of the tokens of the target that a source has, each looked up once.
struct Cover {
    /// The tokens that the source has, ascending.
    tokens: Vec<usize>,
    /// How much of each is left for the source, and the message that has the rest.
    left: Vec<(f64, Option<u64>)>,
    /// The most that a run of the place that is summed gives each of them.
    most: Vec<f64>,
}

impl Cover {
    fn new(source: Scored<'_>, runs: &[Match], known: &Known) -> Cover {
        let mut tokens: Vec<usize> = runs.iter().flat_map(|run| run.from..run.from + run.length).collect();
        tokens.sort_unstable();
        tokens.dedup();
        let left = tokens.iter().map(|token| known.left(*token, source.seq, source.via)).collect();
        Cover { most: vec![0.0; tokens.len()], left, tokens }
    }

    /// Where the first token of a run stands in these lists; the others stand behind it.
    fn place(&self, run: &Match) -> usize {
        self.tokens.partition_point(|token| *token < run.from)
    }

    /// What runs add up to, each token of the target once.
    fn sum(&mut self, runs: &[Match], weighed: &[Vec<f64>]) -> f64 {
        let mut met = Vec::new();
        for (run, weights) in runs.iter().zip(weighed) {
            let at = self.place(run);
            for (n, weight) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
                let most = &mut self.most[at + n];
                if *most <= 0.0 {
                    met.push(at + n);
                }
                *most = most.max(*weight);
            }
        }
        met.sort_unstable();
        let (mut new, mut old) = (0.0, 0.0);
        for at in met {
            let (weight, (left, _)) = (std::mem::take(&mut self.most[at]), self.left[at]);
            new += weight * left;
            old += weight * (1.0 - left);
        }
        // What was known anchors what is new beside it: a name asked for, and the value next to it.
        new + 0.5 * f64::min(old, 2.0 * new)
    }
}

/// The runs with what is left of their weight, heaviest first; runs inside others of one place left out.
fn weighted(runs: &[Match], weighed: &[Vec<f64>], cover: &Cover) -> Vec<Weighted> {
    let mut out: Vec<Weighted> = Vec::new();
    for (run, weights) in runs.iter().zip(weighed) {
        let (mut weight, mut also_in) = (0.0, None);
        let left = &cover.left[cover.place(run)..];
        for (own, (left, seq)) in weights.iter().zip(left).filter(|(own, _)| **own > 0.0) {
            weight += own * left;
            also_in = also_in.or(*seq);
        }
        out.push(Weighted { run: *run, weight, also_in });
    }
    out.sort_by(|a, b| {
        b.weight
            .total_cmp(&a.weight)
            .then(b.run.length.cmp(&a.run.length))
            .then(a.run.source.cmp(&b.run.source))
    });
    let mut kept: Vec<Weighted> = Vec::new();
    for next in out {
        let inside = |k: &Weighted| {
            k.run.from <= next.run.from && next.run.from + next.run.length <= k.run.from + k.run.length
        };
        if kept.len() < SPANS && !kept.iter().any(inside) {
            kept.push(next);
        }
    }
    kept
}

/// How many runs of one source are told.
const SPANS: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(target: &str, people: &[&str], sources: &[&str]) -> Vec<f64> {
        let mut needle = Needle::new(target.to_owned(), None);
        let asked = needle.matches_of(people);
        let found = needle.matches_of(sources);
        let mut known = Known::default();
        asked.iter().for_each(|m| known.learn(0, Speaker::People, m, &needle));
        let scored = |(n, matches): (usize, &Vec<Match>)| {
            score(Scored { seq: n as u64 + 1, matches, via: &[] }, &known, &needle).score
        };
        found.iter().enumerate().map(scored).collect()
    }

    #[test]
    fn a_value_beside_the_name_that_was_asked_for_supports() {
        let found = scores(
            "max_retries is 37 here.",
            &["what is max_retries?"],
            &["max_retries = 37", "max_retries = 12", "port = 37"],
        );
        assert!(found[0] >= SUPPORTS, "{found:?}");
        assert!(found[1] < SUPPORTS && found[2] < SUPPORTS, "{found:?}");
        assert!(found[1] < found[2] && found[2] < found[0], "{found:?}");
    }

    #[test]
    fn what_the_prompt_says_supports_nothing() {
        let found = scores("port 8443 it is", &["use port 8443"], &["port 8443"]);
        assert!(found[0] < 0.01, "{found:?}");
    }

    #[test]
    fn small_talk_supports_nothing() {
        let found =
            scores("the tests pass now and the code works", &[], &["all tests pass", "the code is here"]);
        assert!(found.iter().all(|s| *s < SUPPORTS), "{found:?}");
    }
}
