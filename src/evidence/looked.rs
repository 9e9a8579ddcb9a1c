//! What one event tells of a conclusion, whatever the surface makes of it: what it shares, whom it
//! answers, whether it holds the text that is asked for.

use super::needle::{Found, Needle, Scratch};
use super::words;
use crate::format::dialect::Dialect;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::json::Raw;
use crate::view::messages;

/// What was seen in one event.
#[derive(Clone, Debug, Default)]
pub(super) struct Looked {
    /// What it shares with the conclusion.
    pub(super) found: Found,
    /// The call that a result answers; of a nested dispatch itself.
    pub(super) call: Option<u64>,
    /// The id of that call.
    pub(super) call_id: Option<String>,
    /// Of a call, the name of its tool.
    pub(super) tool: Option<String>,
    /// Whether it takes the place of others.
    pub(super) replaces: bool,
    /// Whether a person wrote it, and not the harness or another agent.
    pub(super) by_person: bool,
    /// Whether it only holds a place and is no message for the model.
    pub(super) is_empty: bool,
}

impl Looked {
    /// Looks at an event.
    pub(super) fn of(event: &Event<'_>, dialect: &Dialect, needle: &Needle, scratch: &mut Scratch) -> Looked {
        let replaces = event.op.is_replace();
        let looked = Looked { replaces, ..Looked::default() };
        let mut look = |value, words: &dyn Fn() -> String| needle.look_in(value, words, scratch);
        match event.kind {
            Kind::ToolCall => Looked { tool: event.data.get("name").and_then(Raw::display_text), ..looked },
            Kind::ToolResult => Looked {
                found: look(event.message(), &|| words::of_result(event, dialect)),
                call: event.cited().filter(|_| !replaces).and_then(|s| s.only()),
                call_id: words::call_id(event),
                ..looked
            },
            Kind::CodeDispatch | Kind::PtcDispatch => Looked {
                found: look(event.data.get("content"), &|| words::of_dispatch(event)),
                call: Some(event.seq.0),
                call_id: words::call_id(event),
                ..looked
            },
            _ => Looked {
                found: look(Some(event.data), &|| words::of_conclusion(event)),
                is_empty: messages::derive(event).is_none(),
                by_person: event.data.path(&["source", "kind"]).is_some_and(|kind| kind.is("user")),
                ..looked
            },
        }
    }
}
