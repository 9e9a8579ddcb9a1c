//! From generation 3 to 4: sources, results and blocks get their new shape (v4 section 12). What the
//! logs of subagents beside this one refuse, this log alone does not show.

use super::messages::messages_of;
use super::replay::replay;
use super::{Edge, Refusals, Source};
use crate::check::id::Id;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::schema::Shape;
use crate::format::shape::{filled, is, is_text, object, only};
use crate::json::{Kind as JsonKind, Raw};
use std::collections::HashSet;

/// The plugin whose messages become those of the system prompt.
const SYSTEM_PROMPT: &str = "@deepseek-ai/dsh-system-prompt";

const REASONS: Shape = Shape::OneOf(&["initial", "resume", "change", "series"]);
const REQUEST: Shape = Shape::Open(&[("reason", REASONS)], &[("startsSeries", Shape::True)]);

pub(super) struct Edge3 {
    source: Source,
    children: HashSet<Id>,
}

impl Edge3 {
    pub(super) fn new(source: Source) -> Edge3 {
        Edge3 { source, children: HashSet::new() }
    }

    fn delivery(&self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        let version = event.data.get("sessionFormatVersion").map_or(Some(0), Raw::count);
        if version.is_none_or(|version| version >= 4) {
            return out.refuse(event, "a delivery marker of generation 4 or later");
        }
        self.source.own_delivery(event, out);
    }
}

/// A source gets the kind that its plugin had.
fn source(message: Raw<'_>) -> Result<(), &'static str> {
    let Some(source) = object(message.get("source")) else { return Err("a message without a source") };
    let [kind, plugin] = source.get_all(["kind", "plugin"]);
    if !filled(kind) || is(kind, "plugin") && !is_text(plugin) {
        return Err("a message whose source has no kind, or no plugin");
    }
    if is(message.get("role"), "developer") {
        return Err("a message of a developer, which generation 3 does not have");
    }
    let of_prompt = is(kind, "system-prompt") || is(kind, "plugin") && is(plugin, SYSTEM_PROMPT);
    match is(message.get("role"), "system") && !of_prompt {
        true => Err("a system message of another source than the system prompt"),
        false => Ok(()),
    }
}

/// A result comes out of its wrapper.
fn result(message: Raw<'_>) -> Result<(), &'static str> {
    let [id, source, content] = message.get_all(["id", "source", "content"]);
    let [kind, call] = source.map_or([None; 2], |source| source.get_all(["kind", "callId"]));
    let block = only(content).filter(|block| is(block.get("type"), "tool-result"));
    let Some(block) = block else { return Err("a tool/result that is not one tool-result block") };
    let [own, inner, failed] = block.get_all(["toolCallId", "content", "isError"]);
    if !filled(id)
        || !is(kind, "tool")
        || !filled(call)
        || own.and_then(Raw::text) != call.and_then(Raw::text)
    {
        return Err("a tool/result without an id, or of another call than its block");
    }
    if !inner.is_some_and(Raw::is_array) {
        return Err("a tool-result without a content array");
    }
    if failed.is_some_and(|failed| failed.kind() != JsonKind::Bool) {
        return Err("a tool-result whose isError is no boolean");
    }
    inner.map_or(Ok(()), blocks).map_err(|what| match what {
        RESULT_BLOCK => "a tool-result inside a tool-result",
        what => what,
    })
}

const RESULT_BLOCK: &str = "a tool-result block where generation 4 has none";

/// Each block has a type, and results stand in events of their own.
fn blocks(content: Raw<'_>) -> Result<(), &'static str> {
    content.elements().try_for_each(block)
}

fn block(block: Raw<'_>) -> Result<(), &'static str> {
    let kind = block.get("type");
    match (is_text(kind), is(kind, "tool-result")) {
        (false, _) => Err("a content block without a type"),
        (true, true) => Err(RESULT_BLOCK),
        (true, false) => Ok(()),
    }
}

/// The contents that are no message's, and those of messages that are no result's.
fn contents(event: &Event<'_>) -> Result<(), &'static str> {
    let paths: &[&[&str]] = match event.kind {
        Kind::CodeDispatch | Kind::PtcDispatch => &[&["content"]],
        Kind::TeamMessageQueued => &[&["message", "content"]],
        Kind::CompactionSummary => &[&["summary"], &["rawOutput"]],
        _ => &[],
    };
    paths.iter().filter_map(|path| event.data.path(path)).try_for_each(blocks)?;
    for message in messages_of(event) {
        source(message)?;
        match event.kind {
            Kind::ToolResult => result(message)?,
            _ => message.get("content").map_or(Ok(()), blocks)?,
        }
    }
    let single = event.data.get("chunk").filter(|_| event.kind == Kind::AssistantChunk);
    let stream = event.data.get("stream").into_iter().flat_map(Raw::elements);
    single.into_iter().chain(stream.filter_map(|record| record.get("chunk"))).try_for_each(chunk)
}

fn chunk(chunk: Raw<'_>) -> Result<(), &'static str> {
    let [kind, ended, begun] = chunk.get_all(["type", "block", "blockType"]);
    if is(kind, "block-end") {
        return ended.map_or(Ok(()), block);
    }
    match is(kind, "block-start") {
        true if !is_text(begun) => Err("a stream that opens a block without a type"),
        true if is(begun, "tool-result") => Err(RESULT_BLOCK),
        _ => Ok(()),
    }
}

impl Edge for Edge3 {
    fn event(&mut self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        match event.kind {
            Kind::DeliveryAccepted => self.delivery(event, out),
            Kind::SubagentCatalog
                if event.seq.0 >= self.source.inherited
                    && !self.children.insert(Id::of(event.data.get("childId"))) =>
            {
                out.refuse(event, "two subagent/catalog entries of one child");
            }
            Kind::RequestHeader => {
                if let Err(what) = REQUEST.fit(event.data) {
                    out.refuse(event, &format!("a request/header whose {what}"));
                }
                let tools = event.data.path(&["header", "tools"]);
                if tools.into_iter().flat_map(Raw::elements).any(|tool| tool.get("deferLoading").is_some()) {
                    out.refuse(event, "a tool with deferLoading of its own");
                }
            }
            _ => {}
        }
        if let Err(what) = contents(event) {
            out.refuse(event, what);
        }
        if let Err(what) = replay(event) {
            out.refuse(event, &what);
        }
    }
}
