//! What an event refers to and what refers to it (v0 sections 7, 9.3 and 16.9).

use super::moment::Moment;
use crate::error::Result;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::sources::Run;
use crate::json::Raw;
use crate::log::Log;
use crate::log::walk::Span;
use crate::seq::Seq;
use std::ops::ControlFlow;

/// One way in which an event refers to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    /// The member that names them.
    pub member: &'static str,
    /// The events, in runs.
    pub runs: Vec<Run>,
}

impl Citation {
    /// Whether it names that event.
    #[must_use]
    pub fn names(&self, seq: Seq) -> bool {
        self.runs.iter().any(|run| (run.first..=run.last).contains(&seq.0))
    }
}

/// Everything that an event refers to by seq.
#[must_use]
pub fn of(event: &Event<'_>) -> Vec<Citation> {
    let mut out = Vec::new();
    let mut add = |member, runs: Vec<Run>| {
        if !runs.is_empty() {
            out.push(Citation { member, runs });
        }
    };
    if let Some(sources) = event.cited() {
        add("sourceEventSeqs", sources.runs().to_vec());
    }
    let one = |n: u64| Run { first: n, last: n };
    let number = |name| event.data.get(name).and_then(Raw::count).map(one).into_iter().collect();
    match event.kind {
        Kind::CompactionSummary | Kind::CompactionPrune => {
            add("shadowedSeqs", list(event.data.get("shadowedSeqs")))
        }
        Kind::SessionTitle | Kind::SessionTitleLlmRequest => {
            add("messageSeqs", list(event.data.get("messageSeqs")))
        }
        Kind::CommandDone => add("sourceEventSeq", number("sourceEventSeq")),
        Kind::DeveloperMessage => add("headerSeq", number("headerSeq")),
        Kind::ImageOffload => {
            let targets = event.data.get("targets").into_iter().flat_map(Raw::elements);
            add("targets", targets.filter_map(|t| t.get("seq")?.count()).map(one).collect());
        }
        _ => {}
    }
    out
}

/// Numbers as runs, in the order given.
fn list(value: Option<Raw<'_>>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for n in value.into_iter().flat_map(Raw::elements).filter_map(Raw::count) {
        match runs.last_mut() {
            Some(run) if run.last + 1 == n => run.last = n,
            _ => runs.push(Run { first: n, last: n }),
        }
    }
    runs
}

/// An event that refers to another, and by which member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CitedBy {
    /// The event.
    pub seq: Seq,
    /// Its type.
    pub kind: Kind,
    /// The member.
    pub member: &'static str,
}

/// The events behind one that refer to it, up to a moment. One pass over what may refer at all.
pub fn citing(log: &Log, seq: Seq, moment: Moment) -> Result<Vec<CitedBy>> {
    let refers = |kind: Kind| {
        use Kind::{
            CommandDone, CompactionPrune, CompactionSummary, ImageOffload, SessionTitle,
            SessionTitleLlmRequest,
        };
        let by_data = matches!(
            kind,
            CommandDone
                | CompactionPrune
                | CompactionSummary
                | ImageOffload
                | SessionTitle
                | SessionTitleLlmRequest
        );
        by_data || log.dialect().is_surface(kind)
    };
    let mut out = Vec::new();
    log.walk(
        Span { from: seq.next(), ..moment.span(log) },
        |entry| refers(entry.kind),
        |event| {
            for citation in of(event) {
                if citation.names(seq) {
                    out.push(CitedBy { seq: event.seq, kind: event.kind, member: citation.member });
                }
            }
            ControlFlow::Continue(())
        },
    )?;
    Ok(out)
}
