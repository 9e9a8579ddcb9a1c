//! A text whose origin is looked for, made ready to stream others past it.

use super::automaton::{Automaton, Standing};
use super::tokens::{Class, Token, joins, tokens};
use crate::json::Raw;
use aho_corasick::{AhoCorasick, Input, MatchKind};
use foldhash::{HashMap, HashMapExt};
use memchr::memmem;
use std::ops::Range;

/// How many tokens of the text are looked at.
const TOKENS: usize = 1 << 16;

/// How many bytes of a word that tells are looked for.
const PREFIX: usize = 24;

/// So many words at most are rare enough to be looked for by their first bytes.
const RARE: usize = 16;

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
pub struct Pattern {
    text: String,
    tokens: Vec<Token>,
    /// What each token tells by itself.
    worth: Vec<f64>,
    /// Whether each token is a word of a path, a number with a point, a dotted name.
    compound: Vec<bool>,
    /// The word that each token is.
    words: Vec<u32>,
    vocabulary: HashMap<String, u32>,
    /// Finds in a source where words that tell may stand. `None` where the text has none.
    telling: Option<AhoCorasick>,
    /// The numbers of its words of one ASCII character: blanks and marks are most of what is looked up.
    short: [Option<u32>; 128],
    /// Which beginnings and lengths its words have: most words of a source are turned away here.
    gate: Vec<bool>,
    automaton: Automaton,
}

impl Pattern {
    /// Makes a text ready. Of a text beyond 65,536 tokens the beginning counts; so does, with a
    /// `focus`, only what stands in that range of bytes.
    #[must_use]
    pub fn new(text: String, focus: Option<Range<usize>>) -> Pattern {
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
        let compound = compounds(&text, &list);
        Pattern {
            telling: telling(&text, &list, &worth, &compound),
            compound,
            automaton: Automaton::new(&words),
            gate: gate(vocabulary.keys()),
            short: short(&vocabulary),
            text,
            tokens: list,
            worth,
            words,
            vocabulary,
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

    /// How many different words it has.
    #[must_use]
    pub fn vocabulary(&self) -> usize {
        self.vocabulary.len()
    }

    /// The number of a word, where the text has it.
    #[must_use]
    pub fn word(&self, text: &str) -> Option<u32> {
        if let [byte @ 0..128] = text.as_bytes() {
            return self.short[usize::from(*byte)];
        }
        if self.gate[door(text)] { self.vocabulary.get(text).copied() } else { None }
    }

    /// The word that a token is.
    #[must_use]
    pub fn word_of(&self, token: usize) -> u32 {
        self.words[token]
    }

    /// What a token tells by itself.
    #[must_use]
    pub fn worth(&self, token: usize) -> f64 {
        self.worth[token]
    }

    /// Whether a token stands in a path, a number with a point, a dotted name.
    #[must_use]
    pub fn is_compound(&self, token: usize) -> bool {
        self.compound[token]
    }

    /// Whether a run of one token would be seldom met by chance.
    #[must_use]
    pub fn is_telling(&self, token: usize) -> bool {
        self.tokens[token].class.is_telling() || self.compound[token]
    }

    /// Whether a run is worth quoting: something in it tells, alone or inside a path.
    #[must_use]
    pub fn tells(&self, from: usize, length: usize) -> bool {
        let run = from..from + length;
        run.clone().any(|t| self.worth[t] > 0.0) || (length >= 3 && run.clone().any(|t| self.compound[t]))
    }

    /// How far a source has matched, one token later.
    #[must_use]
    pub fn advance(&self, standing: Standing, word: Option<u32>) -> Standing {
        self.automaton.advance(standing, word)
    }

    /// The first token of the run that a source has matched.
    #[must_use]
    pub fn first_of(&self, standing: Standing) -> usize {
        self.automaton.end_of(standing) - standing.length as usize
    }

    /// Whether a word that tells may stand in a JSON value, as far as its stored bytes tell.
    #[must_use]
    pub fn may_stand_in(&self, value: Raw<'_>) -> bool {
        let Some(telling) = &self.telling else { return false };
        // An escape by number may be any letter; no other one is part of a word.
        telling.is_match(value.bytes()) || memmem::find(value.bytes(), b"\\u").is_some()
    }

    /// The next place in a source where a word that tells may begin.
    #[must_use]
    pub fn hint(&self, source: &str, from: usize) -> Option<usize> {
        let hit = self.telling.as_ref()?.find(Input::new(source).range(from..))?;
        Some(hit.start())
    }

    /// Where in the source a run starts that ends there.
    #[must_use]
    pub fn start_of(&self, standing: Standing, end: usize) -> usize {
        if standing.length == 0 {
            return end;
        }
        let behind = self.automaton.end_of(standing);
        let first = behind - standing.length as usize;
        end - (self.tokens[behind - 1].end - self.tokens[first].start)
    }

    /// The bytes of the text that a run of tokens takes.
    #[must_use]
    pub fn bytes(&self, from: usize, length: usize) -> Range<usize> {
        self.tokens[from].start..self.tokens[from + length - 1].end
    }
}

/// The words that tell, alone or inside a path, made ready to be looked for. Of words that begin alike
/// the longest counts, so that no word hides behind one that it begins with.
fn telling(text: &str, tokens: &[Token], worth: &[f64], compound: &[bool]) -> Option<AhoCorasick> {
    let tells =
        |(n, token): (usize, &Token)| (worth[n] > 0.0 || compound[n]).then(|| &text[token.start..token.end]);
    // Of a long word, which may be megabytes of some encoding, the beginning is looked for.
    let start = |word: &'_ str| (0..=PREFIX.min(word.len())).rev().find(|at| word.is_char_boundary(*at));
    let mut words: Vec<&str> = tokens.iter().enumerate().filter_map(tells).collect();
    words.iter_mut().for_each(|word| *word = &word[..start(word).unwrap_or(0)]);
    words.sort_unstable();
    words.dedup();
    // One digit or letter stands everywhere; it counts where it stands near a word that is looked for.
    words.retain(|word| word.len() > 1);
    if words.is_empty() {
        return None;
    }
    // Looking for their first bytes with vector instructions is quicker as long as these are rare.
    let rare = words.len() <= RARE && words.iter().all(|word| word.len() > 2);
    AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).prefilter(rare).build(words).ok()
}

/// The place in the gate of a token: by its first byte, its last and its length.
fn door(token: &str) -> usize {
    let first = usize::from(token.as_bytes().first().copied().unwrap_or_default());
    let last = usize::from(token.as_bytes().last().copied().unwrap_or_default());
    first | (last & 31) << 8 | token.len().min(31) << 13
}

fn short(vocabulary: &HashMap<String, u32>) -> [Option<u32>; 128] {
    let mut short = [None; 128];
    for (word, number) in vocabulary {
        if let [byte @ 0..128] = word.as_bytes() {
            short[usize::from(*byte)] = Some(*number);
        }
    }
    short
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
