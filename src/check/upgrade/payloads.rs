//! The shapes that the upgrade from generation 0 asks of every payload: exactly these members
//! (generations 1.5). The edges behind it ask the same of logs that begin there.

use super::messages::{MESSAGE, ROLE_ASSISTANT, ROLE_RESULT, ROLE_USER, USAGE};
use super::parts::{
    ANY_INT, COMPACTION, CONTINUABLE, DEFAULTS, DELEGATED, DISPATCH, DISPATCHED, ERROR, FEEDBACK,
    GOAL_CHANGE, HEADER_VALUE, INSTANT, ITEM, MEMBER, MODELS, MODES, ONE_SHOT, OPERATION, PAIRED, PLACE,
    QUEUED, REASON, RETRY, ROUTE, SCHEDULE, SCHEDULE_ID, SEARCH_MESSAGE, SEARCH_TOOL, SHADOWED, SINGLE,
    SPANNED, STEP, SUMMARY, TASK, TEAM, TITLE_SOURCE, TURN, VERSION_1, has_raw_output,
};
use crate::format::kind::Kind;
use crate::format::schema::Shape::{
    Any, Bool, Both, By, Count, Exact, Filled, List, Number, OneOf, Positive, Some as Several, Test, Text,
    True,
};
use crate::format::schema::{Members, Shape};

const NONE: Members = &[];

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
        Kind::TodoWrite => Exact(&[("todos", List(&ITEM))], NONE),
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
