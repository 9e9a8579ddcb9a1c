//! The shapes that the upgrade from generation 0 asks of messages: their sources and their blocks.

use crate::check::id::Id;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::schema::Shape::{
    Any, Bool, Both, By, Count, Exact, Filled, List, OneOf, Open, OrNull, Positive, Some as Several, Test,
    Text, True,
};
use crate::format::schema::{Members, Shape};
use crate::format::shape::{is, object, only};
use crate::json::Raw;
use std::collections::HashSet;

const NONE: Members = &[];
const KIND: (&str, Shape) = ("kind", Any);
const TYPE: (&str, Shape) = ("type", Any);

pub(super) const USAGE: Shape = Exact(
    &[("inputTokens", Count), ("outputTokens", Count)],
    &[
        ("totalTokens", Count),
        ("cacheReadTokens", Count),
        ("cacheWriteTokens", Count),
        ("reasoningTokens", Count),
    ],
);

const TEXT_BLOCK: Shape = Exact(&[TYPE, ("text", Text)], NONE);
const SIZE: Shape = Exact(&[("width", Positive), ("height", Positive)], NONE);
const IMAGE: Shape = Exact(
    &[
        ("attachmentId", Filled),
        ("mediaType", OneOf(&["image/png", "image/jpeg", "image/webp", "image/gif"])),
        ("bytes", Count),
        ("width", Positive),
        ("height", Positive),
    ],
    &[("name", Text), ("originalDimensions", SIZE)],
);
/// A block by itself; what stands inside a result comes after it.
pub(super) const BLOCK: Shape = By(
    "type",
    &[
        ("text", TEXT_BLOCK),
        ("reasoning", TEXT_BLOCK),
        ("image", Exact(&[TYPE, ("attachment", IMAGE)], NONE)),
        ("tool-call", Exact(&[TYPE, ("id", Filled), ("name", Filled), ("arguments", Text)], NONE)),
        (
            "tool-result",
            Exact(&[TYPE, ("toolCallId", Filled), ("content", List(&Any))], &[("isError", Bool)]),
        ),
    ],
    Some(&Open(&[("type", Filled)], NONE)),
);
pub(super) const BLOCKS: Shape =
    Both(&List(&BLOCK), &Test(|content| all_blocks(content, &BLOCK), "results with sound blocks inside"));

/// Whether every block fits, also those inside of results; without recursion, as they may lie deep.
pub(super) fn all_blocks(content: Raw<'_>, shape: &Shape) -> bool {
    let mut open = vec![content];
    while let Some(content) = open.pop() {
        for block in content.elements() {
            if shape.fit(block).is_err() {
                return false;
            }
            if is(block.get("type"), "tool-result") {
                open.extend(block.get("content"));
            }
        }
    }
    true
}

const COMPACT: Shape = Exact(
    &[KIND, ("plugin", Any), ("compactionId", Filled)],
    &[("sourceCommandId", Filled), ("form", Any), ("sections", Any), ("summary", Any)],
);
const PLUGIN: Shape =
    Exact(&[KIND, ("plugin", Filled)], &[("form", Any), ("sections", Any), ("summary", Any)]);
const SECTION: Shape = Exact(&[("name", Filled), ("text", Text)], NONE);
const SNAPSHOT: Shape = Both(&Open(&[("sections", List(&SECTION))], NONE), &WITHOUT_SUMMARY);
const NOTICE: Shape = Both(&Open(&[("summary", Text)], NONE), &WITHOUT_SECTIONS);
const PLAIN_FORM: Shape = Both(&WITHOUT_SECTIONS, &WITHOUT_SUMMARY);
const WITHOUT_SECTIONS: Shape =
    Test(|s| s.get("sections").is_none(), "without sections outside of a snapshot");
const WITHOUT_SUMMARY: Shape = Test(|s| s.get("summary").is_none(), "without a summary outside of a notice");
const FORMS: Shape = By(
    "form",
    &[
        ("snapshot", SNAPSHOT),
        ("notice", NOTICE),
        ("instructions", PLAIN_FORM),
        ("catalog", PLAIN_FORM),
        ("relay", PLAIN_FORM),
        ("recall", PLAIN_FORM),
    ],
    Some(&WITHOUT_FORM),
);
// Of a source without a form neither of the two is looked at.
const WITHOUT_FORM: Shape = Test(|source| source.get("form").is_none(), "a source of a known form");
const PLUGIN_SOURCE: Shape = Both(&By("plugin", &[("compact", COMPACT)], Some(&PLUGIN)), &FORMS);

const CHANGE: Shape = Exact(
    &[("action", OneOf(&["set", "replace", "remove"])), ("scope", Text), ("path", Text)],
    &[("digest", Text)],
);
const ENTRY: Shape = Exact(&[("name", Filled), ("description", Text)], NONE);
const REFERENCE: Shape = Both(
    &Exact(
        &[
            ("sessionId", Filled),
            ("label", Text),
            ("capturedThroughSeq", OrNull(&Count)),
            ("compacted", Bool),
            ("originalMessages", Count),
            ("retainedMessages", Count),
            ("omittedMessages", Count),
            ("omittedBytes", Count),
            ("truncated", Bool),
            ("inputIndex", Count),
        ],
        &[("capturedFormatVersion", Positive)],
    ),
    &Test(counts_agree, "a reference whose counts agree"),
);

