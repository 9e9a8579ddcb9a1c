//! The shapes that the upgrade from generation 0 asks of every payload: exactly these members
//! (generations 1.5). The edges behind it ask the same of logs that begin there.

use super::messages::{BLOCKS, MESSAGE, ROLE_ASSISTANT, ROLE_RESULT, ROLE_USER, USAGE};
use crate::check::id::Id;
use crate::format::instant;
use crate::format::kind::Kind;
use crate::format::schema::Shape::{
    Any, Bool, Both, By, Count, Exact, Exactly, Filled, List, Number, Object, OneOf, Open, OrNull, Positive,
    Some as Several, Test, Text, Trimmed, True,
};
use crate::format::schema::{Members, Shape};
use crate::json::Raw;
use std::collections::HashSet;

const NONE: Members = &[];
const TURN: (&str, Shape) = ("turn", Count);
const STEP: (&str, Shape) = ("step", Count);
const PLACE: Shape = Exact(&[TURN, STEP], NONE);
const ANY_INT: Shape = Shape::Between(-9_007_199_254_740_991, 9_007_199_254_740_991);
const DELEGATED: Members = &[("source", OneOf(&["delegation"]))];
const ROUTE: Shape = Exact(&[("provider", Filled), ("model", Filled)], NONE);

pub(super) const FAILURE: Shape = Exact(
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

const SHADOWED: Members = &[
    ("shadowedRange", Exact(&[("start", Count), ("end", Count)], NONE)),
    ("shadowedSeqs", Several(&Count)),
    ("shadowedTokenCount", Count),
];
const SPANNED: Shape =
    Both(&Open(SHADOWED, NONE), &Test(ends_as_its_range, "a span that its seqs begin and end"));

fn ends_as_its_range(data: Raw<'_>) -> bool {
    let [range, seqs] = data.get_all(["shadowedRange", "shadowedSeqs"]);
    let ends = range.map(|range| range.get_all(["start", "end"]).map(|end| end.and_then(Raw::count)));
    let mut seqs = seqs.into_iter().flat_map(Raw::elements).map(Raw::count);
    let first = seqs.next().flatten();
    ends == Some([first, seqs.last().flatten().or(first)])
}

const SUMMARY: Shape = Exact(
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

fn has_raw_output(data: Raw<'_>) -> bool {
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

const INSTANT: Shape = Test(is_instant, "an instant with milliseconds in UTC");
const SCHEDULE_ID: (&str, Shape) = ("id", Trimmed);
const VERSION_1: (&str, Shape) = ("version", Exactly(1));
const OPERATION: (&str, Shape) = ("operation", Any);
const DUE: (&str, Shape) = ("scheduledAt", INSTANT);
const OFTEN: Shape = Test(|seconds| seconds.count() >= Some(300), "at least 300");
const EVERY: Shape = Both(&Positive, &OFTEN);
const SCHEDULE: Shape = By(
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
const ONE_SHOT: Shape = Exact(&[("mode", Any), DESCRIPTOR_VERSION, ("provider", Filled)], &[("label", Text)]);
const CONTINUABLE: Shape = Exact(
    &[("mode", Any), DESCRIPTOR_VERSION, ("provider", Filled), ("label", Filled)],
    &[
        ("agentProvider", Filled),
        ("agentModel", Filled),
        ("agentReasoningEffort", Filled),
        ("persona", Filled),
        ("toolFilter", FILTER),
    ],
);
const PAIRED: Shape = Test(
    |data| {
        let [provider, model] = data.get_all(["agentProvider", "agentModel"]);
        provider.is_some() == model.is_some()
    },
    "a descriptor with agentProvider and agentModel together",
);

const TEAM: (&str, Shape) = ("teamId", Filled);
const MEMBER: Shape = Exact(
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
const TASK: Shape = Exact(
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
const QUEUED: Shape = Exact(
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
const HEADER_VALUE: Shape = Exact(
    &[("config", CONFIG)],
    &[
        ("adapterDefaults", Exact(NONE, &[("reasoningEffort", True), ("maxTokens", True)])),
        ("system", Text),
        ("tools", List(&TOOL)),
    ],
);
const DEFAULTS: Shape =
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
const REASON: Shape = By(
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

const RETRY: Members = &[
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
const MODES: Shape = By("mode", &[("normal", NORMAL), ("always", Exact(RETRY, NONE))], None);

const DISPATCH: Members = &[
    ("rootCallId", Filled),
    ("parentCallId", Filled),
    ("subCallId", Filled),
    ("name", Filled),
    ("arguments", Any),
];
const DISPATCHED: Shape = Exact(
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
const SEARCH_MESSAGE: Shape =
    Exact(&[("role", OneOf(&["user"])), ("content", Both(&List(&SEARCH_TEXT), &SINGLE))], NONE);
const SEARCH_TOOL: Shape = Exact(
    &[("type", OneOf(&["web_search_20250305"])), ("name", OneOf(&["web_search"])), ("max_uses", Positive)],
    NONE,
);
const SINGLE: Shape = Test(|list| list.elements().count() == 1, "an array of one");
const TITLE_SOURCE: Shape = By(
    "kind",
    &[("provider", Exact(&[("kind", Any), ("provider", Filled)], &[("model", ROUTE)]))],
    Some(&Exact(&[("kind", OneOf(&["fallback", "user"]))], NONE)),
);
const MODELS: Shape = Both(&Several(&ROUTE), &Test(without_repeats, "a list that names each model once"));

fn without_repeats(list: Raw<'_>) -> bool {
    let mut met = HashSet::new();
    list.elements().all(|route| met.insert(route.get_all(["provider", "model"]).map(Id::of)))
}

const TODO: Shape =
    Exact(&[("content", Text), ("status", OneOf(&["pending", "in_progress", "completed"]))], NONE);
const COMPACTION: Members = &[("compactionId", Filled), ("turn", OrNull(&Count))];
const ERROR: Shape = Exact(&[("name", Filled), ("code", Filled)], NONE);

/// The shape of a type's payload; none for a chunk, which is not looked at, and for a type that
/// generation 1 does not know.
pub(super) fn shape_of(kind: Kind) -> Option<Shape> {
    Some(match kind {
        Kind::AgentPresetSelected => Exact(&[("agentPreset", Text)], NONE),
        Kind::InboxSpliced => Exact(
            &[
                ("target", OneOf(&["next-turn", "next-step"])),
                ("start", Count),
                ("inserted", List(&ROLE_USER)),
            ],
            &[("removedCount", Count), ("outcome", OneOf(&["canceled"]))],
        ),
        Kind::ApprovalAsked => {
            Exact(&[("id", Filled), ("toolName", Filled)], &[("callId", Filled), ("reason", Text)])
        }
        Kind::ApprovalDecided => Exact(
            &[("id", Filled), ("outcome", OneOf(&["allowed-once", "rejected", "cancelled", "unavailable"]))],
            NONE,
        ),
        Kind::ApprovalPolicy => Exact(&[("policy", OneOf(&["ask", "never"]))], DELEGATED),
        Kind::AssistantMessage => Exact(
            &[TURN, STEP, ("message", ROLE_ASSISTANT)],
            &[("usage", USAGE), ("interrupted", True), ("stream", Any)],
        ),
        Kind::AssistantAttempt => Exact(&[TURN, STEP, ("stream", Any)], NONE),
        Kind::CommandDone => Exact(
            &[("commandId", Filled), ("kind", OneOf(&["success", "error"]))],
            &[("text", Text), ("sourceEventSeq", Count)],
        ),
        Kind::CommandRun => Exact(
            &[
                ("commandId", Filled),
                ("name", Filled),
                ("source", Exact(&[("kind", OneOf(&["user"]))], NONE)),
            ],
            &[("args", Text)],
        ),
        Kind::CompactionStart => Exact(COMPACTION, &[("sourceCommandId", Filled)]),
        Kind::CompactionEnd => Exact(COMPACTION, &[("sourceCommandId", Filled), ("error", Text)]),
        Kind::CompactionPrune => Both(&Exact(SHADOWED, NONE), &SPANNED),
        Kind::CompactionSummary => {
            Both(&SUMMARY, &Both(&SPANNED, &Test(has_raw_output, "a call with its rawOutput")))
        }
        Kind::FeedbackRecord => Exact(&[("text", Filled)], NONE),
        Kind::FeedbackMessageDelete => Exact(&[("sessionId", Text), ("messageId", Text)], NONE),
        Kind::FeedbackMessagePut => Exact(&[("sessionId", Text), ("item", FEEDBACK)], NONE),
        Kind::GoalChange => GOAL_CHANGE,
        Kind::HookInvoked => Exact(
            &[TURN, ("point", Filled), ("dialect", OneOf(&["claude-code", "codex"])), ("handlerId", Filled)],
            &[("matcher", Text)],
        ),
        Kind::HookResult => Exact(
            &[
                TURN,
                ("point", Filled),
                ("handlerId", Filled),
                ("decision", Filled),
                ("durationMs", Number(0.0, f64::MAX)),
            ],
            &[("exitCode", ANY_INT), ("stderrSummary", Text)],
        ),
        Kind::LlmRetry => Both(&Exact(RETRY, &[("maxRetries", Any)]), &MODES),
        Kind::LlmRetryStarted => Exact(&[("retryId", Filled), TURN, STEP, ("retry", Positive)], NONE),
        Kind::ModelSelection => {
            Exact(&[("provider", Filled), ("model", Filled)], &[("reasoningEffort", Filled)])
        }
        Kind::PermissionPreset => Exact(&[("preset", Filled)], NONE),
        Kind::PlanMode => Exact(&[("active", Bool)], NONE),
        Kind::RequestContext => {
            Exact(&[("provider", Filled), ("model", Filled)], &[("contextWindow", Positive)])
        }
        Kind::RequestHeader => Both(
            &Exact(
                &[("header", HEADER_VALUE), ("reason", OneOf(&["initial", "resume", "change", "series"]))],
                &[("startsSeries", True)],
            ),
            &DEFAULTS,
        ),
        Kind::SandboxMode => {
            Exact(&[("mode", OneOf(&["read-only", "workspace-write", "danger-full-access"]))], DELEGATED)
        }
        Kind::ScheduleChange => By(
            "operation",
            &[
                ("create", Exact(&[VERSION_1, OPERATION, ("schedule", SCHEDULE)], NONE)),
                ("delete", Exact(&[VERSION_1, OPERATION, SCHEDULE_ID], NONE)),
                ("dispatch", Exact(&[VERSION_1, OPERATION, SCHEDULE_ID], &[("acceptedAt", INSTANT)])),
            ],
            None,
        ),
        Kind::DeliveryAccepted => {
            Exact(&[("sessionId", Any), ("throughSeq", Any)], &[("sessionFormatVersion", Count)])
        }
        Kind::EndSeed => Exact(NONE, &[("inherited", True)]),
        Kind::SessionTitle => {
            Exact(&[("title", Filled), ("messageSeqs", List(&Count)), ("source", TITLE_SOURCE)], NONE)
        }
        Kind::SessionTitleLlmRequest => Exact(
            &[
                ("titleProvider", Filled),
                ("messageSeqs", Several(&Count)),
                ("route", ROUTE),
                ("system", Text),
                ("messages", List(&MESSAGE)),
                ("maxTokens", Positive),
            ],
            NONE,
        ),
        Kind::StepEnd | Kind::StepStart => PLACE,
        Kind::SubagentDescriptor => {
            By("mode", &[("one-shot", ONE_SHOT), ("continuable", Both(&CONTINUABLE, &PAIRED))], None)
        }
        Kind::SubagentModelSelectionPolicy => Exact(&[("allowedModels", MODELS)], NONE),
        Kind::TeamMember => Exact(&[VERSION_1, TEAM, ("member", MEMBER)], NONE),
        Kind::TeamMessageDelivered => {
            Exact(&[VERSION_1, TEAM, ("messageId", Filled), ("targetId", Filled)], NONE)
        }
        Kind::TeamMessageQueued => Exact(&[VERSION_1, TEAM, ("message", QUEUED)], NONE),
        Kind::TeamTask => Exact(&[VERSION_1, TEAM, ("task", TASK)], NONE),
        Kind::TodoWrite => Exact(&[("todos", List(&TODO))], NONE),
        Kind::WorkflowAgentEnd => Exact(
            &[
                ("runId", Filled),
                ("seq", Positive),
                ("outcome", OneOf(&["completed", "failed", "cancelled"])),
            ],
            NONE,
        ),
        Kind::WorkflowAgentStart => Exact(
            &[("runId", Filled), ("seq", Positive), ("label", Text), ("childId", Filled)],
            &[("phase", Text)],
        ),
        Kind::WorkflowRunEnd => {
            Exact(&[("runId", Filled), ("stopReason", OneOf(&["completed", "cancelled", "error"]))], NONE)
        }
        Kind::WorkflowRunStart => Exact(&[("runId", Filled), ("name", Filled)], NONE),
        Kind::ToolCall => {
            Exact(&[TURN, STEP, ("callId", Filled), ("name", Filled), ("arguments", Text)], NONE)
        }
        Kind::CodeDispatch => DISPATCHED,
        Kind::CodeDispatchStart => Exact(DISPATCH, NONE),
        Kind::ToolResult => {
            Exact(&[TURN, STEP, ("message", ROLE_RESULT)], &[("error", ERROR), ("meta", Any)])
        }
        Kind::TurnEnd => Exact(&[TURN, ("reason", REASON)], NONE),
        Kind::TurnStart => Exact(&[TURN], NONE),
        Kind::UserMessage => ROLE_USER,
        Kind::WebSearchLlmRequest => Exact(
            &[
                ("endpoint", Filled),
                ("apiVersion", Filled),
                (
                    "body",
                    Exact(
                        &[
                            ("model", Filled),
                            ("max_tokens", Positive),
                            ("messages", Both(&List(&SEARCH_MESSAGE), &SINGLE)),
                            ("tools", Both(&List(&SEARCH_TOOL), &SINGLE)),
                        ],
                        NONE,
                    ),
                ),
            ],
            NONE,
        ),
        _ => return None,
    })
}

const FEEDBACK: Shape = Exact(
    &[
        ("messageId", Text),
        ("rating", OneOf(&["positive", "negative"])),
        ("version", Text),
        ("createdAt", Count),
        ("updatedAt", Count),
    ],
    &[("note", Text)],
);
