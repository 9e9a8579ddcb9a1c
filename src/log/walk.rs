//! Walks over the events of a log, in order; records are read ahead by other threads.

use super::index::{Entry, Flags};
use super::read::Log;
use super::visit::{Bodies, closer_event, hand_on};
use crate::error::Result;
use crate::format::chunk_rows::Members;
use crate::format::event::Event;
use crate::seq::Seq;
use std::ops::{ControlFlow, Range};

/// Which events a walk meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first seq.
    pub from: Seq,
    /// The last seq.
    pub upto: Seq,
    /// Whether the closers follow.
    pub closers: bool,
}

impl Log {
    /// All of the log, closers included.
    #[must_use]
    pub fn whole(&self) -> Span {
        Span { from: self.index().first_seq(), upto: Seq(u64::MAX), closers: true }
    }

    /// Walks over the events of a span whose record is wanted, in order. The records are read ahead
    /// by other threads; `each` runs on the calling one.
    ///
    /// Errors when the file cannot be read; the walk ends early when `each` breaks.
    pub fn walk(
        &self,
        span: Span,
        wanted: impl FnMut(&Entry) -> bool,
        each: impl FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.walk_members(span, Members::All, wanted, |_| true, each)
    }

    /// As [`Log::walk`]; which records are wanted is decided ahead of the walk, and whether one of
    /// them is `taken` when it is reached.
    pub fn walk_choosing(
        &self,
        span: Span,
        wanted: impl FnMut(&Entry) -> bool,
        taken: impl FnMut(&Entry) -> bool,
        each: impl FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.walk_members(span, Members::All, wanted, taken, each)
    }

    /// As [`Log::walk`] over all records, but of packed rows only the [edges](Members::Edges) are met:
    /// where all members are alike, these show what there is to see.
    pub fn walk_edges(&self, span: Span, each: impl FnMut(&Event<'_>) -> ControlFlow<()>) -> Result<()> {
        self.walk_members(span, Members::Edges, |_| true, |_| true, each)
    }

    fn walk_members(
        &self,
        span: Span,
        members: Members,
        wanted: impl FnMut(&Entry) -> bool,
        mut taken: impl FnMut(&Entry) -> bool,
        mut each: impl FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut own = Bodies::new(self);
        let mut flow = ControlFlow::Continue(());
        self.read_ahead(self.wanted(span, wanted), |record, line| {
            let mut each = |event: &Event<'_>| within(span, event, &mut each);
            let entry = &self.index().entries()[record];
            if !taken(entry) {
                return Ok(ControlFlow::Continue(()));
            }
            flow = match line {
                Some((text, parts)) => hand_on(entry, &parts, text, self.dialect(), members, &mut each),
                None => own.record(record, each)?,
            };
            Ok(flow)
        })?;
        if span.closers && flow.is_continue() {
            for event in self.closers().iter().filter_map(|closer| closer_event(closer, self)) {
                if each(&event).is_break() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// As [`Log::walk`] without the closers, but `map` runs on the threads that read, each with a
    /// state of its own; only what it gives comes to `fold`, in the order of the events.
    pub fn walk_mapped<S, R: Send>(
        &self,
        span: Span,
        wanted: impl FnMut(&Entry) -> bool,
        state: impl Fn() -> S + Sync,
        map: impl Fn(&mut S, &Event<'_>) -> Option<R> + Sync,
        fold: impl FnMut(R),
    ) -> Result<()> {
        self.mapped(
            self.wanted(span, wanted),
            |bodies| (bodies, state()),
            |(bodies, state), record, given| {
                let _ = bodies.record(record, |event| {
                    within(span, event, &mut |event| {
                        given.extend(map(state, event));
                        ControlFlow::Continue(())
                    })
                })?;
                Ok(())
            },
            fold,
        )
    }

    /// Hands the stored lines of records, given by their numbers, to `map` on the threads that read,
    /// and what that gives to `fold`, in order. A record over the limit has no line.
    pub fn lines_mapped<R: Send>(
        &self,
        records: Range<usize>,
        map: impl Fn(&Entry, Option<&[u8]>) -> R + Sync,
        fold: impl FnMut(R),
    ) -> Result<()> {
        let records = records.start..records.end.min(self.index().entries().len());
        self.mapped(
            records,
            |bodies| bodies,
            |bodies, record, given| {
                let entry = self.index().entries()[record];
                let read = !entry.flags.has(Flags::TOO_LONG);
                let line = if read { Some(bodies.line_at(entry.text)?) } else { None };
                given.push(map(&entry, line));
                Ok(())
            },
            fold,
        )
    }

    /// The numbers of the records of a span that are wanted.
    fn wanted(&self, span: Span, mut wanted: impl FnMut(&Entry) -> bool) -> impl Iterator<Item = usize> {
        let entries = self.index().entries();
        let first = self.index().record_of(span.from).unwrap_or(if span.from <= self.index().first_seq() {
            0
        } else {
            entries.len()
        });
        let upto = entries.partition_point(|entry| entry.seq <= span.upto);
        (first..upto.max(first)).filter(move |record| wanted(&entries[*record]))
    }
}

/// Hands an event on unless it lies outside of the span.
fn within(
    span: Span,
    event: &Event<'_>,
    each: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    match event.seq {
        seq if seq < span.from => ControlFlow::Continue(()),
        seq if seq > span.upto => ControlFlow::Break(()),
        _ => each(event),
    }
}
