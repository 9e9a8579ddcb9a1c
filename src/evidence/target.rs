//! Which conclusion is meant, and which request produced it.

use super::words;
use crate::error::{Error, ErrorKind, Result};
use crate::format::kind::Kind;
use crate::format::sources::Sources;
use crate::log::Log;
use crate::log::index::{Entry, Flags};
use crate::log::visit::Bodies;
use crate::seq::Seq;
use crate::view::requests::{self, Request};
use std::ops::Range;

/// Which conclusion is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The one at a seq, see [`at`].
    Seq(Seq),
    /// The last one up to an event that holds a text, see [`with_text`].
    Text(String, Seq),
}

/// A conclusion: what it says and what the log says of its making.
#[derive(Clone, Debug)]
pub struct Target {
    /// The event.
    pub seq: Seq,
    /// Its type.
    pub kind: Kind,
    /// Its words, see [`words::of_conclusion`].
    pub text: String,
    /// Only this range of the words is asked about.
    pub focus: Option<Range<usize>>,
    /// The request that produced it; `None` where the log has none, as for a summary.
    pub request: Option<Request>,
    /// The last event that the model had when it made it; `None` = nothing.
    pub upto: Option<Seq>,
    /// The earlier events that the log itself names as its sources.
    pub recorded: Sources,
}

fn usage(log: &Log, code: &'static str, message: String) -> Error {
    Error::new(ErrorKind::Usage, code, message).at_path(log.source().path())
}

/// The conclusion that is asked about; errors as those of [`at`] and [`with_text`].
pub fn of(log: &Log, asked: &Asked) -> Result<Target> {
    match asked {
        Asked::Seq(seq) => at(log, *seq),
        Asked::Text(text, upto) => with_text(log, text, *upto),
    }
}

/// The conclusion at a seq: an assistant message, a tool call, a summary.
///
/// Errors: `no-such-event`, and `no-conclusion` for an event that concludes nothing.
pub fn at(log: &Log, seq: Seq) -> Result<Target> {
    let mut bodies = Bodies::new(log);
    let found = bodies.with(seq, |event| {
        let recorded = event.cited();
        (event.kind, words::of_conclusion(event), words::call_id(event), event.op.is_replace(), recorded)
    })?;
    let Some((kind, text, call_id, replaces, recorded)) = found else {
        let index = log.index();
        let message = match index.next_seq().0.checked_sub(1).filter(|_| index.events() > 0) {
            Some(last) => format!("no event {seq}: the log holds the events {} to {last}", index.first_seq()),
            None => format!("no event {seq}: the log holds no events"),
        };
        return Err(usage(log, "no-such-event", message));
    };
    let mut target = Target {
        seq,
        kind,
        text,
        focus: None,
        request: None,
        upto: seq.0.checked_sub(1).map(Seq),
        recorded: recorded.unwrap_or_default(),
    };
    if !concludes(kind, replaces) {
        let message = format!("event {seq} is a {kind}, which concludes nothing");
        let hint = "name an assistant/message or a tool/call, or give --text";
        return Err(usage(log, "no-conclusion", message).hint(hint));
    }
    match kind {
        Kind::AssistantMessage if !replaces => produced_by(log, &mut target, seq),
        Kind::ToolCall => {
            if let Some(message) = advertised(log, &mut bodies, seq, call_id.as_deref().unwrap_or_default())?
            {
                produced_by(log, &mut target, message);
            }
        }
        // No request stands for a summary, or for what was put in the place of an answer.
        _ => {}
    }
    Ok(target)
}

/// Whether an event of that type concludes anything; a message of people only where it is a summary.
pub(super) fn concludes(kind: Kind, replaces: bool) -> bool {
    match kind {
        Kind::AssistantMessage | Kind::ToolCall | Kind::CompactionSummary => true,
        Kind::UserMessage => replaces,
        _ => false,
    }
}

fn produced_by(log: &Log, target: &mut Target, message: Seq) {
    let list = requests::list(log);
    let request = list.iter().find(|r| r.settled == Some(message)).copied();
    target.upto = request.map_or(message.0.checked_sub(1).map(Seq), |r| r.upto);
    target.request = request;
}

fn is_answer(entry: &Entry) -> bool {
    entry.kind == Kind::AssistantMessage && !entry.flags.has(Flags::REPLACES)
}

/// How many messages before a call are looked at for the one that advertised it.
const MESSAGES_BACK: usize = 8;

/// The message that advertised a call: the nearest one before it with that id, else the nearest.
fn advertised(log: &Log, bodies: &mut Bodies<'_>, call: Seq, id: &str) -> Result<Option<Seq>> {
    let entries = log.index().entries();
    let before = entries.partition_point(|entry| entry.seq < call);
    let messages: Vec<Seq> =
        entries[..before].iter().rev().filter(|e| is_answer(e)).take(MESSAGES_BACK).map(|e| e.seq).collect();
    for seq in &messages {
        let names_it = bodies.with(*seq, |event| {
            let content = event.message().and_then(|m| m.get("content"));
            content.is_some_and(|c| c.elements().any(|b| b.get("id").is_some_and(|v| v.is(id))))
        })?;
        if names_it == Some(true) {
            return Ok(Some(*seq));
        }
    }
    Ok(messages.first().copied())
}

/// How many events are read at once on the way back.
const STRIDE: usize = 64;

/// The last assistant message up to an event that holds a text, in its words or in the arguments of its
/// calls. Only the lines that hold it are asked about.
///
/// Errors: `no-such-text`.
pub fn with_text(log: &Log, wanted: &str, upto: Seq) -> Result<Target> {
    let entries = log.index().entries().iter().take_while(|entry| entry.seq <= upto);
    let answers: Vec<Seq> = entries.filter(|e| is_answer(e)).map(|e| e.seq).collect();
    let mut bodies = Bodies::new(log);
    for stride in answers.rchunks(STRIDE) {
        let mut last = None;
        // Within a stride ascending, which is how bodies are cheap to read.
        for seq in stride {
            let found = bodies.with(*seq, |event| focus(&words::of_conclusion(event), wanted))?;
            if let Some(focus) = found.flatten() {
                last = Some((*seq, focus));
            }
        }
        if let Some((seq, focus)) = last {
            return Ok(Target { focus: Some(focus), ..at(log, seq)? });
        }
    }
    let shown: String = wanted.chars().take(crate::limits::SHOWN_CHARS).collect();
    Err(usage(log, "no-such-text", format!("no assistant message holds `{shown}`")))
}

/// The lines of a conclusion that hold a text; `None` when none does.
pub(super) fn focus(text: &str, wanted: &str) -> Option<Range<usize>> {
    let from = text.find(wanted)?;
    let behind = from + wanted.len();
    let start = text[..from].rfind('\n').map_or(0, |at| at + 1);
    let end = text[behind..].find('\n').map_or(text.len(), |at| behind + at);
    Some(start..end)
}
