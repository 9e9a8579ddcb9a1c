//! As of when a view looks at the log.

use crate::log::Log;
use crate::log::projection;
use crate::log::surface::Surface;
use crate::log::visit::closer_event;
use crate::log::walk::Span;
use crate::seq::Seq;
use std::borrow::Cow;

/// A state of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Moment {
    /// Now, with an open turn closed as repair would close it.
    #[default]
    Balanced,
    /// Now, as stored.
    Stored,
    /// Right after that event, as it was then: nothing is closed.
    After(Seq),
}

impl Moment {
    /// The last seq that counts.
    #[must_use]
    pub fn upto(self) -> Seq {
        match self {
            Moment::After(seq) => seq,
            _ => Seq(u64::MAX),
        }
    }

    /// Whether closers count.
    #[must_use]
    pub fn has_closers(self) -> bool {
        self == Moment::Balanced
    }

    /// The events that count, as a span to walk.
    #[must_use]
    pub fn span(self, log: &Log) -> Span {
        Span { from: log.index().first_seq(), upto: self.upto(), closers: self.has_closers() }
    }

    /// How many events there are at that moment.
    #[must_use]
    pub fn events(self, log: &Log) -> u64 {
        let index = log.index();
        match self {
            Moment::After(seq) if seq < index.next_seq() => seq.0 + 1 - index.first_seq().0.min(seq.0 + 1),
            Moment::Balanced => index.events() + log.closers().len() as u64,
            _ => index.events(),
        }
    }

    /// The surface at that moment.
    #[must_use]
    pub fn surface(self, log: &Log) -> Cow<'_, Surface> {
        match self {
            Moment::Stored => Cow::Borrowed(log.surface()),
            Moment::Balanced if log.closers().is_empty() => Cow::Borrowed(log.surface()),
            Moment::Balanced => {
                let mut surface = log.surface().clone();
                for event in log.closers().iter().filter_map(|closer| closer_event(closer, log)) {
                    if log.dialect().is_surface(event.kind) {
                        // A closer is an append, which nothing can refuse.
                        let _ = surface.apply(event.seq.0, event.kind, event.op, None, None);
                    }
                }
                Cow::Owned(surface)
            }
            Moment::After(seq) => Cow::Owned(log.surface().as_of(seq.0, projection::count_upto(log, seq.0))),
        }
    }
}
