//! The vocabulary: every event type that some generation knows (format v0 section 7, generations
//! 1.7, v4 section 3).

use std::fmt;

macro_rules! kinds {
    ($($kind:ident $name:literal $first:literal $last:literal)*) => {
        /// An event type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Kind {
            $(#[doc = concat!("`", $name, "`")] $kind,)*
            /// A type that no generation we know has.
            Unknown,
        }

        impl Kind {
            /// All types that some generation knows.
            pub const ALL: &'static [Kind] = &[$(Kind::$kind,)*];

            /// The kind of a type name.
            #[must_use]
            pub fn of(name: &[u8]) -> Kind {
                match std::str::from_utf8(name) {
                    $(Ok($name) => Kind::$kind,)*
                    _ => Kind::Unknown,
                }
            }

            /// Whether the harness of that generation knows it.
            #[must_use]
            pub fn is_in_generation(self, version: u32) -> bool {
                let (first, last) = match self {
                    $(Kind::$kind => ($first, $last),)*
                    Kind::Unknown => (1, 0),
                };
                first <= version && version <= last
            }

            /// The type's name; `unknown` for what has none of ours.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Kind::$kind => $name,)*
                    Kind::Unknown => "unknown",
                }
            }
        }
    };
}

// Name, then the first and the last generation whose harness knows it; `1 0` = none any more.
kinds! {
    AgentPresetSelected "agent-preset/selected" 0 4
    InboxSpliced "agent/inbox/spliced" 0 4
    ApprovalAsked "approval/asked" 0 4
    ApprovalDecided "approval/decided" 0 4
    ApprovalPolicy "approval/policy" 0 4
    AssistantAttempt "assistant/attempt" 2 4
    AssistantChunk "assistant/chunk" 0 1
    AssistantMessage "assistant/message" 0 4
    CommandDone "command/done" 0 4
    CommandRun "command/run" 0 4
    CompactionEnd "compaction/end" 0 4
    CompactionPrune "compaction/prune" 0 4
    CompactionStart "compaction/start" 0 4
    CompactionSummary "compaction/summary" 0 4
    DeliverablesPresented "deliverables/presented" 3 4
    DeveloperMessage "developer/message" 4 4
    FeedbackMessageDelete "feedback/message-delete" 3 4
    FeedbackMessagePut "feedback/message-put" 3 4
    FeedbackRecord "feedback/record" 0 4
    GoalChange "goal/change" 0 4
    HookInvoked "hook/invoked" 0 4
    HookResult "hook/result" 0 4
    ImageOffload "image/offload" 3 4
    LlmRetry "llm/retry" 0 4
    LlmRetryStarted "llm/retry-started" 0 4
    ModelSelection "model/selection" 1 4
    PermissionPreset "permission/preset" 0 4
    PlanMode "plan/mode" 0 4
    RequestContext "request/context" 0 4
    RequestHeader "request/header" 0 4
    SandboxMode "sandbox/mode" 0 4
    ScheduleChange "schedule/change" 0 4
    DeliveryAccepted "session-log-deepseek/delivery-accepted" 1 4
    EndSeed "session/end-seed" 0 4
    SessionTitle "session/title" 0 4
    SessionTitleLlmRequest "session/title-llm-request" 0 4
    StepEnd "step/end" 0 4
    StepStart "step/start" 0 4
    SubagentCatalog "subagent/catalog" 3 4
    SubagentDescriptor "subagent/descriptor" 0 4
    SubagentModelSelectionPolicy "subagent/model-selection-policy" 1 4
    SystemMessage "system/message" 3 4
    TeamMember "team/member" 0 4
    TeamMessageDelivered "team/message/delivered" 0 4
    TeamMessageQueued "team/message/queued" 0 4
    TeamTask "team/task" 0 4
    TodoWrite "todo/write" 0 4
    WorkflowAgentEnd "tool-workflow/agent-end" 0 4
    WorkflowAgentStart "tool-workflow/agent-start" 0 4
    WorkflowRunEnd "tool-workflow/run-end" 0 4
    WorkflowRunStart "tool-workflow/run-start" 0 4
    ToolCall "tool/call" 0 4
    CodeDispatch "tool/code-dispatch" 0 2
    CodeDispatchStart "tool/code-dispatch-start" 0 2
    PtcDispatch "tool/ptc-dispatch" 3 4
    PtcDispatchStart "tool/ptc-dispatch-start" 3 4
    ToolResult "tool/result" 0 4
    TurnEnd "turn/end" 0 4
    TurnStart "turn/start" 0 4
    UserMessage "user/message" 0 4
    WebSearchLlmRequest "web/deepseek-search-llm-request" 0 4
    WorkingDirectoryChange "working-directory/change" 4 4
    WorkspaceChanges "workspace/changes" 3 4
    RequestHeaderDelta "request/header-delta" 1 0
    ModeSet "mode/set" 1 0
    SteeringMessage "steering/message" 1 0
}

impl Kind {
    /// Whether it opens or closes a turn.
    #[must_use]
    pub fn is_turn_edge(self) -> bool {
        matches!(self, Kind::TurnStart | Kind::TurnEnd)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_its_kind() {
        for kind in Kind::ALL {
            assert_eq!(Kind::of(kind.name().as_bytes()), *kind);
        }
        assert_eq!(Kind::of(b"steering/messages"), Kind::Unknown);
    }
}
