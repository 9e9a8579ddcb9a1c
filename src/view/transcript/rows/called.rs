//! Rows of tool calls (format v0, section 16.4).

use crate::seq::Seq;
use crate::view::transcript::content::Block;

/// How a tool call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolStatus {
    /// It has a result.
    Done,
    /// It has an error for a result.
    Error,
    /// The log ends before its result.
    #[default]
    Running,
    /// Its step or turn was closed without a result.
    Interrupted,
    /// The model asked for it and it was never started.
    NotStarted,
    /// It was started; whether it did its work is not known.
    OutcomeUnknown,
}

impl ToolStatus {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ToolStatus::Done => "done",
            ToolStatus::Error => "error",
            ToolStatus::Running => "running",
            ToolStatus::Interrupted => "interrupted",
            ToolStatus::NotStarted => "not-started",
            ToolStatus::OutcomeUnknown => "outcome-unknown",
        }
    }
}

/// A call, of a tool row itself or dispatched from within one (section 16.4).
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// The call's id.
    pub id: Option<String>,
    /// The tool's name, when it is known.
    pub name: Option<String>,
    /// The arguments as stored: a string with the model's text, or of a nested call any value.
    pub arguments: Option<Vec<u8>>,
    /// How it ended.
    pub status: ToolStatus,
    /// Whether the result is marked as an error.
    pub is_error: bool,
    /// The name of the error.
    pub error_name: Option<String>,
    /// The code of the error.
    pub error_code: Option<String>,
    /// The result's blocks.
    pub blocks: Vec<Block>,
    /// The result's content as stored.
    pub content: Option<Vec<u8>>,
    /// When the result came.
    pub ended: Option<i64>,
    /// Milliseconds from call to result.
    pub duration_ms: Option<u64>,
}

/// A tool call with its result and the calls it dispatched.
#[derive(Clone, Debug, Default)]
pub struct Tool {
    /// The call.
    pub call: Call,
    /// The event of the result.
    pub result_seq: Option<Seq>,
    /// The calls it dispatched, each before its own ones.
    pub children: Vec<Child>,
}

/// A call that a tool dispatched.
#[derive(Clone, Debug)]
pub struct Child {
    /// How deep it lies below the tool row, from 1.
    pub depth: u16,
    /// The id of the call that dispatched it.
    pub parent: Option<String>,
    /// The call.
    pub call: Call,
}
