//! Where the long values of a text end, noted in the one pass that checks it, so that reading members
//! later need not walk over what it skips.

use super::scan::Note;

/// Strings shorter than this are walked, not noted.
const LONG: usize = 48;
/// Containers deeper than this are walked, not noted.
const DEPTH: usize = 24;
/// How many values are noted at most; the rest are walked.
const NOTES: usize = 1 << 16;

/// The ends of long strings and of containers, by their starts, ascending.
#[derive(Clone, Debug, Default)]
pub struct Jumps {
    spans: Vec<(u32, u32)>,
    open: Vec<u32>,
    depth: usize,
}

/// The notes of one text, wherever they are kept.
#[derive(Clone, Copy, Debug)]
pub struct Notes<'a>(&'a [(u32, u32)]);

impl<'a> Notes<'a> {
    /// Notes that were copied to another place.
    #[must_use]
    pub fn kept(spans: &'a [(u32, u32)]) -> Notes<'a> {
        Notes(spans)
    }

    /// The start and the end of each value that was noted, ascending by start.
    #[must_use]
    pub fn spans(self) -> &'a [(u32, u32)] {
        self.0
    }

    /// The end of the value that starts at `start`, when it was noted.
    #[must_use]
    pub fn end_of(self, start: usize) -> Option<usize> {
        let start = u32::try_from(start).ok()?;
        let found = self.0.binary_search_by_key(&start, |span| span.0).ok()?;
        Some(self.0[found].1 as usize)
    }
}

/// Stands for "not noted" on the stack of open containers.
const UNNOTED: u32 = u32::MAX;

impl Jumps {
    /// Forgets all notes and keeps the memory.
    pub fn clear(&mut self) {
        self.spans.clear();
        self.open.clear();
        self.depth = 0;
    }

    /// The notes, to be read.
    #[must_use]
    pub fn notes(&self) -> Notes<'_> {
        Notes(&self.spans)
    }

    fn note(&mut self, start: usize, end: usize) -> u32 {
        if self.spans.len() >= NOTES || end >= UNNOTED as usize {
            return UNNOTED;
        }
        self.spans.push((start as u32, end as u32));
        self.spans.len() as u32 - 1
    }
}

impl Note for Jumps {
    #[inline]
    fn string(&mut self, start: usize, end: usize) {
        if end - start >= LONG {
            self.note(start, end);
        }
    }

    fn open(&mut self, start: usize) {
        self.depth += 1;
        if self.depth <= DEPTH {
            let noted = self.note(start, start);
            self.open.push(noted);
        }
    }

    fn close(&mut self, end: usize) {
        if self.depth <= DEPTH
            && let Some(noted) = self.open.pop()
            && let Some(span) = self.spans.get_mut(noted as usize)
        {
            if end < UNNOTED as usize {
                span.1 = end as u32;
            } else {
                self.spans.truncate(noted as usize);
            }
        }
        self.depth = self.depth.saturating_sub(1);
    }
}
