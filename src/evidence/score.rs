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

    /// The same without what only these messages have.
    #[must_use]
    pub fn without(&self, seqs: &[u64]) -> Known {
        let mut rest = self.clone();
        rest.own.retain(|_, seq| !seqs.contains(seq));
        rest
    }

    /// How much of a token's weight is left for a source, and the message that has the rest.
    fn left(&self, token: usize, source: u64) -> (f64, Option<u64>) {
        if let Some(seq) = self.people.get(&token) {
            return (0.0, Some(*seq));
        }
        match self.own.get(&token) {
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

/// Scores one source.
#[must_use]
pub fn score(source: u64, matches: &[Match], known: &Known, needle: &Needle) -> Shared {
    let mut by_place: Vec<Match> = matches.to_vec();
    by_place.sort_unstable_by_key(|m| (m.source, std::cmp::Reverse(m.length)));
    let weighed: Vec<Vec<f64>> = by_place.iter().map(|m| needle.weights(m)).collect();
    let mut best = 0.0_f64;
    for first in 0..by_place.len() {
        best = best.max(place(
            source,
            &by_place[first..],
            &weighed[first..],
            known,
            by_place[first].source + WINDOW,
        ));
    }
    let all = place(source, &by_place, &weighed, known, usize::MAX);
    let runs = weighted(source, &by_place, &weighed, known);
    Shared { score: best + 0.25 * (all - best).max(0.0), runs }
}

/// What the runs that start before `upto` add up to, each token of the target once.
fn place(source: u64, runs: &[Match], weighed: &[Vec<f64>], known: &Known, upto: usize) -> f64 {
    let mut cover: BTreeMap<usize, f64> = BTreeMap::new();
    for (run, weights) in runs.iter().zip(weighed).take_while(|(run, _)| run.source <= upto) {
        for (n, weight) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            let held = cover.entry(run.from + n).or_default();
            *held = held.max(*weight);
        }
    }
    let (mut new, mut old) = (0.0, 0.0);
    for (token, weight) in cover {
        let (left, _) = known.left(token, source);
        new += weight * left;
        old += weight * (1.0 - left);
    }
    // What was known anchors what is new beside it: a name asked for, and the value next to it.
    new + 0.5 * f64::min(old, 2.0 * new)
}

/// The runs with what is left of their weight, heaviest first; runs inside others of one place left out.
fn weighted(source: u64, runs: &[Match], weighed: &[Vec<f64>], known: &Known) -> Vec<Weighted> {
    let mut out: Vec<Weighted> = Vec::new();
    for (run, weights) in runs.iter().zip(weighed) {
        let (mut weight, mut also_in) = (0.0, None);
        for (n, own) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            let (left, seq) = known.left(run.from + n, source);
            weight += own * left;
            also_in = also_in.or(seq);
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
        found.iter().enumerate().map(|(n, m)| score(n as u64 + 1, m, &known, &needle).score).collect()
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
