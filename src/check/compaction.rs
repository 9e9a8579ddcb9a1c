//! Compactions: brackets, their ids and spans, their checkpoints (v0 section 15.2, C1 to C10).

use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::schema::Shape;
use crate::format::surface_op::SurfaceOp;
use crate::json::Raw;
use crate::seq::Seq;

/// The open bracket.
struct Bracket {
    start: u64,
    id: Vec<u8>,
    command: Vec<u8>,
    turn: Option<u64>,
    summary: bool,
    /// Edges of turns inside: wrong unless an end-seed shows that an earlier life left it open.
    crossed: Vec<Seq>,
}

/// A summary or prune: its type, its seq, its span.
type Record = (Kind, u64, Option<(u64, u64)>);

const START: Shape = Shape::Open(
    &[("compactionId", Shape::Filled), ("turn", Shape::OrNull(&Shape::Count))],
    &[("sourceCommandId", Shape::Filled)],
);
const SUMMARY: Shape =
    Shape::Open(&[("shadowedSeqs", Shape::Some(&Shape::Count)), ("shadowedTokenCount", Shape::Count)], &[]);

#[derive(Default)]
pub(super) struct Compaction {
    turn: Option<u64>,
    open: Option<Bracket>,
    /// The last summary or prune: its seq and its span.
    span: Option<Record>,
    /// What the last summary covers.
    covered: Vec<u64>,
}

fn text(value: Option<Raw<'_>>) -> Vec<u8> {
    value.and_then(Raw::text).map(|text| text.into_owned()).unwrap_or_default()
}

/// The seqs of a member of a source list: one, or the run that a pair stands for.
fn seqs_of(member: Raw<'_>) -> impl Iterator<Item = u64> {
    let mut ends = member.elements().filter_map(Raw::count);
    let pair = ends.next().zip(ends.next());
    member.count().into_iter().chain(pair.into_iter().flat_map(|(first, last)| first..=last))
}

fn span_of(event: &Event<'_>) -> Option<(u64, u64)> {
    let [start, end] = event.data.get("shadowedRange")?.get_all(["start", "end"]);
    Some((start?.count()?, end?.count()?))
}

impl Compaction {
    fn start(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        sink.shape(Code::InvCompaction, event, &START, "C1, C3");
        let [id, command, turn] = event.data.get_all(["compactionId", "sourceCommandId", "turn"]);
        if self.open.is_some() {
            sink.warn(Code::InvCompaction, event, "a compaction starts inside another (C2)");
        }
        let turn = turn.and_then(Raw::count);
        if turn != self.turn {
            sink.warn(Code::InvCompaction, event, "a compaction names another turn than the open one (C3)");
        }
        let start = event.seq.0;
        self.open = Some(Bracket {
            start,
            id: text(id),
            command: text(command),
            turn,
            summary: false,
            crossed: Vec::new(),
        });
    }

    /// C1: the ids of one compaction are the same all through it.
    fn ids(&mut self, event: &Event<'_>, named: Raw<'_>, sink: &mut Sink<'_>) -> bool {
        let [id, command] = named.get_all(["compactionId", "sourceCommandId"]);
        let Some(open) = &self.open else { return false };
        if text(id) != open.id || text(command) != open.command {
            sink.warn(
                Code::InvCompaction,
                event,
                format!("{} with other ids than its compaction (C1)", event.kind),
            );
        }
        true
    }

