//! The shape of messages, and the parts of them that folds need (v0 section 5.5, v4 section 4.1).

use super::dialect::{Dialect, ToolResultShape};
use super::kind::Kind;
use crate::json::Raw;

/// What is wrong with the message of a surface event; `None` when nothing is.
#[must_use]
pub fn shape_fault(kind: Kind, data: Raw<'_>, dialect: &Dialect) -> Option<&'static str> {
    let message = match kind {
        Kind::UserMessage => Some(data),
        _ => data.get("message"),
    };
    let Some(message) = message.filter(|m| m.is_object()) else {
        return Some("lacks an identified message");
    };
    let [id, role, source, content] = message.get_all(["id", "role", "source", "content"]);
    if !id.is_some_and(Raw::is_filled_text) {
        return Some("lacks an identified message");
    }
    let wanted = role_of(kind, dialect);
    if !role.is_some_and(|r| r.is(wanted)) {
        return Some(match wanted {
            "assistant" => "has a message whose role is not assistant",
            "tool" => "has a message whose role is not tool",
            "system" => "has a message whose role is not system",
            "developer" => "has a message whose role is not developer",
            _ => "has a message whose role is not user",
        });
    }
    let Some(source) = source.filter(|s| s.is_object() && s.get("kind").is_some_and(Raw::is_filled_text))
    else {
        return Some("has a message without a source");
    };
    let Some(content) = content.filter(|c| c.is_array()) else {
        return Some("has a message whose content is no list");
    };
    kind_fault(kind, message, source, content, dialect)
}

/// The role that messages of that event type have.
#[must_use]
pub fn role_of(kind: Kind, dialect: &Dialect) -> &'static str {
    match (kind, dialect.tool_result) {
        (Kind::AssistantMessage, _) => "assistant",
        (Kind::SystemMessage, _) => "system",
        (Kind::DeveloperMessage, _) => "developer",
        (Kind::ToolResult, ToolResultShape::Bare) => "tool",
        _ => "user",
    }
}

fn kind_fault(
    kind: Kind,
    message: Raw<'_>,
    source: Raw<'_>,
    content: Raw<'_>,
    dialect: &Dialect,
) -> Option<&'static str> {
    let [source_kind, provider, model, call_id] = source.get_all(["kind", "provider", "model", "callId"]);
    let is_kind = |name: &str| source_kind.is_some_and(|k| k.is(name));
    match kind {
        Kind::AssistantMessage => {
            let filled = |v: Option<Raw<'_>>| v.is_some_and(Raw::is_filled_text);
            (!is_kind("model") || !filled(provider) || !filled(model))
                .then_some("lacks its model source (kind, provider, model)")
        }
        Kind::SystemMessage if dialect.tool_result == ToolResultShape::Bare => {
            (!is_kind("system-prompt")).then_some("has a system message of another source than system-prompt")
        }
        Kind::ToolResult => {
            let Some(call_id) = call_id.filter(|id| is_kind("tool") && id.is_filled_text()) else {
                return Some("must have a tool source: its callId is missing or empty");
            };
            let answered = match dialect.tool_result {
                ToolResultShape::Bare => message.get("toolCallId"),
                ToolResultShape::Wrapped => match wrapped_block(content) {
                    Some(block) => block.get("toolCallId"),
                    None => return Some("must hold exactly one tool-result block with a content list"),
                },
            };
            let same = answered.is_some_and(|a| a.text().is_some() && a.text() == call_id.text());
            (!same).then_some("answers another call than its source names")
        }
        _ => None,
    }
}

/// The one `tool-result` block of a wrapped result.
fn wrapped_block(content: Raw<'_>) -> Option<Raw<'_>> {
    let mut blocks = content.elements();
    let block = blocks.next()?;
    let sound = blocks.next().is_none()
        && block.get("type").is_some_and(|t| t.is("tool-result"))
        && block.get("content").is_some_and(Raw::is_array);
    sound.then_some(block)
}

/// The content blocks of a tool result, in either shape.
#[must_use]
pub fn result_content<'a>(message: Raw<'a>, dialect: &Dialect) -> Option<Raw<'a>> {
    let content = message.get("content")?;
    match dialect.tool_result {
        ToolResultShape::Bare => Some(content),
        ToolResultShape::Wrapped => wrapped_block(content)?.get("content"),
    }
}

/// Whether a tool result is marked as an error, in either shape.
#[must_use]
pub fn result_is_error(message: Raw<'_>, dialect: &Dialect) -> bool {
    match dialect.tool_result {
        ToolResultShape::Bare => message.get("isError"),
        ToolResultShape::Wrapped => {
            message.get("content").and_then(wrapped_block).and_then(|block| block.get("isError"))
        }
    }
    .is_some_and(Raw::is_true)
}

/// The words of a content list: text blocks joined, nested tool results included.
///
/// At most `limit` bytes are gathered.
#[must_use]
pub fn words(content: Raw<'_>, limit: usize) -> String {
    let mut out = String::new();
    for block in content.elements() {
        let [kind, text, nested] = block.get_all(["type", "text", "content"]);
        let text = match kind {
            Some(k) if k.is("text") => text.and_then(|t| t.display_start(limit)),
            Some(k) if k.is("tool-result") => nested.map(|n| flat_words(n, limit)),
            _ => None,
        };
        if let Some(text) = text.filter(|t| !t.trim().is_empty()) {
            match out.is_empty() {
                true => out = text,
                false => {
                    out.push('\n');
                    out.push_str(&text);
                }
            }
        }
        if out.len() > limit {
            break;
        }
    }
    out
}

/// The words of the text blocks at one level.
fn flat_words(content: Raw<'_>, limit: usize) -> String {
    let mut out = String::new();
    for block in content.elements() {
        if block.get("type").is_some_and(|t| t.is("text")) {
            let text = block.get("text").and_then(|t| t.display_start(limit));
            out.push_str(&text.unwrap_or_default());
        }
        if out.len() > limit {
            break;
        }
    }
    out
}
