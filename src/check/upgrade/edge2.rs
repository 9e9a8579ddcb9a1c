//! From generation 2 to 3: the system prompt becomes a message at the head of the surface, and what
//! is copied must be understood (generations 1.5 and 9). That a message has the very id which the edge
//! makes for a system message, a hash of the session's id, is refused too and not looked for.

use super::edge0::payload;
use super::messages::{self, all_blocks, messages_of};
use super::{Edge, Refusals, Source};
use crate::check::id::Id;
use crate::format::dialect::Dialect;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::schema::{Members, Shape};
use crate::format::shape::{canonical_decimal, is, is_any, only, positive};
use crate::json::Raw;

const NONE: Members = &[];
const FILE: Shape = Shape::Exact(
    &[
        ("type", Shape::Any),
        (
            "attachment",
            Shape::Exact(
                &[("attachmentId", Shape::Filled), ("name", Shape::Text), ("bytes", Shape::Count)],
                NONE,
            ),
        ),
    ],
    NONE,
);
/// The blocks that the edge knows how to carry over; their own shapes were asked for before.
const BLOCK: Shape = Shape::By(
    "type",
    &[
        ("text", Shape::Any),
        ("reasoning", Shape::Any),
        ("image", Shape::Any),
        ("file", FILE),
        ("tool-call", Shape::Any),
        ("tool-result", Shape::Any),
    ],
    None,
);
const BLOCK_TYPES: &[&str] = &["text", "reasoning", "image", "file", "tool-call", "tool-result"];
const SOURCES: &[&str] = &[
    "user",
    "plugin",
    "model",
    "tool",
    "agent-instructions",
    "session-reference",
    "team-message",
    "goal",
    "skill-invocation",
    "skill-catalog",
    "coordinator",
    "subagent-report",
    "subagent-settled",
    "webhook",
    "agent-message",
];
const AGENT_MESSAGE: Shape = Shape::Exact(
    &[("kind", Shape::Any), ("form", Shape::OneOf(&["relay"])), ("senderSessionId", Shape::Filled)],
    NONE,
);

pub(super) struct Edge2 {
    source: Source,
    steps_begun: bool,
    in_step: bool,
    prompt: Option<Id>,
}

impl Edge2 {
    pub(super) fn new(source: Source) -> Edge2 {
        Edge2 { source, steps_begun: false, in_step: false, prompt: None }
    }

    /// A payload that an earlier edge has not looked at.
    fn payload(&self, event: &Event<'_>) -> Result<(), String> {
        let of_later = event.kind == Kind::SubagentDescriptor
            && event.data.get("version").and_then(Raw::count) != Some(3);
        if self.source.way.begins_at(2) || self.source.way.begins_at(1) && of_later {
            payload(event, 2)?;
        }
        let [turn, step] = event.data.get_all(["turn", "step"]);
        let placed = positive(turn).is_some() && positive(step).is_some();
        match event.kind {
            Kind::AssistantMessage | Kind::AssistantAttempt if !placed => {
                Err(format!("{} without a positive turn and step", event.kind))
            }
            Kind::ToolResult => result(event).map_err(str::to_owned),
            _ => Ok(()),
        }
    }

    /// The system prompt becomes a message where it changes, which must be inside a step.
    fn prompt(&mut self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        let system = event.data.path(&["header", "system"]).filter(|system| system.is_filled_text());
        let prompt = system.map(|system| Id::of(Some(system)));
        if std::mem::replace(&mut self.prompt, prompt) != prompt && !self.in_step {
            out.refuse(event, "a request/header that changes the system prompt outside of any step");
        }
    }

    fn delivery(&self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        match event.data.get("sessionFormatVersion").and_then(Raw::count) {
            Some(3) => out.refuse(event, "a delivery marker of generation 3"),
            _ => self.source.own_delivery(event, out),
        }
    }
}

