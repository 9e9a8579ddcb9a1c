//! The rules between events that generation 4 enforces whenever a log opens (v4 section 8).
//!
//! The rules run in one pass, event after event. The harness runs two: a first one over message
//! slots, delivery markers and the subagent catalogue, a second one over the life of turns, steps,
//! calls and compactions. So each violation carries its phase, and the list is put into the order
//! of the harness at the end. After a violation the state that explains most of what follows is
//! taken, so that one fault is not reported many times.
//!
//! N1 (row admission again) has no rule here: a row that breaks it never becomes an event, see
//! [`hard_fault`](crate::format::admission::hard_fault).

mod calls;
mod commands;
mod compaction;
mod dispatches;
mod lifecycle;
mod retries;
mod slots;
mod surface;
mod titles;

use crate::fault::Code;
use crate::format::kind::Kind;
use crate::format::sources::Sources;
use crate::format::surface_op::SurfaceOp;
use crate::json::Raw;

/// What the rules need of the header.
#[derive(Clone, Debug, Default)]
pub struct RelHeader {
    /// The session's id, WTF-8.
    pub id: Vec<u8>,
    /// Whether the header names a parent session.
    pub has_parent: bool,
}

/// One event, of a type that its generation knows.
#[derive(Clone, Copy, Debug)]
pub struct RelEvent<'a> {
    /// Its seq.
    pub seq: u64,
    /// Its type.
    pub kind: Kind,
    /// Its payload, whole or [slim](super::slim::slim).
    pub data: Raw<'a>,
    /// Its surface marker.
    pub op: SurfaceOp,
    /// Its source events, when the list is a sound one.
    pub sources: Option<&'a Sources>,
    /// Whether it has a list of source events at all.
    pub has_sources: bool,
}

/// A rule that is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The event that breaks it.
    pub seq: u64,
    /// The family of the rule.
    pub code: Code,
    /// The rule's number on the format page.
    pub rule: &'static str,
    /// What is wrong, lower case, without place.
    pub message: String,
    /// In which of the harness's two passes it is met.
    pub phase: u8,
}

/// A broken rule, before it has its place.
struct Breach {
    code: Code,
    rule: &'static str,
    message: String,
}

type Verdict = Result<(), Breach>;

/// A family of rules and the number of one of them.
#[derive(Clone, Copy)]
struct Rule(Code, &'static str);

impl Rule {
    fn broken(self, message: impl Into<String>) -> Breach {
        Breach { code: self.0, rule: self.1, message: message.into() }
    }

    fn hold(self, kept: bool, message: &str) -> Verdict {
        if kept { Ok(()) } else { Err(self.broken(message)) }
    }
}

/// How many violations are kept.
const KEPT: usize = 100;

/// The violations of one pass, the first ones of them.
#[derive(Clone, Debug, Default)]
struct Violations(Vec<Violation>);

impl Violations {
    fn add(&mut self, seq: u64, phase: u8, breach: Breach) {
        if self.0.len() < KEPT {
            let Breach { code, rule, message } = breach;
            self.0.push(Violation { seq, code, rule, message, phase });
        }
    }
}

/// The rules' state after some events. A clone goes on by itself.
#[derive(Clone, Debug)]
pub struct Relations {
    slots: slots::Slots,
    turns: lifecycle::Turns,
    surface: surface::Surface,
    calls: calls::Calls,
    dispatches: dispatches::Dispatches,
    retries: retries::Retries,
    titles: titles::Titles,
    commands: commands::Commands,
    compaction: compaction::Compaction,
    first: Violations,
    second: Violations,
}

/// Whether any rule looks at events of this type; others need not be given.
#[must_use]
pub fn takes_part(kind: Kind) -> bool {
    needs_object(kind) || matches!(kind, Kind::InboxSpliced | Kind::DeliveryAccepted | Kind::SubagentCatalog)
}

/// N5: the types whose payload the second pass reads.
fn needs_object(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::SystemMessage
            | Kind::DeveloperMessage
            | Kind::UserMessage
            | Kind::AssistantMessage
            | Kind::AssistantAttempt
            | Kind::ToolResult
            | Kind::ToolCall
            | Kind::TurnStart
            | Kind::TurnEnd
            | Kind::StepStart
            | Kind::StepEnd
            | Kind::RequestHeader
            | Kind::RequestContext
            | Kind::PtcDispatchStart
            | Kind::PtcDispatch
            | Kind::LlmRetry
            | Kind::LlmRetryStarted
            | Kind::SessionTitle
            | Kind::SessionTitleLlmRequest
            | Kind::CommandRun
            | Kind::CommandDone
            | Kind::CompactionStart
            | Kind::CompactionSummary
            | Kind::CompactionPrune
            | Kind::CompactionEnd
            | Kind::EndSeed
    )
}