fn counts_agree(reference: Raw<'_>) -> bool {
    let names = ["originalMessages", "retainedMessages", "omittedMessages", "omittedBytes"];
    let [original, retained, omitted, bytes] = reference.get_all(names).map(|n| n.and_then(Raw::count));
    let (Some(original), Some(retained), Some(omitted)) = (original, retained, omitted) else { return false };
    let truncated = reference.get("truncated").is_some_and(Raw::is_true);
    original.checked_sub(retained) == Some(omitted) && truncated == (omitted > 0 || bytes > Some(0))
}

fn in_order_and_once(list: Raw<'_>) -> bool {
    let mut met = HashSet::new();
    list.elements().enumerate().all(|(at, reference)| {
        let [index, id] = reference.get_all(["inputIndex", "sessionId"]);
        index.and_then(Raw::count) == Some(at as u64) && met.insert(Id::of(id))
    })
}

const REFERENCES: Shape =
    Both(&Several(&REFERENCE), &Test(in_order_and_once, "references in order, each session once"));
const RELAY: Shape = Exact(&[KIND, ("form", OneOf(&["relay"])), ("senderSessionId", Filled)], NONE);
const MODEL: Shape = Exact(&[KIND, ("provider", Filled), ("model", Filled)], &[("replayState", Any)]);
const TOOL: Shape = Exact(&[KIND, ("callId", Filled)], NONE);
const WEBHOOK: Shape = Exact(
    &[
        KIND,
        ("provider", Filled),
        ("source", Filled),
        ("deliveryId", Filled),
        ("ruleId", Filled),
        ("form", OneOf(&["notice"])),
        ("summary", Text),
    ],
    NONE,
);
const ROUND: Shape = Exact(&[KIND, ("goalId", Filled), ("revision", Positive), ("round", Positive)], NONE);
// One that holds a change, as before the change was an event, is looked at apart.
const GOAL: Shape = Test(|s| s.get("change").is_some() || ROUND.fit(s).is_ok(), "a round of a goal");
const SOURCE: Shape = By(
    "kind",
    &[
        ("user", Exact(&[KIND], &[("rpcId", Filled), ("clientTimeZone", Filled)])),
        ("plugin", PLUGIN_SOURCE),
        ("model", MODEL),
        ("tool", TOOL),
        (
            "agent-instructions",
            Exact(
                &[KIND, ("form", OneOf(&["instructions"])), ("changes", List(&CHANGE))],
                &[("baseline", True), ("baselineIdentity", Filled)],
            ),
        ),
        (
            "session-reference",
            Exact(
                &[
                    KIND,
                    ("form", OneOf(&["recall"])),
                    ("version", Shape::Exactly(1)),
                    ("references", REFERENCES),
                ],
                NONE,
            ),
        ),
        (
            "team-message",
            Exact(
                &[
                    KIND,
                    ("teamId", Filled),
                    ("messageId", Filled),
                    ("senderId", Filled),
                    ("senderName", Text),
                ],
                NONE,
            ),
        ),
        ("goal", GOAL),
        ("skill-invocation", Exact(&[KIND, ("name", Filled), ("form", OneOf(&["instructions"]))], NONE)),
        (
            "skill-catalog",
            Exact(&[KIND, ("form", OneOf(&["catalog"])), ("entries", List(&ENTRY))], &[("update", True)]),
        ),
        ("coordinator", RELAY),
        ("subagent-report", RELAY),
        (
            "subagent-settled",
            Exact(
                &[KIND, ("form", OneOf(&["notice"])), ("summary", Text), ("senderSessionId", Filled)],
                NONE,
            ),
        ),
        ("webhook", WEBHOOK),
    ],
    Some(&Open(&[KIND_FILLED], NONE)),
);
const KIND_FILLED: (&str, Shape) = ("kind", Filled);

const ID: (&str, Shape) = ("id", Filled);
const CONTENT: (&str, Shape) = ("content", BLOCKS);

/// A message of any role.
pub(super) const MESSAGE: Shape =
    Exact(&[ID, ("role", OneOf(&["system", "user", "assistant"])), CONTENT, ("source", SOURCE)], NONE);
/// A message of a user.
pub(super) const ROLE_USER: Shape =
    Exact(&[ID, ("role", OneOf(&["user"])), CONTENT, ("source", SOURCE)], NONE);
/// An answer of the model.
pub(super) const ROLE_ASSISTANT: Shape = Exact(
    &[ID, ("role", OneOf(&["assistant"])), CONTENT, ("source", By("kind", &[("model", MODEL)], None))],
    NONE,
);
/// The result of a call, in its wrapper.
pub(super) const ROLE_RESULT: Shape = Both(
    &Exact(&[ID, ("role", OneOf(&["user"])), CONTENT, ("source", By("kind", &[("tool", TOOL)], None))], NONE),
    &Test(wraps_one_result, "a message of one result of its own call"),
);

fn wraps_one_result(message: Raw<'_>) -> bool {
    let block = only(message.get("content"));
    let [kind, call] = block.map_or([None; 2], |block| block.get_all(["type", "toolCallId"]));
    let own = object(message.get("source")).and_then(|source| source.get("callId")).and_then(Raw::text);
    is(kind, "tool-result") && call.and_then(Raw::text) == own
}

/// The messages that an event carries.
pub(super) fn messages_of<'a>(event: &Event<'a>) -> Vec<Raw<'a>> {
    let list = |name: &str| event.data.get(name).into_iter().flat_map(Raw::elements).collect();
    match event.kind {
        Kind::InboxSpliced => list("inserted"),
        Kind::SessionTitleLlmRequest => list("messages"),
        Kind::UserMessage
        | Kind::AssistantMessage
        | Kind::ToolResult
        | Kind::SystemMessage
        | Kind::DeveloperMessage => event.message().into_iter().collect(),
        _ => Vec::new(),
    }
}
