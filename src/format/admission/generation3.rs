//! The row rules of generation 3 beyond the envelope (generations 1.8 and 2.3).

use super::{Verdict, hold, request_header};
use crate::format::kind::Kind;
use crate::format::parts::Parts;
use crate::format::shape::{
    array, filled, is, is_any, is_text, keys_among, object, only, positive, strict_count,
};
use crate::json::Raw;

/// The hard rules: the request header and the system message.
pub(super) fn check(parts: &Parts<'_>, kind: Kind) -> Verdict {
    match kind {
        Kind::RequestHeader => request_header(parts.data).map(|_| ()),
        Kind::SystemMessage => system_message(parts.data),
        _ => Ok(()),
    }
}

/// The late rules on payloads: nothing empty in a header, no error on a result that is none.
pub(super) fn late_payload(parts: &Parts<'_>, kind: Kind) -> Option<&'static str> {
    let data = object(parts.data)?;
    match kind {
        Kind::RequestHeader => {
            let [tools, defaults] = data.get("header")?.get_all(["tools", "adapterDefaults"]);
            if array(tools).is_some_and(|list| list.elements().next().is_none()) {
                return Some("request/header with an empty list tools");
            }
            let empty = object(defaults).is_some_and(|value| value.members().next().is_none());
            empty.then_some("request/header with an empty object adapterDefaults")
        }
        Kind::ToolResult => {
            let [error, message] = data.get_all(["error", "message"]);
            error?;
            let block = only(message.and_then(|message| message.get("content")));
            let [kind, failed] = block.map_or([None, None], |block| block.get_all(["type", "isError"]));
            let sound = is(kind, "tool-result") && failed.is_some_and(Raw::is_true);
            (!sound)
                .then_some("data.error on a tool result that is not one tool-result block with isError true")
        }
        _ => None,
    }
}

/// Exact keys at three levels (generations 2.3).
fn system_message(data: Option<Raw<'_>>) -> Verdict {
    let data = object(data).filter(|data| keys_among(*data, &["turn", "step", "message"]));
    let [turn, step, message] = data.map_or([None; 3], |data| data.get_all(["turn", "step", "message"]));
    hold(
        positive(turn).is_some() && positive(step).is_some(),
        "system/message whose data is not exactly a turn, a step and a message",
    )?;
    let message =
        object(message).filter(|message| keys_among(*message, &["id", "role", "source", "content"]));
    let [id, role, source, content] =
        message.map_or([None; 4], |message| message.get_all(["id", "role", "source", "content"]));
    hold(
        filled(id) && is(role, "system") && array(content).is_some(),
        "system/message whose message is not exactly an id, the role system, a source and a content",
    )?;
    let source = object(source).filter(|source| keys_among(*source, &["kind", "plugin"]));
    let [kind, plugin] = source.map_or([None; 2], |source| source.get_all(["kind", "plugin"]));
    hold(is(kind, "plugin") && filled(plugin), "system/message whose source is not exactly a plugin")?;
    blocks(content)
}

/// Blocks of known types have their exact shape; a tool result's own blocks wait in a list, so
/// that nesting costs no stack.
fn blocks(content: Option<Raw<'_>>) -> Verdict {
    let mut waiting: Vec<Raw<'_>> = content.into_iter().collect();
    while let Some(list) = waiting.pop() {
        for block in list.elements() {
            hold(filled(block.get("type")), "system/message with a content block that has no type")?;
            hold(known_block(block), "system/message with a content block that is not of its exact shape")?;
            if block.get("type").is_some_and(|kind| kind.is("tool-result")) {
                waiting.extend(block.get("content"));
            }
        }
    }
    Ok(())
}

fn known_block(block: Raw<'_>) -> bool {
    let kind = block.get("type");
    if is_any(kind, &["text", "reasoning"]) {
        return keys_among(block, &["type", "text"]) && is_text(block.get("text"));
    }
    if is(kind, "tool-call") {
        let [id, name, arguments] = block.get_all(["id", "name", "arguments"]);
        let sound = filled(id) && filled(name) && is_text(arguments);
        return sound && keys_among(block, &["type", "id", "name", "arguments"]);
    }
    if is(kind, "tool-result") {
        let [id, content, failed] = block.get_all(["toolCallId", "content", "isError"]);
        let failed = failed.is_none_or(|value| value.kind() == crate::json::Kind::Bool);
        let keys = ["type", "toolCallId", "content", "isError"];
        return filled(id) && array(content).is_some() && failed && keys_among(block, &keys);
    }
    if is(kind, "image") {
        return keys_among(block, &["type", "attachment", "offloaded"]) && image(block.get("attachment"));
    }
    if is(kind, "file") {
        let [id, name, bytes] = object(block.get("attachment"))
            .map_or([None; 3], |attachment| attachment.get_all(["attachmentId", "name", "bytes"]));
        let sound = filled(id) && is_text(name) && strict_count(bytes).is_some();
        return sound && keys_among(block, &["type", "attachment"]);
    }
    true
}

/// The attachment of an image block (v0 section 8.2).
pub(super) fn image(attachment: Option<Raw<'_>>) -> bool {
    let Some(attachment) = object(attachment) else { return false };
    let [id, media, bytes, width, height, name, original] = attachment.get_all([
        "attachmentId",
        "mediaType",
        "bytes",
        "width",
        "height",
        "name",
        "originalDimensions",
    ]);
    let original = original.is_none_or(|size| {
        let [width, height] = size.get_all(["width", "height"]);
        positive(width).is_some() && positive(height).is_some()
    });
    filled(id)
        && is_any(media, &["image/png", "image/jpeg", "image/webp", "image/gif"])
        && strict_count(bytes).is_some()
        && positive(width).is_some()
        && positive(height).is_some()
        && name.is_none_or(|name| is_text(Some(name)))
        && original
}
