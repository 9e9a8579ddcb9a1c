//! A text whose origin is looked for, made ready to stream others past it.

use super::automaton::{Automaton, Standing};
use super::tokens::{Class, Token, begins_word, cuts, joins, tokens};
use aho_corasick::AhoCorasick;
use foldhash::{HashMap, HashMapExt};
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

/// How much of a source before and behind a word that tells is looked at, in bytes: longer stretches
/// without another such word are no part of a run worth quoting.
const AROUND: usize = 256;

/// How many words are looked for at most.
const TELLING: usize = 2000;

/// How many marks and blanks before a word are kept to begin a run with.
const LEAD: usize = 64;

/// What a source and the text share.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The longest runs that both have, those of blanks, marks and common words alone left out.
    pub matches: Vec<Match>,
    /// The words of the text that the source has, each once.
    words: Vec<u32>,
}

/// What one thread needs to look for the text, used again for each source.
pub struct Scratch {
    /// The last source in which each word was met.
    met_in: Vec<u32>,
    source: u32,
    /// Marks and blanks that a run may begin with.
    lead: Vec<(usize, usize)>,
}

/// The text, its tokens and its automaton; and how often its words were met.
pub struct Needle {
    text: String,
    tokens: Vec<Token>,
    worth: Vec<f64>,
    compound: Vec<bool>,
    words: Vec<u32>,
    vocabulary: HashMap<String, u32>,
    /// Finds the words that tell in a source: only there tokens are cut. `None` = everywhere.
    telling: Option<AhoCorasick>,
    /// Which beginnings and lengths its words have: most words of a source are turned away here.
    gate: Vec<bool>,
    automaton: Automaton,
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
        let worth: Vec<f64> = list.iter().map(|t| t.class.worth(&text[t.start..t.end])).collect();
        let count = vocabulary.len();
        let compound = compounds(&text, &list);
        Needle {
            telling: telling(&text, &list, &worth, &compound),
            compound,
            automaton: Automaton::new(&words),
            gate: gate(vocabulary.keys()),
            text,
            tokens: list,
            worth,
            words,
            vocabulary,
            counts: Counts { with: vec![0; count], sources: 0 },
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

    /// What a thread needs to look for the text.
    #[must_use]
    pub fn scratch(&self) -> Scratch {
        Scratch { met_in: vec![0; self.vocabulary.len()], source: 0, lead: Vec::new() }
    }

    /// No source met yet.
    #[must_use]
    pub fn no_counts(&self) -> Counts {
        Counts { with: vec![0; self.vocabulary.len()], sources: 0 }
    }

    /// From here on words are as rare as they are in those sources.
    pub fn set_counts(&mut self, counts: Counts) {
        self.counts = counts;
    }

    /// Streams a source past the text.
    #[must_use]
    pub fn look(&self, source: &str, scratch: &mut Scratch) -> Found {
        scratch.source += 1;
        scratch.lead.clear();
        let mut stream = Stream {
            needle: self,
            scratch,
            found: Found::default(),
            places: HashMap::new(),
            standing: Standing::default(),
            run_start: 0,
        };
        let mut done = 0;
        while let Some(stretch) = self.stretch(source, done) {
            stream.cut(source, stretch.clone());
            done = stretch.end;
        }
        stream.found
    }

    /// The next stretch of a source in which a word that tells may stand; it begins and ends at a blank
    /// or at the ends of the source.
    fn stretch(&self, source: &str, from: usize) -> Option<Range<usize>> {
        let Some(telling) = &self.telling else { return (from < source.len()).then_some(from..source.len()) };
        let hit = telling.find(&source[from..])?;
        let start = blank_before(source, from, (from + hit.start()).saturating_sub(AROUND));
        let mut end = from + hit.end();
        // Hits that stand close make one stretch.
        loop {
            let reach = blank_behind(source, end + AROUND);
            match telling.find(&source[end..reach]) {
                Some(next) => end += next.end(),
                None => return Some(start..reach),
            }
        }
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

    /// How seldom a word is met in the sources so far: 1 in one of them only, next to 0 in all.
    #[must_use]
    pub fn rarity(&self, token: usize) -> f64 {
        let sources = f64::from(self.counts.sources.max(FEW));
        let with = f64::from(self.counts.with[self.words[token] as usize].max(1));
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

/// A source on its way past the text.
struct Stream<'a> {
    needle: &'a Needle,
    scratch: &'a mut Scratch,
    found: Found,
    places: HashMap<(usize, usize), usize>,
    standing: Standing,
    /// Where in the source the current run starts.
    run_start: usize,
}

impl Stream<'_> {
    /// Cuts a stretch of the source into tokens and takes them.
    fn cut(&mut self, source: &str, stretch: Range<usize>) {
        let base = stretch.start;
        for (start, end) in cuts(&source[stretch]) {
            let (start, end) = (base + start, base + end);
            let text = &source[start..end];
            if self.standing.length == 0 && !begins_word(text) {
                // No run is made of marks and blanks alone, so they wait for a word.
                self.wait(start, end);
                continue;
            }
            let needle = self.needle;
            let word = if needle.gate[door(text)] { needle.vocabulary.get(text).copied() } else { None };
            if self.standing.length == 0 {
                if word.is_none() {
                    self.scratch.lead.clear();
                    continue;
                }
                self.catch_up(source);
            }
            self.take(start, end, word);
        }
        self.keep();
        self.standing = Standing::default();
        self.scratch.lead.clear();
    }

    fn wait(&mut self, start: usize, end: usize) {
        if self.scratch.lead.len() == LEAD {
            self.scratch.lead.drain(..LEAD / 2);
        }
        self.scratch.lead.push((start, end));
    }

    /// Takes the marks and blanks that stood before a word.
    fn catch_up(&mut self, source: &str) {
        for at in 0..self.scratch.lead.len() {
            let (start, end) = self.scratch.lead[at];
            let word = self.needle.vocabulary.get(&source[start..end]).copied();
            self.take(start, end, word);
        }
        self.scratch.lead.clear();
    }

    fn take(&mut self, start: usize, end: usize, word: Option<u32>) {
        if let Some(word) = word {
            let met = &mut self.scratch.met_in[word as usize];
            if *met != self.scratch.source {
                *met = self.scratch.source;
                self.found.words.push(word);
            }
        }
        let next = self.needle.automaton.advance(self.standing, word);
        if next.length != self.standing.length + 1 {
            self.keep();
            self.run_start = self.needle.start_of(next, end);
        } else if self.standing.length == 0 {
            self.run_start = start;
        }
        self.standing = next;
    }

    fn keep(&mut self) {
        let length = self.standing.length as usize;
        if length == 0 || self.found.matches.len() >= RUNS {
            return;
        }
        let needle = self.needle;
        let from = needle.automaton.end_of(self.standing) - length;
        let run = from..from + length;
        let tells = run.clone().any(|t| needle.worth[t] > 0.0)
            || (length >= 3 && run.clone().any(|t| needle.compound[t]));
        if !tells {
            return;
        }
        let met = self.places.entry((from, length)).or_default();
        *met += 1;
        if *met <= PLACES {
            self.found.matches.push(Match { from, length, source: self.run_start });
        }
    }
}

/// The words that tell, alone or inside a path, made ready to be looked for; `None` where there are so
/// many that looking for them is no gain.
fn telling(text: &str, tokens: &[Token], worth: &[f64], compound: &[bool]) -> Option<AhoCorasick> {
    let tells =
        |(n, token): (usize, &Token)| (worth[n] > 0.0 || compound[n]).then(|| &text[token.start..token.end]);
    let mut words: Vec<&str> = tokens.iter().enumerate().filter_map(tells).collect();
    words.sort_unstable();
    words.dedup();
    // One digit or letter stands everywhere; it counts where it stands near a word that is looked for.
    words.retain(|word| word.len() > 1);
    if words.len() > TELLING {
        return None;
    }
    AhoCorasick::new(words).ok()
}

/// The start of the last blank at or before `at`, not before `from`; blanks begin a token of their own.
fn blank_before(source: &str, from: usize, at: usize) -> usize {
    let bytes = source.as_bytes();
    (from..=at.max(from))
        .rev()
        .find(|at| {
            bytes[*at].is_ascii_whitespace()
                && (*at == from || !bytes[at - 1].is_ascii_whitespace() && bytes[at - 1].is_ascii())
        })
        .unwrap_or(from)
}

/// The start of the first blank at or behind `at`, or the end of the source.
fn blank_behind(source: &str, at: usize) -> usize {
    let bytes = source.as_bytes();
    (at..bytes.len())
        .find(|at| {
            bytes[*at].is_ascii_whitespace()
                && !bytes[at - 1].is_ascii_whitespace()
                && bytes[at - 1].is_ascii()
        })
        .unwrap_or(bytes.len())
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
    fn rarity_falls_with_the_number_of_sources() {
        let mut needle = Needle::new("gasket valve".to_owned(), None);
        needle.matches_of(&["gasket", "gasket valve", "gasket"]);
        assert!(needle.rarity(2) > 0.99 && needle.rarity(0) < 0.7);
    }
}
