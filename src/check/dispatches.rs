//! Nested dispatches: inside a turn, under a known parent of one root (v0 section 15.3, D1 to D3).

use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::json::Raw;
use std::collections::HashMap;

#[derive(Default)]
pub(super) struct Dispatches {
    turn: bool,
    /// The root of each sub-call.
    roots: HashMap<Vec<u8>, Vec<u8>>,
    /// The sub-calls that were started, and whether they settled.
    settled: HashMap<Vec<u8>, bool>,
}

impl Dispatches {
    /// Starts and settlements pair up; the harness does not insist.
    fn pair(&mut self, event: &Event<'_>, own: &[u8], sink: &mut Sink<'_>) {
        if matches!(event.kind, Kind::CodeDispatchStart | Kind::PtcDispatchStart) {
            if self.settled.insert(own.to_vec(), false).is_some() {
                sink.note(Code::InvDispatch, event, "a dispatch starts a second time (D3)");
            }
            return;
        }
        match self.settled.get_mut(own) {
            Some(settled) if !*settled => *settled = true,
            _ => sink.note(Code::InvDispatch, event, "a dispatch settles that was not started (D3)"),
        }
    }
}

impl Family for Dispatches {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        match event.kind {
            Kind::TurnStart => self.turn = true,
            Kind::TurnEnd => self.turn = false,
            Kind::CodeDispatch | Kind::CodeDispatchStart | Kind::PtcDispatch | Kind::PtcDispatchStart => {
                let ids = event.data.get_all(["rootCallId", "parentCallId", "subCallId"]);
                let [root, parent, own] =
                    ids.map(|id| id.and_then(Raw::text).map(|t| t.into_owned()).unwrap_or_default());
                if !self.turn || root.is_empty() || parent.is_empty() || own.is_empty() {
                    sink.warn(
                        Code::InvDispatch,
                        event,
                        format!("{} outside of a turn, or without an id (D1)", event.kind),
                    );
                    return;
                }
                self.pair(event, &own, sink);
                if parent != root && self.roots.get(&parent) != Some(&root) {
                    sink.warn(
                        Code::InvDispatch,
                        event,
                        format!("{} under a parent that is not of its root (D3)", event.kind),
                    );
                }
                if self.roots.insert(own, root.clone()).is_some_and(|known| known != root) {
                    sink.warn(
                        Code::InvDispatch,
                        event,
                        format!("{} with another root than before (D2)", event.kind),
                    );
                }
            }
            _ => {}
        }
    }
}
