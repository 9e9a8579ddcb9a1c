//! The surface: which events feed the model, in which order, and what replaced what (v0 section 9,
//! generations 3, v4 section 6).
//!
//! Each node has a place. An appended node gets the next place; a replacement inherits the place of
//! the first node it removes. So the order of places is the order of the surface, and a replacement
//! costs the nodes it removes and a logarithm, however long the surface is.

use crate::fault::Code;
use crate::format::detail::ResultKey;
use crate::format::dialect::Dialect;
use crate::format::kind::Kind;
use crate::format::parts::RowFault;
use crate::format::sources::Sources;
use crate::format::surface_op::SurfaceOp;
use std::collections::{BTreeMap, HashMap};

mod holders;
mod playback;
#[cfg(test)]
mod tests;

pub use holders::Holders;
pub use playback::Playback;

/// A surface event: current, or shadowed by a replacement.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Its seq.
    pub seq: u64,
    /// Its type.
    pub kind: Kind,
    /// Its marker.
    pub op: SurfaceOp,
    place: u32,
    replaced_by: u32,
}

const CURRENT: u32 = u32::MAX;

/// A replacement and what it removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The replacing event.
    pub seq: u64,
    /// The first node of the run, as the event names it.
    pub start: u64,
    /// The last node of the run, as the event names it.
    pub end: u64,
    /// The removed nodes in the order of the surface.
    pub shadowed: Vec<u64>,
}

/// The fold over surface events.
#[derive(Clone, Debug)]
pub struct Surface {
    dialect: &'static Dialect,
    /// Every surface event, ascending by seq.
    nodes: Vec<Node>,
    /// Place to the number of the node that stands there.
    order: BTreeMap<u32, u32>,
    results: HashMap<u32, ResultKey>,
    places: u32,
    replacements: u64,
    projections: u64,
    doubtful: Vec<Rewrite>,
}

/// A tool result that stands in place of another one, whose stored texts differ in more than the
/// content: whether the values do must be looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// The new result.
    pub new: u64,
    /// The one it replaces.
    pub old: u64,
}

impl Surface {
    /// An empty surface.
    #[must_use]
    pub fn new(dialect: &'static Dialect) -> Surface {
        Surface {
            dialect,
            nodes: Vec::new(),
            order: BTreeMap::new(),
            results: HashMap::new(),
            places: 0,
            replacements: 0,
            projections: 0,
            doubtful: Vec::new(),
        }
    }

    /// Takes one surface event whose marker is sound. Errors leave the surface as it was.
    ///
    /// `sources` are its source events; `None` where it has none or they are not sound.
    pub fn apply(
        &mut self,
        seq: u64,
        kind: Kind,
        op: SurfaceOp,
        sources: Option<&Sources>,
        key: Option<ResultKey>,
    ) -> Result<(), RowFault> {
        let place = match op {
            SurfaceOp::Replace { start, end } => {
                let run = self.run(start, end)?;
                self.check_sources(seq, &run, sources)?;
                self.check_rewrite(seq, kind, &run, key)?;
                self.check_head(seq, kind, &run)?;
                self.shadow(&run)
            }
            _ => {
                self.places += 1;
                self.places - 1
            }
        };
        self.add(Node { seq, kind, op, place, replaced_by: CURRENT }, key);
        Ok(())
    }

    /// Replays an event that was accepted before.
    fn replay(&mut self, node: Node) {
        let place = match node.op {
            SurfaceOp::Replace { start, end } => match self.run(start, end) {
                Ok(run) => self.shadow(&run),
                Err(_) => return,
            },
            _ => {
                self.places += 1;
                self.places - 1
            }
        };
        self.add(Node { place, replaced_by: CURRENT, ..node }, None);
    }

    fn add(&mut self, node: Node, key: Option<ResultKey>) {
        let number = self.nodes.len() as u32;
        if let Some(key) = key {
            self.results.insert(number, key);
        }
        self.order.insert(node.place, number);
        self.nodes.push(node);
    }

    /// The nodes of the run, in order (S6).
    fn run(&self, start: u64, end: u64) -> Result<Vec<u32>, RowFault> {
        let place = |seq: u64| self.current(seq).map(|node| node.place);
        let missing = |seq| {
            RowFault::new(
                Code::SurfaceRange,
                format!("replaces from {start} to {end}, but {seq} is not on the surface"),
            )
        };
        let first = place(start).ok_or_else(|| missing(start))?;
        let last = place(end).ok_or_else(|| missing(end))?;
        if first > last {
            let message = format!("replaces from {start} to {end}, but {start} stands after {end}");
            return Err(RowFault::new(Code::SurfaceRange, message));
        }
        Ok(self.order.range(first..=last).map(|(_, node)| *node).collect())
    }

    fn check_sources(&self, seq: u64, run: &[u32], sources: Option<&Sources>) -> Result<(), RowFault> {
        let missing = run
            .iter()
            .map(|n| self.nodes[*n as usize].seq)
            .find(|removed| !sources.is_some_and(|s| s.contains(*removed)));
        match missing {
            None => Ok(()),
            Some(removed) => Err(RowFault::new(
                Code::SurfaceProvenance,
                format!("{seq} replaces {removed} without naming it in sourceEventSeqs"),
            )),
        }
    }

