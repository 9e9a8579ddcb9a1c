//! The part of a payload that the rules between events look at.
//!
//! Rules run one event after the other while rows are read side by side; between the two only
//! this part is carried. What a rule asks - a value, its absence, its being of the wrong kind - is
//! kept; a text of any length whose content no rule reads is not.

use crate::format::kind::Kind;
use crate::format::shape::{is, is_text, only};
use crate::json::write::{self, Object};
use crate::json::{Kind as JsonKind, Raw};

/// Copies the part of a payload that [`Relations`](super::relations::Relations) needs; `null` for
/// what is no object and for kinds that take no part.
#[must_use]
pub fn slim(kind: Kind, data: Raw<'_>) -> Vec<u8> {
    if !data.is_object() {
        return b"null".to_vec();
    }
    match kind {
        Kind::UserMessage => message_head(data).end(),
        Kind::SystemMessage => with_message(data, &["turn", "step"], |_| None),
        Kind::DeveloperMessage => with_message(data, &["turn", "step", "headerSeq"], additions),
        Kind::AssistantMessage => with_message(data, &["turn", "step"], tool_calls),
        Kind::ToolResult => tool_result(data),
        Kind::InboxSpliced => {
            Object::new().raw_if("inserted", messages(data.get("inserted")).as_deref()).end()
        }
        Kind::SessionTitleLlmRequest => {
            let [seqs, list] = data.get_all(["messageSeqs", "messages"]);
            Object::new()
                .raw_if("messageSeqs", bytes(seqs))
                .raw_if("messages", messages(list).as_deref())
                .end()
        }
        Kind::RequestHeader => request_header(data),
        Kind::SubagentCatalog => {
            let label = data.get("label").map(blunt);
            pick(data, &["version", "childId", "childCreatedAt", "mode"]).raw_if("label", label).end()
        }
        Kind::CompactionEnd => {
            let error = data.get("error").map(|_| &b"true"[..]);
            pick(data, &["compactionId", "sourceCommandId", "turn"]).raw_if("error", error).end()
        }
        _ => pick(data, plain_members(kind)).end(),
    }
}

/// The members that are carried whole, of the kinds that need nothing else.
fn plain_members(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::AssistantAttempt | Kind::TurnStart | Kind::TurnEnd | Kind::StepStart | Kind::StepEnd => {
            &["turn", "step"]
        }
        Kind::ToolCall => &["turn", "step", "callId", "name", "arguments"],
        Kind::PtcDispatchStart | Kind::PtcDispatch => {
            &["rootCallId", "parentCallId", "subCallId", "name", "arguments"]
        }
        Kind::LlmRetry => &["retryId", "turn", "step", "provider", "policyKey", "retry"],
        Kind::LlmRetryStarted => &["retryId", "turn", "step", "retry"],
        Kind::SessionTitle => &["messageSeqs", "source"],
        Kind::CommandRun => &["commandId"],
        Kind::CommandDone => &["commandId", "kind", "sourceEventSeq"],
        Kind::CompactionStart => &["compactionId", "sourceCommandId", "turn"],
        Kind::CompactionSummary => &["compactionId", "sourceCommandId", "shadowedRange", "shadowedSeqs"],
        Kind::CompactionPrune => &["shadowedRange", "shadowedSeqs"],
        Kind::EndSeed => &["inherited"],
        Kind::DeliveryAccepted => &["sessionId", "sessionFormatVersion", "throughSeq"],
        _ => &[],
    }
}

fn bytes(value: Option<Raw<'_>>) -> Option<&[u8]> {
    value.map(Raw::bytes)
}

fn pick(from: Raw<'_>, names: &[&str]) -> Object {
    names.iter().fold(Object::new(), |out, name| out.raw_if(name, bytes(from.get(name))))
}

/// An empty value of the same kind.
fn blunt(value: Raw<'_>) -> &'static [u8] {
    match value.kind() {
        JsonKind::Null => b"null",
        JsonKind::Bool => b"false",
        JsonKind::Number => b"0",
        JsonKind::String => b"\"\"",
        JsonKind::Array => b"[]",
        JsonKind::Object => b"{}",
    }
}

/// Role and source of a message, without what a source may carry beside its ids.
fn message_head(message: Raw<'_>) -> Object {
    let [role, source] = message.get_all(["role", "source"]);
    let source = source.map(|source| {
        if !source.is_object() {
            return blunt(source).to_vec();
        }
        pick(source, &["kind", "compactionId", "sourceCommandId"]).end()
    });
    Object::new().raw_if("role", bytes(role)).raw_if("source", source.as_deref())
}

/// Some members and `message`, of whose content `keep` takes a block or leaves `{}`.
fn with_message(data: Raw<'_>, names: &[&str], keep: fn(Raw<'_>) -> Option<Vec<u8>>) -> Vec<u8> {
    let message = data.get("message").map(|message| {
        if !message.is_object() {
            return blunt(message).to_vec();
        }
        let content = message.get("content").map(|content| {
            if !content.is_array() {
                return blunt(content).to_vec();
            }
            let block = |block: Raw<'_>| keep(block).unwrap_or_else(|| blunt(block).to_vec());
            write::array(content.elements().map(block))
        });
        message_head(message).raw_if("content", content.as_deref()).end()
    });
    pick(data, names).raw_if("message", message.as_deref()).end()
}

