//! Which requests carried a text or an event, from when to when, and through which copies.

use super::words;
use crate::error::Result;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::log::Log;
use crate::log::walk::Span;
use crate::seq::Seq;
use crate::view::moment::Moment;
use crate::view::requests::{self, Request};
use std::ops::ControlFlow;

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// A text, as it stands in the words of messages.
    Text(String),
    /// An event, and what stood in its place later.
    Event(Seq),
}

/// What kind of copy carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copy {
    /// The event itself, as it was appended.
    Original,
    /// A summary that a compaction put in place of others.
    Summary,
    /// A result that was cut, or another replacement.
    Rewrite,
}

impl Copy {
    /// The word used in tables and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Copy::Original => "original",
            Copy::Summary => "summary",
            Copy::Rewrite => "rewrite",
        }
    }
}

/// One event on the surface that carried it.
#[derive(Clone, Debug, PartialEq)]
pub struct Carrier {
    /// The event.
    pub seq: Seq,
    /// Its type.
    pub kind: Kind,
    /// What kind of copy it is.
    pub copy: Copy,
    /// Whether it came from a parent session.
    pub inherited: bool,
    /// The event that took it off the surface; `None` while it is on it.
    pub until: Option<Seq>,
    /// The first request that had it.
    pub first: Option<Request>,
    /// The last one.
    pub last: Option<Request>,
    /// How many requests had it.
    pub requests: usize,
    /// Where the text begins in the words of the event, in bytes.
    pub offset: Option<usize>,
}

/// Every event that carried it to the model up to a moment, ascending. Surface events are read once
/// each; closers carry nothing.
///
/// Errors when the file cannot be read.
pub fn carriers(log: &Log, query: &Query, moment: Moment) -> Result<Vec<Carrier>> {
    let upto = moment.upto();
    let requests = requests::list_upto(log, upto);
    let mut out = Vec::new();
    match query {
        Query::Text(text) => {
            let span = Span { closers: false, ..moment.span(log) };
            let on_surface = |kind| log.dialect().is_surface(kind);
            log.walk(
                span,
                |entry| on_surface(entry.kind),
                |event| {
                    if let Some(offset) = words_of(event, log).find(text.as_str()) {
                        out.extend(carrier(log, &requests, event.seq, upto, Some(offset)));
                    }
                    ControlFlow::Continue(())
                },
            )?;
        }
        Query::Event(seq) => {
            let mut at = Some(*seq);
            while let Some(seq) = at.filter(|seq| *seq <= upto) {
                out.extend(carrier(log, &requests, seq, upto, None));
                at = log.surface().replaced_by(seq.0).map(Seq);
            }
        }
    }
    Ok(out)
}

fn words_of(event: &Event<'_>, log: &Log) -> String {
    match event.kind {
        Kind::ToolResult => words::of_result(event, log.dialect()),
        _ => words::of_conclusion(event),
    }
}

fn carrier(log: &Log, requests: &[Request], seq: Seq, now: Seq, offset: Option<usize>) -> Option<Carrier> {
    let all = log.surface().all();
    let node = all.binary_search_by_key(&seq.0, |node| node.seq).ok().and_then(|n| all.get(n))?;
    let until = log.surface().replaced_by(seq.0).map(Seq).filter(|until| *until <= now);
    let had = |upto: Seq| upto >= seq && until.is_none_or(|until| upto < until);
    let with: Vec<&Request> = requests.iter().filter(|r| r.upto.is_some_and(had)).collect();
    let copy = match (node.op.is_replace(), node.kind) {
        (false, _) => Copy::Original,
        (true, Kind::UserMessage) => Copy::Summary,
        (true, _) => Copy::Rewrite,
    };
    Some(Carrier {
        seq,
        kind: node.kind,
        copy,
        inherited: seq.0 < log.inherited(),
        until,
        first: with.first().copied().copied(),
        last: with.last().copied().copied(),
        requests: with.len(),
        offset,
    })
}