fn result(event: &Event<'_>) -> Result<(), &'static str> {
    let Some(message) = event.message() else { return Ok(()) };
    let Some(error) = event.data.get("error") else { return Ok(()) };
    let block = only(message.get("content"));
    if !block.is_some_and(|block| block.get("isError").is_some_and(Raw::is_true)) {
        return Err("an error on a tool/result that is none");
    }
    let id = message.get("id").and_then(Raw::text).unwrap_or_default();
    let call = message.path(&["source", "callId"]).and_then(Raw::text).unwrap_or_default();
    let number = id
        .strip_prefix(b"interrupted-tool-result-")
        .and_then(|id| id.strip_prefix(&*call)?.strip_prefix(b"-"));
    match is(error.get("code"), "TOOL_NOT_STARTED") && number.and_then(canonical_decimal).is_none() {
        true => Err("a repair whose id is not that of one"),
        false => Ok(()),
    }
}

/// Every content that an event holds.
fn contents<'a>(event: &Event<'a>) -> Vec<Raw<'a>> {
    let mut contents: Vec<Raw<'a>> =
        messages_of(event).into_iter().filter_map(|message| message.get("content")).collect();
    let names: &[&[&str]] = match event.kind {
        Kind::CodeDispatch => &[&["content"]],
        Kind::TeamMessageQueued => &[&["message", "content"]],
        Kind::CompactionSummary => &[&["summary"], &["rawOutput"]],
        _ => &[],
    };
    contents.extend(names.iter().filter_map(|path| event.data.path(path)));
    contents
}

/// Whether a chunk opens or ends a block of a type that the edge knows, and of its shape.
fn is_known_chunk(chunk: Raw<'_>) -> bool {
    let [kind, block, block_type] = chunk.get_all(["type", "block", "blockType"]);
    if is(kind, "block-start") {
        return is_any(block_type, BLOCK_TYPES);
    }
    !is(kind, "block-end") || block.is_some_and(is_known_block)
}

fn is_known_block(block: Raw<'_>) -> bool {
    let inside = block.get("content").filter(|_| is(block.get("type"), "tool-result"));
    let fits = |content| all_blocks(content, &BLOCK) && all_blocks(content, &messages::BLOCK);
    BLOCK.fit(block).is_ok() && messages::BLOCK.fit(block).is_ok() && inside.is_none_or(fits)
}

/// A stream is a list of records, of which those that hold a chunk are looked into.
fn is_known_record(record: Raw<'_>) -> bool {
    let chunk = record.get("chunk").filter(|chunk| chunk.is_object());
    record.is_object() && (!is(record.get("type"), "chunk") || chunk.is_some_and(is_known_chunk))
}

fn chunks_are_known(event: &Event<'_>) -> bool {
    match event.kind {
        Kind::AssistantChunk => event.data.get("chunk").is_none_or(is_known_chunk),
        Kind::AssistantMessage | Kind::AssistantAttempt => {
            let stream = event.data.get("stream");
            stream.is_none_or(|list| list.is_array() && list.elements().all(is_known_record))
        }
        _ => true,
    }
}

impl Edge for Edge2 {
    fn event(&mut self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        let known = |dialect: &Dialect| dialect.knows(event.kind) || dialect.knows_later(event.kind);
        if self.source.way.begins_at(2) && !Dialect::of(2).is_some_and(known) {
            return out.refuse(event, "an unknown event type, even an ignorable one");
        }
        if let Err(what) = self.payload(event) {
            out.refuse(event, &what);
        }
        match event.kind {
            Kind::StepStart => (self.steps_begun, self.in_step) = (true, true),
            Kind::StepEnd | Kind::TurnEnd => self.in_step = false,
            Kind::RequestHeader => self.prompt(event, out),
            Kind::DeliveryAccepted => self.delivery(event, out),
            Kind::UserMessage | Kind::AssistantMessage | Kind::ToolResult if !self.steps_begun => {
                out.refuse(event, "a surface event before the first step/start");
            }
            Kind::AssistantMessage if self.source.way.begins_at(2) && event.sources.is_some() => {
                out.refuse(event, "an assistant/message with sourceEventSeqs");
            }
            _ => {}
        }
        for source in messages_of(event).into_iter().filter_map(|message| message.get("source")) {
            let kind = source.get("kind");
            if !is_any(kind, SOURCES) || is(kind, "agent-message") && AGENT_MESSAGE.fit(source).is_err() {
                out.refuse(event, "a message with a source that the upgrade does not know");
            }
        }
        let known = contents(event).into_iter().all(|content| all_blocks(content, &BLOCK));
        if !known || !chunks_are_known(event) {
            out.refuse(event, "a content block that the upgrade does not know");
        }
    }
}
