//! Bodies read back: packed rows expanded and old shapes upgraded.

use super::index::{Entry, Flags};
use super::read::Log;
use crate::error::Result;
use crate::format::chunk_rows::{self, ChunkRow, Members};
use crate::format::dialect::Dialect;
use crate::format::event::Event;
use crate::format::judge;
use crate::format::kind::Kind;
use crate::format::legacy;
use crate::format::packed::Packed;
use crate::format::parts::Parts;
use crate::format::surface_op::SurfaceOp;
use crate::json::Raw;
use crate::json::jumps::Jumps;
use crate::json::text;
use crate::json::write::Object;
use crate::position::TextOffset;
use crate::seq::Seq;
use crate::storage::text::TextReader;
use std::ops::ControlFlow;

/// Reads single events; cheap when they are asked for in ascending order.
pub struct Bodies<'a> {
    log: &'a Log,
    text: TextReader<'a>,
    jumps: Jumps,
}

impl<'a> Bodies<'a> {
    /// A reader over a log.
    #[must_use]
    pub fn new(log: &'a Log) -> Bodies<'a> {
        Bodies { log, text: log.text(), jumps: Jumps::default() }
    }

    /// Reads one event, stored or closer; `None` when there is none of that seq.
    pub fn with<T>(&mut self, seq: Seq, read: impl FnOnce(&Event<'_>) -> T) -> Result<Option<T>> {
        if let Some(closer) = self.log.closers().iter().find(|closer| closer.seq == seq.0) {
            return Ok(closer_event(closer, self.log).map(|event| read(&event)));
        }
        let Some(record) = self.log.index().record_of(seq) else { return Ok(None) };
        let mut read = Some(read);
        let mut out = None;
        let _ = self.record(record, |event| {
            if event.seq == seq
                && let Some(read) = read.take()
            {
                out = Some(read(event));
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        Ok(out)
    }

    /// The stored line of an event; of a member of a packed row the row's.
    pub fn stored_line(&mut self, seq: Seq) -> Result<Option<&[u8]>> {
        match self.log.index().record_of(seq) {
            Some(record) => self.text.line(self.log.index().entries()[record].text).map(Some),
            None => Ok(None),
        }
    }

    /// The line at a place of the text.
    pub fn line_at(&mut self, at: TextOffset) -> Result<&[u8]> {
        self.text.line(at)
    }

    /// Hands on the events of one record.
    pub fn record(
        &mut self,
        record: usize,
        mut each: impl FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let entry = self.log.index().entries()[record];
        if entry.flags.has(Flags::TOO_LONG) {
            return Ok(ControlFlow::Continue(()));
        }
        if entry.flags.has(Flags::LEGACY) {
            return self.legacy(&entry, &mut each);
        }
        let line = &*text::stored(self.text.line(entry.text)?);
        let Ok(parts) = judge::envelope(line, &mut self.jumps) else { return Ok(ControlFlow::Continue(())) };
        Ok(hand_on(&entry, &parts, line, self.log.dialect(), Members::All, &mut each))
    }

    /// An event of an old shape, as the harness upgrades it in memory (v0 section 5.3).
    fn legacy(
        &mut self,
        entry: &Entry,
        each: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let id = self.log.header().map(|h| h.id.clone()).unwrap_or_default();
        let stored = text::stored(self.text.line(entry.text)?).into_owned();
        let mut jumps = Jumps::default();
        let Ok(parts) = judge::envelope(&stored, &mut jumps) else { return Ok(ControlFlow::Continue(())) };
        let Some(data) = parts.data else { return Ok(ControlFlow::Continue(())) };
        let op = SurfaceOp::parse(parts.op, self.log.dialect());
        // The kind in the index is the upgraded one; the stored one stands in the line.
        let upgraded = legacy::upgrade(parts.kind(), data, op, &id, entry.seq.0);
        let legacy::Upgrade::Rewritten { kind, mut data, inherits_id_from } = upgraded else {
            let event = event(entry, op, data, &stored);
            return Ok(each(&Event { sources: parts.sources, ..event }));
        };
        if let Some(from) = inherits_id_from {
            let literal = self.message_id(Seq(from), entry.seq)?;
            if let Ok(value) = Raw::parse(&data) {
                data = legacy::with_message_id(value, &literal);
            }
        }
        let Ok(value) = Raw::parse(&data) else { return Ok(ControlFlow::Continue(())) };
        let text = with_data(&stored, kind, &data);
        let event = event(entry, op, value, &text);
        Ok(each(&Event { sources: parts.sources, ..event }))
    }

    /// The literal of the message id of an earlier event; `""` when it has none.
    fn message_id(&mut self, from: Seq, before: Seq) -> Result<Vec<u8>> {
        let none = b"\"\"".to_vec();
        if from >= before {
            return Ok(none);
        }
        let id =
            self.with(from, |event| event.data.path(&["message", "id"]).map(|id| id.bytes().to_vec()))?;
        Ok(id.flatten().unwrap_or(none))
    }
}

/// Hands on the events of a record of today's shape.
pub(super) fn hand_on(
    entry: &Entry,
    parts: &Parts<'_>,
    line: &[u8],
    dialect: &Dialect,
    members: Members,
    each: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if entry.flags.has(Flags::PACKED) {
        return expand(entry, parts, members, each);
    }
    let Some(event) = Event::of_parts(parts, entry.kind, line, dialect) else {
        return ControlFlow::Continue(());
    };
    each(&Event { seq: entry.seq, time: entry.time, location: entry.location(), ..event })
}

fn event<'e>(entry: &Entry, op: SurfaceOp, data: Raw<'e>, text: &'e [u8]) -> Event<'e> {
    let location = entry.location();
    Event {
        seq: entry.seq,
        time: entry.time,
        kind: entry.kind,
        location,
        op,
        data,
        sources: None,
        text,
        synthetic: false,
    }
}

/// A record's text with other type and data, its other members as stored.
fn with_data(stored: &[u8], kind: Kind, data: &[u8]) -> Vec<u8> {
    let Ok(record) = Raw::parse(stored) else { return stored.to_vec() };
    let mut out = Object::new();
    for (key, value) in record.members() {
        let name = key.display_text().unwrap_or_default();
        out = match name.as_str() {
            "type" => out.text("type", kind.name().as_bytes()),
            "data" => out.raw("data", data),
            _ => out.raw(&name, value.bytes()),
        };
    }
    out.end()
}

fn expand(
    entry: &Entry,
    parts: &Parts<'_>,
    members: Members,
    each: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let packed = parts.type_name.and_then(Packed::of);
    let Some(Ok(row)) = packed.map(|packed| ChunkRow::parse(packed, parts)) else {
        return ControlFlow::Continue(());
    };
    let mut flow = ControlFlow::Continue(());
    row.expand(members, |seq, time, data| {
        let text = chunk_rows::event_text(seq, time, data);
        if let Ok(value) = Raw::parse(data) {
            flow = each(&Event {
                seq: Seq(seq),
                time,
                kind: Kind::AssistantChunk,
                location: entry.location(),
                op: SurfaceOp::Absent,
                data: value,
                sources: None,
                text: &text,
                synthetic: false,
            });
        }
        flow.is_continue()
    });
    flow
}

/// A closer as an event.
#[must_use]
pub fn closer_event<'e>(closer: &'e super::closers::Closer, log: &Log) -> Option<Event<'e>> {
    let record = Raw::parse(&closer.text).ok()?;
    let [data, op, sources] = record.get_all(["data", "surfaceOp", "sourceEventSeqs"]);
    let data = data?;
    let [turn, step] = data.get_all(["turn", "step"]);
    let number = |value: Option<Raw<'_>>| value.and_then(Raw::count).and_then(|n| u32::try_from(n).ok());
    Some(Event {
        seq: Seq(closer.seq),
        time: closer.time,
        kind: closer.kind,
        location: crate::format::event::Location { turn: number(turn), step: number(step) },
        op: SurfaceOp::parse(op, log.dialect()),
        data,
        sources,
        text: &closer.text,
        synthetic: true,
    })
}
