//! Where the time went: model, tools, approvals, retries, compactions, and what lies between (v0
//! sections 16.8 and 17).

use super::attempt;
use super::moment::Moment;
use super::requests;
use super::tools::{self, What};
use crate::error::Result;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::json::Raw;
use crate::log::Log;
use crate::log::visit::Bodies;
use crate::log::walk::Span;
use crate::seq::Seq;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

/// What took the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sort {
    /// A turn, from start to end.
    Turn,
    /// A model call, from sending to its last event.
    Model,
    /// A tool call.
    Tool,
    /// An approval that was waited for.
    Approval,
    /// The wait before a retry.
    Retry,
    /// A compaction.
    Compaction,
    /// Nothing: between turns.
    Idle,
}

impl Sort {
    /// All sorts, in the order in which they are summed up.
    pub const ALL: [Sort; 7] =
        [Sort::Turn, Sort::Model, Sort::Tool, Sort::Approval, Sort::Retry, Sort::Compaction, Sort::Idle];

    /// The word used in text and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Sort::Turn => "turn",
            Sort::Model => "model",
            Sort::Tool => "tool",
            Sort::Approval => "approval",
            Sort::Retry => "retry-wait",
            Sort::Compaction => "compaction",
            Sort::Idle => "idle",
        }
    }
}

/// One stretch of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// What took it.
    pub sort: Sort,
    /// Its name: the request, the tool, the outcome of an approval.
    pub name: String,
    /// Where it begins.
    pub seq: Seq,
    /// The turn.
    pub turn: Option<u32>,
    /// From when, epoch milliseconds.
    pub from: i64,
    /// Until when; never before `from`.
    pub to: i64,
    /// Of a model call, until the first token, in milliseconds.
    pub first_token: Option<u64>,
    /// Whether it has an end in the log.
    pub ended: bool,
}

impl Stretch {
    /// How long, in milliseconds.
    #[must_use]
    pub fn millis(&self) -> u64 {
        u64::try_from(self.to.saturating_sub(self.from)).unwrap_or(0)
    }
}

/// What the stretches of one sort add up to, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// How many.
    pub count: u64,
    /// All of them, one after the other.
    pub millis: u64,
    /// The time in which at least one ran: parallel ones count once.
    pub wall: u64,
}

/// The stretches up to a moment, by their beginning; a turn before what is in it.
pub fn of(log: &Log, moment: Moment) -> Result<Vec<Stretch>> {
    let last = last_time(log, moment);
    let mut out = Vec::new();
    let mut bodies = Bodies::new(log);
    for request in requests::list_upto(log, moment.upto()) {
        let attempt = attempt::read(log, &mut bodies, &request, true)?;
        out.push(Stretch {
            sort: Sort::Model,
            name: request.to_string(),
            seq: request.first,
            turn: request.turn,
            from: attempt.sent,
            to: attempt.ended.max(attempt.sent),
            first_token: attempt.first_token_millis(),
            ended: attempt.outcome != attempt::Outcome::Open,
        });
    }
    for call in tools::ledger(log, moment)?.iter().filter(|c| c.what == What::Call) {
        let Some(seq) = call.call_seq else { continue };
        let running = call.outcome == tools::Outcome::Running;
        let to = match call.millis {
            Some(millis) => call.started.saturating_add_unsigned(millis),
            None if running => last.max(call.started),
            None => call.started,
        };
        out.push(Stretch {
            sort: Sort::Tool,
            name: call.name.to_string(),
            seq,
            turn: call.location.turn,
            from: call.started,
            to,
            first_token: None,
            ended: call.millis.is_some(),
        });
    }
    waits(log, moment, last, &mut out)?;
    out.sort_by_key(|s| (s.from, s.sort != Sort::Idle, s.sort, s.seq));
    Ok(out)
}

fn last_time(log: &Log, moment: Moment) -> i64 {
    let index = log.index();
    let after = index.entries().partition_point(|entry| entry.seq <= moment.upto());
    let last = after.checked_sub(1).and_then(|n| index.entries().get(n)).map_or(0, |entry| entry.time);
    if moment.upto() >= index.next_seq() { log.sums().last_time } else { last }
}

/// What has begun and not ended yet.
#[derive(Default)]
struct Open {
    stretches: HashMap<(Sort, Vec<u8>), Stretch>,
    turn_ended: Option<(i64, Seq)>,
}

