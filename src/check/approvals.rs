//! Approvals: asked once, decided once, inside a turn (v0 section 15.3, A1 and A2).

use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::schema::Shape;
use crate::json::Raw;
use std::collections::HashSet;

const ASKED: Shape = Shape::Open(&[("id", Shape::Filled), ("toolName", Shape::Filled)], &[]);
const OUTCOME: Shape = Shape::OneOf(&["allowed-once", "rejected", "cancelled", "unavailable"]);
const DECIDED: Shape = Shape::Open(&[("id", Shape::Filled), ("outcome", OUTCOME)], &[]);

#[derive(Default)]
pub(super) struct Approvals {
    turn: bool,
    open: HashSet<Vec<u8>>,
}

impl Family for Approvals {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        match event.kind {
            Kind::TurnStart => self.turn = true,
            Kind::TurnEnd => self.turn = false,
            Kind::ApprovalAsked | Kind::ApprovalDecided => {
                if !self.turn {
                    sink.warn(
                        Code::InvApproval,
                        event,
                        format!("{} outside of any turn (A1, A2)", event.kind),
                    );
                }
                let (shape, rule) =
                    if event.kind == Kind::ApprovalAsked { (&ASKED, "A1") } else { (&DECIDED, "A2") };
                sink.shape(Code::InvApproval, event, shape, rule);
                let id =
                    event.data.get("id").and_then(Raw::text).map(|id| id.into_owned()).unwrap_or_default();
                if event.kind == Kind::ApprovalAsked && !self.open.insert(id.clone()) {
                    sink.warn(Code::InvApproval, event, "asked under the id of an open question (A1)");
                } else if event.kind == Kind::ApprovalDecided && !self.open.remove(&id) {
                    sink.warn(
                        Code::InvApproval,
                        event,
                        "decides what was not asked, or is decided already (A2)",
                    );
                }
            }
            _ => {}
        }
    }
}
