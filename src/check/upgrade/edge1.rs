//! From generation 1 to 2: the chunk events of an attempt become one stream, and nothing may point
//! at them any more.

use super::{Edge, Refusals, Source};
use crate::check::life::named;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::sources::Sources;
use crate::json::Raw;

pub(super) struct Edge1 {
    source: Source,
    turn: Option<u64>,
    step: Option<u64>,
    compacting: bool,
    /// The runs of chunk events so far, which this edge consumes.
    chunks: Vec<(u64, u64)>,
}

impl Edge1 {
    pub(super) fn new(source: Source) -> Edge1 {
        Edge1 { source, turn: None, step: None, compacting: false, chunks: Vec::new() }
    }

    fn is_chunk(&self, seq: u64) -> bool {
        let after = self.chunks.partition_point(|run| run.0 <= seq);
        after > 0 && self.chunks[after - 1].1 >= seq
    }

    fn chunk(&mut self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        let seq = event.seq.0;
        match self.chunks.last_mut() {
            Some((_, last)) if *last + 1 == seq => *last = seq,
            _ => self.chunks.push((seq, seq)),
        }
        let (turn, step) = named(event);
        if turn != self.turn || step != self.step || self.step.is_none() {
            out.refuse(event, "a chunk outside of an open turn and step");
        }
        let cut = self.source.inherited;
        let is_inside = |run: &(u64, u64)| run.0 < cut && cut <= run.1;
        if cut > 0 && seq == cut && self.chunks.last().is_some_and(is_inside) {
            out.refuse(event, "the end of the inherited events splits an attempt");
        }
    }

    fn references(&self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        if event.kind != Kind::AssistantMessage
            && let Some(list) = Raw::parse(event.text).ok().and_then(|record| record.get("sourceEventSeqs"))
            && let Ok(sources) = Sources::parse(list, event.seq.0, false)
            && sources.runs().iter().any(|run| self.is_chunk(run.first) || self.is_chunk(run.last))
        {
            out.refuse(event, "sources that name chunks");
        }
        if event.kind == Kind::CommandDone {
            let source = event.data.get("sourceEventSeq").and_then(Raw::count);
            if source.is_some_and(|source| self.is_chunk(source)) {
                out.refuse(event, "a command/done that names a chunk");
            }
        }
    }
}

fn is_checkpoint(event: &Event<'_>) -> bool {
    event.data.path(&["source", "plugin"]).is_some_and(|plugin| plugin.is("compact"))
}

impl Edge for Edge1 {
    fn event(&mut self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        match event.kind {
            Kind::TurnStart => (self.turn, self.step) = (named(event).0, None),
            Kind::TurnEnd => (self.turn, self.step) = (None, None),
            Kind::StepStart => self.step = named(event).1,
            Kind::StepEnd => self.step = None,
            Kind::CompactionStart => self.compacting = true,
            Kind::CompactionEnd | Kind::EndSeed => self.compacting = false,
            Kind::AssistantChunk => self.chunk(event, out),
            Kind::Unknown if self.source.way.begins_at(1) => {
                out.refuse(event, "an unknown event type, even an ignorable one");
            }
            Kind::UserMessage if event.op.is_replace() && !self.compacting && is_checkpoint(event) => {
                out.refuse(event, "a checkpoint without compaction/start");
            }
            _ => {}
        }
        self.references(event, out);
    }
}
