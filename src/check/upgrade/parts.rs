//! The shapes that payloads are made of, see [`shape_of`](super::payloads::shape_of).

use super::messages::{BLOCKS, USAGE};
use crate::check::id::Id;
use crate::format::instant;
use crate::format::schema::Shape::{
    Any, Bool, Both, By, Count, Exact, Exactly, Filled, List, Number, Object, OneOf, Open, OrNull, Positive,
    Some as Several, Test, Text, Trimmed, True,
};
use crate::format::schema::{Members, Shape};
use crate::json::Raw;
use std::collections::HashSet;

const NONE: Members = &[];
pub(super) const TURN: (&str, Shape) = ("turn", Count);
pub(super) const STEP: (&str, Shape) = ("step", Count);
pub(super) const PLACE: Shape = Exact(&[TURN, STEP], NONE);
pub(super) const ANY_INT: Shape = Shape::Between(-9_007_199_254_740_991, 9_007_199_254_740_991);
pub(super) const DELEGATED: Members = &[("source", OneOf(&["delegation"]))];
pub(super) const ROUTE: Shape = Exact(&[("provider", Filled), ("model", Filled)], NONE);

const FAILURE: Shape = Exact(
    &[("message", Filled), ("code", Filled)],
    &[
        ("status", Shape::Between(100, 599)),
        ("providerRetryAfterMs", Number(f64::MIN_POSITIVE, f64::MAX)),
        ("requestId", Filled),
    ],
);

/// The header line of generations 0 and 1.
pub(super) const HEADER: Shape = Exact(
    &[("type", Any), ("version", Count), ("id", Text), ("createdAt", Count), ("delegationDepth", Count)],
    &[
        ("cwd", Text),
        ("parentSession", Text),
        ("seedLength", Count),
        ("origin", OneOf(&["subagent"])),
        ("agentPreset", Text),
    ],
);

pub(super) const SHADOWED: Members = &[
    ("shadowedRange", Exact(&[("start", Count), ("end", Count)], NONE)),
    ("shadowedSeqs", Several(&Count)),
    ("shadowedTokenCount", Count),
];
pub(super) const SPANNED: Shape =
    Both(&Open(SHADOWED, NONE), &Test(ends_as_its_range, "a span that its seqs begin and end"));

fn ends_as_its_range(data: Raw<'_>) -> bool {
    let [range, seqs] = data.get_all(["shadowedRange", "shadowedSeqs"]);
    let ends = range.map(|range| range.get_all(["start", "end"]).map(|end| end.and_then(Raw::count)));
    let mut seqs = seqs.into_iter().flat_map(Raw::elements).map(Raw::count);
    let first = seqs.next().flatten();
    ends == Some([first, seqs.last().flatten().or(first)])
}

pub(super) const SUMMARY: Shape = Exact(
    &[
        ("compactionId", Filled),
        ("summary", BLOCKS),
        ("shadowedRange", Any),
        ("shadowedSeqs", Any),
        ("shadowedTokenCount", Any),
        ("provider", Filled),
        ("model", Filled),
    ],
    &[
        ("sourceCommandId", Filled),
        ("maxTokens", Count),
        ("usage", USAGE),
        ("rawOutput", BLOCKS),
        ("llmStreamCall", True),
    ],
);

pub(super) fn has_raw_output(data: Raw<'_>) -> bool {
    let [call, output] = data.get_all(["llmStreamCall", "rawOutput"]);
    call.is_none() || output.is_some()
}

const GOAL: Shape = Exact(
    &[
        ("id", Filled),
        ("revision", Positive),
        ("objective", Filled),
        ("phase", OneOf(&["active", "paused", "complete"])),
        ("maxGoalRounds", Positive),
    ],
    NONE,
);
const BLOCKED: Shape = Exact(
    &[
        ("id", Filled),
        ("revision", Positive),
        ("objective", Filled),
        ("phase", Any),
        ("maxGoalRounds", Positive),
        ("blockedReason", Exact(&[("code", Filled), ("message", Filled)], NONE)),
    ],
    NONE,
);
const GOAL_KIND: (&str, Shape) = ("kind", OneOf(&["goal/change"]));
const GOAL_CLEAR: Shape = Exact(
    &[
        GOAL_KIND,
        ("version", Exactly(1)),
        ("operation", Any),
        ("cleared", Exact(&[("id", Filled), ("revision", Positive)], NONE)),
        ("clearedAt", Count),
    ],
    NONE,
);
const GOAL_SNAPSHOT: Shape = Exact(
    &[
        GOAL_KIND,
        ("version", Exactly(1)),
        ("operation", OneOf(&["create", "edit", "pause", "resume", "complete", "block"])),
        ("goal", By("phase", &[("blocked", BLOCKED)], Some(&GOAL))),
        ("roundsStarted", Count),
        ("createdAt", Count),
        ("updatedAt", Count),
    ],
    NONE,
);
pub(super) const GOAL_CHANGE: Shape = By("operation", &[("clear", GOAL_CLEAR)], Some(&GOAL_SNAPSHOT));

