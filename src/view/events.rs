//! Events chosen by type, place, time, call and text, in the order of the log.

use crate::error::Error;
use crate::format::chunk_rows::ChunkRow;
use crate::format::event::{Event, Location};
use crate::format::judge;
use crate::format::kind::Kind;
use crate::format::packed::Packed;
use crate::json::jumps::Jumps;
use crate::json::{Raw, text};
use crate::log::Log;
use crate::log::index::{Entry, Flags};
use crate::log::visit::{Bodies, closer_event};
use crate::seq::Seq;
use std::ops::{ControlFlow, RangeInclusive};

/// Whether a text fits.
pub type Fits<'a> = &'a dyn Fn(&[u8]) -> bool;

/// Which events are wanted; all conditions together.
pub struct Filter<'a> {
    /// Their type fits; the row tags of packed rows count as types too.
    pub kind: Option<Fits<'a>>,
    /// Their turn is one of these.
    pub turns: Option<RangeInclusive<u32>>,
    /// Their seq is one of these.
    pub seqs: RangeInclusive<u64>,
    /// Their time is one of these, epoch milliseconds.
    pub times: RangeInclusive<i64>,
    /// They belong to the call of that id.
    pub call: Option<String>,
    /// Their text fits, as stored or with the escapes of its strings resolved.
    pub text: Option<Fits<'a>>,
    /// Whether packed rows come as single events.
    pub expand: bool,
    /// Whether closers come too.
    pub closers: bool,
}

impl Default for Filter<'_> {
    fn default() -> Self {
        Filter {
            kind: None,
            turns: None,
            seqs: 0..=u64::MAX,
            times: i64::MIN..=i64::MAX,
            call: None,
            text: None,
            expand: false,
            closers: false,
        }
    }
}

/// One event, or one packed row that was not expanded.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// Its seq; the first member's.
    pub seq: Seq,
    /// How many events it stands for.
    pub members: u64,
    /// Its time; the first member's.
    pub time: i64,
    /// Its turn and step.
    pub location: Location,
    /// Its type as written.
    pub type_text: &'a str,
    /// Its text: the stored line, or the event unpacked from it.
    pub text: &'a [u8],
    /// Whether it is a closer and not stored.
    pub synthetic: bool,
}

impl Filter<'_> {
    /// What the index alone rules out.
    fn may_fit(&self, entry: &Entry, members: u64) -> bool {
        let packed = entry.flags.has(Flags::PACKED);
        let known = entry.kind != Kind::Unknown && !packed && !entry.flags.has(Flags::LEGACY);
        let kind = |fits: Fits<'_>| !known || fits(entry.kind.name().as_bytes());
        let time = packed || self.times.contains(&entry.time);
        entry.seq.0 <= *self.seqs.end()
            && entry.seq.0 + (members - 1) >= *self.seqs.start()
            && time
            && self.turns.as_ref().is_none_or(|t| entry.location().turn.is_some_and(|turn| t.contains(&turn)))
            && self.kind.is_none_or(kind)
            && (self.call.is_none() || !packed || self.expand)
    }

    fn fits(&self, found: &Found<'_>) -> bool {
        found.seq.0 <= *self.seqs.end()
            && found.seq.0 + (found.members - 1) >= *self.seqs.start()
            && (self.times.contains(&found.time) || self.holds_time(found))
            && self.kind.is_none_or(|fits| fits(found.type_text.as_bytes()) || self.is_packed_chunk(found))
            && self.call.as_ref().is_none_or(|id| belongs(found.text, id))
            && self.text.is_none_or(|fits| fits(found.text) || fits(&text::decode(found.text)))
    }

    /// A packed row is wanted where the time of any event in it fits.
    fn holds_time(&self, found: &Found<'_>) -> bool {
        let mut jumps = Jumps::default();
        let Ok(parts) = judge::envelope(found.text, &mut jumps) else { return false };
        let packed = parts.type_name.and_then(Packed::of);
        let Some(Ok(row)) = packed.map(|packed| ChunkRow::parse(packed, &parts)) else { return false };
        row.times().any(|time| self.times.contains(&time))
    }

    /// A packed row is wanted where the events in it are.
    fn is_packed_chunk(&self, found: &Found<'_>) -> bool {
        found.type_text.ends_with("-chunks")
            && self.kind.is_some_and(|fits| fits(Kind::AssistantChunk.name().as_bytes()))
    }
}

/// Whether an event names a call by any of the members that may.
fn belongs(event: &[u8], id: &str) -> bool {
    let Some(data) = Raw::parse(event).ok().and_then(|e| e.get("data")) else { return false };
    let names = ["callId", "rootCallId", "parentCallId", "subCallId", "id"];
    if data.get_all(names).into_iter().flatten().any(|value| value.is(id)) {
        return true;
    }
    let chunk = data.path(&["chunk", "id"]).or(data.path(&["chunk", "block", "id"]));
    let source = data.path(&["message", "source", "callId"]);
    if [chunk, source].into_iter().flatten().any(|value| value.is(id)) {
        return true;
    }
    let blocks = data.path(&["message", "content"]).into_iter().flat_map(Raw::elements);
    blocks.filter_map(|block| block.get("id")).any(|value| value.is(id))
}

/// Hands on the events that fit, in order.
///
/// Errors when the file cannot be read, or as `each` says.
pub fn each<E: From<Error>>(
    log: &Log,
    filter: &Filter<'_>,
    mut each: impl FnMut(&Found<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let index = log.index();
    let mut bodies = Bodies::new(log);
    let first = index.record_of(Seq(*filter.seqs.start())).unwrap_or(0);
    for (n, entry) in index.entries().iter().enumerate().skip(first) {
        if entry.seq.0 > *filter.seqs.end() {
            break;
        }
        let members = index.members(n);
        if entry.flags.has(Flags::TOO_LONG) || !filter.may_fit(entry, members) {
            continue;
        }
        if filter.expand && entry.flags.has(Flags::PACKED) {
            let mut failed = Ok(());
            let _ = bodies.record(n, |event| {
                failed = one(event, filter, &mut each);
                if failed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            failed?;
            continue;
        }
        let line = bodies.line_at(entry.text)?;
        let tag = Raw::parse(line).ok().and_then(|e| e.get("type")?.display_text());
        let found = Found {
            seq: entry.seq,
            members,
            time: entry.time,
            location: entry.location(),
            type_text: tag.as_deref().unwrap_or(entry.kind.name()),
            text: line,
            synthetic: false,
        };
        if filter.fits(&found) {
            each(&found)?;
        }
    }
    for event in log.closers().iter().filter(|_| filter.closers).filter_map(|c| closer_event(c, log)) {
        one(&event, filter, &mut each)?;
    }
    Ok(())
}

fn one<E>(
    event: &Event<'_>,
    filter: &Filter<'_>,
    each: &mut impl FnMut(&Found<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let type_text = event.type_text();
    let found = Found {
        seq: event.seq,
        members: 1,
        time: event.time,
        location: event.location,
        type_text: &type_text,
        text: event.text,
        synthetic: event.synthetic,
    };
    let turn = |t: &RangeInclusive<u32>| event.location.turn.is_some_and(|turn| t.contains(&turn));
    if filter.turns.as_ref().is_none_or(turn) && filter.fits(&found) { each(&found) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
