//! Workflow runs and their agents (v0 section 15.3, F1 to F5).

use super::id::{Id, shown};
use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::schema::Shape;
use crate::format::shape::positive;
use std::collections::HashMap;

const RUN: Shape = Shape::Open(&[("runId", Shape::Filled), ("name", Shape::Filled)], &[]);
const AGENT: Shape = Shape::Open(
    &[("runId", Shape::Any), ("seq", Shape::Positive), ("label", Shape::Text), ("childId", Shape::Filled)],
    &[("phase", Shape::Text)],
);
const AGENT_END: Shape =
    Shape::Open(&[("outcome", Shape::OneOf(&["completed", "failed", "cancelled"]))], &[]);
const RUN_END: Shape =
    Shape::Open(&[("stopReason", Shape::OneOf(&["completed", "cancelled", "error"]))], &[]);

/// The agents of an open run by their seq, and whether each is still at work.
type Agents = HashMap<u64, bool>;

/// Every run; one that ended keeps its id only.
#[derive(Default)]
pub(super) struct Workflow {
    runs: HashMap<Id, Option<Agents>>,
}

impl Workflow {
    fn run_start(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        let id = event.data.get("runId");
        if self.runs.insert(Id::of(id), Some(Agents::new())).is_some() {
            let message = format!("a workflow runs under the id {} of an earlier one (F1)", shown(id));
            sink.warn(Code::InvWorkflow, event, message);
        }
    }

    fn run_end(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        let id = Id::of(event.data.get("runId"));
        let Some(agents) = self.runs.get_mut(&id).and_then(Option::take) else {
            return sink.warn(Code::InvWorkflow, event, "a workflow ends that does not run (F2)");
        };
        let at_work = agents.values().filter(|at_work| **at_work).count();
        if at_work > 0 {
            let message = format!("a workflow ends while {at_work} of its agents are at work (F5)");
            sink.warn(Code::InvWorkflow, event, message);
        }
    }

    fn agent(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        let [run, seq] = event.data.get_all(["runId", "seq"]);
        let Some(Some(agents)) = self.runs.get_mut(&Id::of(run)) else {
            let message = format!("{} outside of an open workflow (F2)", event.kind);
            return sink.warn(Code::InvWorkflow, event, message);
        };
        let seq = positive(seq).unwrap_or_default();
        if event.kind == Kind::WorkflowAgentStart {
            if agents.insert(seq, true).is_some() {
                let message = format!("agent {seq} starts a second time in its workflow (F3)");
                sink.warn(Code::InvWorkflow, event, message);
            }
            return;
        }
        match agents.get_mut(&seq) {
            Some(at_work) if *at_work => *at_work = false,
            _ => sink.warn(Code::InvWorkflow, event, format!("agent {seq} ends that is not at work (F4)")),
        }
    }
}

impl Family for Workflow {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        let (shape, rule) = match event.kind {
            Kind::WorkflowRunStart => (&RUN, "F1"),
            Kind::WorkflowAgentStart => (&AGENT, "F3"),
            Kind::WorkflowAgentEnd => (&AGENT_END, "F4"),
            Kind::WorkflowRunEnd => (&RUN_END, "F5"),
            _ => return,
        };
        sink.shape(Code::InvWorkflow, event, shape, rule);
        match event.kind {
            Kind::WorkflowRunStart => self.run_start(event, sink),
            Kind::WorkflowRunEnd => self.run_end(event, sink),
            _ => self.agent(event, sink),
        }
    }
}
