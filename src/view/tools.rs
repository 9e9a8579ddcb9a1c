//! The ledger of tool calls: what was called, what became of it, whether the model still sees it
//! (v0 sections 7, 9.4, 16.4 and 17.2, generations 2.9 and 2.10).

mod fold;
pub(super) mod note;

use super::figures::Figures;
use super::messages;
use super::moment::Moment;
use crate::error::Result;
use crate::format::event::Location;
use crate::format::kind::Kind;
use crate::log::Log;
use crate::log::surface::Node;
use crate::log::visit::{Bodies, closer_event};
use crate::log::walk::Span;
use crate::seq::Seq;
use fold::At;
use note::Note;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// What became of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// A result.
    Ok,
    /// A result that is marked as an error, with the name and the code it gives.
    Error {
        /// The error's name.
        name: Option<String>,
        /// The error's code.
        code: Option<String>,
    },
    /// The model asked for it and it was never begun.
    NotStarted,
    /// It was begun and no result tells how it ended.
    Unknown,
    /// It runs when the log ends.
    #[default]
    Running,
}

impl Outcome {
    /// The word used in tables and JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Error { .. } => "error",
            Outcome::NotStarted => "not-started",
            Outcome::Unknown => "unknown",
            Outcome::Running => "running",
        }
    }

    /// Whether it counts as a failure; an outcome that nobody knows does not.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(self, Outcome::Error { .. })
    }
}

/// What a row stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum What {
    /// A call of the model.
    #[default]
    Call,
    /// A call that a tool made itself.
    Dispatch,
    /// An agent that a tool started.
    Agent,
}

impl What {
    /// The word used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            What::Call => "call",
            What::Dispatch => "dispatch",
            What::Agent => "agent",
        }
    }
}

/// What the model still has of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seen {
    /// The whole of it.
    Whole,
    /// The shortened one that this event put in its place.
    Shortened(Seq),
    /// Only the summary that this event holds.
    Summary(Seq),
    /// Nothing; or there is no result that could be seen.
    #[default]
    Not,
}

impl Seen {
    /// The word used in tables and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Seen::Whole => "whole",
            Seen::Shortened(_) => "shortened",
            Seen::Summary(_) => "summary",
            Seen::Not => "no",
        }
    }
}

/// One row of the ledger.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Call {
    /// What it stands for.
    pub what: What,
    /// How deep it lies below a call of the model; 0 = it is one.
    pub depth: u16,
    /// Its id, for people.
    pub call_id: Arc<str>,
    /// The tool, or the agent's label.
    pub name: Arc<str>,
    /// The first of its arguments: of a call that was begun those that ran.
    pub arguments: Arc<str>,
    /// The first of what the message asked for, where that is another text than what ran.
    pub asked: Option<Arc<str>>,
    /// The message that asked for it.
    pub message_seq: Option<Seq>,
    /// Where its start is recorded.
    pub call_seq: Option<Seq>,
    /// Where its result is recorded.
    pub result_seq: Option<Seq>,
    /// The turn and the step.
    pub location: Location,
    /// Whether it came from the parent session.
    pub inherited: bool,
    /// What became of it.
    pub outcome: Outcome,
    /// Whether its result is a closer that repair would write, and not stored.
    pub synthetic: bool,
    /// When it was begun, or asked for.
    pub started: i64,
    /// From start to result, in milliseconds; a closer's time says nothing of a call's.
    pub millis: Option<u64>,
    /// The size of the result's content as stored, in bytes.
    pub result_bytes: Option<u64>,
    /// What the model still has of the result.
    pub seen: Seen,
    /// The last call before it of the same tool with the same arguments.
    pub same_as: Option<Seq>,
    /// The file that the arguments name, where they name one.
    pub file: Option<Arc<str>>,
    /// Stands for the content of the result.
    pub(crate) result_key: Option<u64>,
    /// Stands for tool and arguments.
    pub(crate) text_key: u64,
}

impl Call {
    /// The event that the row stands at.
    #[must_use]
    pub fn seq(&self) -> Seq {
        self.call_seq.or(self.result_seq).or(self.message_seq).unwrap_or_default()
    }
}

