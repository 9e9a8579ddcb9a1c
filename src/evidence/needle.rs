//! A text whose origin is looked for, weighed by how rare its words are in the session.

pub use super::pattern::Match;
use super::pattern::Pattern;
use super::stream;
pub use super::stream::{Found, Scratch};
use crate::json::Raw;
use std::ops::Range;
use std::sync::Arc;

/// Of fewer sources than that, a word that is in several is not yet a common one.
const FEW: u32 = 30;

/// The text, and how often its words were met.
#[derive(Clone)]
pub struct Needle {
    pattern: Arc<Pattern>,
    counts: Counts,
}

/// In how many sources the words of a text stand.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// For each word of the vocabulary.
    with: Vec<u32>,
    /// All sources.
    sources: u32,
}

impl Counts {
    /// Takes a source into account.
    pub fn add(&mut self, found: &Found) {
        self.sources += 1;
        for word in &found.words {
            if let Some(with) = self.with.get_mut(*word as usize) {
                *with += 1;
            }
        }
    }
}

impl Needle {
    /// Makes a text ready, see [`Pattern::new`].
    #[must_use]
    pub fn new(text: String, focus: Option<Range<usize>>) -> Needle {
        let pattern = Pattern::new(text, focus);
        let counts = Counts { with: vec![0; pattern.vocabulary()], sources: 0 };
        Needle { pattern: Arc::new(pattern), counts }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.pattern.text()
    }

    /// What a thread needs to look for the text.
    #[must_use]
    pub fn scratch(&self) -> Scratch {
        Scratch::new(&self.pattern)
    }

    /// No source met yet.
    #[must_use]
    pub fn no_counts(&self) -> Counts {
        Counts { with: vec![0; self.pattern.vocabulary()], sources: 0 }
    }

    /// From here on words are as rare as they are in those sources.
    pub fn set_counts(&mut self, counts: Counts) {
        self.counts = counts;
    }

    /// As [`Needle::look`] at the words of a stored value; they are made out only where it has any of
    /// the text's that tell.
    pub(super) fn look_in(
        &self,
        value: Option<Raw<'_>>,
        words: impl FnOnce() -> String,
        scratch: &mut Scratch,
    ) -> Found {
        match value {
            Some(value) if self.pattern.may_stand_in(value) => self.look(&words(), scratch),
            _ => Found::default(),
        }
    }

    /// Streams a source past the text.
    #[must_use]
    pub fn look(&self, source: &str, scratch: &mut Scratch) -> Found {
        stream::look(&self.pattern, source, scratch)
    }

    /// Whether a run of one token would be seldom met by chance.
    #[must_use]
    pub fn is_telling(&self, token: usize) -> bool {
        self.pattern.is_telling(token)
    }

    /// The bytes of the text that a run of tokens takes.
    #[must_use]
    pub fn bytes(&self, from: usize, length: usize) -> Range<usize> {
        self.pattern.bytes(from, length)
    }

    /// How seldom a word is met in the sources so far: 1 in one of them only, next to 0 in all.
    #[must_use]
    pub fn rarity(&self, token: usize) -> f64 {
        let sources = f64::from(self.counts.sources.max(FEW));
        let with = f64::from(self.counts.with[self.pattern.word_of(token) as usize].max(1));
        let rarity = ((sources + 1.0) / with).ln() / (sources + 1.0).ln();
        if self.pattern.tokens()[token].class.is_telling() { rarity.max(0.3) } else { rarity.max(0.0) }
    }

    /// What each token of a run adds: its own worth by its rarity, more inside a path or a phrase.
    #[must_use]
    pub fn weights(&self, run: &Match) -> Vec<f64> {
        let range = run.from..run.from + run.length;
        let words = range.clone().filter(|t| self.pattern.worth(*t) > 0.0).count();
        let phrase = if words >= 3 { (1.0 + 0.15 * (words as f64 - 2.0)).min(2.0) } else { 1.0 };
        range
            .map(|t| {
                let joined = run.length >= 3 && self.pattern.is_compound(t);
                let worth = match self.pattern.worth(t) {
                    // Alone too common to count, such as the `rs` of a path.
                    none if joined && none == 0.0 => 0.3,
                    own if joined => own.max(1.0),
                    own => own,
                };
                worth * self.rarity(t) * phrase
            })
            .collect()
    }
}

#[cfg(test)]
impl Needle {
    /// What sources share with the text, each taken into account.
    pub(super) fn matches_of(&mut self, sources: &[&str]) -> Vec<Vec<Match>> {
        let mut scratch = self.scratch();
        let found: Vec<Found> = sources.iter().map(|source| self.look(source, &mut scratch)).collect();
        let mut counts = std::mem::take(&mut self.counts);
        found.iter().for_each(|found| counts.add(found));
        self.counts = counts;
        found.into_iter().map(|found| found.matches).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotes(text: &str, source: &str) -> Vec<String> {
        let mut needle = Needle::new(text.to_owned(), None);
        let found = needle.matches_of(&[source]).remove(0);
        for m in &found {
            let quote = &text[needle.bytes(m.from, m.length)];
            assert_eq!(&source[m.source..m.source + quote.len()], quote);
        }
        found.iter().map(|m| text[needle.bytes(m.from, m.length)].to_owned()).collect()
    }

    #[test]
    fn the_longest_shared_runs_are_found_and_never_parts_of_tokens() {
        assert_eq!(quotes("limit is 37 at src/net.rs:88", "see src/net.rs:8 and 137"), [" src/net.rs:"]);
        assert_eq!(quotes("retry_limit = 37", "a retry_limit = 37;"), ["retry_limit = 37"]);
        assert!(quotes("the file is there", "there is the file").is_empty());
    }

    #[test]
    fn a_word_of_megabytes_is_found_and_costs_no_memory_of_its_square() {
        let word = "Zm9v".repeat(1 << 19);
        assert_eq!(quotes(&format!("it is {word}"), &format!("see {word} there")), [format!(" {word}")]);
        let other = format!("{}x", &word[..word.len() - 1]);
        assert!(quotes(&word, &other).is_empty());
    }

    #[test]
    fn rarity_falls_with_the_number_of_sources() {
        let mut needle = Needle::new("gasket valve".to_owned(), None);
        needle.matches_of(&["gasket", "gasket valve", "gasket"]);
        assert!(needle.rarity(2) > 0.99 && needle.rarity(0) < 0.7);
    }
}
