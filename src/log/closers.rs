//! The closers of an interrupted turn: what repair appends, to the letter (v0 section 12.2,
//! generations 4, v4 section 9.2). Readers and upgrades compare the ids and texts.

use super::turns::{Pending, Turns};
use crate::format::detail::Slot;
use crate::format::dialect::{Dialect, ToolResultShape};
use crate::format::kind::Kind;
use crate::json::write::Object;
use crate::json::{Raw, write};
use crate::seq::MAX_SAFE;

/// Why a turn is closed from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The process died.
    Interrupted,
    /// A branch inherited it open.
    Forked,
}

impl Cause {
    fn name(self) -> &'static str {
        match self {
            Cause::Interrupted => "interrupted",
            Cause::Forked => "forked",
        }
    }
}

/// What is known of a call without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was never recorded as started.
    NotStarted,
    /// It was recorded as started; whether it ran to its end is not known.
    Unknown,
}

impl Outcome {
    /// The error code of its closer.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Outcome::NotStarted => "TOOL_NOT_STARTED",
            Outcome::Unknown => "TOOL_OUTCOME_UNKNOWN",
        }
    }

    fn error_name(self) -> &'static str {
        match self {
            Outcome::NotStarted => "ToolNotStartedError",
            Outcome::Unknown => "ToolOutcomeUnknownError",
        }
    }

    /// The word used in tables and JSON.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Outcome::NotStarted => "not-started",
            Outcome::Unknown => "outcome-unknown",
        }
    }

    fn text(self, cause: Cause) -> &'static str {
        match (self, cause) {
            (Outcome::NotStarted, Cause::Interrupted) => {
                "The tool call was interrupted before the Harness recorded it as started. Retry it if it is still needed."
            }
            (Outcome::Unknown, Cause::Interrupted) => {
                "The tool call was interrupted after it was recorded, but no result was durably recorded. Its outcome is unknown. Decide whether to retry from the tool semantics: retry only if the operation is read-only or idempotent; if it may have side effects, first verify external state or ask the user. Do not retry blindly."
            }
            (Outcome::NotStarted, Cause::Forked) => {
                "The history inherited by this branch has no record of this tool call starting. The parent session may have executed it after the fork point. Decide whether to retry from the tool semantics: retry only if the operation is read-only or idempotent; if it may have side effects, first verify external state or ask the user. Do not retry blindly."
            }
            (Outcome::Unknown, Cause::Forked) => {
                "The history inherited by this branch records this tool call starting but does not include its result. The parent session may have completed it after the fork point. Decide whether to retry from the tool semantics: retry only if the operation is read-only or idempotent; if it may have side effects, first verify external state or ask the user. Do not retry blindly."
            }
        }
    }
}

impl Pending {
    /// What is known of the call.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        if self.call_seq.is_some() { Outcome::Unknown } else { Outcome::NotStarted }
    }
}

/// An event that is not stored: repair would append it.
#[derive(Clone, Debug, PartialEq)]
pub struct Closer {
    /// Its seq.
    pub seq: u64,
    /// Its time: that of the last stored event.
    pub time: i64,
    /// Its type.
    pub kind: Kind,
    /// Its whole text.
    pub text: Vec<u8>,
    /// For a tool result, which call it answers and what is known.
    pub answers: Option<(Pending, Outcome)>,
}

/// The closers for the open turn, continuing at `next` with the time of the last event; none when
/// no turn is open.
///
/// With an open compaction a closed turn would be unreadable in generations that enforce rules
/// between events, so an end-seed follows (v4 section 9.5).
#[must_use]
pub fn closers(turns: &Turns, next: u64, time: i64, cause: Cause, dialect: &Dialect) -> Vec<Closer> {
    let Some((turn, _)) = turns.open_turn() else { return Vec::new() };
    let mut list = Vec::new();
    let mut add = |kind, answers: Option<(Pending, Outcome)>, data: Vec<u8>, tail: Object| {
        let seq = next + list.len() as u64;
        let text = splice(kind, seq, time, &data, tail);
        list.push(Closer { seq, time, kind, text, answers });
    };
    for (n, call) in turns.pending().enumerate() {
        let seq = next + n as u64;
        let data = result_data(call, turn, seq, cause, dialect);
        let mut tail = Object::new().text("surfaceOp", b"append");
        if let Some(call_seq) = call.call_seq {
            tail = tail.list("sourceEventSeqs", [call_seq.to_string()]);
        }
        add(Kind::ToolResult, Some((call.clone(), call.outcome())), data, tail);
    }
    if let Some((step, _)) = turns.open_step() {
        let data =
            Object::new().raw_if("turn", turn.json().as_deref()).raw_if("step", step.json().as_deref());
        add(Kind::StepEnd, None, data.end(), Object::new());
    }
    let reason = Object::new().text("kind", cause.name().as_bytes()).end();
    let data = Object::new().raw_if("turn", turn.json().as_deref()).raw("reason", &reason);
    add(Kind::TurnEnd, None, data.end(), Object::new());
    if dialect.relations && turns.open_compaction().is_some() && cause == Cause::Interrupted {
        add(Kind::EndSeed, None, b"{}".to_vec(), Object::new());
    }
    list
}

