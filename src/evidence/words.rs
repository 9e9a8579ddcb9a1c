//! Which text of an event counts as what was said or seen.

use crate::format::dialect::Dialect;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::message::{result_content, words};
use crate::json::{Raw, text};

/// The words of a tool result: its text blocks, joined by newlines.
#[must_use]
pub fn of_result(event: &Event<'_>, dialect: &Dialect) -> String {
    let content = event.message().and_then(|message| result_content(message, dialect));
    content.map(|content| words(content, usize::MAX)).unwrap_or_default()
}

/// The words of an answer or a call: text blocks, then the arguments of calls, joined by newlines.
#[must_use]
pub fn of_conclusion(event: &Event<'_>) -> String {
    let arguments = |value: Option<Raw<'_>>| value.and_then(Raw::display_text).unwrap_or_default();
    match event.kind {
        Kind::ToolCall => arguments(event.data.get("arguments")),
        Kind::CompactionSummary => {
            event.data.get("summary").map(|s| words(s, usize::MAX)).unwrap_or_default()
        }
        _ => {
            let Some(content) = event.message().and_then(|message| message.get("content")) else {
                return String::new();
            };
            let mut out = words(content, usize::MAX);
            for block in content.elements().filter(|b| b.get("type").is_some_and(|t| t.is("tool-call"))) {
                if !out.is_empty() {
                    out.push('\n');
                }
                out.push_str(&arguments(block.get("arguments")));
            }
            out
        }
    }
}

/// All words that a message or a header sent to the model: of a message its texts, its reasoning, names
/// and arguments of its calls, joined by newlines; of a header the system prompt, where it stands there,
/// and the tools as JSON.
#[must_use]
pub fn of_sent(event: &Event<'_>, dialect: &Dialect) -> String {
    let shown = |value: Option<Raw<'_>>| value.and_then(Raw::display_text);
    let parts: Vec<Option<String>> = match event.kind {
        Kind::ToolResult => return of_result(event, dialect),
        Kind::RequestHeader => {
            let header = event.data.get("header");
            let [system, tools] = header.map_or([None; 2], |header| header.get_all(["system", "tools"]));
            vec![shown(system), tools.map(|tools| text::lossy(&text::decode(tools.bytes())))]
        }
        _ => {
            let content = event.message().and_then(|message| message.get("content"));
            let blocks = content.into_iter().flat_map(Raw::elements);
            blocks.flat_map(|block| block.get_all(["text", "name", "arguments"]).map(shown)).collect()
        }
    };
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The words of a nested dispatch: the text blocks of its content.
#[must_use]
pub fn of_dispatch(event: &Event<'_>) -> String {
    event.data.get("content").map(|content| words(content, usize::MAX)).unwrap_or_default()
}

/// The id of the call that a result answers, WTF-8 made readable.
#[must_use]
pub fn call_id(event: &Event<'_>) -> Option<String> {
    match event.kind {
        Kind::ToolResult => event.message()?.path(&["source", "callId"])?.display_text(),
        Kind::ToolCall => event.data.get("callId")?.display_text(),
        _ => event.data.get("subCallId")?.display_text(),
    }
}
