//! The goal of a session: its changes and its rounds (v0 sections 7.3 and 15.5, G).

use super::id::Id;
use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::schema::Shape;
use crate::format::shape::is;
use crate::json::Raw;
use std::collections::HashSet;

const REASON: Shape = Shape::Exact(
    &[("code", Shape::Test(is_kebab, "a word in lower kebab case")), ("message", Shape::Trimmed)],
    &[],
);
const PLAIN: Shape = Shape::Exact(
    &[
        ("id", Shape::Filled),
        ("revision", Shape::Positive),
        ("objective", Shape::Trimmed),
        ("phase", Shape::OneOf(&["active", "paused", "complete"])),
        ("maxGoalRounds", Shape::Positive),
    ],
    &[],
);
const BLOCKED: Shape = Shape::Exact(
    &[
        ("id", Shape::Filled),
        ("revision", Shape::Positive),
        ("objective", Shape::Trimmed),
        ("phase", Shape::OneOf(&["blocked"])),
        ("maxGoalRounds", Shape::Positive),
        ("blockedReason", REASON),
    ],
    &[],
);
const CLEAR: Shape = Shape::Exact(
    &[
        ("kind", Shape::OneOf(&["goal/change"])),
        ("version", Shape::Exactly(1)),
        ("operation", Shape::Any),
        ("cleared", Shape::Exact(&[("id", Shape::Filled), ("revision", Shape::Positive)], &[])),
        ("clearedAt", Shape::Count),
    ],
    &[],
);
const SNAPSHOT: Shape = Shape::Exact(
    &[
        ("kind", Shape::OneOf(&["goal/change"])),
        ("version", Shape::Exactly(1)),
        ("operation", Shape::OneOf(&["create", "edit", "pause", "resume", "complete", "block"])),
        ("goal", Shape::By("phase", &[("blocked", BLOCKED)], Some(&PLAIN))),
        ("roundsStarted", Shape::Count),
        ("createdAt", Shape::Count),
        ("updatedAt", Shape::Count),
    ],
    &[],
);
const CHANGE: Shape = Shape::By("operation", &[("clear", CLEAR)], Some(&SNAPSHOT));

fn is_kebab(value: Raw<'_>) -> bool {
    let text = value.text().unwrap_or_default();
    let is_word =
        |word: &[u8]| !word.is_empty() && word.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    text.first().is_some_and(u8::is_ascii_lowercase) && text.split(|b| *b == b'-').all(is_word)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Active,
    Paused,
    Blocked,
    Complete,
}

/// A goal as a change leaves it; of its texts only hashes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Goal {
    id: Id,
    revision: u64,
    objective: Id,
    phase: Phase,
    reason: (Id, Id),
    max_rounds: u64,
    rounds: u64,
    created: u64,
    updated: u64,
}

impl Goal {
    /// What a sound snapshot says.
    fn read(data: Raw<'_>) -> Option<Goal> {
        let [goal, rounds, created, updated] =
            data.get_all(["goal", "roundsStarted", "createdAt", "updatedAt"]);
        let [id, revision, objective, phase, max_rounds, reason] =
            goal?.get_all(["id", "revision", "objective", "phase", "maxGoalRounds", "blockedReason"]);
        let [code, message] = reason.map(|reason| reason.get_all(["code", "message"])).unwrap_or_default();
        let phases = [("active", Phase::Active), ("paused", Phase::Paused), ("blocked", Phase::Blocked)];
        let known = phases.iter().find(|(word, _)| is(phase, word));
        Some(Goal {
            id: Id::of(id),
            revision: revision?.count()?,
            objective: Id::of(objective),
            phase: known.map_or(Phase::Complete, |(_, phase)| *phase),
            reason: (Id::of(code), Id::of(message)),
            max_rounds: max_rounds?.count()?,
            rounds: rounds?.count()?,
            created: created?.count()?,
            updated: updated?.count()?,
        })
    }

    /// Why this is no next state of `before` under that operation.
    fn follows(&self, before: &Goal, operation: &str) -> Result<(), &'static str> {
        let hold = |kept: bool, what: &'static str| if kept { Ok(()) } else { Err(what) };
        hold(self.id == before.id, "is of another goal than the current one")?;
        hold(self.revision == before.revision + 1, "has not the next revision")?;
        hold(self.created == before.created, "has another createdAt than before")?;
        hold(self.rounds == before.rounds, "has another roundsStarted than before")?;
        hold(self.updated >= before.updated, "has an updatedAt before the last one")?;
        if operation == "edit" {
            let same = self.phase == before.phase && self.reason == before.reason;
            return hold(same, "changes the phase or the reason of a block");
        }
        let same = self.objective == before.objective && self.max_rounds == before.max_rounds;
        hold(same, "changes the objective or maxGoalRounds")?;
        let moved = match (operation, before.phase) {
            ("pause", Phase::Active) => self.phase == Phase::Paused,
            ("resume", Phase::Active | Phase::Paused | Phase::Blocked) => {
                self.phase == Phase::Active && self.rounds < self.max_rounds
            }
            ("complete", Phase::Active | Phase::Paused | Phase::Blocked) => self.phase == Phase::Complete,
            ("block", Phase::Active) => self.phase == Phase::Blocked,
            _ => false,
        };
        hold(moved, "does not lead from the phase before to the one after")
    }
}

