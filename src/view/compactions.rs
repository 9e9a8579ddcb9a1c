//! Compactions: what each took from the model, what it cost, and what the agent then did again (v0
//! sections 7 and 17.3, generations 2.14).

mod loss;

use super::moment::Moment;
use super::tokens::Tokens;
use super::tools;
use crate::error::Result;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::message::words;
use crate::json::Raw;
use crate::log::Log;
use crate::log::index::Flags;
use crate::seq::Seq;
pub use loss::{Again, Loss};
use std::ops::ControlFlow;

/// Why a compaction was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trigger {
    /// A person asked for it, between turns.
    Manual,
    /// Before a step of a turn.
    #[default]
    Automatic,
    /// Inside a step, when a request did not fit.
    Overflow,
}

impl Trigger {
    /// The word used in text and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Trigger::Manual => "manual",
            Trigger::Automatic => "automatic",
            Trigger::Overflow => "overflow",
        }
    }
}

/// One compaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compaction {
    /// Its id, for people.
    pub id: String,
    /// Its `compaction/start`, where there is one.
    pub start: Option<Seq>,
    /// Its `compaction/summary`.
    pub summary: Option<Seq>,
    /// The message that took the place of others.
    pub checkpoint: Option<Seq>,
    /// Its `compaction/end`.
    pub end: Option<Seq>,
    /// Why it was made.
    pub trigger: Trigger,
    /// The turn; none between turns.
    pub turn: Option<u32>,
    /// Whether it came from the parent session.
    pub inherited: bool,
    /// When it began, epoch milliseconds.
    pub time: i64,
    /// From start to end, in milliseconds.
    pub millis: Option<u64>,
    /// The first and the last event of the run it replaced, as it says.
    pub range: Option<(u64, u64)>,
    /// The events it took from the model.
    pub shadowed: Vec<u64>,
    /// How many tokens those had, as it says.
    pub tokens_before: Option<u64>,
    /// The model that wrote the summary.
    pub model: Option<String>,
    /// What writing the summary used.
    pub usage: Option<Tokens>,
    /// The words of the summary.
    pub words: String,
    /// Why it failed.
    pub error: Option<String>,
    /// What the agent did again although a result had held it.
    pub loss: Vec<Loss>,
}

/// One result that was shortened.
#[derive(Clone, Debug, PartialEq)]
pub struct Pruned {
    /// The `compaction/prune`.
    pub seq: Seq,
    /// The result that was shortened.
    pub result: Option<u64>,
    /// The shorter one.
    pub by: Option<Seq>,
    /// How many tokens it had, as the event says.
    pub tokens_before: Option<u64>,
    /// What the agent did again.
    pub loss: Vec<Loss>,
}

/// All that was taken from the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compactions {
    /// The compactions in order, failed ones too.
    pub list: Vec<Compaction>,
    /// The shortened results in order.
    pub pruned: Vec<Pruned>,
}

/// The compactions up to a moment, each with what was lost by it.
pub fn of(log: &Log, moment: Moment) -> Result<Compactions> {
    let mut fold = Fold { inherited: log.inherited(), ..Fold::default() };
    let span = crate::log::walk::Span { closers: false, ..moment.span(log) };
    log.walk(
        span,
        |entry| takes(entry.kind, entry.flags),
        |event| {
            fold.take(event);
            ControlFlow::Continue(())
        },
    )?;
    let mut out = fold.out;
    let calls = tools::ledger(log, moment)?;
    let surface = moment.surface(log);
    let loss = loss::Ledger::new(&calls, &surface);
    for compaction in out.list.iter_mut() {
        if let Some(checkpoint) = compaction.checkpoint {
            compaction.loss = loss.after(checkpoint, &compaction.shadowed);
        }
    }
    for pruned in out.pruned.iter_mut() {
        if let Some(by) = pruned.by {
            pruned.loss = loss.after(by, pruned.result.as_slice());
        }
    }
    Ok(out)
}