pub(super) const INSTANT: Shape = Test(is_instant, "an instant with milliseconds in UTC");
pub(super) const SCHEDULE_ID: (&str, Shape) = ("id", Trimmed);
pub(super) const VERSION_1: (&str, Shape) = ("version", Exactly(1));
pub(super) const OPERATION: (&str, Shape) = ("operation", Any);
const DUE: (&str, Shape) = ("scheduledAt", INSTANT);
const OFTEN: Shape = Test(|seconds| seconds.count() >= Some(300), "at least 300");
const EVERY: Shape = Both(&Positive, &OFTEN);
pub(super) const SCHEDULE: Shape = By(
    "kind",
    &[
        (
            "after",
            Exact(&[SCHEDULE_ID, ("kind", Any), ("prompt", Filled), ("afterSeconds", Positive), DUE], NONE),
        ),
        ("at", Exact(&[SCHEDULE_ID, ("kind", Any), ("prompt", Filled), DUE], NONE)),
        (
            "every",
            Exact(&[SCHEDULE_ID, ("kind", Any), ("prompt", Filled), ("everySeconds", EVERY), DUE], NONE),
        ),
    ],
    None,
);

fn is_instant(value: Raw<'_>) -> bool {
    value.text().is_some_and(|text| instant::parse(&text).is_some())
}

const FILTER: Shape = Both(
    &Exact(NONE, &[("allow", List(&Filled)), ("deny", List(&Filled))]),
    &Test(|filter| filter.members().next().is_some(), "a filter that allows or denies"),
);
const DESCRIPTOR_VERSION: (&str, Shape) = ("version", Exactly(3));
pub(super) const ONE_SHOT: Shape =
    Exact(&[("mode", Any), DESCRIPTOR_VERSION, ("provider", Filled)], &[("label", Text)]);
pub(super) const CONTINUABLE: Shape = Exact(
    &[("mode", Any), DESCRIPTOR_VERSION, ("provider", Filled), ("label", Filled)],
    &[
        ("agentProvider", Filled),
        ("agentModel", Filled),
        ("agentReasoningEffort", Filled),
        ("persona", Filled),
        ("toolFilter", FILTER),
    ],
);
pub(super) const PAIRED: Shape = Test(
    |data| {
        let [provider, model] = data.get_all(["agentProvider", "agentModel"]);
        provider.is_some() == model.is_some()
    },
    "a descriptor with agentProvider and agentModel together",
);

pub(super) const TEAM: (&str, Shape) = ("teamId", Filled);
pub(super) const MEMBER: Shape = Exact(
    &[
        ("id", Filled),
        ("name", Text),
        ("description", Text),
        ("provider", Text),
        ("context", OneOf(&["fresh", "fork"])),
        ("phase", OneOf(&["provisioning", "active", "failed"])),
    ],
    &[("error", Text)],
);
pub(super) const TASK: Shape = Exact(
    &[
        ("id", Filled),
        ("revision", Positive),
        ("subject", Text),
        ("description", Text),
        ("status", OneOf(&["pending", "in_progress", "completed", "deleted"])),
        ("blockedBy", List(&Filled)),
        ("writeScopes", List(&Text)),
    ],
    &[("ownerId", Filled)],
);
pub(super) const QUEUED: Shape = Exact(
    &[
        ("id", Filled),
        ("senderId", Filled),
        ("senderName", Text),
        ("targetId", Filled),
        ("delivery", OneOf(&["quiet", "wakeup"])),
        ("content", BLOCKS),
    ],
    NONE,
);

const TOOL: Shape = Exact(&[("name", Filled), ("description", Text), ("parameters", Object)], NONE);
const CONFIG: Shape = Exact(
    &[("provider", Filled), ("model", Filled)],
    &[
        ("reasoningEffort", Filled),
        ("temperature", Number(f64::MIN, f64::MAX)),
        ("maxTokens", Positive),
        ("stop", List(&Text)),
    ],
);
pub(super) const HEADER_VALUE: Shape = Exact(
    &[("config", CONFIG)],
    &[
        ("adapterDefaults", Exact(NONE, &[("reasoningEffort", True), ("maxTokens", True)])),
        ("system", Text),
        ("tools", List(&TOOL)),
    ],
);
pub(super) const DEFAULTS: Shape =
    Test(defaults_are_configured, "a header whose adapterDefaults all stand in its config");

