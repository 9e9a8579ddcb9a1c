//! What the bodies of one attempt at a model call tell: usage, model, outcome, times (v0 sections 8.3
//! and 8.4, generations 2.5 to 2.7).
//!
//! An attempt's usage counts once: the message's where it has one, else the last that was streamed.

use super::figures::Figures;
use super::requests::{Ending, Request};
use super::tokens::Tokens;
use crate::error::Result;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::json::Raw;
use crate::log::Log;
use crate::log::index::Flags;
use crate::log::visit::Bodies;
use crate::seq::Seq;
use std::ops::ControlFlow;

/// How an attempt ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// With a message.
    Message,
    /// With the words that had come when it was cancelled.
    Interrupted,
    /// Without a message.
    Failed,
    /// It runs when the log ends.
    #[default]
    Open,
}

impl Outcome {
    /// The word used in tables and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Message => "message",
            Outcome::Interrupted => "interrupted",
            Outcome::Failed => "failed",
            Outcome::Open => "open",
        }
    }
}

/// What is known of one attempt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attempt {
    /// Its usage, where some was reported.
    pub usage: Option<Tokens>,
    /// The provider and the model.
    pub model: Option<(String, String)>,
    /// How it ended.
    pub outcome: Outcome,
    /// The code of the failure, or the kind of the finish reason of a call that failed.
    pub failure: Option<String>,
    /// When it was sent, as near as the log tells: the time of the event before it.
    pub sent: i64,
    /// When the first words, reasoning or arguments came.
    pub first_token: Option<i64>,
    /// When its last event came.
    pub ended: i64,
    /// Whether its message has content; one without is no message for the model.
    pub has_content: bool,
}

impl Attempt {
    /// From sending to the last event, in milliseconds.
    #[must_use]
    pub fn millis(&self) -> u64 {
        u64::try_from(self.ended.saturating_sub(self.sent)).unwrap_or(0)
    }

    /// From sending to the first token, in milliseconds.
    #[must_use]
    pub fn first_token_millis(&self) -> Option<u64> {
        Some(u64::try_from(self.first_token?.saturating_sub(self.sent)).unwrap_or(0))
    }
}

/// Reads what the bodies of an attempt tell. `timed` also looks for the first token.
pub fn read(log: &Log, bodies: &mut Bodies<'_>, request: &Request, timed: bool) -> Result<Attempt> {
    let index = log.index();
    let entry = |seq: Seq| index.record_of(seq).map(|n| index.entries()[n]);
    let time = |seq: Seq| entry(seq).map(|e| e.time);
    let mut attempt = Attempt {
        sent: request.upto.and_then(time).or(time(request.first)).unwrap_or(0),
        ended: time(request.last).unwrap_or(0),
        outcome: match request.ending {
            Ending::Message => Outcome::Message,
            Ending::Failed => Outcome::Failed,
            Ending::Open => Outcome::Open,
        },
        ..Attempt::default()
    };
    let mut streamed = None;
    // Chunks come before the message: bodies are cheapest in ascending order.
    let chunks = entry(request.first).is_some_and(|e| e.kind == Kind::AssistantChunk);
    if chunks && timed {
        first_token(log, bodies, request, &mut attempt)?;
    }
    if chunks && request.settled.is_none() {
        streamed = last_usage(log, bodies, request, &mut attempt)?;
    }
    if let Some(seq) = request.settled {
        let read;
        let settled = match log.gleaned_at::<Figures>(seq) {
            Some(figures) => figures.settled.as_ref(),
            None => {
                read = bodies.with(seq, Settled::of)?;
                read.as_ref()
            }
        };
        if let Some(settled) = settled {
            settled.apply(&mut attempt);
            streamed = settled.streamed;
        }
        if chunks && attempt.usage.is_none() {
            streamed = last_usage(log, bodies, request, &mut attempt)?;
        }
    }
    attempt.usage = attempt.usage.or(streamed);
    if attempt.outcome != Outcome::Failed {
        attempt.failure = None;
    }
    Ok(attempt)
}

/// What the event that settles an attempt tells.
#[derive(Debug, Default)]
pub(super) struct Settled {
    has_content: bool,
    model: Option<(String, String)>,
    usage: Option<Tokens>,
    interrupted: bool,
    /// What its stream tells, where it has one.
    failure: Option<String>,
    first_token: Option<i64>,
    streamed: Option<Tokens>,
}

impl Settled {
    /// Reads it.
    pub(super) fn of(event: &Event<'_>) -> Settled {
        let [message, stream, usage, interrupted] =
            event.data.get_all(["message", "stream", "usage", "interrupted"]);
        let mut settled = Settled {
            usage: usage.filter(|u| u.is_object()).map(Tokens::of),
            interrupted: interrupted.is_some_and(Raw::is_true),
            ..Settled::default()
        };
        if let Some(message) = message {
            let [source, content] = message.get_all(["source", "content"]);
            settled.has_content = content.is_some_and(|c| c.elements().next().is_some());
            let [provider, model] = source.map_or([None; 2], |s| s.get_all(["provider", "model"]));
            let shown = |value: Option<Raw<'_>>| value.and_then(Raw::display_text);
            settled.model = shown(provider).zip(shown(model));
        }
        let (mut told, mut streamed) = (Attempt::default(), None);
        for record in stream.into_iter().flat_map(Raw::elements) {
            let [kind, time, time0, chunk] = record.get_all(["type", "time", "time0", "chunk"]);
            if kind.is_some_and(|k| k.is("chunk")) {
                if let Some(chunk) = chunk {
                    take_chunk(chunk, time.and_then(Raw::safe_int), &mut told, &mut streamed);
                }
            } else if told.first_token.is_none() {
                told.first_token = time0.and_then(Raw::safe_int).and_then(|t| first_in_run(record, t));
            }
        }
        Settled { failure: told.failure, first_token: told.first_token, streamed, ..settled }
    }

