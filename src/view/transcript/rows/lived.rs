//! Rows of the session's life: commands, compactions, retries, ends of turns, workflows (format v0,
//! sections 16.2, 16.5 and 16.6).

use crate::seq::Seq;
use crate::view::tokens::Tokens;
use crate::view::transcript::content::Failure;

/// A command a person ran.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// Its id.
    pub id: Option<String>,
    /// Its name; none when only its end is recorded.
    pub name: Option<String>,
    /// The rest of its line, when recorded.
    pub args: Option<String>,
    /// `running`, `interrupted`, or as recorded: `success`, `error`.
    pub outcome: String,
    /// What it said.
    pub text: Option<String>,
    /// Why the compaction that it asked for failed.
    pub compaction_error: Option<String>,
}

/// A compaction, where its checkpoint landed or where it failed.
#[derive(Clone, Debug, Default)]
pub struct Compaction {
    /// Its id.
    pub id: Option<String>,
    /// The command that asked for it; none = automatic.
    pub command: Option<Command>,
    /// The summary's text; none when blank or not recorded.
    pub summary: Option<String>,
    /// The summary's blocks as stored.
    pub content: Option<Vec<u8>>,
    /// How many messages it replaced.
    pub items: Option<u64>,
    /// How many tokens these had.
    pub tokens: Option<u64>,
    /// The model that wrote the summary.
    pub model: Option<String>,
    /// Why it failed; then nothing was replaced.
    pub error: Option<String>,
}

/// The attempts of one retry series (section 16.6).
#[derive(Clone, Debug, Default)]
pub struct Retry {
    /// The id of the series.
    pub id: Option<String>,
    /// Its attempts.
    pub attempts: Vec<Attempt>,
}

/// How far a scheduled attempt came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AttemptState {
    /// It is to start after its delay.
    #[default]
    Scheduled,
    /// It was started.
    Started,
    /// Its step or turn ended before it started.
    Cancelled,
}

impl AttemptState {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            AttemptState::Scheduled => "scheduled",
            AttemptState::Started => "started",
            AttemptState::Cancelled => "cancelled",
        }
    }
}

/// One attempt that was scheduled after a failure.
#[derive(Clone, Debug, Default)]
pub struct Attempt {
    /// Its event.
    pub seq: Seq,
    /// Its number, from 1.
    pub retry: Option<u64>,
    /// How many there may be.
    pub max: Option<u64>,
    /// The wait before it.
    pub delay_ms: Option<u64>,
    /// What had failed.
    pub failure: Option<Failure>,
    /// How far it came.
    pub state: AttemptState,
}

/// The error that ended a turn.
#[derive(Clone, Debug, Default)]
pub struct TurnError {
    /// What failed.
    pub failure: Failure,
    /// The last step of the turn.
    pub last_step: Option<u32>,
}

/// The tail of a turn (section 16.5).
#[derive(Clone, Debug, Default)]
pub struct TurnEnd {
    /// The kind of reason: `completed`, `aborted`, …
    pub reason: Option<String>,
    /// More of the reason: who aborted, or the error's code.
    pub detail: Option<String>,
    /// Milliseconds from the turn's start.
    pub duration_ms: Option<u64>,
    /// How many steps it had.
    pub steps: u32,
    /// How many tool calls it had.
    pub tools: u32,
    /// Tokens that its messages report.
    pub usage: Option<Tokens>,
    /// Milliseconds from the first step's start to its first token.
    pub first_token_ms: Option<u64>,
    /// Output tokens a second, while the model was writing.
    pub tokens_per_second: Option<f64>,
    /// Whether the conversation can be branched after it.
    pub can_branch: bool,
}

/// A workflow run (section 16.6).
#[derive(Clone, Debug, Default)]
pub struct Workflow {
    /// Its id.
    pub id: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// `running`, `interrupted`, `completed`, `cancelled`, `failed`, or as recorded.
    pub status: String,
    /// Its agents, grouped by phase, the phases as first seen.
    pub members: Vec<Member>,
}

/// An agent of a workflow.
#[derive(Clone, Debug, Default)]
pub struct Member {
    /// Its number in the run.
    pub number: Option<u64>,
    /// Its phase; absent and empty are two phases.
    pub phase: Option<String>,
    /// Its label.
    pub label: Option<String>,
    /// Its session.
    pub child: Option<String>,
    /// `running`, `interrupted`, or the outcome as recorded.
    pub outcome: String,
}

/// What a `session/end-seed` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// Everything above was inherited from the parent.
    Fork,
    /// The session was picked up again.
    Resumed,
}
