//! What the model had when it concluded: tool results, what was said, and what stood in their place;
//! each with what it shares with the conclusion.

use super::looked::Looked;
use super::needle::{Counts, Match, Needle};
use super::score::Speaker;
use super::target::Target;
use crate::error::Result;
use crate::format::kind::Kind;
use crate::log::Log;
use crate::log::surface::{Node, Surface};
use crate::log::walk::Span;
use crate::view::moment::Moment;
use crate::view::tools;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A tool result before the text of all others is known.
pub(super) struct Candidate {
    pub(super) seq: u64,
    /// What stands in its place, from what replaced it to what is on the surface.
    pub(super) via: Arc<[u64]>,
    pub(super) nested: bool,
    pub(super) looked: Looked,
}

/// A message in context that is no tool result.
pub(super) struct Said {
    pub(super) seq: u64,
    pub(super) speaker: Speaker,
    pub(super) looked: Looked,
}

/// What was read on the way to the answer.
#[derive(Default)]
pub(super) struct Context {
    pub(super) candidates: Vec<Candidate>,
    /// What is no tool result.
    pub(super) said: Vec<Said>,
    /// What each message on the surface shares, for what survives of the shadowed.
    pub(super) holders: HashMap<u64, Vec<Match>>,
    /// What holds a place on the surface without being a message, such as what a rewind leaves.
    pub(super) empty: HashSet<u64>,
    /// The tool of each call.
    tools: HashMap<u64, String>,
    /// The tool of each result that cites no call, by the id of its call.
    named: HashMap<u64, String>,
}

/// What an event is to the conclusion.
#[derive(Clone)]
enum Role {
    /// A result, and what stands in its place.
    Result(Arc<[u64]>),
    Said(Speaker),
    Call,
    Dispatch,
}

/// What each event is that the model had, or whose root it had.
fn roles(log: &Log, target: &Target, surface: &Surface) -> HashMap<u64, Role> {
    let mut roles: HashMap<u64, Role> = HashMap::new();
    // What is replaced together has the same chain behind it, which may be long.
    let mut chains: HashMap<Option<u64>, Arc<[u64]>> = HashMap::new();
    for node in surface.all().iter().filter(|node| node.seq != target.seq.0) {
        let by = surface.replaced_by(node.seq);
        match node.kind {
            Kind::ToolResult => {
                let via = chains.entry(by).or_insert_with(|| chain(surface, by)).clone();
                roles.insert(node.seq, Role::Result(via));
            }
            _ if by.is_some() => {}
            kind => drop(roles.insert(node.seq, Role::Said(speaker(kind, node)))),
        }
    }
    // Calls and dispatches lie beside their results: read on the way, they cost no pass of their own.
    if let Some(upto) = target.upto {
        let beside = |kind: Kind| match kind {
            Kind::ToolCall => Some(Role::Call),
            // The model never had these, only what their root made of them.
            Kind::CodeDispatch | Kind::PtcDispatch => Some(Role::Dispatch),
            _ => None,
        };
        let entries = log.index().entries().iter().take_while(|e| e.seq <= upto);
        roles.extend(entries.filter_map(|e| Some((e.seq.0, beside(e.kind)?))));
    }
    roles
}

/// Reads it, with how often the words of the conclusion were met. The surface is the one right before
/// the request. What was seen `while_reading` the log is not read again; else several threads look at
/// the bodies.
pub(super) fn read(
    log: &Log,
    target: &Target,
    surface: &Surface,
    needle: &Needle,
    while_reading: bool,
) -> Result<(Context, Counts)> {
    let roles = roles(log, target, surface);
    let mut read = Context::default();
    let mut counts = needle.no_counts();
    if while_reading && let Some(gleaned) = log.gleaned::<Looked>() {
        let seen: Vec<_> =
            gleaned.filter_map(|(seq, looked)| Some((seq, roles.get(&seq.0)?, looked))).collect();
        // What was not looked at then is read now, with all the rest.
        if seen.len() == roles.len() {
            for (seq, role, looked) in seen {
                read.take(seq.0, role, looked.clone(), &mut counts);
            }
            read.name(log)?;
            return Ok((read, counts));
        }
    }
    log.walk_mapped(
        Span { closers: false, ..log.whole() },
        |entry| roles.contains_key(&entry.seq.0),
        || needle.scratch(),
        |scratch, event| Some((event.seq.0, Looked::of(event, log.dialect(), needle, scratch))),
        |(seq, looked)| {
            if let Some(role) = roles.get(&seq) {
                read.take(seq, role, looked, &mut counts);
            }
        },
    )?;
    read.name(log)?;
    Ok((read, counts))
}

impl Context {
    /// The tool that a candidate comes from.
    pub(super) fn tool(&self, candidate: &Candidate) -> Option<&String> {
        let cited = candidate.looked.call.and_then(|call| self.tools.get(&call));
        cited.or_else(|| self.named.get(&candidate.seq))
    }

    /// Looks in the ledger for the tools of results that cite no call: it pairs by the call's id.
    fn name(&mut self, log: &Log) -> Result<()> {
        let unnamed = |c: &Candidate| !c.looked.replaces && self.tool(c).is_none();
        if self.candidates.iter().any(unnamed) {
            let calls = tools::ledger(log, Moment::Stored)?;
            let named =
                calls.into_iter().filter_map(|call| Some((call.result_seq?.0, call.name.to_string())));
            self.named = named.collect();
        }
        Ok(())
    }

    fn take(&mut self, seq: u64, role: &Role, mut looked: Looked, counts: &mut Counts) {
        match role {
            Role::Call => {
                if let Some(tool) = looked.tool {
                    self.tools.insert(seq, tool);
                }
                return;
            }
            Role::Said(_) | Role::Result(_) | Role::Dispatch => {
                counts.add(&looked.found);
                looked.found.words = Vec::new();
            }
        }
        match role {
            Role::Said(speaker) => {
                if looked.is_empty {
                    self.empty.insert(seq);
                }
                if looked.replaces {
                    self.holders.insert(seq, looked.found.matches.clone());
                }
                self.said.push(Said { seq, speaker: *speaker, looked });
            }
            Role::Result(via) => {
                if via.is_empty() && looked.replaces {
                    self.holders.insert(seq, looked.found.matches.clone());
                }
                self.candidates.push(Candidate { seq, via: via.clone(), nested: false, looked });
            }
            Role::Dispatch if !looked.found.matches.is_empty() => {
                self.candidates.push(Candidate { seq, via: Arc::default(), nested: true, looked });
            }
            Role::Dispatch | Role::Call => {}
        }
    }
}

/// From what replaced an event to what stands in its place on the surface.
fn chain(surface: &Surface, by: Option<u64>) -> Arc<[u64]> {
    std::iter::successors(by, |at| surface.replaced_by(*at)).collect()
}

fn speaker(kind: Kind, node: &Node) -> Speaker {
    match kind {
        Kind::AssistantMessage => Speaker::Model,
        // A summary is what the model made of what came before.
        Kind::UserMessage if node.op.is_replace() => Speaker::Model,
        _ => Speaker::People,
    }
}
