//! Settings that a log carries: todo lists, plan mode, sandbox mode, approval policy (v0 section
//! 15.4, T2 to T4, and 15.3, A3).

use super::id::{Id, shown};
use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::schema::Shape;
use crate::json::Raw;
use std::collections::HashSet;

const ITEM: Shape = Shape::Open(
    &[("content", Shape::Trimmed), ("status", Shape::OneOf(&["pending", "in_progress", "completed"]))],
    &[],
);
const LIST: Shape = Shape::Open(&[("todos", Shape::List(&ITEM))], &[]);
const PLAN: Shape = Shape::Open(&[("active", Shape::Bool)], &[]);
const SANDBOX: Shape =
    Shape::Open(&[("mode", Shape::OneOf(&["read-only", "workspace-write", "danger-full-access"]))], &[]);
const POLICY: Shape = Shape::Open(&[("policy", Shape::OneOf(&["ask", "never"]))], &[]);

pub(super) struct Settings;

/// Of a list, the first content that stands there twice.
fn repeated<'a>(todos: Option<Raw<'a>>) -> Option<Raw<'a>> {
    let mut met = HashSet::new();
    todos
        .into_iter()
        .flat_map(Raw::elements)
        .filter_map(|todo| todo.get("content"))
        .find(|content| !met.insert(Id::of(Some(*content))))
}

impl Family for Settings {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        let (shape, rule) = match event.kind {
            Kind::TodoWrite => (&LIST, "T2"),
            Kind::PlanMode => (&PLAN, "T3"),
            Kind::SandboxMode => (&SANDBOX, "T4"),
            Kind::ApprovalPolicy => (&POLICY, "A3"),
            _ => return,
        };
        let sound = sink.shape(Code::InvSetting, event, shape, rule);
        if sound && let Some(content) = repeated(event.data.get("todos")) {
            let message = format!("the todo {} stands twice in its list (T2)", shown(Some(content)));
            sink.warn(Code::InvSetting, event, message);
        }
    }
}
