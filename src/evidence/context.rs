//! What the model had when it concluded: tool results, what was said, and what stood in their place;
//! each with what it shares with the conclusion.

use super::needle::{Counts, Found, Match, Needle, Scratch};
use super::score::Speaker;
use super::target::Target;
use super::words;
use crate::error::Result;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::json::Raw;
use crate::log::Log;
use crate::log::surface::{Node, Surface};
use crate::log::walk::Span;
use std::collections::{BTreeMap, HashMap};

/// A tool result before the text of all others is known.
pub(super) struct Candidate {
    pub(super) seq: u64,
    pub(super) call: Option<u64>,
    pub(super) call_id: Option<String>,
    pub(super) via: Vec<u64>,
    pub(super) matches: Vec<Match>,
    pub(super) nested: bool,
    pub(super) replaces: bool,
}

/// A message in context that is no tool result.
pub(super) struct Said {
    pub(super) seq: u64,
    pub(super) speaker: Speaker,
    /// Whether a person wrote it, and not the harness or another agent.
    pub(super) by_person: bool,
    pub(super) replaces: bool,
    pub(super) matches: Vec<Match>,
}

/// What was read on the way to the answer.
#[derive(Default)]
pub(super) struct Context {
    pub(super) candidates: Vec<Candidate>,
    /// What is no tool result.
    pub(super) said: Vec<Said>,
    /// What each message on the surface shares, for what survives of the shadowed.
    pub(super) holders: HashMap<u64, Vec<Match>>,
    /// The tool of each call.
    pub(super) tools: HashMap<u64, String>,
}

/// Which events are to be read, each with what it is.
enum Wanted {
    Result(Vec<u64>),
    Said(Speaker),
    Call,
    Dispatch,
}

/// What the reading of one event gives.
enum Piece {
    Result(Candidate, Found),
    Said(Said, Found),
    Call(u64, String),
}

fn wanted(log: &Log, target: &Target, surface: &Surface) -> BTreeMap<u64, Wanted> {
    let mut wanted: BTreeMap<u64, Wanted> = BTreeMap::new();
    for node in surface.all().iter().filter(|node| node.seq != target.seq.0) {
        let via = chain(surface, node);
        match node.kind {
            Kind::ToolResult => drop(wanted.insert(node.seq, Wanted::Result(via))),
            _ if !via.is_empty() => {}
            kind => drop(wanted.insert(node.seq, Wanted::Said(speaker(kind, node)))),
        }
    }
    // Calls and dispatches lie beside their results: read on the way, they cost no pass of their own.
    if let Some(upto) = target.upto {
        let beside = |kind: Kind| match kind {
            Kind::ToolCall => Some(Wanted::Call),
            Kind::CodeDispatch | Kind::PtcDispatch => Some(Wanted::Dispatch),
            _ => None,
        };
        let entries = log.index().entries().iter().take_while(|e| e.seq <= upto);
        wanted.extend(entries.filter_map(|e| Some((e.seq.0, beside(e.kind)?))));
    }
    wanted
}

/// Reads it, with how often the words of the conclusion were met. The surface is the one right before
/// the request; several threads look at the bodies.
pub(super) fn read(
    log: &Log,
    target: &Target,
    surface: &Surface,
    needle: &Needle,
) -> Result<(Context, Counts)> {
    let wanted = wanted(log, target, surface);
    let mut read = Context::default();
    let mut counts = needle.no_counts();
    log.walk_mapped(
        Span { closers: false, ..log.whole() },
        |entry| wanted.contains_key(&entry.seq.0),
        || needle.scratch(),
        |scratch, event| piece(event, wanted.get(&event.seq.0)?, log, needle, scratch),
        |piece| read.take(piece, &mut counts),
    )?;
    Ok((read, counts))
}

fn piece(
    event: &Event<'_>,
    what: &Wanted,
    log: &Log,
    needle: &Needle,
    scratch: &mut Scratch,
) -> Option<Piece> {
    let seq = event.seq.0;
    Some(match what {
        Wanted::Result(via) => {
            let mut found = needle.look(&words::of_result(event, log.dialect()), scratch);
            Piece::Result(candidate(event, via.clone(), std::mem::take(&mut found.matches)), found)
        }
        Wanted::Call => Piece::Call(seq, event.data.get("name").and_then(Raw::display_text)?),
        Wanted::Said(speaker) => {
            let mut found = needle.look(&words::of_conclusion(event), scratch);
            let matches = std::mem::take(&mut found.matches);
            let by_person = event.data.path(&["source", "kind"]).is_some_and(|kind| kind.is("user"));
            let (speaker, replaces) = (*speaker, event.op.is_replace());
            Piece::Said(Said { seq, speaker, by_person, replaces, matches }, found)
        }
        // The model never had these, only what their root made of them.
        Wanted::Dispatch => {
            let mut found = needle.look(&words::of_dispatch(event), scratch);
            let matches = std::mem::take(&mut found.matches);
            let call_id = words::call_id(event);
            let (call, via) = (Some(seq), Vec::new());
            Piece::Result(
                Candidate { seq, call, call_id, via, matches, nested: true, replaces: false },
                found,
            )
        }
    })
}

impl Context {
    fn take(&mut self, piece: Piece, counts: &mut Counts) {
        match piece {
            Piece::Call(seq, name) => drop(self.tools.insert(seq, name)),
            Piece::Result(candidate, found) => {
                counts.add(&found);
                if candidate.via.is_empty() && candidate.replaces {
                    self.holders.insert(candidate.seq, candidate.matches.clone());
                }
                if !candidate.nested || !candidate.matches.is_empty() {
                    self.candidates.push(candidate);
                }
            }
            Piece::Said(said, found) => {
                counts.add(&found);
                if said.replaces {
                    self.holders.insert(said.seq, said.matches.clone());
                }
                self.said.push(said);
            }
        }
    }
}

fn candidate(event: &Event<'_>, via: Vec<u64>, matches: Vec<Match>) -> Candidate {
    let call = event.cited().filter(|_| !event.op.is_replace()).and_then(|s| s.only());
    let (seq, call_id, replaces) = (event.seq.0, words::call_id(event), event.op.is_replace());
    Candidate { seq, call, call_id, via, matches, nested: false, replaces }
}

/// From a shadowed event to what stands in its place on the surface.
fn chain(surface: &Surface, node: &Node) -> Vec<u64> {
    let mut via = Vec::new();
    let mut at = node.seq;
    while let Some(by) = surface.replaced_by(at) {
        via.push(by);
        at = by;
    }
    via
}

fn speaker(kind: Kind, node: &Node) -> Speaker {
    match kind {
        Kind::AssistantMessage => Speaker::Model,
        // A summary is what the model made of what came before.
        Kind::UserMessage if node.op.is_replace() => Speaker::Model,
        _ => Speaker::People,
    }
}