fn waits(log: &Log, moment: Moment, last: i64, out: &mut Vec<Stretch>) -> Result<()> {
    use Kind::{ApprovalAsked, ApprovalDecided, CompactionEnd, CompactionStart};
    use Kind::{LlmRetry, LlmRetryStarted, TurnEnd, TurnStart};
    let wanted = |kind| {
        matches!(
            kind,
            ApprovalAsked
                | ApprovalDecided
                | CompactionEnd
                | CompactionStart
                | LlmRetry
                | LlmRetryStarted
                | TurnEnd
                | TurnStart
        )
    };
    let mut open = Open::default();
    log.walk(
        Span { closers: false, ..moment.span(log) },
        |entry| wanted(entry.kind),
        |event| {
            open.take(event, out);
            ControlFlow::Continue(())
        },
    )?;
    for (_, mut stretch) in open.stretches.drain() {
        stretch.to = last.max(stretch.from);
        out.push(stretch);
    }
    Ok(())
}

impl Open {
    fn take(&mut self, event: &Event<'_>, out: &mut Vec<Stretch>) {
        let id = |name: &str| event.data.get(name).and_then(Raw::text).unwrap_or_default().into_owned();
        let text = |name: &str| event.data.get(name).and_then(Raw::display_text).unwrap_or_default();
        match event.kind {
            Kind::TurnStart => {
                if let Some((ended, seq)) = self.turn_ended.take().filter(|(ended, _)| *ended < event.time) {
                    let to = event.time;
                    out.push(Stretch { from: ended, to, seq, ended: true, ..stretch(Sort::Idle, event) });
                }
                // A turn that a crash left open ends where the next one begins.
                self.end(Sort::Turn, Vec::new(), event, "interrupted", out);
                self.begin(Sort::Turn, Vec::new(), event, String::new());
            }
            Kind::TurnEnd => {
                let reason = event.data.path(&["reason", "kind"]).and_then(Raw::display_text);
                self.end(Sort::Turn, Vec::new(), event, &reason.unwrap_or_default(), out);
                self.turn_ended = Some((event.time, event.seq));
                // Nobody waits any more.
                for sort in [Sort::Approval, Sort::Retry] {
                    let left: Vec<Vec<u8>> =
                        self.stretches.keys().filter(|k| k.0 == sort).map(|k| k.1.clone()).collect();
                    left.into_iter().for_each(|key| self.end(sort, key, event, "", out));
                }
            }
            Kind::ApprovalAsked => self.begin(Sort::Approval, id("id"), event, text("toolName")),
            Kind::ApprovalDecided => self.end(Sort::Approval, id("id"), event, &text("outcome"), out),
            Kind::LlmRetry => {
                let code = event.data.path(&["failure", "code"]).and_then(Raw::display_text);
                self.begin(Sort::Retry, id("retryId"), event, code.unwrap_or_default());
            }
            Kind::LlmRetryStarted => self.end(Sort::Retry, id("retryId"), event, "", out),
            Kind::CompactionStart => self.begin(Sort::Compaction, Vec::new(), event, String::new()),
            _ => self.end(Sort::Compaction, Vec::new(), event, "", out),
        }
    }

    fn begin(&mut self, sort: Sort, key: Vec<u8>, event: &Event<'_>, name: String) {
        self.stretches.insert((sort, key), Stretch { name, ..stretch(sort, event) });
    }

    fn end(&mut self, sort: Sort, key: Vec<u8>, event: &Event<'_>, how: &str, out: &mut Vec<Stretch>) {
        let Some(mut stretch) = self.stretches.remove(&(sort, key)) else { return };
        stretch.to = event.time.max(stretch.from);
        stretch.ended = true;
        if !how.is_empty() {
            let gap = if stretch.name.is_empty() { "" } else { " " };
            stretch.name += &format!("{gap}{how}");
        }
        out.push(stretch);
    }
}

fn stretch(sort: Sort, event: &Event<'_>) -> Stretch {
    Stretch {
        sort,
        name: String::new(),
        seq: event.seq,
        turn: event.location.turn,
        from: event.time,
        to: event.time,
        first_token: None,
        ended: false,
    }
}

/// What each sort adds up to.
#[must_use]
pub fn sums(stretches: &[Stretch]) -> BTreeMap<Sort, Sum> {
    let mut sums: BTreeMap<Sort, Sum> = BTreeMap::new();
    let mut until: HashMap<Sort, i64> = HashMap::new();
    // The list is ordered by beginnings, so one look back tells what runs already.
    for stretch in stretches {
        let sum = sums.entry(stretch.sort).or_default();
        sum.count += 1;
        sum.millis = sum.millis.saturating_add(stretch.millis());
        let busy = until.entry(stretch.sort).or_insert(stretch.from);
        let fresh = stretch.to.saturating_sub(stretch.from.max(*busy));
        sum.wall = sum.wall.saturating_add(u64::try_from(fresh).unwrap_or(0));
        *busy = stretch.to.max(*busy);
    }
    sums
}

#[cfg(test)]
mod tests;
