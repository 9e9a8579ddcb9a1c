//! The row admission of generation 4, A1 to A6 (v4 section 2.4).

use super::messages::{Blocks, block_list, blocks, message_list, ordinary};
use super::{Verdict, generation3, hold, request_header};
use crate::format::kind::Kind;
use crate::format::parts::Parts;
use crate::format::shape::{
    array, canonical_decimal, filled, is, is_any, is_text, object, only, positive, strict_count,
};
use crate::json::{Kind as JsonKind, Raw};

/// Every rule that looks at a row of this kind, in one walk over its data.
pub(super) fn check(parts: &Parts<'_>, kind: Kind) -> Verdict {
    let data = object(parts.data);
    match kind {
        Kind::RequestHeader => return header(parts.data),
        Kind::DeveloperMessage => return developer(data),
        Kind::SystemMessage => return system(data),
        Kind::ToolResult => return tool_result(parts, data),
        _ => {}
    }
    let Some(data) = data else { return Ok(()) };
    match kind {
        Kind::UserMessage => ordinary(Some(data), Blocks::Ordinary),
        Kind::AssistantMessage => {
            let [message, stream] = data.get_all(["message", "stream"]);
            ordinary(message, Blocks::Ordinary).and_then(|()| stream_chunks(stream))
        }
        Kind::AssistantAttempt => stream_chunks(data.get("stream")),
        Kind::InboxSpliced => message_list(data.get("inserted")),
        Kind::SessionTitleLlmRequest => message_list(data.get("messages")),
        Kind::CompactionSummary => {
            let [summary, output] = data.get_all(["summary", "rawOutput"]);
            block_list(summary, Blocks::Ordinary).and_then(|()| block_list(output, Blocks::Ordinary))
        }
        Kind::PtcDispatch => block_list(data.get("content"), Blocks::NoResults),
        Kind::TeamMessageQueued => {
            let content = object(data.get("message")).and_then(|message| message.get("content"));
            block_list(content, Blocks::NoResults)
        }
        _ => Ok(()),
    }
}

/// A1 and A3: no system prompt in the header, and a tool is deferred or says nothing of it.
fn header(data: Option<Raw<'_>>) -> Verdict {
    let tools = request_header(data)?.get("tools");
    let deferred = |tool: Raw<'_>| tool.get("deferLoading").is_none_or(Raw::is_true);
    let sound = array(tools).is_none_or(|tools| tools.elements().all(deferred));
    hold(sound, "request/header with a tool whose deferLoading is not true")
}

/// A1 for `developer/message`, and A3 for its content.
fn developer(data: Option<Raw<'_>>) -> Verdict {
    let [turn, step, message, header_seq] =
        data.map_or([None; 4], |data| data.get_all(["turn", "step", "message", "headerSeq"]));
    let [id, role, source, content] =
        object(message).map_or([None; 4], |message| message.get_all(["id", "role", "source", "content"]));
    hold(is(role, "developer") && filled(id), "developer/message without an id and the role developer")?;
    let kind = object(source).and_then(|source| source.get("kind"));
    hold(
        filled(kind) && !is(kind, "plugin"),
        "developer/message whose source has no kind, or the kind plugin",
    )?;
    hold(
        positive(turn).is_some() && positive(step).is_some(),
        "developer/message without a turn and a step above 0",
    )?;
    let content = array(content);
    hold(content.is_some(), "developer/message whose content is not an array")?;
    let additions = blocks(content, Blocks::Developer)?;
    if additions > 0 {
        return hold(strict_count(header_seq).is_some(), "developer/message adds tools without a headerSeq");
    }
    hold(header_seq.is_none(), "developer/message has a headerSeq and adds no tool")
}

/// A1 and A3 for the blocks that a stored stream opens and ends.
fn stream_chunks(stream: Option<Raw<'_>>) -> Verdict {
    let Some(stream) = array(stream) else { return Ok(()) };
    for record in stream.elements() {
        let [kind, chunk] = record.get_all(["type", "chunk"]);
        let Some(chunk) = object(chunk).filter(|_| is(kind, "chunk")) else { continue };
        let [kind, block, block_type] = chunk.get_all(["type", "block", "blockType"]);
        if is(kind, "block-end") {
            Blocks::Ordinary.admits(block)?;
        } else if is(kind, "block-start") {
            let foreign = is_any(block_type, &["tool-addition", "tool-removal", "tool-result"]);
            hold(!foreign, "a stream opens a block of a type that has no place in it")?;
        }
    }
    Ok(())
}

