//! A text whose origin is looked for, made ready to stream others past it.

use super::automaton::{Automaton, Standing};
use super::tokens::{Class, Token, cuts, joins, tokens};
use std::collections::HashMap;
use std::ops::Range;

/// How many tokens of the text are looked at.
const TOKENS: usize = 1 << 16;

/// How many places in one source are kept of each shared run.
const PLACES: usize = 8;

/// How many shared runs of one source are kept.
const RUNS: usize = 4096;

/// Of fewer sources than that, a word that is in several is not yet a common one.
const FEW: u32 = 30;

/// A run of tokens that stands in the text and in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// Its first token in the text.
    pub from: usize,
    /// How many tokens it has.
    pub length: usize,
    /// The byte of the source at which it starts.
    pub source: usize,
}

/// The text, its tokens and its automaton.
pub struct Needle {
    text: String,
    tokens: Vec<Token>,
    worth: Vec<f64>,
    compound: Vec<bool>,
    words: Vec<u32>,
    vocabulary: HashMap<String, u32>,
    /// Which beginnings and lengths its words have: most words of a source are turned away here.
    gate: Vec<bool>,
    automaton: Automaton,
    /// In how many sources each word of the vocabulary stands.
    sources_with: Vec<u32>,
    /// The last source in which the word was met.
    met_in: Vec<u32>,
    sources: u32,
}

impl Needle {
    /// Makes a text ready. Of a text beyond 65,536 tokens the beginning counts; so does, with a
    /// `focus`, only what stands in that range of bytes.
    #[must_use]
    pub fn new(text: String, focus: Option<Range<usize>>) -> Needle {
        let list: Vec<Token> = tokens(&text)
            .skip_while(|t| focus.as_ref().is_some_and(|f| t.end <= f.start))
            .take_while(|t| focus.as_ref().is_none_or(|f| t.start < f.end))
            .take(TOKENS)
            .collect();
        let mut vocabulary = HashMap::new();
        let mut words = Vec::with_capacity(list.len());
        for token in &list {
            let next = vocabulary.len() as u32;
            words.push(*vocabulary.entry(text[token.start..token.end].to_owned()).or_insert(next));
        }
        let worth = list.iter().map(|t| t.class.worth(&text[t.start..t.end])).collect();
        let count = vocabulary.len();
        Needle {
            compound: compounds(&text, &list),
            automaton: Automaton::new(&words),
            gate: gate(vocabulary.keys()),
            text,
            tokens: list,
            worth,
            words,
            vocabulary,
            sources_with: vec![0; count],
            met_in: vec![0; count],
            sources: 0,
        }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its tokens.
    #[must_use]
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Streams a source past the text: the longest runs that both have, those of blanks, marks and
    /// common words alone left out.
    pub fn matches(&mut self, source: &str) -> Vec<Match> {
        self.sources += 1;
        let mut found: Vec<Match> = Vec::new();
        let mut places: HashMap<(usize, usize), usize> = HashMap::new();
        let mut standing = Standing::default();
        // The ends of the tokens that the current run is made of are known by its length in bytes.
        let mut run_start = 0;
        for (start, end) in cuts(source) {
            let text = &source[start..end];
            let met = self.gate[door(text)];
            if !met && standing.length == 0 {
                continue;
            }
            let word = if met { self.vocabulary.get(text).copied() } else { None };
            if let Some(word) = word {
                self.count(word);
            }
            let next = self.automaton.advance(standing, word);
            if next.length != standing.length + 1 {
                self.keep(standing, run_start, &mut found, &mut places);
                run_start = self.start_of(next, end);
            } else if standing.length == 0 {
                run_start = start;
            }
            standing = next;
        }
        self.keep(standing, run_start, &mut found, &mut places);
        found
    }

    /// Where in the source a run starts that ends there.
    fn start_of(&self, standing: Standing, end: usize) -> usize {
        if standing.length == 0 {
            return end;
        }
        let behind = self.automaton.end_of(standing);
        let first = behind - standing.length as usize;
        end - (self.tokens[behind - 1].end - self.tokens[first].start)
    }

    fn count(&mut self, word: u32) {
        let at = word as usize;
        if self.met_in[at] != self.sources {
            self.met_in[at] = self.sources;
            self.sources_with[at] += 1;
        }
    }

    fn keep(
        &self,
        standing: Standing,
        source: usize,
        found: &mut Vec<Match>,
        places: &mut HashMap<(usize, usize), usize>,
    ) {
        let length = standing.length as usize;
        if length == 0 || found.len() >= RUNS {
            return;
        }
        let from = self.automaton.end_of(standing) - length;
        let run = from..from + length;
        let tells = run.clone().any(|t| self.worth[t] > 0.0)
            || (length >= 3 && run.clone().any(|t| self.compound[t]));
        if !tells {
            return;
        }
        let met = places.entry((from, length)).or_default();
        *met += 1;
        if *met <= PLACES {
            found.push(Match { from, length, source });
        }
    }

    /// How seldom a word is met in the sources so far: 1 in one of them only, next to 0 in all.
    #[must_use]
    pub fn rarity(&self, token: usize) -> f64 {
        let sources = f64::from(self.sources.max(FEW));
        let with = f64::from(self.sources_with[self.words[token] as usize].max(1));
        let rarity = ((sources + 1.0) / with).ln() / (sources + 1.0).ln();
        if self.tokens[token].class.is_telling() { rarity.max(0.3) } else { rarity.max(0.0) }
    }

    /// What each token of a run adds: its own worth by its rarity, more inside a path or a phrase.
    #[must_use]
    pub fn weights(&self, run: &Match) -> Vec<f64> {
        let range = run.from..run.from + run.length;
        let words = range.clone().filter(|t| self.worth[*t] > 0.0).count();
        let phrase = if words >= 3 { (1.0 + 0.15 * (words as f64 - 2.0)).min(2.0) } else { 1.0 };
        range
            .map(|t| {
                let joined = run.length >= 3 && self.compound[t];
                let worth = match self.worth[t] {
                    // Alone too common to count, such as the `rs` of a path.
                    none if joined && none == 0.0 => 0.3,
                    own if joined => own.max(1.0),
                    own => own,
                };
                worth * self.rarity(t) * phrase
            })
            .collect()
    }

    /// Whether a run of one token would be seldom met by chance.
    #[must_use]
    pub fn is_telling(&self, token: usize) -> bool {
        self.tokens[token].class.is_telling() || self.compound[token]
    }

    /// The bytes of the text that a run of tokens takes.
    #[must_use]
    pub fn bytes(&self, from: usize, length: usize) -> Range<usize> {
        self.tokens[from].start..self.tokens[from + length - 1].end
    }
}

/// The place in the gate of a token: by its first byte, its last and its length.
fn door(token: &str) -> usize {
    let first = usize::from(token.as_bytes().first().copied().unwrap_or_default());
    let last = usize::from(token.as_bytes().last().copied().unwrap_or_default());
    first | (last & 31) << 8 | token.len().min(31) << 13
}

fn gate<'a>(words: impl Iterator<Item = &'a String>) -> Vec<bool> {
    let mut gate = vec![false; 1 << 18];
    for word in words {
        gate[door(word)] = true;
    }
    gate
}

