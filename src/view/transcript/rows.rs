//! A row of the transcript: one thing that was said, done or happened (format v0, section 16.2).

mod called;
mod lived;
mod said;

pub use called::{Call, Child, Tool, ToolStatus};
pub use lived::{
    Attempt, AttemptState, Command, Compaction, Member, Retry, Seed, TurnEnd, TurnError, Workflow,
};
pub use said::{Assistant, AssistantState, Context, Said, Unknown};

use super::shelf::Anchor;
use crate::format::event::Event;
use crate::seq::Seq;

/// One row, owned: it outlives the text it was read from.
#[derive(Clone, Debug)]
pub struct Row {
    /// Where it stands in the order of rows.
    pub anchor: Anchor,
    /// The event it is about.
    pub seq: Seq,
    /// The turn it stands in.
    pub turn: Option<u32>,
    /// The step it stands in.
    pub step: Option<u32>,
    /// Epoch milliseconds.
    pub time: i64,
    /// Whether it came from the session this one was forked from.
    pub inherited: bool,
    /// Whether a closer that is not stored, and that repair would append, made or ended it.
    pub synthetic: bool,
    /// What it shows.
    pub body: Body,
}

impl Row {
    /// A row about an event; its place is given when it is put in order.
    pub(super) fn new(event: &Event<'_>, body: Body) -> Row {
        Row {
            anchor: Anchor::at(event.seq),
            seq: event.seq,
            turn: event.location.turn,
            step: event.location.step,
            time: event.time,
            inherited: false,
            synthetic: event.synthetic,
            body,
        }
    }

    /// Where and when a row stands whose body is known only later.
    pub(super) fn begun(event: &Event<'_>) -> Row {
        Row::new(event, Body::MaxTokens)
    }
}

/// What a row shows.
#[derive(Clone, Debug)]
pub enum Body {
    /// A person's message.
    User(Said),
    /// A person's message into a running turn.
    Steering(Said),
    /// A message that was put in by the harness or a plugin.
    Context(Context),
    /// What the model said in a step or in a failed attempt.
    Assistant(Assistant),
    /// A tool call with its result.
    Tool(Tool),
    /// A command a person ran.
    Command(Command),
    /// The place where older history was replaced by a summary for the model.
    Compaction(Compaction),
    /// The line of a `goal` command.
    CommandInput(String),
    /// Attempts to reach the model again.
    Retry(Retry),
    /// The error that ended a turn.
    TurnError(TurnError),
    /// The notice that the output cap was met.
    MaxTokens,
    /// The tail of a turn.
    TurnEnd(TurnEnd),
    /// A workflow run.
    Workflow(Workflow),
    /// A fork's boundary, or the place where the session was picked up again.
    EndSeed(Seed),
    /// A message of a type that is not known.
    Unknown(Unknown),
}

impl Body {
    /// The word for the kind of row, as JSON has it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Body::User(_) => "user",
            Body::Steering(_) => "steering",
            Body::Context(_) => "context",
            Body::Assistant(_) => "assistant",
            Body::Tool(_) => "tool",
            Body::Command(_) => "command",
            Body::Compaction(_) => "compaction",
            Body::CommandInput(_) => "command-input",
            Body::Retry(_) => "retry",
            Body::TurnError(_) => "turn-error",
            Body::MaxTokens => "max-tokens",
            Body::TurnEnd(_) => "turn-end",
            Body::Workflow(_) => "workflow",
            Body::EndSeed(_) => "end-seed",
            Body::Unknown(_) => "unknown",
        }
    }
}
