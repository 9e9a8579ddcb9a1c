//! A source streamed past a text: the longest runs that both have.

use super::automaton::Standing;
use super::pattern::{Match, Pattern};
use super::tokens::{begins_word, cuts};
use foldhash::{HashMap, HashMapExt};
use std::ops::Range;

/// How many places in one source are kept of each shared run.
const PLACES: usize = 8;

/// How many shared runs of one source are kept.
const RUNS: usize = 4096;

/// How many marks and blanks before a word are kept to begin a run with.
const LEAD: usize = 64;

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
    /// Marks and blanks that a run may begin with.
    lead: Vec<(usize, usize)>,
}

impl Scratch {
    /// What a thread needs to look for a text.
    #[must_use]
    pub fn new(pattern: &Pattern) -> Scratch {
        Scratch { met_in: vec![0; pattern.vocabulary()], source: 0, lead: Vec::new() }
    }
}

/// Streams a source past a text.
#[must_use]
pub fn look(pattern: &Pattern, source: &str, scratch: &mut Scratch) -> Found {
    scratch.source += 1;
    scratch.lead.clear();
    let mut stream = Stream {
        pattern,
        scratch,
        found: Found::default(),
        places: HashMap::new(),
        standing: Standing::default(),
        run_start: 0,
    };
    let mut done = 0;
    while let Some(stretch) = pattern.stretch(source, done) {
        stream.cut(source, stretch.clone());
        done = stretch.end;
    }
    stream.found
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
            let word = self.pattern.word(text);
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
            let word = self.pattern.word(&source[start..end]);
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
