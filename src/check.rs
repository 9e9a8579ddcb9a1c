//! Judgement over a whole log: what its reading found, and the rules between events that a generation
//! does not enforce on opening (v0 section 15). Where it does (generation 4), the reading has judged
//! them already.
//!
//! A rule that the harness would veto on append gives a warning, one that it only advises a note.

mod approvals;
mod calls;
mod commands;
mod compaction;
mod cuts;
mod dispatches;
mod goal;
mod hooks;
mod id;
mod inbox;
pub mod invariants;
mod life;
mod retries;
pub mod rules;
mod schedule;
mod settings;
mod stream;
mod team;
mod team_tasks;
#[cfg(test)]
mod tests;
mod time;
mod time_context;
mod titles;
pub mod upgrade;
mod workflow;

use crate::error::Result;
use crate::fault::{Code, Severity};
use crate::finding::{Finding, Findings};
use crate::format::event::Event;
use crate::format::schema::Shape;
use crate::limits::Limits;
use crate::log::Log;
use crate::log::walk::Span;
use crate::seq::Seq;
use std::ops::ControlFlow;

/// Where families of rules leave what they find.
struct Sink<'a> {
    log: &'a Log,
    limits: Limits,
    findings: Findings,
}

impl Sink<'_> {
    fn add(&mut self, code: Code, severity: Severity, seq: Seq, message: impl Into<String>) {
        let place = self.log.place_of(seq);
        self.findings.push(Finding::new(code, severity, place, message), &self.limits);
    }

    fn warn(&mut self, code: Code, event: &Event<'_>, message: impl Into<String>) {
        self.add(code, Severity::Warns, event.seq, message);
    }

    fn note(&mut self, code: Code, event: &Event<'_>, message: impl Into<String>) {
        self.add(code, Severity::Notes, event.seq, message);
    }

    /// Warns when a payload has not the shape that the rule asks for; whether it has.
    fn shape(&mut self, code: Code, event: &Event<'_>, shape: &Shape, rule: &str) -> bool {
        let verdict = shape.fit(event.data);
        if let Err(what) = &verdict {
            self.warn(code, event, format!("{}: {what} ({rule})", event.kind));
        }
        verdict.is_ok()
    }
}

/// One family of rules: takes the events in order.
trait Family {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>);

    /// Takes the end of the log.
    fn end(&mut self, _sink: &mut Sink<'_>) {}
}

/// All findings of a log: those of its reading first, then those of the rules, in order of events.
///
/// `target` adds what an upgrade to that generation would refuse. The rules between events see those
/// up to `upto` only, as if the log ended there. Errors when the file cannot be read.
pub fn verify(log: &Log, target: Option<u32>, upto: Seq, limits: &Limits) -> Result<Findings> {
    let mut sink = Sink { log, limits: *limits, findings: found_upto(log, upto, limits) };
    let own_id = log.header().map(|header| header.id.clone()).unwrap_or_default();
    let mut families: Vec<Box<dyn Family>> = vec![
        Box::new(approvals::Approvals::default()),
        Box::new(cuts::Cuts::default()),
        Box::new(goal::Goals::default()),
        Box::new(hooks::Hooks::default()),
        Box::new(inbox::Inbox::new(log.inherited())),
        Box::new(schedule::Schedule::new(log.inherited())),
        Box::new(settings::Settings),
        Box::new(stream::Streams::default()),
        Box::new(team::Team::new(own_id, log.dialect().team_versions)),
        Box::new(time::Time::default()),
        Box::new(time_context::TimeContext::default()),
        Box::new(workflow::Workflow::default()),
        Box::new(calls::Ids::default()),
    ];
    if !log.dialect().relations {
        families.push(Box::new(life::Life::new(log.dialect().todo_in_turn)));
        families.push(Box::new(calls::Calls::default()));
        families.push(Box::new(compaction::Compaction::default()));
        families.push(Box::new(commands::Commands::default()));
        families.push(Box::new(dispatches::Dispatches::default()));
        families.push(Box::new(retries::Retries::default()));
        families.push(Box::new(titles::Titles));
    }
    if let Some(target) = target {
        families.push(Box::new(upgrade::Upgrade::new(log, target)));
    }
    let span = Span { upto, closers: false, ..log.whole() };
    let each = |event: &Event<'_>| {
        for family in &mut families {
            family.event(event, &mut sink);
        }
        ControlFlow::Continue(())
    };
    log.walk_edges(span, each)?;
    for family in &mut families {
        family.end(&mut sink);
    }
    Ok(sink.findings)
}

/// What the reading found up to an event. What it says of the end of the log is left out unless that is
/// its last event.
fn found_upto(log: &Log, upto: Seq, limits: &Limits) -> Findings {
    let next = log.index().next_seq();
    if upto.next() >= next {
        return log.findings().clone();
    }
    let end = log.place_of(upto.next()).byte;
    let mut kept = Findings::default();
    for finding in log.findings().list() {
        let place = finding.place;
        let before = match place.seq {
            Some(seq) => seq <= upto,
            None => place.byte.is_none_or(|byte| end.is_none_or(|end| byte < end)),
        };
        if before && finding.code != Code::OpenTurn {
            kept.push(finding.clone(), limits);
        }
    }
    kept
}

/// Whether any finding is more than a note.
#[must_use]
pub fn is_loud(findings: &Findings) -> bool {
    findings.list().iter().any(|finding| finding.severity != Severity::Notes)
}
