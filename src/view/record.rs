//! One event: its stored text, where it lies, what it refers to, what became of it.

use super::citations::{self, Citation, CitedBy};
use super::moment::Moment;
use crate::error::Result;
use crate::format::event::Location;
use crate::format::kind::Kind;
use crate::log::Log;
use crate::log::visit::Bodies;
use crate::position::{FrameNo, LineNo, TextOffset};
use crate::seq::Seq;
use crate::storage::container::Container;

/// Where a stored record lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The frame; none in a raw container.
    pub frame: Option<FrameNo>,
    /// The first byte in the file: of the frame, or of the line in a raw container.
    pub byte: u64,
    /// Just after the last byte of the same.
    pub byte_end: u64,
    /// Where its line starts in the decoded text.
    pub text: TextOffset,
    /// How long its line is, without the newline, in bytes.
    pub text_bytes: u64,
    /// The number of its line.
    pub line: LineNo,
    /// Of a packed row, which member it is, from 0, and of how many.
    pub member: Option<(u64, u64)>,
}

/// One event, explained.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The event.
    pub seq: Seq,
    /// Its type.
    pub kind: Kind,
    /// Its type as written.
    pub type_text: String,
    /// Its time, epoch milliseconds.
    pub time: i64,
    /// Its turn and step.
    pub location: Location,
    /// Whether it came from the parent session.
    pub inherited: bool,
    /// Where it lies; none for a closer, which is not stored.
    pub place: Option<Place>,
    /// Its stored line; of a member of a packed row the whole row. Empty for a closer.
    pub stored: Vec<u8>,
    /// The event as a reader meets it: unpacked, old shapes upgraded.
    pub event: Vec<u8>,
    /// Whether the model reads it now.
    pub surface: Surface,
    /// What it refers to.
    pub cites: Vec<Citation>,
    /// What refers to it.
    pub cited_by: Vec<CitedBy>,
    /// What it took the place of.
    pub replaced: Vec<u64>,
    /// What took its place, and what took the place of that, up to what stands there now.
    pub chain: Vec<u64>,
}

/// Where an event stands for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// On the surface.
    Current,
    /// Replaced.
    Shadowed,
    /// Never on it.
    LogOnly,
}

impl Surface {
    /// The word used in text and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Surface::Current => "current",
            Surface::Shadowed => "shadowed",
            Surface::LogOnly => "log-only",
        }
    }
}

/// Reads one event, with what became of it up to a moment; `None` when there is none of that seq then.
pub fn read(log: &Log, seq: Seq, moment: Moment) -> Result<Option<Record>> {
    if seq > moment.upto() || seq >= log.index().next_seq() && !moment.has_closers() {
        return Ok(None);
    }
    let mut bodies = Bodies::new(log);
    let read = bodies.with(seq, |event| Record {
        seq,
        kind: event.kind,
        type_text: event.type_text(),
        time: event.time,
        location: event.location,
        inherited: seq.0 < log.inherited(),
        place: None,
        stored: Vec::new(),
        event: event.text.to_vec(),
        surface: Surface::LogOnly,
        cites: citations::of(event),
        cited_by: Vec::new(),
        replaced: Vec::new(),
        chain: Vec::new(),
    })?;
    let Some(mut record) = read else { return Ok(None) };
    if let Some(line) = bodies.stored_line(seq)? {
        record.stored = line.to_vec();
        record.place = place(log, seq, record.stored.len() as u64)?;
    }
    record.cited_by = citations::citing(log, seq, moment)?;
    let surface = moment.surface(log);
    if surface.current(seq.0).is_some() {
        record.surface = Surface::Current;
    }
    let mut at = seq.0;
    // Each replacement has a higher seq than what it replaces, so this ends.
    while let Some(by) = surface.replaced_by(at).filter(|by| *by > at) {
        record.surface = Surface::Shadowed;
        record.chain.push(by);
        at = by;
    }
    let own = surface.replacements().into_iter().find(|r| r.seq == seq.0);
    record.replaced = own.map(|r| r.shadowed).unwrap_or_default();
    Ok(Some(record))
}

fn place(log: &Log, seq: Seq, text_bytes: u64) -> Result<Option<Place>> {
    let index = log.index();
    let Some(n) = index.record_of(seq) else { return Ok(None) };
    let entry = index.entries()[n];
    let members = index.members(n);
    let frame = match log.container() {
        Container::Zstd => log.text_map().frame_of(entry.text),
        _ => None,
    };
    let span = frame.and_then(|frame| log.text_map().frame_span(frame));
    let (byte, byte_end) = match span {
        Some((start, end, _)) => (start, end),
        None => (entry.text.0, entry.text.0 + text_bytes),
    };
    let line = line_of(log, n, entry.text)?;
    let member = (members > 1).then(|| (seq.0 - entry.seq.0, members));
    Ok(Some(Place { frame, byte, byte_end, text: entry.text, text_bytes, line, member }))
}

/// The number of the line at `at`: known where every line is the header or a record, else counted.
fn line_of(log: &Log, record: usize, at: TextOffset) -> Result<LineNo> {
    let records = index_len(log);
    if log.header().is_some() && log.lines() == records + 1 {
        return Ok(LineNo(record as u64 + 2));
    }
    let (mut line, mut offset) = (1, 0);
    let mut text = log.text();
    while offset < at.0 {
        offset += text.line(TextOffset(offset))?.len() as u64 + 1;
        line += 1;
    }
    Ok(LineNo(line))
}

fn index_len(log: &Log) -> u64 {
    log.index().entries().len() as u64
}

#[cfg(test)]
mod tests;
