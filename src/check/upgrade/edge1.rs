//! From generation 1 to 2: the chunk events of an attempt become one stream, and nothing may point
//! at them any more (generations 1.5).

use super::edge0::{is_in_vocabulary, payload};
use super::{Edge, Refusals, Source, is_restart};
use crate::check::life::named;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::schema::Shape;
use crate::format::shape::{canonical_decimal, is};
use crate::format::sources::{Run, Sources};
use crate::json::Raw;
use crate::log::Log;
use crate::seq::Seq;

/// The chunks of an attempt that no message has taken yet.
struct Attempt {
    place: Open,
    spans: Vec<Run>,
    finished: bool,
    /// Events that stand between its chunks and its message, and are written after it.
    behind: u64,
    /// The turn and step that are open behind those.
    place_behind: Option<Open>,
}

/// An open turn and its open step.
type Open = (Option<u64>, Option<u64>);

impl Attempt {
    /// Whether a list names exactly its chunks, in their order.
    fn is_named_by(&self, list: Raw<'_>) -> bool {
        let mut due = self.spans.iter().flat_map(|run| run.first..=run.last);
        let named = list.elements().all(|member| {
            let mut ends = member.elements().map(Raw::count);
            let (first, last) = match member.is_array() {
                true => (ends.next().flatten(), ends.next().flatten()),
                false => (member.count(), member.count()),
            };
            let (Some(first), Some(last)) = (first, last) else { return false };
            (first..=last).all(|seq| due.next() == Some(seq))
        });
        named && due.next().is_none()
    }
}

pub(super) struct Edge1 {
    source: Source,
    open: Open,
    /// What is open where the result is written: an attempt is written before what stands behind it.
    written_open: Open,
    pending: Option<Attempt>,
    /// Whether the event before put a prompt into the inbox.
    prompted: bool,
    /// The runs of chunk events so far, which this edge consumes.
    chunks: Vec<Run>,
    /// How many events the result has so far, those behind an attempt left out.
    written: u64,
    marked: bool,
}

const CHUNK: Shape = Shape::Exact(
    &[("type", Shape::Any), ("seq", Shape::Any), ("time", Shape::Any), ("data", Shape::Any)],
    &[("ignorable", Shape::True), ("sourceEventSeqs", Shape::Any), ("surfaceOp", Shape::Any)],
);

impl Edge1 {
    pub(super) fn new(source: Source) -> Edge1 {
        Edge1 {
            source,
            open: Open::default(),
            written_open: Open::default(),
            pending: None,
            prompted: false,
            chunks: Vec::new(),
            written: 0,
            marked: false,
        }
    }

    /// Whether a run of seqs has a chunk in it.
    fn names_chunks(&self, run: Run) -> bool {
        let after = self.chunks.partition_point(|chunk| chunk.first <= run.last);
        after > 0 && self.chunks[after - 1].last >= run.first
    }

    /// The attempt ends without a message: it and what stands behind it are written.
    fn settle(&mut self, out: &mut Refusals<'_, '_>) {
        let Some(attempt) = self.pending.take() else { return };
        if attempt.place != self.written_open || attempt.place.1.is_none() {
            let last = attempt.spans.last().map_or(0, |run| run.last);
            out.refuse_at(Seq(last), "chunks outside of an open turn and step");
        }
        self.written += 1;
        self.write_behind(&attempt);
    }

    fn write_behind(&mut self, attempt: &Attempt) {
        self.written += attempt.behind;
        self.written_open = attempt.place_behind.unwrap_or(self.written_open);
    }

    fn chunk(&mut self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        let run = Run { first: self.first_member(event, out.sink.log), last: event.seq.0 };
        push(&mut self.chunks, run);
        let place = named(event);
        if self.pending.as_ref().is_some_and(|attempt| attempt.finished || attempt.place != place) {
            self.settle(out);
        }
        let mut attempt = self.pending.take().unwrap_or_else(|| Attempt {
            place,
            spans: Vec::new(),
            finished: false,
            behind: 0,
            place_behind: None,
        });
        self.write_behind(&attempt);
        (attempt.behind, attempt.place_behind) = (0, None);
        push(&mut attempt.spans, run);
        attempt.finished |= event.data.path(&["chunk", "type"]).is_some_and(|t| t.is("finish"));
        self.pending = Some(attempt);
        self.cut(run, out);
        if event.data.get("chunk").is_none_or(Raw::is_null) {
            out.refuse(event, "an assistant/chunk without a chunk");
        }
        let stands_alone = Raw::parse(event.text).ok().filter(|row| is(row.get("type"), event.kind.name()));
        if let Some(Err(what)) = stands_alone.map(|row| CHUNK.fit(row)) {
            out.refuse(event, &format!("an assistant/chunk that {what}"));
        }
    }

    /// The first of the chunks that a member of a packed row stands for: of alike ones between two
    /// only these are shown.
    fn first_member(&self, event: &Event<'_>, log: &Log) -> u64 {
        let record = |seq| log.index().record_of(seq);
        let before = self.chunks.last().map(|run| run.last).filter(|last| last + 1 < event.seq.0);
        match before.filter(|last| record(Seq(*last)) == record(event.seq)) {
            Some(last) => last + 1,
            None => event.seq.0,
        }
    }

    /// The inherited events end before an attempt or behind it.
    fn cut(&self, run: Run, out: &mut Refusals<'_, '_>) {
        let cut = self.source.inherited;
        let first = self.pending.as_ref().and_then(|attempt| attempt.spans.first());
        if first.is_some_and(|first| first.first < cut) && run.last >= cut {
            out.refuse_at(Seq(run.first.max(cut)), "the end of the inherited events splits an attempt");
        }
    }