/// A4, with A1 and A2 for its message.
fn system(data: Option<Raw<'_>>) -> Verdict {
    let [turn, step, message] = data.map_or([None; 3], |data| data.get_all(["turn", "step", "message"]));
    hold(
        positive(turn).is_some() && positive(step).is_some(),
        "system/message without a turn and a step above 0",
    )?;
    ordinary(message, Blocks::Ordinary)?;
    let [id, role, content] =
        object(message).map_or([None; 3], |message| message.get_all(["id", "role", "content"]));
    hold(
        filled(id) && is(role, "system") && array(content).is_some(),
        "system/message without an id, the role system or a content array",
    )?;
    let sound = content.is_none_or(|content| content.elements().all(system_block));
    hold(sound, "system/message with a content block that lacks what its type needs")
}

fn system_block(block: Raw<'_>) -> bool {
    let [kind, text, id, name, arguments, attachment] =
        block.get_all(["type", "text", "id", "name", "arguments", "attachment"]);
    if is_any(kind, &["text", "reasoning"]) {
        is_text(text)
    } else if is(kind, "tool-call") {
        filled(id) && filled(name) && is_text(arguments)
    } else if is(kind, "image") {
        generation3::image(attachment)
    } else {
        filled(kind)
    }
}

/// A5 and A6, with A1 and A2 for its message.
fn tool_result(parts: &Parts<'_>, data: Option<Raw<'_>>) -> Verdict {
    let [message, error] = data.map_or([None; 2], |data| data.get_all(["message", "error"]));
    let [id, role, source, call, content, failed] = object(message).map_or([None; 6], |message| {
        message.get_all(["id", "role", "source", "toolCallId", "content", "isError"])
    });
    hold(filled(id) && is(role, "tool"), "tool/result without a message that has an id and the role tool")?;
    let [kind, source_call] = object(source).map_or([None; 2], |source| source.get_all(["kind", "callId"]));
    let same_call = call.and_then(Raw::text) == source_call.and_then(Raw::text);
    hold(filled(call) && same_call, "tool/result whose toolCallId is empty or not its source's callId")?;
    hold(is(kind, "tool"), "tool/result whose source is not of kind tool")?;
    hold(array(content).is_some(), "tool/result whose content is not an array")?;
    ordinary(message, Blocks::Ordinary)?;
    let sound = failed.is_none_or(|failed| failed.kind() == JsonKind::Bool);
    hold(sound, "tool/result whose isError is not a boolean")?;
    let failed = failed.is_some_and(Raw::is_true);
    hold(error.is_none() || failed, "tool/result with an error and without isError true")?;
    let forked = id.and_then(Raw::text).is_some_and(|id| id.starts_with(FORKED));
    let error = object(error);
    if forked && error.is_some_and(|error| is(error.get("code"), "TOOL_NOT_STARTED")) {
        let named = error.is_some_and(|error| is(error.get("name"), "ToolNotStartedError"));
        let one_text = only(content).is_some_and(|block| {
            let [kind, text] = block.get_all(["type", "text"]);
            is(kind, "text") && is_text(text)
        });
        let sound = named && failed && one_text && fork_place(parts, id, call).is_some();
        hold(sound, "a fork's result for a call not started is not of the one shape it may have")?;
    }
    Ok(())
}

const FORKED: &[u8] = b"forked-tool-result-";

/// A6: the id ends with a seq, the row's own when appended, the replaced event's otherwise.
fn fork_place(parts: &Parts<'_>, id: Option<Raw<'_>>, call: Option<Raw<'_>>) -> Option<()> {
    let (id, call) = (id?.text()?, call?.text()?);
    let digits = id.strip_prefix(FORKED)?.strip_prefix(&*call)?.strip_prefix(b"-")?;
    let named = canonical_decimal(digits)?;
    let own = parts.seq?.count()?;
    let sound = if object(parts.op).is_some_and(|op| is(op.get("op"), "replace")) {
        named < own && only(parts.sources).and_then(Raw::count) == Some(named)
    } else {
        named == own && is(parts.op, "append") && parts.sources.is_none()
    };
    sound.then_some(())
}