/// An event's text: the envelope, then the members of `tail`.
fn splice(kind: Kind, seq: u64, time: i64, data: &[u8], tail: Object) -> Vec<u8> {
    let mut text = Object::new()
        .text("type", kind.name().as_bytes())
        .int("seq", seq)
        .int("time", time)
        .raw("data", data)
        .end();
    let tail = tail.end();
    if tail.len() > 2 {
        text.pop();
        text.push(b',');
        text.extend_from_slice(&tail[1..]);
    }
    text
}

fn result_data(call: &Pending, open_turn: &Slot, seq: u64, cause: Cause, dialect: &Dialect) -> Vec<u8> {
    let outcome = call.outcome();
    // An id that is missing is no JSON; its member is left out, as `JSON.stringify` leaves it out.
    let id = Raw::parse(&call.id).ok();
    let id_json = id.map(Raw::bytes);
    let id_text = id.and_then(|id| Some(id.text()?.into_owned()));
    let id_text = id_text.unwrap_or_else(|| call.id.to_vec());
    let mut message_id = format!("{}-tool-result-", cause.name()).into_bytes();
    message_id.extend_from_slice(&id_text);
    message_id.extend_from_slice(format!("-{seq}").as_bytes());
    let text = Object::new().text("type", b"text").text("text", outcome.text(cause).as_bytes()).end();
    let content = write::array([text]);
    let source = Object::new().text("kind", b"tool").raw_if("callId", id_json).end();
    let message = match dialect.tool_result {
        ToolResultShape::Bare => Object::new()
            .text("id", &message_id)
            .text("role", b"tool")
            .raw_if("toolCallId", id_json)
            .bool("isError", true)
            .raw("source", &source)
            .raw("content", &content),
        ToolResultShape::Wrapped => {
            let block = Object::new()
                .text("type", b"tool-result")
                .raw_if("toolCallId", id_json)
                .bool("isError", true)
                .raw("content", &content);
            let blocks = write::array([block.end()]);
            Object::new()
                .text("id", &message_id)
                .text("role", b"user")
                .raw("source", &source)
                .raw("content", &blocks)
        }
    };
    // Up to generation 3 the turn is the open one; later it is the advertising message's.
    let turn = match dialect.tool_result {
        ToolResultShape::Bare => &call.turn,
        ToolResultShape::Wrapped => open_turn,
    };
    let error = Object::new()
        .text("name", outcome.error_name().as_bytes())
        .text("code", outcome.code().as_bytes())
        .end();
    Object::new()
        .raw_if("turn", turn.json().as_deref())
        .raw_if("step", call.step.json().as_deref())
        .raw("message", &message.end())
        .raw("error", &error)
        .end()
}

/// Why the closers would not be valid events, so that they must never be written; `None` when they
/// are (v0 sections 5.2 V7 and 12.3).
#[must_use]
pub fn fault(turns: &Turns, dialect: &Dialect) -> Option<(crate::fault::Code, String)> {
    use crate::fault::Code;
    let (turn, _) = turns.open_turn()?;
    if let Some(call) = turns.pending().find(|call| !is_filled(&call.id)) {
        let id = String::from_utf8_lossy(&call.id).into_owned();
        let message = format!(
            "the unanswered call {id} that event {} advertises has no usable id, so its closer would be invalid",
            call.message_seq
        );
        return Some((Code::CloserMalformed, message));
    }
    let numbered = matches!(turn, Slot::Number(n) if *n >= 1.0 && n.fract() == 0.0 && *n <= MAX_SAFE as f64);
    if dialect.legacy_shapes && !numbered {
        let message = "the open turn has no usable number: its turn/end would make the log unreadable";
        return Some((Code::LegacyMalformed, message.to_owned()));
    }
    None
}

fn is_filled(id: &[u8]) -> bool {
    id.len() > 2 && id[0] == b'"'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::detail::Detail;

    #[test]
    fn a_closer_of_a_call_without_an_id_is_json_all_the_same() {
        let dialect = Dialect::of(0).unwrap();
        let mut turns = Turns::new(dialect);
        turns.apply(0, Kind::TurnStart, Some(&Detail { turn: Slot::Number(1.0), ..Detail::default() }));
        let message = Detail { calls: vec![b"undefined"[..].into()], ..Detail::default() };
        turns.apply(1, Kind::AssistantMessage, Some(&message));
        let closers = closers(&turns, 2, 5, Cause::Interrupted, dialect);
        let record = Raw::parse(&closers[0].text).unwrap();
        let message = record.path(&["data", "message"]).unwrap();
        assert!(message.get("id").unwrap().is("interrupted-tool-result-undefined-2"));
        assert!(message.path(&["source", "callId"]).is_none());
        assert!(fault(&turns, dialect).is_some());
    }
}