    fn message(&mut self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        let sources = event.sources;
        let is_empty = sources.is_some_and(|list| list.elements().next().is_none());
        let here = self.pending.as_ref().is_some_and(|attempt| attempt.place == named(event));
        if !here && self.pending.is_some() || is_empty {
            self.settle(out);
        } else if let Some(list) = sources {
            match &self.pending {
                Some(attempt) if attempt.is_named_by(list) => {
                    self.cut(Run { first: event.seq.0, last: event.seq.0 }, out);
                }
                _ => out.refuse(event, "an assistant/message whose sources are not one whole attempt"),
            }
        } else if here {
            out.refuse(event, "an assistant/message that does not name the chunks before it");
        }
        if let Some(attempt) = self.pending.take() {
            self.write_behind(&attempt);
        }
        self.written += 1;
    }

    fn references(&self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        if matches!(event.kind, Kind::UserMessage | Kind::ToolResult)
            && let Some(list) = event.sources
            && let Ok(sources) = Sources::parse(list, event.seq.0, false)
            && sources.runs().iter().any(|run| self.names_chunks(*run))
        {
            out.refuse(event, "sources that name chunks");
        }
        let member = match event.kind {
            Kind::CommandDone => "sourceEventSeq",
            Kind::CompactionSummary | Kind::CompactionPrune => "shadowedSeqs",
            Kind::SessionTitle | Kind::SessionTitleLlmRequest => "messageSeqs",
            _ => return,
        };
        let value = event.data.get(member);
        let mut seqs = value.into_iter().flat_map(Raw::elements).chain(value).filter_map(Raw::count);
        if seqs.any(|seq| self.names_chunks(Run { first: seq, last: seq })) {
            out.refuse(event, &format!("{} with a {member} that names chunks", event.kind));
        }
    }

    /// The id of the one repair that holds its own seq, where nothing tolerates an older one.
    fn repair(&self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        let repairs = event.data.path(&["error", "code"]).is_some_and(|code| code.is("TOOL_NOT_STARTED"));
        if !self.source.way.ends_at(2) || !repairs || event.op.is_replace() {
            return;
        }
        let id = event.message().and_then(|message| message.get("id")?.text()).unwrap_or_default();
        let number = id.rsplit(|b| *b == b'-').next().and_then(canonical_decimal);
        let own = self.written + self.pending.as_ref().map_or(0, |attempt| 1 + attempt.behind);
        if number != Some(own) {
            out.refuse(event, &format!("a repair whose id does not hold its seq in the result, {own}"));
        }
    }

    fn restart(&mut self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        let Some(turn) = self.open.0 else { return };
        if self.open.1.is_none() && self.prompted && named(event).0 == Some(turn + 1) {
            self.settle(out);
            self.written += 1;
        } else {
            out.refuse(event, "a turn/start inside an open turn");
        }
    }

    /// The marker of inherited events that this edge writes where there is none.
    fn marker(&mut self, event: &Event<'_>) {
        let due = self.source.is_seeded && !self.marked && event.seq.0 >= self.source.inherited;
        if due && event.kind != Kind::AssistantChunk {
            self.marked = true;
            self.written += u64::from(event.seq.0 != self.source.inherited || event.kind != Kind::EndSeed);
        }
    }
}

fn push(runs: &mut Vec<Run>, next: Run) {
    match runs.last_mut() {
        Some(run) if run.last + 1 == next.first => run.last = next.last,
        _ => runs.push(next),
    }
}

impl Edge for Edge1 {
    fn event(&mut self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        if self.source.way.begins_at(1) {
            if !is_in_vocabulary(event.kind) {
                return out.refuse(event, "an unknown event type, even an ignorable one");
            }
            let of_later = event.kind == Kind::SubagentDescriptor
                && event.data.get("version").and_then(Raw::count) != Some(3);
            if let Err(what) = payload(event, 1)
                && !of_later
            {
                out.refuse(event, &what);
            }
            if event.kind == Kind::DeliveryAccepted {
                self.source.own_delivery(event, out);
            }
        }
        self.marker(event);
        match event.kind {
            Kind::TurnStart => {
                self.restart(event, out);
                self.open = (named(event).0, None);
            }
            Kind::TurnEnd => self.open = (None, None),
            Kind::StepStart => self.open.1 = named(event).1,
            Kind::StepEnd => self.open.1 = None,
            Kind::ToolResult => self.repair(event, out),
            _ => {}
        }
        self.references(event, out);
        match event.kind {
            Kind::AssistantChunk => self.chunk(event, out),
            Kind::AssistantMessage => self.message(event, out),
            kind => {
                if matches!(kind, Kind::TurnEnd | Kind::StepEnd | Kind::LlmRetry | Kind::LlmRetryStarted) {
                    self.settle(out);
                }
                let holds_change = event.data.path(&["source", "change"]).is_some();
                let written = 1 + u64::from(kind == Kind::UserMessage && holds_change);
                match &mut self.pending {
                    Some(attempt) => {
                        attempt.behind += written;
                        attempt.place_behind = Some(self.open);
                    }
                    None => {
                        self.written += written;
                        self.written_open = self.open;
                    }
                }
            }
        }
        self.prompted = is_restart(event);
    }

    fn end(&mut self, out: &mut Refusals<'_, '_>) {
        self.settle(out);
    }
}
