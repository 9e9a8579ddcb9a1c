//! Rows of what was said (format v0, sections 16.2 and 16.3).

use crate::view::transcript::content::{Block, Failure};

/// A person's message.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// The message's id.
    pub message_id: Option<String>,
    /// Its blocks.
    pub blocks: Vec<Block>,
    /// Its content as stored.
    pub content: Vec<u8>,
    /// The labels of the sessions that it refers to.
    pub references: Vec<String>,
}

/// A message that no person wrote.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// `recall`, `inject`, `system` or `developer`.
    pub role: &'static str,
    /// Where it comes from, in a word; none when the source is unreadable.
    pub label: Option<String>,
    /// Its form when that is a known one; none = opaque.
    pub form: Option<&'static str>,
    /// The message.
    pub said: Said,
    /// Its source as stored.
    pub source: Option<Vec<u8>>,
}

/// How an assistant row ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AssistantState {
    /// With a message.
    #[default]
    Done,
    /// The words were cut off.
    Interrupted,
    /// The attempt failed; another may follow.
    Failed,
    /// The log ends while it streams.
    Running,
}

impl AssistantState {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            AssistantState::Done => "done",
            AssistantState::Interrupted => "interrupted",
            AssistantState::Failed => "failed",
            AssistantState::Running => "running",
        }
    }
}

/// What the model said (section 16.3).
#[derive(Clone, Debug, Default)]
pub struct Assistant {
    /// How it ended.
    pub state: AssistantState,
    /// The message's id; none for words that never became a message.
    pub message_id: Option<String>,
    /// Its blocks.
    pub blocks: Vec<Block>,
    /// Its content, as stored or as put together from its chunks.
    pub content: Vec<u8>,
    /// Its usage as stored.
    pub usage: Option<Vec<u8>>,
    /// The provider.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// When the step began.
    pub started: Option<i64>,
    /// When the first token came.
    pub first_token: Option<i64>,
    /// Why the attempt failed.
    pub failure: Option<Failure>,
}

/// A message of a type that is not known.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// The type as written.
    pub type_name: String,
    /// Its data as stored.
    pub data: Vec<u8>,
}
