//! Calls and their results, and ids that stand for two things (v0 section 15.1, I6, I10, I11, I13).

use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::message::result_is_error;
use crate::json::Raw;
use std::collections::{HashMap, HashSet};

/// The open calls of the step and of the turn.
#[derive(Default)]
pub(super) struct Calls {
    started: HashSet<Vec<u8>>,
    advertised: HashSet<Vec<u8>>,
}

fn text(value: Option<Raw<'_>>) -> Vec<u8> {
    value.and_then(Raw::text).map(|text| text.into_owned()).unwrap_or_default()
}

impl Calls {
    fn result(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        let id = text(event.message().and_then(|m| m.path(&["source", "callId"])));
        let failed = event.message().is_some_and(|m| result_is_error(m, sink.log.dialect()));
        let code = event.data.path(&["error", "code"]);
        let not_started = failed && code.is_some_and(|code| code.is("TOOL_NOT_STARTED"));
        self.advertised.remove(&id);
        if !self.started.remove(&id) && !not_started {
            sink.warn(Code::InvResult, event, "a tool/result that answers no open call of its step (I6)");
        }
    }
}

impl Family for Calls {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        match event.kind {
            Kind::AssistantMessage if !event.op.is_replace() => {
                let content = event.message().and_then(|m| m.get("content"));
                for block in content.into_iter().flat_map(Raw::elements) {
                    if block.get("type").is_some_and(|t| t.is("tool-call")) {
                        self.advertised.insert(text(block.get("id")));
                    }
                }
            }
            Kind::ToolCall => drop(self.started.insert(text(event.data.get("callId")))),
            Kind::ToolResult if !event.op.is_replace() => self.result(event, sink),
            Kind::StepEnd => {
                let count = self.started.len();
                if count > 0 {
                    sink.note(
                        Code::UnansweredCall,
                        event,
                        format!("a step ends with {count} calls without result (I10)"),
                    );
                    self.advertised.retain(|id| !self.started.contains(id));
                    self.started.clear();
                }
            }
            Kind::TurnEnd => {
                let count = self.advertised.len();
                if count > 0 {
                    sink.note(
                        Code::UnansweredCall,
                        event,
                        format!("a turn ends with {count} calls that never ran (I11)"),
                    );
                    self.advertised.clear();
                }
            }
            Kind::TurnStart => {
                self.started.clear();
                self.advertised.clear();
            }
            _ => {}
        }
    }
}

/// Ids that must be unique in the log. Only their hashes are kept.
#[derive(Default)]
pub(super) struct Ids {
    met: HashMap<u64, u64>,
}

impl Family for Ids {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let (what, id) = match event.kind {
            Kind::ToolCall => ("call", event.data.get("callId")),
            Kind::UserMessage if !event.op.is_replace() => ("message", event.data.get("id")),
            _ => return,
        };
        let Some(id) = id.filter(|id| id.is_filled_text()) else { return };
        let mut hasher = DefaultHasher::new();
        (what, text(Some(id))).hash(&mut hasher);
        if let Some(first) = self.met.insert(hasher.finish(), event.seq.0) {
            let id: String = id.display_text().unwrap_or_default().chars().take(60).collect();
            sink.warn(
                Code::RepeatedId,
                event,
                format!("{what} id {id} was used by event {first} already (I13)"),
            );
        }
    }
}