impl Relations {
    /// The state before the first event.
    #[must_use]
    pub fn new(header: &RelHeader) -> Relations {
        Relations {
            slots: slots::Slots::new(header.clone()),
            turns: lifecycle::Turns::default(),
            surface: surface::Surface::default(),
            calls: calls::Calls::default(),
            dispatches: dispatches::Dispatches::default(),
            retries: retries::Retries::default(),
            titles: titles::Titles::default(),
            commands: commands::Commands::default(),
            compaction: compaction::Compaction::default(),
            first: Violations::default(),
            second: Violations::default(),
        }
    }

    /// Takes the next event; seqs ascend, and events that take no part may be left out.
    pub fn event(&mut self, event: &RelEvent<'_>) {
        if !takes_part(event.kind) {
            return;
        }
        let slots = self.slots.judge(event);
        let slots_fault = slots.is_err();
        self.note(event.seq, 1, slots);
        if !needs_object(event.kind) {
            return;
        }
        if !event.data.is_object() {
            if !slots_fault {
                let breach =
                    Rule(Code::RelData, "N5").broken(format!("data of {}, expected an object", event.kind));
                self.second.add(event.seq, 2, breach);
            }
            return;
        }
        // Inside one event the order is N6, N7, N8, then the type's own rule.
        let placed = self.turns.placed(event);
        self.note(event.seq, 2, placed);
        self.compaction.turn_edge(event);
        let on_surface = self.surface.event(event);
        self.note(event.seq, 2, on_surface);
        let own = self.own_rule(event);
        self.note(event.seq, 2, own);
    }

    fn note(&mut self, seq: u64, phase: u8, verdict: Verdict) {
        if let Err(breach) = verdict {
            let list = if phase == 1 { &mut self.first } else { &mut self.second };
            list.add(seq, phase, breach);
        }
    }

    fn own_rule(&mut self, event: &RelEvent<'_>) -> Verdict {
        match event.kind {
            Kind::TurnStart => {
                self.calls.clear();
                self.turns.turn_start(event)
            }
            Kind::TurnEnd => self.turns.turn_end(event, self.calls.take_unanswered()),
            Kind::StepStart => self.turns.step_start(event),
            Kind::StepEnd => self.turns.step_end(event, self.calls.take_unanswered()),
            Kind::AssistantMessage => self.calls.message(event, &mut self.turns),
            Kind::ToolCall => self.calls.call(event, &mut self.turns),
            Kind::ToolResult => self.calls.result(event, &mut self.turns),
            Kind::DeveloperMessage => self.calls.developer(event),
            Kind::RequestHeader => {
                self.calls.header(event);
                self.retries.header(event);
                self.turns.in_turn()
            }
            Kind::RequestContext => self.turns.in_turn(),
            Kind::PtcDispatchStart | Kind::PtcDispatch => self.dispatches.event(event, &self.turns),
            Kind::LlmRetry => self.retries.retry(event, &self.turns),
            Kind::LlmRetryStarted => self.retries.started(event),
            Kind::SessionTitle => self.titles.title(event),
            Kind::SessionTitleLlmRequest => self.titles.request(event),
            Kind::CommandRun => self.commands.run(event),
            Kind::CommandDone => self.commands.done(event),
            Kind::CompactionStart => self.compaction.start(event, &self.turns),
            Kind::CompactionPrune => self.surface.shadowed(event),
            Kind::CompactionSummary => {
                let span = self.surface.shadowed(event);
                let owner = self.compaction.summary(event, &self.turns);
                span.and(owner)
            }
            Kind::CompactionEnd => self.compaction.end(event, &self.turns),
            Kind::UserMessage => {
                self.titles.user(event);
                self.compaction.checkpoint(event)
            }
            Kind::EndSeed => {
                self.compaction.end_seed();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The violations, in the order in which the harness would meet them: at most a hundred.
    ///
    /// `inherited` is the seq of the last tagged `session/end-seed`, 0 when there is none.
    #[must_use]
    pub fn finish(self, inherited: u64) -> Vec<Violation> {
        let mut all = self.first.0;
        all.extend(self.slots.finish(inherited));
        all.sort_by_key(|violation| violation.seq);
        // Of one event, a turn's edge inside a compaction (N7) comes before its own rule.
        let mut second = self.compaction.finish();
        second.extend(self.second.0);
        second.sort_by_key(|violation| violation.seq);
        all.extend(second);
        all.truncate(KEPT);
        all
    }
}

#[cfg(test)]
mod tests;