    fn summary(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        if !self.ids(event, event.data, sink) {
            sink.warn(Code::InvCompaction, event, "a compaction/summary outside of any compaction (C5)");
        } else if self.open.as_mut().is_some_and(|open| std::mem::replace(&mut open.summary, true)) {
            sink.warn(Code::InvCompaction, event, "a second summary in one compaction (C5)");
        }
        sink.shape(Code::InvCompaction, event, &SUMMARY, "C5");
        let span = span_of(event);
        let seqs: Vec<u64> = event
            .data
            .get("shadowedSeqs")
            .into_iter()
            .flat_map(Raw::elements)
            .filter_map(Raw::count)
            .collect();
        let ends = seqs.first().copied().zip(seqs.last().copied());
        if ends.is_some() && ends != span {
            sink.warn(
                Code::InvCompaction,
                event,
                "shadowedSeqs does not begin and end as shadowedRange (C5)",
            );
        }
        self.span = Some((event.kind, event.seq.0, span));
        self.covered = seqs;
    }

    /// C9: a checkpoint is made of its bracket, its summary and all that it covers, in this order.
    fn is_of_its_summary(&self, event: &Event<'_>) -> bool {
        let (Some(open), Some((_, summary, _))) = (&self.open, self.span) else { return false };
        let list = event.sources;
        let due = [open.start, summary].into_iter().chain(self.covered.iter().copied());
        list.into_iter().flat_map(Raw::elements).flat_map(seqs_of).eq(due)
    }

    fn end(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        if !self.ids(event, event.data, sink) {
            sink.warn(Code::InvCompaction, event, "a compaction ends that is not open (C6)");
            return;
        }
        let Some(open) = self.open.take() else { return };
        let failed = event.data.get("error").is_some();
        if event.data.get("turn").and_then(Raw::count) != open.turn || !failed && !open.summary {
            sink.warn(
                Code::InvCompaction,
                event,
                "a compaction ends in another turn, or without its summary (C6)",
            );
        }
        for seq in open.crossed {
            let message = "a turn starts or ends inside a compaction (C4)";
            sink.add(Code::InvCompaction, crate::fault::Severity::Warns, seq, message);
        }
    }

    fn replacement(&mut self, event: &Event<'_>, ends: (u64, u64), sink: &mut Sink<'_>) {
        let follows = |kind: Kind| match self.span {
            Some((last, seq, span)) => last == kind && seq + 1 == event.seq.0 && span == Some(ends),
            None => false,
        };
        if event.kind == Kind::ToolResult {
            if !follows(Kind::CompactionPrune) {
                sink.note(
                    Code::InvCheckpoint,
                    event,
                    "a tool/result is rewritten without its compaction/prune (C10)",
                );
            }
            return;
        }
        let Some(source) = event.data.get("source").filter(|s| is_checkpoint(*s)) else { return };
        let next = follows(Kind::CompactionSummary);
        if !self.ids(event, source, sink) {
            sink.warn(Code::InvCompaction, event, "a checkpoint outside of any compaction (C7)");
        } else if !next {
            sink.note(
                Code::InvCheckpoint,
                event,
                "a checkpoint that does not directly follow its summary (C9)",
            );
        } else if !self.is_of_its_summary(event) {
            sink.note(
                Code::InvCheckpoint,
                event,
                "a checkpoint whose sources are not its bracket, its summary and what it covers (C9)",
            );
        }
    }
}

fn is_checkpoint(source: Raw<'_>) -> bool {
    source.get("plugin").is_some_and(|plugin| plugin.is("compact"))
}

impl Family for Compaction {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        match event.kind {
            Kind::TurnStart | Kind::TurnEnd => {
                self.turn =
                    event.data.get("turn").and_then(Raw::count).filter(|_| event.kind == Kind::TurnStart);
                if let Some(open) = &mut self.open {
                    open.crossed.push(event.seq);
                }
            }
            Kind::CompactionStart => self.start(event, sink),
            Kind::CompactionSummary => self.summary(event, sink),
            Kind::CompactionPrune => self.span = Some((event.kind, event.seq.0, span_of(event))),
            Kind::CompactionEnd => self.end(event, sink),
            Kind::EndSeed => self.open = None,
            _ => {
                if let SurfaceOp::Replace { start, end } = event.op {
                    self.replacement(event, (start, end), sink);
                }
            }
        }
    }
}
