//! Turns and steps: numbers, nesting, what stands inside them (v4 section 8.2, N6, N9 to N12, N18).

use super::{RelEvent, Rule, Verdict};
use crate::fault::Code;
use crate::format::kind::Kind;
use crate::format::shape::strict_count;

const N9: Rule = Rule(Code::RelTurn, "N9");
const N10: Rule = Rule(Code::RelTurn, "N10");
const N11: Rule = Rule(Code::RelStep, "N11");
const N12: Rule = Rule(Code::RelStep, "N12");

/// Which turn and step are open, and which come next.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    pub(super) turn: Option<u64>,
    pub(super) step: Option<u64>,
    next_turn: u64,
    pub(super) next_step: u64,
}

impl Default for Turns {
    fn default() -> Turns {
        Turns { turn: None, step: None, next_turn: 1, next_step: 1 }
    }
}

/// A number for a message.
fn shown(n: Option<u64>) -> String {
    n.map_or_else(|| "none".to_owned(), |n| n.to_string())
}

impl Turns {
    /// N6: these types stand in the step they name.
    pub(super) fn placed(&mut self, event: &RelEvent<'_>) -> Verdict {
        match event.kind {
            Kind::SystemMessage | Kind::DeveloperMessage | Kind::AssistantAttempt => {
                self.in_step(event, Rule(Code::RelPlacement, "N6"))
            }
            _ => Ok(()),
        }
    }

    /// The event names the open turn and step.
    ///
    /// Where nothing is open the event is believed: its step has lost its start, and all that
    /// follows in it would break the same rule.
    pub(super) fn in_step(&mut self, event: &RelEvent<'_>, rule: Rule) -> Verdict {
        let [turn, step] = named(event);
        if turn.is_some() && step.is_some() && turn == self.turn && step == self.step {
            return Ok(());
        }
        let message = format!(
            "{} names turn {} step {}, open are turn {} step {}",
            event.kind,
            shown(turn),
            shown(step),
            shown(self.turn),
            shown(self.step)
        );
        if self.step.is_none()
            && (self.turn.is_none() || self.turn == turn)
            && turn.is_some()
            && step.is_some()
        {
            (self.turn, self.step) = (turn, step);
        }
        Err(rule.broken(message))
    }

    /// N18: some turn is open.
    pub(super) fn in_turn(&self) -> Verdict {
        Rule(Code::RelPlacement, "N18")
            .hold(self.turn.is_some(), "a request header or context outside of any turn")
    }

    pub(super) fn turn_start(&mut self, event: &RelEvent<'_>) -> Verdict {
        let [turn, _] = named(event);
        let (open, expected) = (self.turn, self.next_turn);
        self.turn = turn.or(Some(expected));
        (self.step, self.next_step) = (None, 1);
        self.next_turn = turn.unwrap_or(expected);
        if let Some(open) = open {
            return Err(N9.broken(format!("turn {} starts while turn {open} is open", shown(turn))));
        }
        if turn != Some(expected) {
            return Err(N9.broken(format!("turn {} starts, expected turn {expected}", shown(turn))));
        }
        Ok(())
    }

    pub(super) fn turn_end(&mut self, event: &RelEvent<'_>, unanswered: usize) -> Verdict {
        let [turn, _] = named(event);
        let (open, step) = (self.turn, self.step);
        self.next_turn = turn.or(open).map_or(self.next_turn, |turn| turn.saturating_add(1));
        (self.turn, self.step) = (None, None);
        if open.is_none() || turn != open {
            return Err(N10.broken(format!("turn {} ends, open is turn {}", shown(turn), shown(open))));
        }
        if let Some(step) = step {
            return Err(N10.broken(format!("turn {} ends while step {step} is open", shown(turn))));
        }
        N10.hold(unanswered == 0, "a turn ends with calls that have no result")
    }

    pub(super) fn step_start(&mut self, event: &RelEvent<'_>) -> Verdict {
        let [turn, step] = named(event);
        let (open_turn, open_step, expected) = (self.turn, self.step, self.next_step);
        self.turn = turn.or(open_turn);
        self.step = step.or(Some(expected));
        self.next_step = step.unwrap_or(expected);
        if open_turn.is_none() || turn != open_turn {
            let message = format!("a step of turn {} starts, open is turn {}", shown(turn), shown(open_turn));
            return Err(N11.broken(message));
        }
        if let Some(open) = open_step {
            return Err(N11.broken(format!("step {} starts while step {open} is open", shown(step))));
        }
        if step != Some(expected) {
            return Err(N11.broken(format!("step {} starts, expected step {expected}", shown(step))));
        }
        Ok(())
    }

    pub(super) fn step_end(&mut self, event: &RelEvent<'_>, unanswered: usize) -> Verdict {
        let [turn, step] = named(event);
        let (open_turn, open_step) = (self.turn, self.step);
        self.next_step = step.or(open_step).map_or(self.next_step, |step| step.saturating_add(1));
        self.turn = open_turn.or(turn);
        self.step = None;
        if open_turn.is_none() || open_step.is_none() || turn != open_turn || step != open_step {
            return Err(N12.broken(format!(
                "step {} of turn {} ends, open are turn {} step {}",
                shown(step),
                shown(turn),
                shown(open_turn),
                shown(open_step)
            )));
        }
        N12.hold(unanswered == 0, "a step ends with calls that have no result")
    }
}

/// The turn and the step that an event names.
pub(super) fn named(event: &RelEvent<'_>) -> [Option<u64>; 2] {
    event.data.get_all(["turn", "step"]).map(strict_count)
}
