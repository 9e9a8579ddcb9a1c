//! Turns and steps: order, numbers, and what must stand inside (v0 section 15.1, I2 to I8).

use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::json::Raw;

/// What is open. After a breach the state that explains most of what follows is taken.
#[derive(Default)]
pub(super) struct Life {
    turn: Option<u64>,
    step: Option<u64>,
    turns_ended: u64,
    next_step: u64,
    todo_in_turn: bool,
}

/// The numbers that an event names.
pub(super) fn named(event: &Event<'_>) -> (Option<u64>, Option<u64>) {
    let [turn, step] = event.data.get_all(["turn", "step"]);
    (turn.and_then(Raw::count), step.and_then(Raw::count))
}

fn shown(n: Option<u64>) -> String {
    n.map_or("none".to_owned(), |n| n.to_string())
}

impl Life {
    pub(super) fn new(todo_in_turn: bool) -> Life {
        Life { todo_in_turn, ..Life::default() }
    }

    fn turn_start(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        let (turn, _) = named(event);
        if let Some(open) = self.turn {
            sink.warn(Code::InvTurn, event, format!("a turn starts while turn {open} is open (I2)"));
        } else if turn != Some(self.turns_ended + 1) {
            let wanted = self.turns_ended + 1;
            sink.warn(
                Code::InvTurn,
                event,
                format!("turn {} starts where turn {wanted} is due (I2)", shown(turn)),
            );
        }
        self.turns_ended = turn.map_or(self.turns_ended, |turn| turn.saturating_sub(1));
        (self.turn, self.step, self.next_step) = (turn.or(Some(self.turns_ended + 1)), None, 1);
    }

    fn turn_end(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        let (turn, _) = named(event);
        if self.turn.is_none() || turn != self.turn {
            sink.warn(
                Code::InvTurn,
                event,
                format!("turn {} ends, open is {} (I3)", shown(turn), shown(self.turn)),
            );
        } else if let Some(step) = self.step {
            sink.warn(Code::InvTurn, event, format!("a turn ends while step {step} is open (I3)"));
        }
        self.turns_ended = turn.unwrap_or(self.turns_ended + 1);
        (self.turn, self.step) = (None, None);
    }

    fn step_start(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        let (turn, step) = named(event);
        if turn != self.turn || turn.is_none() {
            sink.warn(
                Code::InvStep,
                event,
                format!("a step of turn {} starts in turn {} (I4)", shown(turn), shown(self.turn)),
            );
        } else if let Some(open) = self.step {
            sink.warn(Code::InvStep, event, format!("a step starts while step {open} is open (I4)"));
        } else if step != Some(self.next_step) {
            let wanted = self.next_step;
            sink.warn(
                Code::InvStep,
                event,
                format!("step {} starts where step {wanted} is due (I4)", shown(step)),
            );
        }
        self.step = step.or(Some(self.next_step));
    }

    fn step_end(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        let (turn, step) = named(event);
        if self.step.is_none() || step != self.step || turn != self.turn {
            sink.warn(
                Code::InvStep,
                event,
                format!("step {} ends, open is {} (I5)", shown(step), shown(self.step)),
            );
        }
        self.next_step = step.or(self.step).unwrap_or_default() + 1;
        self.step = None;
    }

    fn inside_step(&self, event: &Event<'_>, rule: &str, sink: &mut Sink<'_>) {
        let (turn, step) = named(event);
        if self.step.is_none() || turn != self.turn || step != self.step {
            let (open_turn, open_step) = (shown(self.turn), shown(self.step));
            let message = format!(
                "{} of {}.{} stands in {open_turn}.{open_step} ({rule})",
                event.kind,
                shown(turn),
                shown(step)
            );
            sink.warn(Code::InvPlacement, event, message);
        }
    }
}

impl Family for Life {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        match event.kind {
            Kind::TurnStart => self.turn_start(event, sink),
            Kind::TurnEnd => self.turn_end(event, sink),
            Kind::StepStart => self.step_start(event, sink),
            Kind::StepEnd => self.step_end(event, sink),
            Kind::AssistantChunk | Kind::AssistantMessage | Kind::AssistantAttempt | Kind::ToolCall => {
                self.inside_step(event, "I5", sink);
            }
            Kind::ToolResult if event.op.is_replace() && self.turn.is_none() => {
                sink.warn(Code::InvPlacement, event, "a replacing tool/result outside of any turn (I7)");
            }
            Kind::ToolResult if !event.op.is_replace() => self.inside_step(event, "I6", sink),
            Kind::TodoWrite if !self.todo_in_turn => {}
            Kind::TodoWrite | Kind::RequestHeader | Kind::RequestContext if self.turn.is_none() => {
                sink.warn(Code::InvPlacement, event, format!("{} outside of any turn (I8)", event.kind));
            }
            _ => {}
        }
    }
}
