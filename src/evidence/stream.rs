//! A source streamed past a text: the longest runs that both have.

use super::automaton::Standing;
use super::pattern::{Match, Pattern};
use super::tokens::{cuts, token_at};
use foldhash::{HashMap, HashMapExt};

/// How many places in one source are kept of each shared run.
const PLACES: usize = 8;

/// How many shared runs of one source are kept.
const RUNS: usize = 4096;

/// What a source and the text share.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The longest runs that both have, those of blanks, marks and common words alone left out.
    pub matches: Vec<Match>,
    /// The words of the text that the source has, each once.
    pub(super) words: Vec<u32>,
}

/// What one thread needs to look for the text, used again for each source.
pub struct Scratch {
    /// The last source in which each word was met.
    met_in: Vec<u32>,
    source: u32,
}

impl Scratch {
    /// What a thread needs to look for a text.
    #[must_use]
    pub fn new(pattern: &Pattern) -> Scratch {
        Scratch { met_in: vec![0; pattern.vocabulary()], source: 0 }
    }
}

/// Streams a source past a text: only the stretches of words that both have are cut into tokens, and
/// of those only the ones with a word that tells.
#[must_use]
pub fn look(pattern: &Pattern, source: &str, scratch: &mut Scratch) -> Found {
    scratch.source += 1;
    let mut stream = Stream {
        pattern,
        scratch,
        found: Found::default(),
        places: HashMap::new(),
        standing: Standing::default(),
        run_start: 0,
    };
    let mut done = 0;
    while let Some(hint) = pattern.hint(source, done) {
        let token = token_at(source, done, hint);
        if token.start < hint || pattern.word(&source[token.clone()]).is_none() {
            // A part of a longer word.
            done = token.end;
            continue;
        }
        let start = stretch_start(pattern, source, done, hint);
        done = stream.stretch(source, start);
    }
    stream.found
}

/// Where the words begin that lead up to a place without a gap and that the text has too, not before
/// `from`.
fn stretch_start(pattern: &Pattern, source: &str, from: usize, place: usize) -> usize {
    let mut start = place;
    while start > from {
        let token = token_at(source, from, start - 1);
        if pattern.word(&source[token.clone()]).is_none() {
            break;
        }
        start = token.start;
    }
    start
}

/// A source on its way past the text.
struct Stream<'a> {
    pattern: &'a Pattern,
    scratch: &'a mut Scratch,
    found: Found,
    places: HashMap<(usize, usize), usize>,
    standing: Standing,
    /// Where in the source the current run starts.
    run_start: usize,
}

impl Stream<'_> {
    /// Takes words from `from` on up to the first that the text does not have; where that ends.
    fn stretch(&mut self, source: &str, from: usize) -> usize {
        let mut done = source.len();
        for (start, end) in cuts(&source[from..]) {
            let word = self.pattern.word(&source[from + start..from + end]);
            if word.is_none() {
                done = from + end;
                break;
            }
            self.take(from + start, from + end, word);
        }
        self.keep();
        self.standing = Standing::default();
        done
    }

    fn take(&mut self, start: usize, end: usize, word: Option<u32>) {
        if let Some(word) = word {
            let met = &mut self.scratch.met_in[word as usize];
            if *met != self.scratch.source {
                *met = self.scratch.source;
                self.found.words.push(word);
            }
        }
        let next = self.pattern.advance(self.standing, word);
        if next.length != self.standing.length + 1 {
            self.keep();
            self.run_start = self.pattern.start_of(next, end);
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
        let from = self.pattern.first_of(self.standing);
        if !self.pattern.tells(from, length) {
            return;
        }
        let met = self.places.entry((from, length)).or_default();
        *met += 1;
        if *met <= PLACES {
            self.found.matches.push(Match { from, length, source: self.run_start });
        }
    }
}
