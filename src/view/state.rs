//! What was in force at a moment: todo list, modes, policies, goal, what waits in the inbox, schedule,
//! children, each with the event that set it (v0 sections 7.2 to 7.5, v4 section 10).

mod pending;

use super::moment::Moment;
use crate::error::Result;
use crate::format::dialect::Inherited;
use crate::format::kind::Kind;
use crate::json::Raw;
use crate::log::Log;
use crate::log::visit::Bodies;
use crate::log::walk::Span;
use crate::seq::Seq;
pub use pending::{Inbox, Pending, Schedule, Scheduled};
use std::ops::ControlFlow;

/// A value and the event that set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    /// What it is called in JSON.
    pub name: &'static str,
    /// The event.
    pub seq: Seq,
    /// Its time, epoch milliseconds.
    pub time: i64,
    /// Its type.
    pub kind: Kind,
    /// Whether it came from the parent session.
    pub inherited: bool,
    /// Its data as stored.
    pub data: Vec<u8>,
}

/// A child session that the log names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Child {
    /// Its id; absent where the log describes itself as a child.
    pub id: Option<String>,
    /// Its label.
    pub label: Option<String>,
    /// What is said of how it fares.
    pub status: String,
    /// The event that last said so.
    pub seq: Seq,
}

/// All that was in force.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// What the last event of its type decides, in a fixed order.
    pub set: Vec<Set>,
    /// The preset that the header names; an `agent-preset/selected` counts for more.
    pub header_preset: Option<String>,
    /// How many rounds of the goal were begun; none without a goal.
    pub goal_rounds: Option<u64>,
    /// What waits.
    pub inbox: Inbox,
    /// What is scheduled.
    pub schedule: Schedule,
    /// The children.
    pub children: Vec<Child>,
    /// Which turn and step are open, with the event that opened the turn.
    pub open: Option<(Seq, crate::format::event::Location)>,
}

/// The types whose last event counts, with the names in JSON.
const LAST_WINS: &[(&str, Kind)] = &[
    ("title", Kind::SessionTitle),
    ("agentPreset", Kind::AgentPresetSelected),
    ("modelSelection", Kind::ModelSelection),
    ("planMode", Kind::PlanMode),
    ("todo", Kind::TodoWrite),
    ("goal", Kind::GoalChange),
    ("approvalPolicy", Kind::ApprovalPolicy),
    ("sandboxMode", Kind::SandboxMode),
    ("permissionPreset", Kind::PermissionPreset),
    ("workingDirectory", Kind::WorkingDirectoryChange),
    ("subagentModelPolicy", Kind::SubagentModelSelectionPolicy),
    ("requestContext", Kind::RequestContext),
];

/// What was in force at a moment.
pub fn of(log: &Log, moment: Moment) -> Result<State> {
    let mut state = State { set: set(log, moment)?, ..State::default() };
    state.header_preset = log.header().and_then(|header| header.agent_preset.clone());
    let goal = state.set.iter().find(|set| set.name == "goal").map(|set| set.seq);
    if let Some(goal) = goal {
        state.goal_rounds = goal_rounds(log, moment, goal)?;
    }
    fold_pending(log, moment, &mut state)?;
    state.open = open_turn(log, moment);
    Ok(state)
}

fn set(log: &Log, moment: Moment) -> Result<Vec<Set>> {
    let mut bodies = Bodies::new(log);
    let mut found: Vec<(usize, Seq)> = Vec::new();
    for (at, (_, kind)) in LAST_WINS.iter().enumerate() {
        found.extend(log.index().last_of(*kind, moment.upto()).map(|entry| (at, entry.seq)));
    }
    let mut list = Vec::new();
    // Bodies are cheapest in ascending order.
    found.sort_by_key(|(_, seq)| *seq);
    for (at, seq) in found {
        let (name, kind) = LAST_WINS[at];
        let set = bodies.with(seq, |event| Set {
            name,
            seq,
            time: event.time,
            kind,
            inherited: seq.0 < log.inherited(),
            data: event.data.bytes().to_vec(),
        })?;
        list.extend(set.filter(|set| !is_cleared(set)).map(|set| (at, set)));
    }
    list.sort_by_key(|(at, _)| *at);
    Ok(list.into_iter().map(|(_, set)| set).collect())
}

/// Whether it says that there is no goal any more.
fn is_cleared(set: &Set) -> bool {
    let data = Raw::parse(&set.data).ok();
    set.name == "goal" && data.and_then(|data| data.get("operation")).is_some_and(|o| o.is("clear"))
}

