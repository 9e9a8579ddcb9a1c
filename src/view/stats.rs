//! What a session cost: tokens, requests, tools, compactions; own and inherited apart (v0 section 8.4).

use super::attempt::{self, Outcome};
use super::moment::Moment;
use super::requests;
use super::routes::Routes;
use super::tokens::Tokens;
use super::tools::{self, Call, ToolTotals, What as Row};
use crate::error::Result;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::json::write::Object;
use crate::log::Log;
use crate::log::visit::Bodies;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// One thing that counts.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// When, in epoch milliseconds.
    pub time: i64,
    /// The turn it stands in.
    pub turn: Option<u32>,
    /// The model in force, as `provider/model`; empty = none is known.
    pub model: &'a str,
    /// Whether it came from the parent session.
    pub inherited: bool,
    /// What it is.
    pub what: What<'a>,
}

/// What counts.
#[derive(Clone, Debug)]
pub enum What<'a> {
    /// A turn began.
    Turn,
    /// A step began.
    Step,
    /// An attempt at a model call.
    Attempt {
        /// Whether it is the first of its step.
        first: bool,
        /// Whether it ended without a message.
        failed: bool,
        /// What it used; nothing where nothing was reported.
        tokens: Option<Tokens>,
    },
    /// A retry was scheduled.
    Retry,
    /// A row of the ledger.
    Call(&'a Call),
    /// A compaction ended.
    Compaction {
        /// Whether a summary took the place of messages.
        landed: bool,
    },
    /// A summary was written by a model.
    Summary(Option<Tokens>),
    /// A result was shortened.
    Prune,
}

/// What many things add up to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Tokens of all attempts, each attempt's once; without those of compactions.
    pub tokens: Tokens,
    /// Turns that began.
    pub turns: u64,
    /// Steps that began.
    pub steps: u64,
    /// Steps in which the model was asked.
    pub requests: u64,
    /// Times it was asked.
    pub attempts: u64,
    /// How many of them ended without a message.
    pub failed_attempts: u64,
    /// How many reported no usage, so that the tokens are a lower bound.
    pub without_usage: u64,
    /// Retries that were scheduled.
    pub retries: u64,
    /// Compactions that put a summary in place of messages.
    pub compactions: u64,
    /// Compactions that did not.
    pub failed_compactions: u64,
    /// Results that were shortened.
    pub prunes: u64,
    /// Tokens that writing the summaries took.
    pub compaction_tokens: Tokens,
    /// The calls of each tool, dispatched ones too.
    pub tools: BTreeMap<String, ToolTotals>,
}

impl Totals {
    /// Adds one thing.
    pub fn add(&mut self, item: &Item<'_>) {
        match &item.what {
            What::Turn => self.turns += 1,
            What::Step => self.steps += 1,
            What::Attempt { first, failed, tokens } => {
                self.requests += u64::from(*first);
                self.attempts += 1;
                self.failed_attempts += u64::from(*failed);
                self.without_usage += u64::from(tokens.is_none());
                self.tokens.add(tokens.unwrap_or_default());
            }
            What::Retry => self.retries += 1,
            What::Call(call) => self.tools.entry(call.name.to_string()).or_default().add(call),
            What::Compaction { landed } => {
                self.compactions += u64::from(*landed);
                self.failed_compactions += u64::from(!*landed);
            }
            What::Summary(tokens) => self.compaction_tokens.add(tokens.unwrap_or_default()),
            What::Prune => self.prunes += 1,
        }
    }

    /// Adds the totals of another part.
    pub fn merge(&mut self, more: &Totals) {
        self.tokens.add(more.tokens);
        self.compaction_tokens.add(more.compaction_tokens);
        for (mine, other) in [
            (&mut self.turns, more.turns),
            (&mut self.steps, more.steps),
            (&mut self.requests, more.requests),
            (&mut self.attempts, more.attempts),
            (&mut self.failed_attempts, more.failed_attempts),
            (&mut self.without_usage, more.without_usage),
            (&mut self.retries, more.retries),
            (&mut self.compactions, more.compactions),
            (&mut self.failed_compactions, more.failed_compactions),
            (&mut self.prunes, more.prunes),
        ] {
            *mine += other;
        }
        for (name, totals) in &more.tools {
            self.tools.entry(name.clone()).or_default().merge(totals);
        }
    }

    /// How many tools were called, and how many of the calls failed.
    #[must_use]
    pub fn calls(&self) -> (u64, u64) {
        self.tools.values().fold((0, 0), |(calls, failed), t| (calls + t.calls, failed + t.failures))
    }

