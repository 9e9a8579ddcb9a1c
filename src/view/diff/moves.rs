//! What was said and done in a session, as one list: prompts, answers, tool calls, compactions, and
//! turns that did not end as they should.

use crate::error::Result;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::message;
use crate::json::Raw;
use crate::log::Log;
use crate::log::walk::Span;
use crate::seq::Seq;
use crate::view::moment::Moment;
use crate::view::tools::{self, Outcome};
use std::hash::{DefaultHasher, Hash, Hasher};

/// How much of the words is kept to show, in bytes.
const SHOWN: usize = 300;

/// What kind of move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// Words of a person.
    Prompt,
    /// Words of the model.
    Answer,
    /// A call of a tool.
    Call,
    /// A compaction's summary.
    Compaction,
    /// The end of a turn that was not completed.
    End,
}

impl What {
    /// The word used in text and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            What::Prompt => "prompt",
            What::Answer => "answer",
            What::Call => "call",
            What::Compaction => "compaction",
            What::End => "end",
        }
    }
}

/// One move.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// What kind.
    pub what: What,
    /// Where it stands.
    pub seq: Seq,
    /// The turn.
    pub turn: Option<u32>,
    /// Of a call the tool, of an end its reason; else empty.
    pub name: String,
    /// The first words, or the first of a call's arguments.
    pub words: String,
    /// What became of a call.
    pub outcome: Option<Outcome>,
    /// The size of a call's result as stored, in bytes.
    pub result_bytes: Option<u64>,
    /// Stands for all that it says; equal for equal moves.
    pub(super) says: u64,
    /// Stands for what came of a call.
    pub(super) came: u64,
}

fn hash(parts: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// The moves from an event on, in order.
pub fn list(log: &Log, moment: Moment, from: Seq) -> Result<Vec<Move>> {
    let span = Span { from, closers: false, ..moment.span(log) };
    let mut moves = Vec::new();
    log.walk_mapped(span, |entry| speaks(entry.kind), || (), |(), event| said(event), |one| moves.push(one))?;
    let calls = tools::ledger(log, moment)?;
    moves.extend(calls.iter().filter(|c| c.what == tools::What::Call && c.seq() >= from).map(of_call));
    // What was asked for and never begun stands at its message, behind its words.
    moves.sort_by_key(|m| (m.seq, m.what == What::Call));
    Ok(moves)
}

fn speaks(kind: Kind) -> bool {
    use Kind::{AssistantMessage, CompactionSummary, SteeringMessage, TurnEnd, UserMessage};
    matches!(kind, AssistantMessage | CompactionSummary | SteeringMessage | TurnEnd | UserMessage)
}

fn said(event: &Event<'_>) -> Option<Move> {
    let content = || event.message()?.get("content").map(|content| message::words(content, usize::MAX));
    let by_person = || event.message()?.path(&["source", "kind"]).filter(|kind| kind.is("user")).map(|_| ());
    let (what, name, words) = match event.kind {
        _ if event.op.is_replace() => return None,
        Kind::UserMessage => {
            by_person()?;
            (What::Prompt, String::new(), content()?)
        }
        Kind::SteeringMessage => (What::Prompt, String::new(), content()?),
        Kind::AssistantMessage => (What::Answer, String::new(), content().filter(|words| !words.is_empty())?),
        Kind::CompactionSummary => {
            let summary = event.data.get("summary").map(|s| message::words(s, usize::MAX));
            (What::Compaction, String::new(), summary.unwrap_or_default())
        }
        Kind::TurnEnd => {
            let reason = event.data.path(&["reason", "kind"]).and_then(Raw::display_text)?;
            (What::End, Some(reason).filter(|reason| reason != "completed")?, String::new())
        }
        _ => return None,
    };
    let says = hash((what, &name, &words));
    let mut words = words;
    let end = (0..=SHOWN.min(words.len())).rev().find(|at| words.is_char_boundary(*at)).unwrap_or(0);
    words.truncate(end);
    let turn = event.location.turn;
    Some(Move { what, seq: event.seq, turn, name, words, outcome: None, result_bytes: None, says, came: 0 })
}

fn of_call(call: &tools::Call) -> Move {
    Move {
        what: What::Call,
        seq: call.seq(),
        turn: call.location.turn,
        name: call.name.to_string(),
        words: call.arguments.to_string(),
        outcome: Some(call.outcome.clone()),
        result_bytes: call.result_bytes,
        says: hash((What::Call, call.text_key)),
        came: hash((call.outcome.name(), call.result_key)),
    }
}
