//! Old record shapes, upgraded in memory (v0 section 5.3). The stored file is never rewritten.

use super::kind::Kind;
use super::shape::{filled, is_any, is_text, keys_among, object};
use super::surface_op::SurfaceOp;
use crate::json::write::{Object, push_string};
use crate::json::{Kind as JsonKind, Raw};

/// What becomes of a record's payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Upgrade {
    /// It is of today's shape, or of no shape we know: left as it is.
    Current,
    /// It is of an old shape.
    Rewritten {
        /// The type it has now.
        kind: Kind,
        /// Its payload now, made of the stored slices.
        data: Vec<u8>,
        /// The event whose `data.message.id` its message takes over; see [`with_message_id`].
        inherits_id_from: Option<u64>,
    },
    /// It is of an old shape and breaks it, or a `turn/end` that is of no shape.
    Malformed(String),
}

impl Upgrade {
    fn rewritten(kind: Kind, data: Vec<u8>) -> Upgrade {
        Upgrade::Rewritten { kind, data, inherits_id_from: None }
    }

    fn malformed(message: &str) -> Upgrade {
        Upgrade::Malformed(message.to_owned())
    }
}

/// Upgrades the payload of one record; ids are minted from the session's id and the record's seq.
#[must_use]
pub fn upgrade(kind: Kind, data: Raw<'_>, op: SurfaceOp, session_id: &[u8], seq: u64) -> Upgrade {
    // Only an object can be of an old shape, but a steering message has no other.
    if !data.is_object() {
        return match kind {
            Kind::SteeringMessage => Upgrade::malformed(STEERING),
            _ => Upgrade::Current,
        };
    }
    let mint = || minted_id(session_id, seq);
    match kind {
        Kind::TurnStart => turn_start(data),
        Kind::TurnEnd => turn_end(data),
        Kind::SteeringMessage => steering(data, mint),
        Kind::UserMessage => user(data, mint),
        Kind::AssistantMessage => assistant(data, mint),
        Kind::ToolResult => tool_result(data, op, mint),
        _ => Upgrade::Current,
    }
}

/// The literal of the id that a message without one gets.
fn minted_id(session_id: &[u8], seq: u64) -> Vec<u8> {
    let mut literal = Vec::new();
    let id = [b"legacy-message:", session_id, b":", seq.to_string().as_bytes()].concat();
    push_string(&mut literal, &id);
    literal
}

/// Puts an id, given as JSON text, first into `data.message`.
#[must_use]
pub fn with_message_id(data: Raw<'_>, id_literal: &[u8]) -> Vec<u8> {
    let mut out = Text::new();
    for (key, value) in data.members() {
        if key.is("message") && value.is_object() {
            let mut message = Text::new();
            message.add(b"\"id\"", id_literal);
            message.keep(value, &["id"]);
            out.add(key.bytes(), &message.end());
        } else {
            out.add(key.bytes(), value.bytes());
        }
    }
    out.end()
}

/// An object made of stored members, their names as they are written.
struct Text(Vec<u8>);

impl Text {
    fn new() -> Text {
        Text(vec![b'{'])
    }

    /// Adds a member; both are JSON text.
    fn add(&mut self, key: &[u8], value: &[u8]) {
        if self.0.len() > 1 {
            self.0.push(b',');
        }
        self.0.extend_from_slice(key);
        self.0.push(b':');
        self.0.extend_from_slice(value);
    }

    /// Adds the members of an object, but for those names.
    fn keep(&mut self, from: Raw<'_>, but: &[&str]) {
        for (key, value) in from.members() {
            if !but.iter().any(|name| key.is(name)) {
                self.add(key.bytes(), value.bytes());
            }
        }
    }

    fn end(mut self) -> Vec<u8> {
        self.0.push(b'}');
        self.0
    }
}

fn is_turn(value: Option<Raw<'_>>) -> bool {
    value.and_then(Raw::safe_int).is_some_and(|n| n >= 1)
}