    fn apply(&self, attempt: &mut Attempt) {
        attempt.has_content = self.has_content;
        attempt.model.clone_from(&self.model);
        attempt.usage = self.usage;
        if self.interrupted {
            attempt.outcome = Outcome::Interrupted;
        }
        attempt.failure.clone_from(&self.failure);
        attempt.first_token = attempt.first_token.or(self.first_token);
    }
}

/// When the first member of a run that says something came.
fn first_in_run(run: Raw<'_>, time0: i64) -> Option<i64> {
    let [gaps, texts, arguments] = run.get_all(["dt", "texts", "args"]);
    let mut time = time0;
    let mut gaps = gaps.into_iter().flat_map(Raw::elements);
    for text in texts.or(arguments)?.elements() {
        if text.is_filled_text() {
            return Some(time);
        }
        time = time.saturating_add(gaps.next().and_then(Raw::safe_int).unwrap_or(0));
    }
    None
}

/// Takes one chunk: usage, the reason of the finish, the first token.
fn take_chunk(chunk: Raw<'_>, time: Option<i64>, attempt: &mut Attempt, streamed: &mut Option<Tokens>) {
    let [kind, usage, reason] = chunk.get_all(["type", "usage", "reason"]);
    let Some(kind) = kind else { return };
    if kind.is("usage") {
        *streamed = usage.filter(|u| u.is_object()).map(Tokens::of).or(*streamed);
    } else if kind.is("finish") {
        let code = reason.and_then(|r| r.path(&["failure", "code"]).or(r.get("kind")));
        attempt.failure = code.and_then(Raw::display_text);
    } else if attempt.first_token.is_none() && bears_token(chunk) {
        attempt.first_token = time;
    }
}

/// Whether a chunk is a delta that says something (v0 section 8.3).
fn bears_token(chunk: Raw<'_>) -> bool {
    let [kind, text, arguments, name] = chunk.get_all(["type", "text", "argumentsDelta", "name"]);
    let filled = |value: Option<Raw<'_>>| value.is_some_and(Raw::is_filled_text);
    match kind {
        Some(k) if k.is("text-delta") || k.is("reasoning-delta") => filled(text),
        Some(k) if k.is("tool-call-delta") => filled(arguments) || name.is_some(),
        _ => false,
    }
}

fn first_token(log: &Log, bodies: &mut Bodies<'_>, request: &Request, attempt: &mut Attempt) -> Result<()> {
    let index = log.index();
    let Some(from) = index.record_of(request.first) else { return Ok(()) };
    for (n, entry) in index.entries().iter().enumerate().skip(from) {
        if entry.seq > request.last || attempt.first_token.is_some() {
            break;
        }
        if entry.kind != Kind::AssistantChunk {
            continue;
        }
        let _ = bodies.record(n, |event| {
            let says = event.data.get("chunk").is_some_and(bears_token);
            if says {
                attempt.first_token = Some(event.time);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
    }
    Ok(())
}

/// The last usage among an attempt's chunks. Usage and finish are never packed.
fn last_usage(
    log: &Log,
    bodies: &mut Bodies<'_>,
    request: &Request,
    attempt: &mut Attempt,
) -> Result<Option<Tokens>> {
    let index = log.index();
    let mut streamed = None;
    let Some(from) = index.record_of(request.first) else { return Ok(None) };
    for (n, entry) in index.entries().iter().enumerate().skip(from) {
        if entry.seq > request.last {
            break;
        }
        if entry.kind != Kind::AssistantChunk || entry.flags.has(Flags::PACKED) {
            continue;
        }
        let _ = bodies.record(n, |event| {
            if let Some(chunk) = event.data.get("chunk") {
                take_chunk(chunk, Some(event.time), attempt, &mut streamed);
            }
            ControlFlow::Continue(())
        })?;
    }
    Ok(streamed)
}

/// Which model was in force when: the route of each logged header, ascending by seq.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    list: Vec<(u64, String, String)>,
}

impl Routes {
    /// Reads the headers of a log.
    pub fn read(log: &Log) -> Result<Routes> {
        let mut list = Vec::new();
        log.walk(
            crate::log::visit::Span { closers: false, ..log.whole() },
            |entry| entry.kind == Kind::RequestHeader,
            |event| {
                let config = event.data.path(&["header", "config"]);
                let [provider, model] = config.map_or([None; 2], |c| c.get_all(["provider", "model"]));
                let shown = |value: Option<Raw<'_>>| value.and_then(Raw::display_text).unwrap_or_default();
                let (provider, model) = (shown(provider), shown(model));
                let same = |last: &(u64, String, String)| last.1 == provider && last.2 == model;
                if !list.last().is_some_and(same) {
                    list.push((event.seq.0, provider, model));
                }
                ControlFlow::Continue(())
            },
        )?;
        Ok(Routes { list })
    }

    /// The provider and the model in force right before an event.
    #[must_use]
    pub fn at(&self, seq: Seq) -> Option<(&str, &str)> {
        let after = self.list.partition_point(|(at, _, _)| *at < seq.0);
        let (_, provider, model) = self.list.get(after.checked_sub(1)?)?;
        Some((provider, model))
    }
}