    /// The JSON members, without tools and compaction tokens.
    #[must_use]
    pub fn describe(&self, out: Object) -> Object {
        let (calls, failed) = self.calls();
        self.tokens
            .describe(out)
            .int("requests", self.requests)
            .int("attempts", self.attempts)
            .int("failedAttempts", self.failed_attempts)
            .int("attemptsWithoutUsage", self.without_usage)
            .int("turns", self.turns)
            .int("steps", self.steps)
            .int("toolCalls", calls)
            .int("toolFailures", failed)
            .int("retries", self.retries)
            .int("compactions", self.compactions)
            .int("failedCompactions", self.failed_compactions)
            .int("prunes", self.prunes)
    }
}

/// Own and inherited, apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// What this session did itself.
    pub own: Totals,
    /// What it took over from its parent, and what the parent paid for.
    pub inherited: Totals,
}

impl Stats {
    /// Adds one thing where it belongs.
    pub fn add(&mut self, item: &Item<'_>) {
        if item.inherited { self.inherited.add(item) } else { self.own.add(item) }
    }

    /// Adds another session's.
    pub fn merge(&mut self, more: &Stats) {
        self.own.merge(&more.own);
        self.inherited.merge(&more.inherited);
    }
}

/// The figures of a log at a moment.
pub fn of(log: &Log, moment: Moment) -> Result<Stats> {
    let mut stats = Stats::default();
    each(log, moment, &mut |item| stats.add(item))?;
    Ok(stats)
}

/// Hands on everything that counts; not in the order of the log.
pub fn each(log: &Log, moment: Moment, each: &mut dyn FnMut(&Item<'_>)) -> Result<()> {
    let routes = Routes::read(log)?;
    let model_at = |seq| routes.at(seq).map_or_else(String::new, |(p, m)| format!("{p}/{m}"));
    let mut bodies = Bodies::new(log);
    for request in requests::list_upto(log, moment.upto()) {
        let attempt = attempt::read(log, &mut bodies, &request, false)?;
        let model = match &attempt.model {
            Some((provider, model)) => format!("{provider}/{model}"),
            None => model_at(request.first),
        };
        let what = What::Attempt {
            first: request.attempt == 1,
            failed: attempt.outcome == Outcome::Failed,
            tokens: attempt.usage,
        };
        let inherited = request.first.0 < log.inherited();
        each(&Item { time: attempt.ended, turn: request.turn, model: &model, inherited, what });
    }
    for call in tools::ledger(log, moment)?.iter().filter(|call| call.what != Row::Agent) {
        each(&Item {
            time: call.started,
            turn: call.location.turn,
            model: &model_at(call.seq()),
            inherited: call.inherited,
            what: What::Call(call),
        });
    }
    let span = crate::log::walk::Span { closers: false, ..moment.span(log) };
    // Of these that they are there is all that counts.
    for entry in log.index().entries().iter().take_while(|entry| entry.seq <= moment.upto()) {
        let what = match entry.kind {
            Kind::TurnStart => What::Turn,
            Kind::StepStart => What::Step,
            Kind::LlmRetry => What::Retry,
            Kind::CompactionPrune => What::Prune,
            _ => continue,
        };
        let inherited = entry.seq.0 < log.inherited();
        let (time, turn) = (entry.time, entry.location().turn);
        each(&Item { time, turn, model: &model_at(entry.seq), inherited, what });
    }
    log.walk(
        span,
        |entry| matches!(entry.kind, Kind::CompactionEnd | Kind::CompactionSummary),
        |event| {
            let inherited = event.seq.0 < log.inherited();
            let own_model = summary_model(event);
            let model = own_model.unwrap_or_else(|| model_at(event.seq));
            let (time, turn) = (event.time, event.location.turn);
            each(&Item { time, turn, model: &model, inherited, what: what(event) });
            ControlFlow::Continue(())
        },
    )
}

/// A summary may have been written by another model than the one in force.
fn summary_model(event: &Event<'_>) -> Option<String> {
    if event.kind != Kind::CompactionSummary {
        return None;
    }
    let [provider, model] = event.data.get_all(["provider", "model"]);
    Some(format!("{}/{}", provider?.display_text()?, model?.display_text()?))
}

fn what(event: &Event<'_>) -> What<'static> {
    match event.kind {
        Kind::CompactionSummary => {
            What::Summary(event.data.get("usage").filter(|u| u.is_object()).map(Tokens::of))
        }
        _ => What::Compaction { landed: event.data.get("error").is_none() },
    }
}

#[cfg(test)]
mod tests;
