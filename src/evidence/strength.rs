//! How a tool result stands to a conclusion, and by which text.

use std::sync::Arc;

/// How a tool result stands to the conclusion, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// The log itself names it as a source.
    Recorded,
    /// The model had it, and both hold text that tells.
    SharedText,
    /// The model had only what a summary or a cut kept of it.
    Shadowed,
    /// The model had it; nothing that tells is shared.
    InContext,
    /// The model had nothing of it: a tool's own calls, or what a rewind took away.
    NeverInContext,
}

impl Strength {
    /// The name used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Strength::Recorded => "recorded",
            Strength::SharedText => "shared-text",
            Strength::Shadowed => "shadowed",
            Strength::InContext => "in-context",
            Strength::NeverInContext => "never-in-context",
        }
    }
}

/// Text that stands in the conclusion and in a source.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedSpan {
    /// The text.
    pub quote: String,
    /// Its first byte in the words of the conclusion.
    pub target_offset: usize,
    /// Its first byte in the words of the source.
    pub source_offset: usize,
    /// What is left of its weight.
    pub weight: f64,
    /// An earlier message that has a part of it too, from which the model may have it.
    pub also_in: Option<u64>,
    /// Of a shadowed source: whether what stands in its place still holds the text.
    pub survives: Option<bool>,
}

/// One tool result.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The result.
    pub seq: u64,
    /// The call it answers.
    pub call_id: Option<String>,
    /// The tool.
    pub tool: Option<String>,
    /// How it stands to the conclusion.
    pub strength: Strength,
    /// How much telling text is shared, see [`score`](super::score).
    pub score: f64,
    /// The shared text, heaviest first.
    pub spans: Vec<SharedSpan>,
    /// What stands in its place, from what replaced it to what was on the surface.
    pub via: Arc<[u64]>,
    /// Whether it came from a parent session.
    pub inherited: bool,
    /// Whether it speaks for the conclusion.
    pub supports: bool,
}
