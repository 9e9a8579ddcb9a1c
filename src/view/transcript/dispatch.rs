//! Calls that a tool dispatches itself, as a tree below its row (format v0, section 16.4).

use super::content;
use super::rows::{Call, Child, ToolStatus};
use super::tools;
use crate::format::event::Event;
use crate::json::Raw;
use std::collections::HashMap;

/// Deeper calls are left out, as upstream leaves them out.
const DEPTH: u16 = 256;

#[derive(Debug)]
struct Node {
    child: Child,
    started: Option<i64>,
    settled: bool,
    below: Vec<usize>,
}

/// The calls below one tool row, in the order in which they were dispatched.
#[derive(Debug, Default)]
pub(super) struct Dispatches {
    nodes: Vec<Node>,
    by_id: HashMap<Vec<u8>, usize>,
    top: Vec<usize>,
}

impl Dispatches {
    /// Takes a nested call that begins or settles. A second start, a second parent and a settling of
    /// what is settled change nothing.
    pub(super) fn take(&mut self, event: &Event<'_>, settles: bool) {
        let Some(at) = self.place(event.data) else { return };
        let node = &mut self.nodes[at];
        if !settles {
            node.started.get_or_insert(event.time);
        } else if !node.settled {
            node.settled = true;
            let [content, is_error, error] = event.data.get_all(["content", "isError", "error"]);
            tools::finish(&mut node.child.call, content, is_error, error);
            node.child.call.ended = Some(event.time);
            let waited = node.started.map(|start| event.time.saturating_sub(start));
            node.child.call.duration_ms = waited.map(|ms| u64::try_from(ms).unwrap_or(0));
        }
    }

    /// The node of the call, made when it is new. Its parent must be there already, so that no edge
    /// can close a circle; one that names none we know hangs below the row itself.
    fn place(&mut self, data: Raw<'_>) -> Option<usize> {
        let [id, parent, name, arguments] = data.get_all(["subCallId", "parentCallId", "name", "arguments"]);
        let key = id.and_then(Raw::text)?.into_owned();
        if let Some(&at) = self.by_id.get(&key) {
            return Some(at);
        }
        let above = parent.and_then(Raw::text).and_then(|parent| self.by_id.get(&*parent).copied());
        let depth = above.map_or(1, |above| self.nodes[above].child.depth + 1);
        if depth > DEPTH {
            return None;
        }
        let call = Call {
            id: content::text(id),
            name: content::text(name),
            arguments: content::copy(arguments),
            ..Call::default()
        };
        let at = self.nodes.len();
        let child = Child { depth, parent: content::text(parent), call };
        self.nodes.push(Node { child, started: None, settled: false, below: Vec::new() });
        self.by_id.insert(key, at);
        match above {
            Some(above) => self.nodes[above].below.push(at),
            None => self.top.push(at),
        }
        Some(at)
    }

    /// The calls, each before those below it; what has not settled gets that status.
    pub(super) fn settle(mut self, open: ToolStatus) -> Vec<Child> {
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut stack: Vec<usize> = self.top.iter().rev().copied().collect();
        while let Some(at) = stack.pop() {
            order.push(at);
            stack.extend(self.nodes[at].below.iter().rev());
        }
        let mut children: Vec<Option<Child>> = self
            .nodes
            .drain(..)
            .map(|mut node| {
                if !node.settled {
                    node.child.call.status = open;
                }
                Some(node.child)
            })
            .collect();
        order.into_iter().filter_map(|at| children[at].take()).collect()
    }
}
