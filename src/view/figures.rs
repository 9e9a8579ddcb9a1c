//! What the ledger of tools, the figures and the list of requests take from events while a log is read,
//! so that it is decoded once.

use super::settled::Settled;
use super::tools::note::{self, Note};
use crate::format::dialect::Dialect;
use crate::format::event::Event;
use crate::format::glean::{Glean, Gleaned};
use crate::format::kind::Kind;
use std::sync::Arc;

/// What was taken from one event.
#[derive(Debug)]
pub(super) struct Figures {
    /// For the ledger.
    pub(super) ledger: Note,
    /// Of an event that settles an attempt at a model call.
    pub(super) settled: Option<Settled>,
}

/// Takes it; handed to [`Log::read_gleaning`](crate::log::Log::read_gleaning).
#[derive(Clone, Copy, Debug)]
pub struct Gleaner;

impl Glean for Gleaner {
    fn wants(&self, kind: Kind) -> bool {
        note::takes(kind) || kind == Kind::AssistantAttempt
    }

    fn glean(&self, event: &Event<'_>, dialect: &Dialect) -> Gleaned {
        let settles = matches!(event.kind, Kind::AssistantMessage | Kind::AssistantAttempt);
        let settled = settles.then(|| Settled::of(event));
        Arc::new(Figures { ledger: Note::of(event, dialect), settled })
    }
}
