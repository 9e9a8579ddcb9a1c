//! Rows that grow over several events: model retries and workflow runs (format v0, section 16.6).

use super::content;
use super::rows::{Attempt, AttemptState, Body, Member, Retry, Row, Workflow};
use super::shelf::{Anchor, Place, Shelf};
use crate::format::event::Event;
use crate::json::Raw;
use std::collections::HashMap;

fn key(value: Option<Raw<'_>>) -> Vec<u8> {
    value.and_then(Raw::text).unwrap_or_default().into_owned()
}

#[derive(Debug)]
struct Growing<T> {
    place: Place,
    row: Row,
    body: T,
}

/// The retry series of the open step.
#[derive(Debug, Default)]
pub(super) struct Retries {
    open: HashMap<Vec<u8>, Growing<Retry>>,
}

impl Retries {
    /// An attempt was scheduled.
    pub(super) fn schedule(&mut self, event: &Event<'_>, shelf: &mut Shelf) {
        let [id, retry, max, delay, failure] =
            event.data.get_all(["retryId", "retry", "maxRetries", "delayMs", "failure"]);
        let series = self.open.entry(key(id)).or_insert_with(|| Growing {
            place: shelf.hold(Anchor::at(event.seq)),
            row: Row::begun(event),
            body: Retry { id: content::text(id), attempts: Vec::new() },
        });
        series.body.attempts.push(Attempt {
            seq: event.seq,
            retry: retry.and_then(Raw::count),
            max: max.and_then(Raw::count),
            delay_ms: delay.and_then(Raw::number).map(|ms| ms as u64),
            failure: failure.map(content::failure),
            state: AttemptState::Scheduled,
        });
    }

    /// A scheduled attempt was started.
    pub(super) fn started(&mut self, data: Raw<'_>) {
        let [id, retry] = data.get_all(["retryId", "retry"]);
        let retry = retry.and_then(Raw::count);
        if let Some(series) = self.open.get_mut(&key(id))
            && let Some(attempt) = series.body.attempts.iter_mut().rev().find(|known| known.retry == retry)
        {
            attempt.state = AttemptState::Started;
        }
    }

    /// The step or its turn is closed (or, with `closed` false, the log ends): what is still
    /// scheduled never starts.
    pub(super) fn close(&mut self, closed: bool, shelf: &mut Shelf) {
        for (_, Growing { place, row, mut body }) in self.open.drain() {
            if let Some(last) = body.attempts.last_mut()
                && closed
                && last.state == AttemptState::Scheduled
            {
                last.state = AttemptState::Cancelled;
            }
            shelf.fill(place, Row { body: Body::Retry(body), ..row });
        }
    }
}

/// The workflow runs of the open turn.
#[derive(Debug, Default)]
pub(super) struct Workflows {
    open: HashMap<Vec<u8>, Growing<Workflow>>,
}

impl Workflows {
    /// A run begins.
    pub(super) fn start(&mut self, event: &Event<'_>, shelf: &mut Shelf) {
        let [id, name] = event.data.get_all(["runId", "name"]);
        let body = Workflow { id: content::text(id), name: content::text(name), ..Workflow::default() };
        let growing = Growing { place: shelf.hold(Anchor::at(event.seq)), row: Row::begun(event), body };
        if let Some(before) = self.open.insert(key(id), growing) {
            settle(before, "interrupted", "interrupted", shelf);
        }
    }

    /// An agent of a run begins.
    pub(super) fn agent(&mut self, data: Raw<'_>) {
        let [id, number, label, phase, child] = data.get_all(["runId", "seq", "label", "phase", "childId"]);
        if let Some(run) = self.open.get_mut(&key(id)) {
            run.body.members.push(Member {
                number: number.and_then(Raw::count),
                phase: content::text(phase),
                label: content::text(label),
                child: content::text(child),
                outcome: String::new(),
            });
        }
    }

    /// An agent of a run is done.
    pub(super) fn agent_done(&mut self, data: Raw<'_>) {
        let [id, number, outcome] = data.get_all(["runId", "seq", "outcome"]);
        let number = number.and_then(Raw::count);
        if let Some(run) = self.open.get_mut(&key(id))
            && let Some(member) = run.body.members.iter_mut().find(|member| member.number == number)
        {
            member.outcome = content::text(outcome).unwrap_or_default();
        }
    }

    /// A run ends.
    pub(super) fn end(&mut self, data: Raw<'_>, shelf: &mut Shelf) {
        let [id, reason] = data.get_all(["runId", "stopReason"]);
        if let Some(run) = self.open.remove(&key(id)) {
            let reason = content::text(reason).unwrap_or_default();
            let status = if reason == "error" { "failed" } else { &reason };
            settle(run, status, "interrupted", shelf);
        }
    }

    /// The turn is closed, or with `running` the log ends.
    pub(super) fn close(&mut self, status: &str, shelf: &mut Shelf) {
        for (_, run) in self.open.drain() {
            settle(run, status, status, shelf);
        }
    }
}

/// Ends a run; members that have no outcome get `rest`. They come grouped by phase.
fn settle(run: Growing<Workflow>, status: &str, rest: &str, shelf: &mut Shelf) {
    let Growing { place, row, mut body } = run;
    body.status = status.to_owned();
    let mut ranks: HashMap<Option<String>, usize> = HashMap::new();
    for member in &mut body.members {
        let next = ranks.len();
        ranks.entry(member.phase.clone()).or_insert(next);
        if member.outcome.is_empty() {
            member.outcome = rest.to_owned();
        }
    }
    body.members.sort_by_key(|member| ranks.get(&member.phase).copied());
    shelf.fill(place, Row { body: Body::Workflow(body), ..row });
}
