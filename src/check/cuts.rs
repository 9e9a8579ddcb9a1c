//! Where a compaction cuts: never between a call and its result (v0 section 15.2, C11).

use super::id::Id;
use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::shape::{array, is};
use crate::format::surface_op::SurfaceOp;
use crate::json::Raw;
use std::collections::{HashMap, HashSet};

/// Where an answered call stands: the node of its message and that of its result.
#[derive(Clone, Copy)]
struct Pair {
    call: u64,
    result: Option<u64>,
}

/// The calls whose message or result is not compacted yet.
#[derive(Default)]
pub(super) struct Cuts {
    pairs: HashMap<Id, Pair>,
    /// The nodes that the last summary covers.
    covered: HashSet<u64>,
}

impl Cuts {
    fn result(&mut self, event: &Event<'_>) {
        let id = Id::of(event.message().and_then(|message| message.path(&["source", "callId"])));
        if let Some(pair) = self.pairs.get_mut(&id) {
            pair.result = Some(event.seq.0);
        }
    }

    /// Forgets the pairs that a checkpoint covers; those that it covers by half are wrong.
    fn cut(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        let covered = std::mem::take(&mut self.covered);
        let mut halves = 0;
        self.pairs.retain(|_, pair| {
            let Some(result) = pair.result else { return !covered.contains(&pair.call) };
            let (call, result) = (covered.contains(&pair.call), covered.contains(&result));
            halves += u64::from(call != result);
            !call && !result
        });
        if halves > 0 {
            let message = format!("a checkpoint separates {halves} calls from their results (C11)");
            sink.note(Code::InvCut, event, message);
        }
    }
}

impl Family for Cuts {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        match (event.kind, event.op) {
            (Kind::AssistantMessage, _) => {
                let content = event.message().and_then(|message| array(message.get("content")));
                for block in content.into_iter().flat_map(Raw::elements) {
                    let [kind, id] = block.get_all(["type", "id"]);
                    if is(kind, "tool-call") {
                        self.pairs.insert(Id::of(id), Pair { call: event.seq.0, result: None });
                    }
                }
            }
            (Kind::ToolResult, _) => self.result(event),
            (Kind::CompactionSummary, _) => {
                let seqs = event.data.get("shadowedSeqs").into_iter().flat_map(Raw::elements);
                self.covered = seqs.filter_map(Raw::count).collect();
            }
            (Kind::CompactionEnd | Kind::EndSeed, _) => self.covered.clear(),
            (Kind::UserMessage, SurfaceOp::Replace { .. }) => self.cut(event, sink),
            _ => {}
        }
    }
}