fn defaults_are_configured(data: Raw<'_>) -> bool {
    let config = data.path(&["header", "config"]);
    let defaults = data.path(&["header", "adapterDefaults"]);
    let stands = |key: Raw<'_>| config.is_some_and(|config| config.members().any(|(name, _)| name == key));
    defaults.into_iter().flat_map(Raw::members).all(|(key, _)| stands(key))
}

const ABORTED: Shape = By(
    "kind",
    &[("hook", Exact(&[("kind", Any), ("reason", Text)], NONE))],
    Some(&Exact(&[("kind", OneOf(&["user", "parent", "disposed", "legacy"]))], NONE)),
);
const BARE: Shape = Exact(&[("kind", Any)], NONE);
pub(super) const REASON: Shape = By(
    "kind",
    &[
        ("completed", BARE),
        ("blocked", BARE),
        ("max-tokens", BARE),
        ("interrupted", BARE),
        ("aborted", Exact(&[("kind", Any), ("reason", ABORTED)], NONE)),
        ("error", Exact(&[("kind", Any), ("error", FAILURE)], NONE)),
    ],
    Some(&Open(&[("kind", Filled)], NONE)),
);

pub(super) const RETRY: Members = &[
    ("retryId", Filled),
    TURN,
    STEP,
    ("provider", Filled),
    ("mode", Any),
    ("policyKey", Filled),
    ("retry", Positive),
    ("delayMs", Number(0.0, 2_147_483_647.0)),
    ("failure", FAILURE),
];
const WITHIN: Shape = Test(
    |data| {
        let [retry, max] = data.get_all(["retry", "maxRetries"]).map(|n| n.and_then(Raw::count));
        retry <= max
    },
    "a retry within its maxRetries",
);
const NORMAL: Shape = Both(&Open(&[("maxRetries", Positive)], NONE), &WITHIN);
pub(super) const MODES: Shape = By("mode", &[("normal", NORMAL), ("always", Exact(RETRY, NONE))], None);

pub(super) const DISPATCH: Members = &[
    ("rootCallId", Filled),
    ("parentCallId", Filled),
    ("subCallId", Filled),
    ("name", Filled),
    ("arguments", Any),
];
pub(super) const DISPATCHED: Shape = Exact(
    &[
        ("rootCallId", Filled),
        ("parentCallId", Filled),
        ("subCallId", Filled),
        ("name", Filled),
        ("arguments", Any),
        ("isError", Bool),
        ("content", BLOCKS),
    ],
    NONE,
);
const SEARCH_TEXT: Shape = Exact(&[("type", OneOf(&["text"])), ("text", Text)], NONE);
pub(super) const SEARCH_MESSAGE: Shape =
    Exact(&[("role", OneOf(&["user"])), ("content", Both(&List(&SEARCH_TEXT), &SINGLE))], NONE);
pub(super) const SEARCH_TOOL: Shape = Exact(
    &[("type", OneOf(&["web_search_20250305"])), ("name", OneOf(&["web_search"])), ("max_uses", Positive)],
    NONE,
);
pub(super) const SINGLE: Shape = Test(|list| list.elements().count() == 1, "an array of one");
pub(super) const TITLE_SOURCE: Shape = By(
    "kind",
    &[("provider", Exact(&[("kind", Any), ("provider", Filled)], &[("model", ROUTE)]))],
    Some(&Exact(&[("kind", OneOf(&["fallback", "user"]))], NONE)),
);
pub(super) const MODELS: Shape =
    Both(&Several(&ROUTE), &Test(without_repeats, "a list that names each model once"));

fn without_repeats(list: Raw<'_>) -> bool {
    let mut met = HashSet::new();
    list.elements().all(|route| met.insert(route.get_all(["provider", "model"]).map(Id::of)))
}

pub(super) const ITEM: Shape =
    Exact(&[("content", Text), ("status", OneOf(&["pending", "in_progress", "completed"]))], NONE);
pub(super) const COMPACTION: Members = &[("compactionId", Filled), ("turn", OrNull(&Count))];
pub(super) const ERROR: Shape = Exact(&[("name", Filled), ("code", Filled)], NONE);

pub(super) const FEEDBACK: Shape = Exact(
    &[
        ("messageId", Text),
        ("rating", OneOf(&["positive", "negative"])),
        ("version", Text),
        ("createdAt", Count),
        ("updatedAt", Count),
    ],
    &[("note", Text)],
);
