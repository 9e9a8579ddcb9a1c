//! From views to text for people; nothing here judges, and the library knows nothing of it.

pub(crate) mod arguments;
pub(crate) mod clean;
pub(crate) mod diff_text;
pub(crate) mod document;
pub(crate) mod header_text;
pub(crate) mod inspect_text;
pub(crate) mod messages_text;
pub(crate) mod number;
pub(crate) mod pager;
pub(crate) mod progress;
pub(crate) mod request_text;
pub(crate) mod salvage_text;
pub(crate) mod stats_text;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod time;
pub(crate) mod transcript_entry;
pub(crate) mod transcript_html;
pub(crate) mod transcript_markdown;
pub(crate) mod transcript_text;
pub(crate) mod verify_text;
pub(crate) mod why_graph;
pub(crate) mod why_text;
pub(crate) mod wrap;

use std::ops::RangeInclusive;

/// How much of a tool call is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tools {
    /// Nothing.
    None,
    /// A line, and the first lines of what came back.
    Brief,
    /// All of it.
    Full,
}

/// What of a transcript is shown.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// How much of tool calls.
    pub(crate) tools: Tools,
    /// Whether the model's reasoning is shown.
    pub(crate) reasoning: bool,
    /// The turns; none = all, and what stands outside of turns.
    pub(crate) turns: Option<RangeInclusive<u32>>,
    /// The width that text is wrapped to.
    pub(crate) width: usize,
}

/// Local time as text.
pub(crate) type Clock<'a> = &'a dyn Fn(i64) -> String;