    /// The tool-result rewrite rule (v0 section 9.4, v4 S9).
    fn check_rewrite(
        &mut self,
        seq: u64,
        kind: Kind,
        run: &[u32],
        key: Option<ResultKey>,
    ) -> Result<(), RowFault> {
        if kind != Kind::ToolResult {
            return Ok(());
        }
        let fault = |why: &str| Err(RowFault::new(Code::SurfaceRange, format!("tool/result {seq} {why}")));
        let [only] = run else { return fault("replaces more than one event") };
        if self.nodes[*only as usize].kind != Kind::ToolResult {
            return fault("replaces what is no tool/result");
        }
        if key.is_none() || key != self.results.get(only).copied() {
            let old = self.nodes[*only as usize].seq;
            self.doubtful.push(Rewrite { new: seq, old });
        }
        Ok(())
    }

    fn check_head(&self, seq: u64, kind: Kind, run: &[u32]) -> Result<(), RowFault> {
        if !self.dialect.protected_head {
            return Ok(());
        }
        let head = self.order.values().next().copied();
        let head_is_system = head.is_some_and(|n| self.nodes[n as usize].kind == Kind::SystemMessage);
        let covers_head = head_is_system && run.first().copied() == head;
        if covers_head && (kind != Kind::SystemMessage || run.len() != 1) {
            let message =
                format!("{kind} {seq} may not replace the system message at the head of the surface");
            return Err(RowFault::new(Code::SurfaceRange, message));
        }
        Ok(())
    }

    /// Takes a run off the surface; the place it leaves.
    fn shadow(&mut self, run: &[u32]) -> u32 {
        let by = self.nodes.len() as u32;
        for number in run {
            let node = &mut self.nodes[*number as usize];
            node.replaced_by = by;
            self.order.remove(&node.place);
        }
        self.replacements += 1;
        run.first().map_or(0, |n| self.nodes[*n as usize].place)
    }

    /// The rewrites whose stored texts do not tell that they keep what they must.
    #[must_use]
    pub fn doubtful(&self) -> &[Rewrite] {
        &self.doubtful
    }

    /// Counts a projection event (generations 3.3).
    pub fn project(&mut self) {
        self.projections += 1;
    }

    /// Whether a run from `start` to `end` stands on the surface; the fault when it does not.
    pub fn has_run(&self, start: u64, end: u64) -> Result<(), RowFault> {
        self.run(start, end).map(drop)
    }

    /// The key of the tool result of that seq, on the surface or shadowed.
    #[must_use]
    pub fn result_key(&self, seq: u64) -> Option<ResultKey> {
        self.results.get(&(self.number_of(seq)? as u32)).copied()
    }

    /// Whether that event carries its message in `data.message`.
    #[must_use]
    pub fn has_message(&self, seq: u64) -> bool {
        self.number_of(seq).is_some_and(|n| self.nodes[n].kind != Kind::UserMessage)
    }

    fn number_of(&self, seq: u64) -> Option<usize> {
        self.nodes.binary_search_by_key(&seq, |node| node.seq).ok()
    }

    /// The node of that seq, when it is on the surface now.
    #[must_use]
    pub fn current(&self, seq: u64) -> Option<&Node> {
        let node = &self.nodes[self.number_of(seq)?];
        (node.replaced_by == CURRENT).then_some(node)
    }

    /// The event that replaced this one directly.
    #[must_use]
    pub fn replaced_by(&self, seq: u64) -> Option<u64> {
        let node = &self.nodes[self.number_of(seq)?];
        self.nodes.get(node.replaced_by as usize).map(|by| by.seq)
    }

    /// The nodes on the surface, in order.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> + '_ {
        self.order.values().map(|n| &self.nodes[*n as usize])
    }

    /// Every surface event, ascending by seq, whether on the surface or shadowed.
    #[must_use]
    pub fn all(&self) -> &[Node] {
        &self.nodes
    }

    /// How many events are on the surface.
    #[must_use]
    pub fn current_count(&self) -> u64 {
        self.order.len() as u64
    }

    /// How many were on it and are shadowed.
    #[must_use]
    pub fn shadowed_count(&self) -> u64 {
        self.nodes.len() as u64 - self.current_count()
    }

    /// How many replacements there were.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.replacements
    }

    /// How many replacements and projections there were.
    #[must_use]
    pub fn content_generation(&self) -> u64 {
        self.replacements + self.projections
    }

    /// Every replacement with what it removed, ascending by seq.
    #[must_use]
    pub fn replacements(&self) -> Vec<Replacement> {
        let mut shadowed: HashMap<u32, Vec<(u32, u64)>> = HashMap::new();
        for node in &self.nodes {
            if node.replaced_by != CURRENT {
                shadowed.entry(node.replaced_by).or_default().push((node.place, node.seq));
            }
        }
        let mut list = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            if let SurfaceOp::Replace { start, end } = node.op {
                let mut removed = shadowed.remove(&(number as u32)).unwrap_or_default();
                removed.sort_unstable();
                let shadowed = removed.into_iter().map(|(_, seq)| seq).collect();
                list.push(Replacement { seq: node.seq, start, end, shadowed });
            }
        }
        list
    }

    /// The surface as it stood right after the event `seq`; `projections` counts those up to there.
    #[must_use]
    pub fn as_of(&self, seq: u64, projections: u64) -> Surface {
        let mut past = Surface::new(self.dialect);
        for node in self.nodes.iter().take_while(|node| node.seq <= seq) {
            past.replay(*node);
        }
        past.projections = projections;
        past
    }
}