/// Which tokens are words of a path, a number with a point, a dotted name: two words or more joined
/// by marks without a blank.
fn compounds(text: &str, tokens: &[Token]) -> Vec<bool> {
    let mut out = vec![false; tokens.len()];
    let is_word = |t: &Token| !matches!(t.class, Class::Blank | Class::Mark);
    let mut at = 0;
    while at < tokens.len() {
        let mut end = at;
        while end < tokens.len()
            && (is_word(&tokens[end]) || joins(&text[tokens[end].start..tokens[end].end]))
        {
            end += 1;
        }
        let words = tokens[at..end].iter().filter(|t| is_word(t)).count();
        let ideographs = tokens[at..end].iter().all(|t| t.class == Class::Ideograph);
        let joined = tokens[at..end].iter().any(|t| t.class == Class::Mark);
        if words >= 2 && joined && !ideographs {
            for (n, token) in tokens[at..end].iter().enumerate() {
                out[at + n] = is_word(token);
            }
        }
        at = end.max(at + 1);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotes(text: &str, source: &str) -> Vec<String> {
        let mut needle = Needle::new(text.to_owned(), None);
        let found = needle.matches(source);
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
    fn rarity_falls_with_the_number_of_sources() {
        let mut needle = Needle::new("gasket valve".to_owned(), None);
        for source in ["gasket", "gasket valve", "gasket"] {
            needle.matches(source);
        }
        assert!(needle.rarity(2) > 0.99 && needle.rarity(0) < 0.7);
    }
}
