//! Hooks: inside the turn they name, each result after its invocation (v0 section 15.3, H1 to H4).

use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::schema::Shape;
use crate::json::Raw;
use std::collections::HashMap;

const INVOKED: Shape = Shape::Open(
    &[
        ("point", Shape::Filled),
        ("handlerId", Shape::Filled),
        ("dialect", Shape::OneOf(&["claude-code", "codex"])),
    ],
    &[],
);

#[derive(Default)]
pub(super) struct Hooks {
    turn: Option<u64>,
    open: HashMap<(u64, Vec<u8>, Vec<u8>), u64>,
}

impl Family for Hooks {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        let turn = event.data.get("turn").and_then(Raw::count);
        match event.kind {
            Kind::TurnStart => self.turn = turn,
            Kind::TurnEnd => self.turn = None,
            Kind::HookInvoked | Kind::HookResult => {
                if turn != self.turn || turn.is_none() {
                    sink.warn(
                        Code::InvHook,
                        event,
                        format!("{} outside of the turn it names (H1)", event.kind),
                    );
                }
                let [point, handler, time] = event.data.get_all(["point", "handlerId", "durationMs"]);
                let text =
                    |v: Option<Raw<'_>>| v.and_then(Raw::text).map(|t| t.into_owned()).unwrap_or_default();
                let key = (turn.unwrap_or_default(), text(point), text(handler));
                if event.kind == Kind::HookInvoked {
                    sink.shape(Code::InvHook, event, &INVOKED, "H2");
                    *self.open.entry(key).or_default() += 1;
                    return;
                }
                match self.open.get_mut(&key).filter(|open| **open > 0) {
                    Some(open) => *open -= 1,
                    None => sink.warn(Code::InvHook, event, "a hook's result without its invocation (H3)"),
                }
                if !time.and_then(Raw::number).is_some_and(|ms| ms.is_finite() && ms >= 0.0) {
                    sink.warn(Code::InvHook, event, "a hook's duration that is none (H4)");
                }
            }
            _ => {}
        }
    }
}