/// The current goal, and every id that was used.
#[derive(Default)]
pub(super) struct Goals {
    current: Option<Goal>,
    used: HashSet<Id>,
}

impl Goals {
    fn change(&mut self, event: &Event<'_>, data: Raw<'_>, sink: &mut Sink<'_>) {
        if let Err(what) = CHANGE.fit(data) {
            return sink.warn(Code::InvGoal, event, format!("a goal/change: {what} (G)"));
        }
        let operation = data.get("operation").and_then(Raw::display_text).unwrap_or_default();
        let verdict = match (&*operation, Goal::read(data)) {
            ("clear", _) => self.clear(data),
            ("create", Some(goal)) => self.create(goal),
            (operation, Some(goal)) => {
                let verdict = match &self.current {
                    Some(before) => goal.follows(before, operation),
                    None => Err("finds no current goal"),
                };
                self.current = Some(goal);
                verdict
            }
            (_, None) => Ok(()),
        };
        if let Err(what) = verdict {
            sink.warn(Code::InvGoal, event, format!("a goal/change ({operation}) {what} (G)"));
        }
    }

    fn create(&mut self, goal: Goal) -> Result<(), &'static str> {
        let free = self.current.is_none_or(|before| before.phase == Phase::Complete);
        let fresh = self.used.insert(goal.id);
        let first = goal.revision == 1 && goal.phase == Phase::Active && goal.rounds == 0;
        self.current = Some(goal);
        match (free, fresh, first) {
            (false, ..) => Err("begins a goal while another is open"),
            (_, false, _) => Err("begins a goal under the id of an earlier one"),
            (.., false) => Err("begins elsewhere than active at revision 1 without rounds"),
            _ => Ok(()),
        }
    }

    fn clear(&mut self, data: Raw<'_>) -> Result<(), &'static str> {
        let [cleared, at] = data.get_all(["cleared", "clearedAt"]);
        let [id, revision] = cleared.map(|cleared| cleared.get_all(["id", "revision"])).unwrap_or_default();
        let Some(before) = self.current.take() else { return Err("finds no current goal") };
        if before.id != Id::of(id) {
            return Err("is of another goal than the current one");
        }
        if revision.and_then(Raw::count) != Some(before.revision + 1) {
            return Err("has not the next revision");
        }
        if at.and_then(Raw::count).is_none_or(|at| at < before.updated) {
            return Err("has a clearedAt before the last updatedAt");
        }
        Ok(())
    }

    /// A message that opens a round.
    fn round(&mut self, event: &Event<'_>, source: Raw<'_>, sink: &mut Sink<'_>) {
        // Before the event had a type of its own, a change stood in the source of a message.
        if let Some(change) = source.get("change") {
            return self.change(event, change, sink);
        }
        let [id, revision, round] = source.get_all(["goalId", "revision", "round"]);
        let round = round.and_then(Raw::count).unwrap_or_default();
        let Some(goal) = &mut self.current else {
            return sink.warn(Code::InvGoal, event, "a goal's round without a goal (G)");
        };
        let of_it = goal.id == Id::of(id) && revision.and_then(Raw::count) == Some(goal.revision);
        let wanted = goal.rounds + 1;
        if goal.phase != Phase::Active || !of_it {
            let message = "a goal's round that is not of the active goal and its revision (G)";
            sink.warn(Code::InvGoal, event, message);
        } else if round != wanted || round > goal.max_rounds {
            let max = goal.max_rounds;
            let message = format!("round {round} of a goal, expected {wanted} of {max} (G)");
            sink.warn(Code::InvGoal, event, message);
        }
        goal.rounds = round;
    }
}

impl Family for Goals {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        match event.kind {
            Kind::GoalChange => self.change(event, event.data, sink),
            Kind::UserMessage if !event.op.is_replace() => {
                let Some(source) = event.data.get("source") else { return };
                if is(source.get("kind"), "goal") {
                    self.round(event, source, sink);
                }
            }
            _ => {}
        }
    }
}
