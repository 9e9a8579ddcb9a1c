//! The parts of a record's data that folds need.

use super::detail::{CallId, Detail, ResultKey, Slot};
use super::dialect::{Dialect, ToolResultShape};
use super::kind::Kind;
use crate::json::{Raw, canonical};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Whether nothing need be gathered of such events.
pub(super) fn is_plain(kind: Kind) -> bool {
    kind == Kind::AssistantChunk
}

/// The parts of the data that folds need.
pub(super) fn parts(kind: Kind, data: Option<Raw<'_>>, dialect: &Dialect, detail: &mut Detail) {
    let Some(data) = data else { return };
    if is_plain(kind) || kind == Kind::UserMessage {
        return;
    }
    let [turn, step, message, call_id, inherited] =
        data.get_all(["turn", "step", "message", "callId", "inherited"]);
    detail.turn = Slot::of(turn);
    detail.step = Slot::of(step);
    match kind {
        Kind::AssistantMessage => {
            detail.calls = message.map(advertised_calls).unwrap_or_default();
        }
        Kind::ToolCall => detail.call_id = Some(call_id_of(call_id)),
        Kind::ToolResult => {
            let source = message.and_then(|m| m.path(&["source", "callId"]));
            detail.call_id = Some(call_id_of(source));
            detail.result_key = message.map(|m| result_key(data, m, dialect));
        }
        Kind::EndSeed => detail.inherited_seed = inherited.is_some_and(Raw::is_true),
        _ => {}
    }
}

fn call_id_of(value: Option<Raw<'_>>) -> CallId {
    value.map_or_else(|| b"undefined".to_vec(), canonical::stringify).into()
}

fn advertised_calls(message: Raw<'_>) -> Vec<CallId> {
    let Some(content) = message.get("content") else { return Vec::new() };
    content
        .elements()
        .filter_map(|block| {
            let [kind, id] = block.get_all(["type", "id"]);
            kind.filter(|k| k.is("tool-call")).map(|_| call_id_of(id))
        })
        .collect()
}

fn result_key(data: Raw<'_>, message: Raw<'_>, dialect: &Dialect) -> ResultKey {
    let mut rest = DefaultHasher::new();
    each_kept_member(data, message, dialect, |level, key, value| {
        (level, key.bytes(), value.bytes()).hash(&mut rest);
    });
    let mut id = DefaultHasher::new();
    message.get("id").map(canonical::stringify).hash(&mut id);
    ResultKey { rest: rest.finish(), id: id.finish() }
}

/// The members of a tool result that a rewrite must keep, but for the message id: level, key, value.
fn each_kept_member<'a>(
    data: Raw<'a>,
    message: Raw<'a>,
    dialect: &Dialect,
    mut each: impl FnMut(u8, Raw<'a>, Raw<'a>),
) {
    let mut all = |level: u8, object: Raw<'a>, leave_out: &[&str]| {
        for (key, value) in object.members() {
            if !leave_out.iter().any(|name| key.is(name)) {
                each(level, key, value);
            }
        }
    };
    all(0, data, &["message"]);
    all(1, message, &["id", "content"]);
    if dialect.tool_result == ToolResultShape::Wrapped
        && let Some(block) = message.get("content").and_then(|c| c.elements().next())
    {
        all(2, block, &["content"]);
    }
}

/// Whether two tool results differ in nothing but their content: the rewrite rule by value, the order
/// of members aside.
#[must_use]
pub fn is_same_result(a: Raw<'_>, b: Raw<'_>, dialect: &Dialect) -> bool {
    let kept = |data: Raw<'_>| {
        // Of a member that stands twice the last counts.
        let mut parts: BTreeMap<(u8, Vec<u8>), Vec<u8>> = BTreeMap::new();
        let message = data.get("message")?;
        each_kept_member(data, message, dialect, |level, key, value| {
            parts.insert(
                (level, canonical::stringify(key)),
                canonical::rewrite(value, canonical::Order::Sorted),
            );
        });
        parts.insert((3, Vec::new()), message.get("id").map(canonical::stringify).unwrap_or_default());
        Some(parts)
    };
    kept(a).is_some_and(|a| kept(b) == Some(a))
}