/// The rounds begun: what the last change says, raised by the messages that begin one.
fn goal_rounds(log: &Log, moment: Moment, goal: Seq) -> Result<Option<u64>> {
    let mut rounds = None;
    log.walk(
        Span { from: goal, closers: false, ..moment.span(log) },
        |entry| entry.seq == goal || entry.kind == Kind::UserMessage,
        |event| {
            if event.seq == goal {
                rounds = event.data.get("roundsStarted").and_then(Raw::count);
            } else if event.data.path(&["source", "kind"]).is_some_and(|k| k.is("goal")) {
                rounds = event.data.path(&["source", "round"]).and_then(Raw::count).or(rounds);
            }
            ControlFlow::Continue(())
        },
    )?;
    Ok(rounds)
}

/// From which event on what waits is counted: a child of the first generations takes nothing over.
fn pending_from(log: &Log) -> u64 {
    match log.dialect().inherited {
        Inherited::SeedLength => log.inherited(),
        Inherited::TaggedEndSeed => 0,
    }
}

fn fold_pending(log: &Log, moment: Moment, state: &mut State) -> Result<()> {
    use Kind::{InboxSpliced, ScheduleChange, SubagentCatalog, SubagentDescriptor, TeamMember};
    use Kind::{WorkflowAgentEnd, WorkflowAgentStart};
    let from = Seq(pending_from(log).max(log.index().first_seq().0));
    let wanted = |kind| {
        matches!(
            kind,
            InboxSpliced
                | ScheduleChange
                | SubagentCatalog
                | SubagentDescriptor
                | TeamMember
                | WorkflowAgentEnd
                | WorkflowAgentStart
        )
    };
    log.walk(
        Span { closers: false, ..moment.span(log) },
        |entry| wanted(entry.kind),
        |event| {
            match event.kind {
                InboxSpliced if event.seq >= from => state.inbox.take(event),
                ScheduleChange if event.seq >= from => state.schedule.take(event),
                InboxSpliced | ScheduleChange => {}
                _ => child(event, &mut state.children),
            }
            ControlFlow::Continue(())
        },
    )
}

/// Takes an event that speaks of a child.
fn child(event: &crate::format::event::Event<'_>, children: &mut Vec<Child>) {
    let text = |value: Option<Raw<'_>>| value.and_then(Raw::display_text);
    let data = event.data;
    let (id, label, status) = match event.kind {
        Kind::WorkflowAgentEnd => {
            let number = format!("{}#{}", text(data.get("runId")).unwrap_or_default(), number(data));
            let status = text(data.get("outcome")).unwrap_or_default();
            if let Some(child) = children.iter_mut().find(|c| c.status == format!("running in {number}")) {
                child.status = status;
                child.seq = event.seq;
            }
            return;
        }
        Kind::WorkflowAgentStart => {
            let run = text(data.get("runId")).unwrap_or_default();
            (text(data.get("childId")), text(data.get("label")), format!("running in {run}#{}", number(data)))
        }
        Kind::TeamMember => {
            let member = data.get("member");
            let get = |name| text(member.and_then(|m| m.get(name)));
            (get("id"), get("name"), get("phase").unwrap_or_default())
        }
        Kind::SubagentCatalog => {
            (text(data.get("childId")), text(data.get("label")), text(data.get("mode")).unwrap_or_default())
        }
        // The log is itself a child's.
        _ => (None, text(data.get("label")), format!("is {}", text(data.get("mode")).unwrap_or_default())),
    };
    let new = Child { id, label, status, seq: event.seq };
    match children.iter_mut().find(|c| c.id.is_some() && c.id == new.id) {
        Some(known) => *known = new,
        None => children.push(new),
    }
}

fn number(data: Raw<'_>) -> u64 {
    data.get("seq").and_then(Raw::count).unwrap_or(0)
}

/// The last turn, unless it was ended by then.
fn open_turn(log: &Log, moment: Moment) -> Option<(Seq, crate::format::event::Location)> {
    let start = log.index().last_of(Kind::TurnStart, moment.upto())?;
    let end = log.index().last_of(Kind::TurnEnd, moment.upto());
    if end.is_some_and(|end| end.seq > start.seq) || (moment.has_closers() && !log.closers().is_empty()) {
        return None;
    }
    let after = log.index().entries().partition_point(|entry| entry.seq <= moment.upto());
    let last = log.index().entries().get(after.checked_sub(1)?)?;
    let mut open = last.location();
    if last.kind == Kind::StepEnd {
        open.step = None;
    }
    Some((start.seq, open))
}

#[cfg(test)]
mod tests;
