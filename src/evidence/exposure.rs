//! Which requests carried a text or an event, from when to when, and through which copies.

use super::words;
use crate::error::Result;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::log::Log;
use crate::log::visit::Bodies;
use crate::log::walk::Span;
use crate::seq::Seq;
use crate::view::messages;
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

/// Every event that carried it to the model up to a moment, ascending: surface events, and headers with
/// the system prompt or tools in them. Each is read once; closers carry nothing.
///
/// Errors when the file cannot be read.
pub fn carriers(log: &Log, query: &Query, moment: Moment) -> Result<Vec<Carrier>> {
    let sent = Sent { log, requests: requests::list_upto(log, moment.upto()), upto: moment.upto() };
    let mut out = Vec::new();
    match query {
        Query::Text(text) => {
            let span = Span { closers: false, ..moment.span(log) };
            log.walk(
                span,
                |entry| entry.kind == Kind::RequestHeader || log.dialect().is_surface(entry.kind),
                |event| {
                    if let Some(offset) = words::of_sent(event, log.dialect()).find(text.as_str()) {
                        out.extend(sent.carrier(event, Some(offset)));
                    }
                    ControlFlow::Continue(())
                },
            )?;
        }
        Query::Event(seq) => {
            let mut bodies = Bodies::new(log);
            let mut at = Some(*seq);
            while let Some(seq) = at.filter(|seq| *seq <= sent.upto) {
                out.extend(bodies.with(seq, |event| sent.carrier(event, None))?.flatten());
                at = log.surface().replaced_by(seq.0).map(Seq);
            }
        }
    }
    Ok(out)
}

/// What was sent up to a moment.
struct Sent<'a> {
    log: &'a Log,
    requests: Vec<Request>,
    upto: Seq,
}

impl Sent<'_> {
    /// An event as a carrier; `None` for one that no request can have.
    fn carrier(&self, event: &Event<'_>, offset: Option<usize>) -> Option<Carrier> {
        let seq = event.seq;
        let (copy, until) = if event.kind == Kind::RequestHeader {
            (Copy::Original, self.next_header(seq))
        } else {
            let all = self.log.surface().all();
            let node = all.binary_search_by_key(&seq.0, |node| node.seq).ok().and_then(|n| all.get(n))?;
            let copy = match (node.op.is_replace(), node.kind) {
                (false, _) => Copy::Original,
                (true, Kind::UserMessage) => Copy::Summary,
                (true, _) => Copy::Rewrite,
            };
            (copy, self.log.surface().replaced_by(seq.0).map(Seq))
        };
        let until = until.filter(|until| *until <= self.upto);
        // A message without content only holds a place: no request has it.
        let is_sent = event.kind == Kind::RequestHeader || messages::derive(event).is_some();
        let had = |upto: Seq| is_sent && upto >= seq && until.is_none_or(|until| upto < until);
        let with: Vec<&Request> = self.requests.iter().filter(|r| r.upto.is_some_and(had)).collect();
        Some(Carrier {
            seq,
            kind: event.kind,
            copy,
            inherited: seq.0 < self.log.inherited(),
            until,
            first: with.first().copied().copied(),
            last: with.last().copied().copied(),
            requests: with.len(),
            offset,
        })
    }

    fn next_header(&self, seq: Seq) -> Option<Seq> {
        let entries = self.log.index().entries();
        let behind = &entries[entries.partition_point(|entry| entry.seq <= seq)..];
        behind.iter().find(|entry| entry.kind == Kind::RequestHeader).map(|entry| entry.seq)
    }
}
