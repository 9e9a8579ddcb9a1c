//! What one screen about a log needs: who, how much, where it stopped, the last words.

use super::messages;
use super::moment::Moment;
use super::requests;
use super::tokens::Tokens;
use crate::error::Result;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::message::words;
use crate::json::Raw;
use crate::log::Log;
use crate::log::closers::Outcome;
use crate::log::visit::Bodies;
use crate::seq::Seq;

/// A call that the open turn leaves without a result.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCall {
    /// Its id, for people.
    pub call_id: String,
    /// The tool.
    pub name: String,
    /// The arguments as the model wrote them: JSON text, perhaps not valid.
    pub arguments: String,
    /// The `tool/call`, or the message that asked for it.
    pub seq: Seq,
    /// What is known of it.
    pub outcome: Outcome,
    /// From its recorded start to the last event, in milliseconds.
    pub running_ms: Option<i64>,
    /// What the message asked for, where the recorded call has other arguments.
    pub asked: Option<String>,
}

/// The open turn.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenTurn {
    /// Its number as stored; `None` when it has none.
    pub turn: Option<String>,
    /// The open step's number as stored.
    pub step: Option<String>,
    /// Its start.
    pub seq: Seq,
    /// The calls without a result, in the order in which closers answer them.
    pub calls: Vec<OpenCall>,
}

/// A stretch without events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// How long, in milliseconds.
    pub millis: i64,
    /// The event after it.
    pub before: Seq,
}

/// Something that was said, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// The event.
    pub seq: Seq,
    /// The words.
    pub text: String,
}

/// The last usage that the log reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The message that reports it.
    pub seq: Seq,
    /// Its turn and step.
    pub turn: Option<u32>,
    /// See [`Usage::turn`].
    pub step: Option<u32>,
    /// Tokens of the request, cached ones included.
    pub context_tokens: u64,
}

/// The summary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// The last title.
    pub title: Option<String>,
    /// How many model calls were attempted.
    pub requests: u64,
    /// How many messages the model has now.
    pub messages: u64,
    /// The open turn.
    pub open_turn: Option<OpenTurn>,
    /// The longest stretches without events, longest first; at least a minute each.
    pub gaps: Vec<Gap>,
    /// The last prompt of a person.
    pub last_prompt: Option<Said>,
    /// The last words of the agent.
    pub last_words: Option<Said>,
    /// The last reported usage.
    pub usage: Option<Usage>,
    /// The model's context window, in tokens.
    pub context_window: Option<u64>,
    /// How many compactions put a summary in place of earlier messages.
    pub compactions: u64,
}

/// How many of the last messages are looked at for the last words.
const LOOK_BACK: usize = 64;
/// How much of what was said is kept, in bytes.
const WORDS: usize = 4096;
const GAPS: usize = 3;
const MINUTE: i64 = 60_000;

/// Gathers the summary of the balanced log.
pub fn of(log: &Log) -> Result<Summary> {
    let mut bodies = Bodies::new(log);
    let mut summary = Summary {
        requests: requests::list(log).len() as u64,
        messages: messages::count(log, Moment::Balanced)?,
        gaps: gaps(log),
        compactions: compactions(log),
        ..Summary::default()
    };
    summary.title = last_of(log, &mut bodies, Kind::SessionTitle, |e| e.data.get("title")?.display_text())?;
    summary.context_window =
        last_of(log, &mut bodies, Kind::RequestContext, |e| e.data.get("contextWindow")?.count())?;
    for seq in last_seqs(log, Kind::UserMessage) {
        summary.last_prompt = bodies.with(seq, prompt)?.flatten().or(summary.last_prompt);
    }
    for seq in last_seqs(log, Kind::AssistantMessage) {
        let (said, usage) = bodies.with(seq, |event| (said(event), usage(event)))?.unwrap_or_default();
        summary.last_words = said.or(summary.last_words);
        summary.usage = usage.or(summary.usage);
    }
    summary.open_turn = open_turn(log, &mut bodies)?;
    Ok(summary)
}

