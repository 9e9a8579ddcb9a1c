//! What the bodies of one attempt at a model call tell: usage, model, outcome, times (v0 sections 8.3
//! and 8.4, generations 2.5 to 2.7).
//!
//! An attempt's usage counts once: the message's where it has one, else the last that was streamed.

use super::figures::Figures;
use super::requests::{Ending, Request};
use super::settled::{Settled, Streamed, bears_token};
use super::tokens::Tokens;
use crate::error::Result;
use crate::format::kind::Kind;
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

    /// Takes what a stream tells, where the message did not.
    fn add(&mut self, stream: &Streamed) {
        self.usage = self.usage.or(stream.usage);
        self.first_token = self.first_token.or(stream.first_token);
        self.failure = stream.failure.clone().or(self.failure.take());
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
        ended: 0,
        outcome: match request.ending {
            Ending::Message => Outcome::Message,
            Ending::Failed => Outcome::Failed,
            Ending::Open => Outcome::Open,
        },
        ..Attempt::default()
    };
    attempt.ended = match entry(request.last) {
        // Of a packed row the index holds the time of the first member.
        Some(e) if e.seq < request.last => bodies.with(request.last, |event| event.time)?.unwrap_or(e.time),
        last => last.map_or(0, |e| e.time),
    };
    // Chunks come before the message: bodies are cheapest in ascending order.
    let chunks = entry(request.first).is_some_and(|e| e.kind == Kind::AssistantChunk);
    if chunks && timed {
        first_token(log, bodies, request, &mut attempt)?;
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
            attempt.has_content = settled.has_content;
            attempt.model.clone_from(&settled.model);
            attempt.usage = settled.usage;
            if settled.interrupted {
                attempt.outcome = Outcome::Interrupted;
            }
            attempt.add(&settled.stream);
        }
    }
    if chunks && attempt.usage.is_none() {
        attempt.add(&streamed(log, bodies, request)?);
    }
    if attempt.outcome != Outcome::Failed {
        attempt.failure = None;
    }
    Ok(attempt)
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
            if event.seq > request.last {
                return ControlFlow::Break(());
            }
            if event.data.get("chunk").is_some_and(bears_token) {
                attempt.first_token = Some(event.time);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
    }
    Ok(())
}

/// What an attempt's chunk events tell. Usage and finish are never packed.
fn streamed(log: &Log, bodies: &mut Bodies<'_>, request: &Request) -> Result<Streamed> {
    let index = log.index();
    let mut streamed = Streamed::default();
    let Some(from) = index.record_of(request.first) else { return Ok(streamed) };
    for (n, entry) in index.entries().iter().enumerate().skip(from) {
        if entry.seq > request.last {
            break;
        }
        if entry.kind != Kind::AssistantChunk || entry.flags.has(Flags::PACKED) {
            continue;
        }
        let _ = bodies.record(n, |event| {
            if let Some(chunk) = event.data.get("chunk") {
                streamed.take(chunk, Some(event.time));
            }
            ControlFlow::Continue(())
        })?;
    }
    Ok(streamed)
}