fn turn_start(data: Raw<'_>) -> Upgrade {
    let [turn, trigger] = data.get_all(["turn", "trigger"]);
    let Some(trigger) = trigger else { return Upgrade::Current };
    let sound = is_turn(turn) && trigger.is_object() && filled(trigger.get("kind"));
    match turn.filter(|_| sound && keys_among(data, &["turn", "trigger"])) {
        Some(turn) => Upgrade::rewritten(Kind::TurnStart, Object::new().raw("turn", turn.bytes()).end()),
        None => {
            Upgrade::malformed("turn/start with a trigger, expected exactly a turn and a trigger with a kind")
        }
    }
}

/// Judges today's turns too: the harness does.
fn turn_end(data: Raw<'_>) -> Upgrade {
    let [turn, reason] = data.get_all(["turn", "reason"]);
    let exact = is_turn(turn) && keys_among(data, &["turn", "reason"]);
    let Some(reason) = object(reason).filter(|_| exact) else {
        return Upgrade::malformed("turn/end, expected exactly a turn and a reason");
    };
    // The new reason stands where the old one stood.
    let rewritten = |reason: &[u8]| {
        let mut out = Text::new();
        for (key, value) in data.members() {
            out.add(key.bytes(), if key.is("reason") { reason } else { value.bytes() });
        }
        Upgrade::rewritten(Kind::TurnEnd, out.end())
    };
    let [kind, inner, error] = reason.get_all(["kind", "reason", "error"]);
    let bare = keys_among(reason, &["kind"]);
    if !is_text(kind) {
        return Upgrade::malformed("turn/end whose reason has no kind");
    }
    if is_any(kind, &["completed", "blocked", "max-tokens", "interrupted"]) {
        return if bare { Upgrade::Current } else { Upgrade::malformed(NOT_BARE) };
    }
    let is_kind = |wanted| is_any(kind, &[wanted]);
    if is_kind("aborted") {
        return match inner {
            Some(_) => Upgrade::Current,
            None if bare => rewritten(br#"{"kind":"aborted","reason":{"kind":"legacy"}}"#),
            None => Upgrade::malformed(NOT_BARE),
        };
    }
    if is_kind("disposed") {
        return if bare {
            rewritten(br#"{"kind":"aborted","reason":{"kind":"disposed"}}"#)
        } else {
            Upgrade::malformed(NOT_BARE)
        };
    }
    if !is_kind("error") || error.is_some() {
        return Upgrade::Current;
    }
    match legacy_error(reason) {
        Some(error) => rewritten(&Object::new().raw("kind", b"\"error\"").raw("error", &error).end()),
        None => Upgrade::malformed("turn/end with an error of an old shape, expected a step and a failure"),
    }
}

const NOT_BARE: &str = "turn/end whose reason, expected to hold only its kind, holds more";

/// The failure of an old error: `failure`, or `message` and `code`.
fn legacy_error(reason: Raw<'_>) -> Option<Vec<u8>> {
    let [step, failure, message, code] = reason.get_all(["step", "failure", "message", "code"]);
    step.and_then(Raw::count)?;
    if let Some(failure) = failure {
        let exact = keys_among(reason, &["kind", "step", "failure"]);
        return (exact && is_failure(failure)).then(|| failure.bytes().to_vec());
    }
    let exact = keys_among(reason, &["kind", "step", "message", "code"]);
    let message = message.filter(|message| exact && is_text(Some(*message)))?;
    if code.is_some() && !is_text(code) {
        return None;
    }
    let code = code.map_or(&b"\"UNKNOWN\""[..], Raw::bytes);
    Some(Object::new().raw("message", message.bytes()).raw("code", code).end())
}

fn is_failure(failure: Raw<'_>) -> bool {
    const KEYS: [&str; 5] = ["message", "code", "status", "providerRetryAfterMs", "requestId"];
    let [message, code, status, after, request] = failure.get_all(KEYS);
    let number = |value: Option<Raw<'_>>| value.is_none_or(|value| value.kind() == JsonKind::Number);
    failure.is_object()
        && keys_among(failure, &KEYS)
        && is_text(message)
        && is_text(code)
        && number(status)
        && number(after)
        && (request.is_none() || is_text(request))
}

const STEERING: &str =
    "steering/message, expected exactly a turn and a message, or a turn, a content and a source";

fn steering(data: Raw<'_>, mint: impl Fn() -> Vec<u8>) -> Upgrade {
    let [turn, message, content, source] = data.get_all(["turn", "message", "content", "source"]);
    if turn.and_then(Raw::safe_int).is_none() {
        return Upgrade::malformed(STEERING);
    }
    if let Some(message) = message {
        let exact = keys_among(data, &["turn", "message"]);
        return match object(Some(message)).filter(|_| exact) {
            Some(message) => Upgrade::rewritten(Kind::UserMessage, message.bytes().to_vec()),
            None => Upgrade::malformed(STEERING),
        };
    }
    if content.is_none() || source.is_none() || !keys_among(data, &["turn", "content", "source"]) {
        return Upgrade::malformed(STEERING);
    }
    Upgrade::rewritten(Kind::UserMessage, identified(data, &["turn"], &mint()))
}

fn user(data: Raw<'_>, mint: impl Fn() -> Vec<u8>) -> Upgrade {
    let [id, role, message, content, source] = data.get_all(["id", "role", "message", "content", "source"]);
    let old = id.is_none() && role.is_none() && message.is_none();
    if !old || content.is_none() || source.is_none() {
        return Upgrade::Current;
    }
    Upgrade::rewritten(Kind::UserMessage, identified(data, &[], &mint()))
}

/// The stored members, then an id and the role of a user.
fn identified(data: Raw<'_>, but: &[&str], id: &[u8]) -> Vec<u8> {
    let mut out = Text::new();
    out.keep(data, but);
    out.add(b"\"id\"", id);
    out.add(b"\"role\"", b"\"user\"");
    out.end()
}

fn assistant(data: Raw<'_>, mint: impl Fn() -> Vec<u8>) -> Upgrade {
    let [message, content, provenance] = data.get_all(["message", "content", "provenance"]);
    let (None, Some(content), Some(provenance)) = (message, content, object(provenance)) else {
        return Upgrade::Current;
    };
    let mut source = Text::new();
    for (key, value) in provenance.members() {
        // A kind of its own keeps its place and loses its value, as when it is spread.
        let value = if key.is("kind") { b"\"model\"" } else { value.bytes() };
        source.add(key.bytes(), value);
    }
    if provenance.get("kind").is_none() {
        source.add(b"\"kind\"", b"\"model\"");
    }
    let message =
        Object::new().raw("id", &mint()).raw("role", b"\"assistant\"").raw("content", content.bytes());
    let mut out = Text::new();
    out.keep(data, &["content", "provenance"]);
    out.add(b"\"message\"", &message.raw("source", &source.end()).end());
    Upgrade::rewritten(Kind::AssistantMessage, out.end())
}

fn tool_result(data: Raw<'_>, op: SurfaceOp, mint: impl Fn() -> Vec<u8>) -> Upgrade {
    let [message, call, content, failed] = data.get_all(["message", "callId", "content", "isError"]);
    let (None, Some(call), Some(content), Some(failed)) = (message, call, content, failed) else {
        return Upgrade::Current;
    };
    let inherits_id_from = match op {
        SurfaceOp::Replace { start, .. } => Some(start),
        _ => None,
    };
    let id = inherits_id_from.is_none().then(mint);
    let block = Object::new().raw("type", b"\"tool-result\"").raw("toolCallId", call.bytes());
    let block = block.raw("content", content.bytes()).raw("isError", failed.bytes()).end();
    let source = Object::new().raw("kind", b"\"tool\"").raw("callId", call.bytes()).end();
    let message = Object::new().raw_if("id", id.as_deref()).raw("role", b"\"user\"");
    let message = message.list("content", [block]).raw("source", &source).end();
    let mut out = Text::new();
    out.keep(data, &["callId", "content", "isError"]);
    out.add(b"\"message\"", &message);
    Upgrade::Rewritten { kind: Kind::ToolResult, data: out.end(), inherits_id_from }
}

#[cfg(test)]
mod tests;