fn tool_calls(block: Raw<'_>) -> Option<Vec<u8>> {
    is(block.get("type"), "tool-call").then(|| pick(block, &["type", "id", "name", "arguments"]).end())
}

fn additions(block: Raw<'_>) -> Option<Vec<u8>> {
    is(block.get("type"), "tool-addition").then(|| pick(block, &["type", "toolName"]).end())
}

/// The longest stored text that can be the fixed text of a repair, every character escaped.
const REPAIR_BYTES: usize = 1024;

/// The content is needed only of a result that may be a repair: one short text block.
fn tool_result(data: Raw<'_>) -> Vec<u8> {
    let [message, error] = data.get_all(["message", "error"]);
    let message = message.map(|message| {
        let Some(message) = Some(message).filter(|message| message.is_object()) else {
            return blunt(message).to_vec();
        };
        let short = |block: &Raw<'_>| {
            let text = block.get("text");
            is_text(text) && text.is_some_and(|text| text.bytes().len() <= REPAIR_BYTES)
        };
        let content = only(message.get("content")).filter(short).filter(|_| error.is_some());
        let content = write::array(content.map(|block| pick(block, &["type", "text"]).end()));
        let [id, call, failed] = message.get_all(["id", "toolCallId", "isError"]);
        let head = message_head(message).raw_if("id", bytes(id)).raw_if("toolCallId", bytes(call));
        head.raw_if("isError", bytes(failed)).raw("content", &content).end()
    });
    let error = error.map(|error| pick(error, &["name", "code"]).end());
    pick(data, &["turn", "step"])
        .raw_if("error", error.as_deref())
        .raw_if("message", message.as_deref())
        .end()
}

/// The messages of an inbox splice or a title request; of their content whether it is one text.
fn messages(list: Option<Raw<'_>>) -> Option<Vec<u8>> {
    let list = list?;
    if !list.is_array() {
        return Some(blunt(list).to_vec());
    }
    let slot = |message: Raw<'_>| {
        if !message.is_object() {
            return blunt(message).to_vec();
        }
        let block = only(message.get("content")).filter(|block| block.is_object());
        let content = write::array(block.map(|block| pick(block, &["type"]).end()));
        message_head(message).raw("content", &content).end()
    };
    Some(write::array(list.elements().map(slot)))
}

/// The provider, and of each tool its name and whether it is declared in full.
fn request_header(data: Raw<'_>) -> Vec<u8> {
    let [config, tools] = data.get("header").map_or([None; 2], |header| header.get_all(["config", "tools"]));
    let config = config.map(|config| pick(config, &["provider"]).end());
    let tool = |tool: Raw<'_>| {
        let [description, parameters] = tool.get_all(["description", "parameters"]);
        let out = pick(tool, &["name", "deferLoading"]).raw_if("description", description.map(blunt));
        out.raw_if("parameters", parameters.map(blunt)).end()
    };
    let tools = tools.map(|tools| write::array(tools.elements().map(tool)));
    let header = Object::new().raw_if("config", config.as_deref()).raw_if("tools", tools.as_deref()).end();
    Object::new().raw("header", &header).end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_rule_reads_is_left_out() {
        for (kind, data, kept) in [
            (
                Kind::AssistantMessage,
                r#"{"turn":1,"step":2,"message":{"role":"assistant","content":[{"type":"text","text":"x"},7,{"type":"tool-call","id":"c","name":"n","arguments":"{}","x":1}],"source":{"kind":"model","model":"m"},"id":"a"},"stream":[1]}"#,
                r#"{"turn":1,"step":2,"message":{"role":"assistant","source":{"kind":"model"},"content":[{},0,{"type":"tool-call","id":"c","name":"n","arguments":"{}"}]}}"#,
            ),
            (Kind::UserMessage, r#"{"content":[],"source":7}"#, r#"{"source":0}"#),
            (Kind::UserMessage, r#""a long text""#, "null"),
            (Kind::InboxSpliced, r#"{"inserted":[1,{"content":"x"}]}"#, r#"{"inserted":[0,{"content":[]}]}"#),
            (
                Kind::ToolResult,
                r#"{"turn":1,"message":{"id":"a","toolCallId":"c","content":[{"type":"text","text":"x"}]}}"#,
                r#"{"turn":1,"message":{"id":"a","toolCallId":"c","content":[]}}"#,
            ),
            (
                Kind::RequestHeader,
                r#"{"header":{"config":{"provider":"p","model":"m"},"tools":[{"name":"t","description":"d","parameters":{"a":1}}]}}"#,
                r#"{"header":{"config":{"provider":"p"},"tools":[{"name":"t","description":"","parameters":{}}]}}"#,
            ),
            (Kind::CompactionEnd, r#"{"turn":null,"error":null}"#, r#"{"turn":null,"error":true}"#),
        ] {
            let data = slim(kind, Raw::parse(data.as_bytes()).unwrap());
            assert_eq!(String::from_utf8(data).unwrap(), kept);
        }
    }

    #[test]
    fn a_slim_payload_is_its_own_slim_payload() {
        let data = br#"{"turn":1,"step":1,"error":{"code":"X","name":"Y"},"message":{"source":{"kind":"tool"},"isError":true,"content":[{"text":"t","type":"text"}]}}"#;
        let once = slim(Kind::ToolResult, Raw::parse(data).unwrap());
        assert_eq!(slim(Kind::ToolResult, Raw::parse(&once).unwrap()), once);
    }
}