/// The ledger at a moment, in order; what a call dispatched follows it.
///
/// Bodies are read only where nothing was [gleaned](super::figures) from them while the log was read.
pub fn ledger(log: &Log, moment: Moment) -> Result<Vec<Call>> {
    let mut taking = Taking { fold: fold::Fold::new(log), log, next: 0 };
    let upto = moment.upto();
    if let Some(gleaned) = log.gleaned::<Figures>() {
        for (seq, figures) in gleaned.take_while(|(seq, _)| *seq <= upto) {
            taking.note(seq, &figures.ledger);
        }
    } else {
        log.walk_mapped(
            Span { closers: false, ..moment.span(log) },
            |entry| note::takes(entry.kind),
            || (),
            |(), event| Some((event.seq, Note::of(event, log.dialect()))),
            |(seq, note)| taking.note(seq, &note),
        )?;
    }
    taking.edges(Seq(upto.0.saturating_add(1)));
    let mut fold = taking.fold;
    if moment.has_closers() {
        for event in log.closers().iter().filter_map(|closer| closer_event(closer, log)) {
            if is_edge(event.kind) {
                fold.close(event.seq, event.kind);
            }
            let (seq, time, location) = (event.seq, event.time, event.location);
            fold.take(&At { seq, time, location, synthetic: true }, &Note::of(&event, log.dialect()));
        }
    }
    let mut calls = fold.finish();
    let surface = moment.surface(log);
    let holders = surface.holders();
    let mut bodies = Bodies::new(log);
    // What a rewind leaves holds a place and is no message.
    let mut empty: BTreeMap<u64, bool> = BTreeMap::new();
    for call in &mut calls {
        let holder = call.result_seq.and_then(|seq| holders.of(seq.0));
        if let Some(node) = holder.filter(|node| node.kind == Kind::AssistantMessage)
            && let Entry::Vacant(unknown) = empty.entry(node.seq)
        {
            let derived = bodies.with(Seq(node.seq), |event| messages::derive(event).is_some())?;
            unknown.insert(derived == Some(false));
        }
        let holder = holder.filter(|node| empty.get(&node.seq) != Some(&true));
        call.seen = call.result_seq.map_or(Seen::Not, |seq| seen(holder, seq));
    }
    Ok(calls)
}

fn is_edge(kind: Kind) -> bool {
    matches!(kind, Kind::StepEnd | Kind::TurnEnd | Kind::TurnStart)
}

/// The fold on its way over the log: of the edges of steps and turns the index knows all that counts.
struct Taking<'a> {
    fold: fold::Fold,
    log: &'a Log,
    /// The record from which on edges were not taken yet.
    next: usize,
}

impl Taking<'_> {
    /// Takes the edges before an event.
    fn edges(&mut self, before: Seq) {
        let entries = self.log.index().entries();
        while let Some(entry) = entries.get(self.next).filter(|entry| entry.seq < before) {
            if is_edge(entry.kind) {
                self.fold.close(entry.seq, entry.kind);
            }
            self.next += 1;
        }
    }

    fn note(&mut self, seq: Seq, note: &Note) {
        self.edges(seq);
        let Some(entry) = self.log.index().entries().get(self.next) else { return };
        let (time, location) = (entry.time, entry.location());
        self.fold.take(&At { seq, time, location, synthetic: false }, note);
    }
}

/// What the model still has of the result at `seq`.
fn seen(holder: Option<&Node>, seq: Seq) -> Seen {
    match holder {
        Some(node) if node.seq == seq.0 => Seen::Whole,
        Some(node) if node.kind == Kind::ToolResult => Seen::Shortened(Seq(node.seq)),
        Some(node) => Seen::Summary(Seq(node.seq)),
        None => Seen::Not,
    }
}

/// What the calls of one tool add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolTotals {
    /// How many rows.
    pub calls: u64,
    /// How many ended with an error.
    pub failures: u64,
    /// Of how many nobody knows the outcome.
    pub unknown: u64,
    /// How many were never begun.
    pub not_started: u64,
    /// The size of all results as stored, in bytes.
    pub result_bytes: u64,
    millis: Vec<u64>,
}

impl ToolTotals {
    /// Adds a row.
    pub fn add(&mut self, call: &Call) {
        self.calls += 1;
        self.failures += u64::from(call.outcome.is_failure());
        self.unknown += u64::from(call.outcome == Outcome::Unknown);
        self.not_started += u64::from(call.outcome == Outcome::NotStarted);
        self.result_bytes += call.result_bytes.unwrap_or(0);
        self.millis.extend(call.millis);
    }

    /// Adds another tool's totals.
    pub fn merge(&mut self, more: &ToolTotals) {
        self.calls += more.calls;
        self.failures += more.failures;
        self.unknown += more.unknown;
        self.not_started += more.not_started;
        self.result_bytes += more.result_bytes;
        self.millis.extend(&more.millis);
    }

    /// The duration that this part of the calls does not exceed, in milliseconds; nearest rank.
    #[must_use]
    pub fn percentile(&self, percent: usize) -> Option<u64> {
        let mut sorted = self.millis.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied()
    }

    /// The time of all calls together, in milliseconds.
    #[must_use]
    pub fn millis(&self) -> u64 {
        self.millis.iter().sum()
    }
}

/// The totals of each tool, agents apart, by name.
#[must_use]
pub fn totals(calls: &[Call]) -> BTreeMap<String, ToolTotals> {
    let mut totals: BTreeMap<String, ToolTotals> = BTreeMap::new();
    for call in calls.iter().filter(|call| call.what != What::Agent) {
        totals.entry(call.name.to_string()).or_default().add(call);
    }
    totals
}

#[cfg(test)]
mod tests;