fn takes(kind: Kind, flags: Flags) -> bool {
    match kind {
        Kind::UserMessage | Kind::ToolResult => flags.has(Flags::REPLACES),
        Kind::CompactionStart | Kind::CompactionSummary | Kind::CompactionEnd | Kind::CompactionPrune => true,
        _ => false,
    }
}

/// How much of a summary is kept, in bytes.
const WORDS: usize = 64 << 10;

#[derive(Default)]
struct Fold {
    inherited: u64,
    out: Compactions,
    open: bool,
}

impl Fold {
    fn take(&mut self, event: &Event<'_>) {
        match event.kind {
            Kind::CompactionStart => {
                self.begin(event).start = Some(event.seq);
                self.open = true;
            }
            Kind::CompactionSummary => self.summary(event),
            Kind::CompactionEnd => self.end(event),
            Kind::CompactionPrune => self.out.pruned.push(Pruned {
                seq: event.seq,
                result: shadowed(event).first().copied(),
                by: None,
                tokens_before: event.data.get("shadowedTokenCount").and_then(Raw::count),
                loss: Vec::new(),
            }),
            Kind::UserMessage => {
                let open = self.out.list.last_mut().filter(|c| c.checkpoint.is_none());
                if let Some(compaction) = open.filter(|c| c.summary.is_some_and(|s| s.next() == event.seq)) {
                    compaction.checkpoint = Some(event.seq);
                }
            }
            _ => {
                if let Some(pruned) = self.out.pruned.last_mut().filter(|p| p.seq.next() == event.seq) {
                    pruned.by = Some(event.seq);
                }
            }
        }
    }

    fn begin(&mut self, event: &Event<'_>) -> &mut Compaction {
        let [id, turn] = event.data.get_all(["compactionId", "turn"]);
        let trigger = match (turn, event.location.step) {
            (Some(t), _) if t.is_null() => Trigger::Manual,
            (_, Some(_)) => Trigger::Overflow,
            _ => Trigger::Automatic,
        };
        self.out.list.push(Compaction {
            id: id.and_then(Raw::display_text).unwrap_or_default(),
            trigger,
            turn: event.location.turn,
            time: event.time,
            inherited: event.seq.0 < self.inherited,
            ..Compaction::default()
        });
        let last = self.out.list.len() - 1;
        &mut self.out.list[last]
    }

    /// The compaction that is open; one without a start is begun here.
    fn current(&mut self, event: &Event<'_>) -> &mut Compaction {
        if self.open && !self.out.list.is_empty() {
            let last = self.out.list.len() - 1;
            return &mut self.out.list[last];
        }
        self.open = true;
        self.begin(event)
    }

    fn summary(&mut self, event: &Event<'_>) {
        let compaction = self.current(event);
        let [range, tokens, usage, summary, provider, model] = event.data.get_all([
            "shadowedRange",
            "shadowedTokenCount",
            "usage",
            "summary",
            "provider",
            "model",
        ]);
        let end = |name| range.and_then(|r| r.get(name)?.count());
        let text = |value: Option<Raw<'_>>| value.and_then(Raw::display_text);
        compaction.summary = Some(event.seq);
        compaction.range = end("start").zip(end("end"));
        compaction.shadowed = shadowed(event);
        compaction.tokens_before = tokens.and_then(Raw::count);
        compaction.usage = usage.filter(|u| u.is_object()).map(Tokens::of);
        compaction.words = summary.map(|s| words(s, WORDS)).unwrap_or_default();
        compaction.model = text(provider).zip(text(model)).map(|(p, m)| format!("{p}/{m}"));
    }

    fn end(&mut self, event: &Event<'_>) {
        let compaction = self.current(event);
        compaction.end = Some(event.seq);
        compaction.millis = Some(u64::try_from(event.time.saturating_sub(compaction.time)).unwrap_or(0));
        compaction.error = event.data.get("error").and_then(Raw::display_text);
        self.open = false;
    }
}

fn shadowed(event: &Event<'_>) -> Vec<u64> {
    let list = event.data.get("shadowedSeqs").into_iter().flat_map(Raw::elements);
    list.filter_map(Raw::count).collect()
}

#[cfg(test)]
mod tests;