fn last_of<T>(
    log: &Log,
    bodies: &mut Bodies<'_>,
    kind: Kind,
    read: impl FnOnce(&Event<'_>) -> Option<T>,
) -> Result<Option<T>> {
    match log.index().last_of(kind, Seq(u64::MAX)) {
        Some(entry) => Ok(bodies.with(entry.seq, read)?.flatten()),
        None => Ok(None),
    }
}

/// The last events of a kind, ascending, so that reading them goes forward.
fn last_seqs(log: &Log, kind: Kind) -> Vec<Seq> {
    let entries = log.index().entries().iter().rev();
    let mut seqs: Vec<Seq> = entries.filter(|e| e.kind == kind).take(LOOK_BACK).map(|e| e.seq).collect();
    seqs.reverse();
    seqs
}

fn prompt(event: &Event<'_>) -> Option<Said> {
    let by_person = event.data.path(&["source", "kind"]).is_some_and(|k| k.is("user"));
    let text = words(event.data.get("content")?, WORDS);
    (by_person && !event.op.is_replace() && !text.is_empty()).then_some(Said { seq: event.seq, text })
}

fn said(event: &Event<'_>) -> Option<Said> {
    let text = words(event.message()?.get("content")?, WORDS);
    (!event.op.is_replace() && !text.is_empty()).then_some(Said { seq: event.seq, text })
}

fn usage(event: &Event<'_>) -> Option<Usage> {
    let usage = event.data.get("usage")?;
    let context_tokens = Tokens::of(usage).total();
    let location = event.location;
    Some(Usage { seq: event.seq, turn: location.turn, step: location.step, context_tokens })
}

fn gaps(log: &Log) -> Vec<Gap> {
    let mut gaps = Vec::new();
    for pair in log.index().entries().windows(2) {
        let millis = pair[1].time.saturating_sub(pair[0].time);
        // Between what is inherited and what is own lies another session's life, no idling.
        let is_seam = log.inherited() > 0 && pair[1].seq.0 == log.inherited();
        if millis >= MINUTE && !is_seam {
            gaps.push(Gap { millis, before: pair[1].seq });
        }
    }
    gaps.sort_by_key(|gap| std::cmp::Reverse(gap.millis));
    gaps.truncate(GAPS);
    gaps
}

/// Replacing user messages directly behind a summary.
fn compactions(log: &Log) -> u64 {
    let entries = log.index().entries();
    let is_landed = |pair: &&[crate::log::index::Entry]| {
        let replaces = crate::log::index::Flags::REPLACES;
        pair[0].kind == Kind::CompactionSummary
            && pair[1].kind == Kind::UserMessage
            && pair[1].flags.has(replaces)
    };
    entries.windows(2).filter(is_landed).count() as u64
}

fn open_turn(log: &Log, bodies: &mut Bodies<'_>) -> Result<Option<OpenTurn>> {
    let Some((turn, start)) = log.turns().open_turn() else { return Ok(None) };
    let number =
        |slot: &crate::format::detail::Slot| slot.json().map(|t| String::from_utf8_lossy(&t).into_owned());
    let mut calls = Vec::new();
    for pending in log.turns().pending() {
        let id = Raw::parse(&pending.id).ok();
        let asked = bodies.with(Seq(pending.message_seq), |event| asked_for(event, &pending.id))?.flatten();
        let recorded = match pending.call_seq {
            Some(seq) => bodies.with(Seq(seq), |event| {
                let [name, arguments] = event.data.get_all(["name", "arguments"]);
                let shown = |value: Option<Raw<'_>>| value.and_then(Raw::display_text).unwrap_or_default();
                (shown(name), shown(arguments), log.sums().last_time - event.time)
            })?,
            None => None,
        };
        let (asked_name, asked_arguments) = asked.unwrap_or_default();
        let shown_id = id.and_then(|id| id.display_text());
        calls.push(OpenCall {
            call_id: shown_id.unwrap_or_else(|| String::from_utf8_lossy(&pending.id).into_owned()),
            name: recorded.as_ref().map_or(asked_name, |r| r.0.clone()),
            asked: recorded.as_ref().filter(|r| r.1 != asked_arguments).map(|_| asked_arguments.clone()),
            arguments: recorded.as_ref().map_or(asked_arguments, |r| r.1.clone()),
            seq: Seq(pending.call_seq.unwrap_or(pending.message_seq)),
            // Behind what can be read of a refused log there may be its start, and its result.
            outcome: if log.verdict().outcome.opens() { pending.outcome() } else { Outcome::Unknown },
            running_ms: recorded.map(|r| r.2.max(0)),
        });
    }
    let step = log.turns().open_step().and_then(|(slot, _)| number(slot));
    Ok(Some(OpenTurn { turn: number(turn), step, seq: Seq(start), calls }))
}

/// Name and arguments of the call that a message asks for.
fn asked_for(event: &Event<'_>, id: &[u8]) -> Option<(String, String)> {
    let content = event.message()?.get("content")?;
    let block = content.elements().find(|block| {
        let [kind, block_id] = block.get_all(["type", "id"]);
        kind.is_some_and(|k| k.is("tool-call"))
            && block_id.is_some_and(|b| crate::json::canonical::stringify(b) == id)
    })?;
    let [name, arguments] = block.get_all(["name", "arguments"]);
    let shown = |value: Option<Raw<'_>>| value.and_then(Raw::display_text).unwrap_or_default();
    Some((shown(name), shown(arguments)))
}
