//! Records read back by several threads, ahead of who takes them in order.

use super::index::Flags;
use super::pipeline;
use super::read::Log;
use super::visit::Bodies;
use crate::error::Result;
use crate::format::judge::Layout;
use crate::format::parts::Parts;
use crate::json::jumps::{Jumps, Notes};
use crate::json::text;
use crate::storage::text::TextReader;
use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, PoisonError};

/// A job is at most so many records…
const RECORDS: usize = 256;
/// …and ends with the record that brings it to so many bytes of text.
const TEXT: u64 = 256 << 10;
/// A line longer than this is not copied: who takes it reads it in place.
const LONG: usize = 1 << 20;

/// Records that were read ahead, in one piece of memory that is used again.
#[derive(Default)]
pub(super) struct Batch {
    text: Vec<u8>,
    notes: Vec<(u32, u32)>,
    held: Vec<Held>,
    scratch: Jumps,
}

/// A record of a batch.
struct Held {
    record: usize,
    /// Its line; `None` when it is to be read where it is taken: an old shape, or a long line.
    line: Option<Line>,
}

/// A line with what a walk over it has found.
struct Line {
    text: Range<usize>,
    notes: Range<usize>,
    layout: Layout,
}

impl Batch {
    /// Reads records; those of which nothing is to be handed on are left out.
    fn read(&mut self, log: &Log, records: &[usize], text: &mut TextReader<'_>) -> Result<()> {
        for record in records {
            let entry = log.index().entries()[*record];
            if entry.flags.has(Flags::TOO_LONG) {
                continue;
            }
            let aside = Held { record: *record, line: None };
            if entry.flags.has(Flags::LEGACY) {
                self.held.push(aside);
                continue;
            }
            let stored = text.line(entry.text)?;
            if stored.len() > LONG {
                self.held.push(aside);
                continue;
            }
            let stored = text::stored(stored);
            let Ok(layout) = Layout::of(&stored, &mut self.scratch) else { continue };
            let (at, noted) = (self.text.len(), self.notes.len());
            self.text.extend_from_slice(&stored);
            self.notes.extend_from_slice(self.scratch.notes().spans());
            let line = Line { text: at..self.text.len(), notes: noted..self.notes.len(), layout };
            self.held.push(Held { record: *record, line: Some(line) });
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.text.clear();
        self.notes.clear();
        self.held.clear();
    }

    /// The records with their lines and parts; without, where they are to be read in place.
    fn records(&self) -> impl Iterator<Item = (usize, Option<(&[u8], Parts<'_>)>)> {
        self.held.iter().map(|held| {
            let line = held.line.as_ref().map(|line| {
                let text = &self.text[line.text.clone()];
                (text, line.layout.parts(text, Notes::kept(&self.notes[line.notes.clone()])))
            });
            (held.record, line)
        })
    }
}

impl Log {
    /// Hands on records, given by their numbers in ascending order, with their lines and parts;
    /// without those where they are to be read in place.
    pub(super) fn read_ahead(
        &self,
        records: impl Iterator<Item = usize>,
        mut each: impl FnMut(usize, Option<(&[u8], Parts<'_>)>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let spare: Mutex<Vec<Batch>> = Mutex::default();
        let spare = || spare.lock().unwrap_or_else(PoisonError::into_inner);
        self.ahead(
            records,
            || self.text(),
            |text, records| {
                let mut batch = spare().pop().unwrap_or_default();
                batch.read(self, records, text)?;
                Ok(batch)
            },
            |mut batch| {
                for (record, line) in batch.records() {
                    if each(record, line)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                batch.clear();
                spare().push(batch);
                Ok(ControlFlow::Continue(()))
            },
        )
    }

    /// Runs `work` over a few records at a time, given by their numbers in ascending order, on several
    /// threads, and folds what it gives in their order on the calling one.
    fn ahead<S, R: Send>(
        &self,
        mut records: impl Iterator<Item = usize>,
        state: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, &[usize]) -> Result<R> + Sync,
        mut fold: impl FnMut(R) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        // Who jumps forward in a frame that is decoded piece by piece decodes all before it.
        let threads = if self.has_large_frames() { 1 } else { pipeline::threads(self.threads) };
        if threads == 1 {
            let mut state = state();
            while let Some(job) = self.job(&mut records) {
                if fold(work(&mut state, &job)?)?.is_break() {
                    break;
                }
            }
            return Ok(());
        }
        pipeline::run(
            threads,
            || Ok(self.job(&mut records)),
            state,
            |state, job: Vec<usize>, give| {
                give(work(state, &job));
            },
            |given| fold(given?),
        )
    }

    /// Runs `map` over records on several threads, and folds what it gives in order on the calling one.
    pub(super) fn mapped<'a, S, R: Send>(
        &'a self,
        records: impl Iterator<Item = usize>,
        state: impl Fn(Bodies<'a>) -> S + Sync,
        map: impl Fn(&mut S, usize, &mut Vec<R>) -> Result<()> + Sync,
        mut fold: impl FnMut(R),
    ) -> Result<()> {
        self.ahead(
            records,
            || state(Bodies::new(self)),
            |state, records| {
                let mut given = Vec::new();
                records.iter().try_for_each(|record| map(state, *record, &mut given))?;
                Ok(given)
            },
            |given| {
                given.into_iter().for_each(&mut fold);
                Ok(ControlFlow::Continue(()))
            },
        )
    }

    /// The next few records.
    fn job(&self, records: &mut impl Iterator<Item = usize>) -> Option<Vec<usize>> {
        let entries = self.index().entries();
        let mut job = Vec::new();
        let mut bytes = 0;
        while job.len() < RECORDS && bytes < TEXT {
            let Some(record) = records.next() else { break };
            let end = entries.get(record + 1).map_or(self.text_bytes(), |next| next.text.0);
            bytes += end.saturating_sub(entries[record].text.0);
            job.push(record);
        }
        (!job.is_empty()).then_some(job)
    }
}
