//! The request header and context in force (v0 section 11, v4 section 7).

use super::moment::Moment;
use crate::error::Result;
use crate::format::dialect::SystemPrompt;
use crate::format::kind::Kind;
use crate::format::request_header;
use crate::json::Raw;
use crate::limits::Limits;
use crate::log::Log;
use crate::log::first::first_event;
use crate::log::index::Entry;
use crate::log::visit::Bodies;
use crate::seq::Seq;
use crate::storage::source::Source;

/// One `request/header` event.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Its seq.
    pub seq: Seq,
    /// Its time.
    pub time: i64,
    /// The turn and step it stands in.
    pub location: crate::format::event::Location,
    /// `initial`, `resume`, `change` or `series`.
    pub reason: String,
    /// Whether a new message series starts with it.
    pub starts_series: bool,
    /// The canonical header: `config, adapterDefaults?, system?, tools?`, members as stored.
    pub header: Vec<u8>,
}

fn records(log: &Log, kind: Kind, moment: Moment) -> impl DoubleEndedIterator<Item = &Entry> {
    let upto = moment.upto();
    log.index().entries().iter().filter(move |entry| entry.kind == kind && entry.seq <= upto)
}

fn snapshot(log: &Log, bodies: &mut Bodies<'_>, seq: Seq) -> Result<Option<Snapshot>> {
    let snapshot = bodies.with(seq, |event| {
        let header = request_header::canonical(event.data, log.dialect())?;
        let [reason, starts] = event.data.get_all(["reason", "startsSeries"]);
        Some(Snapshot {
            seq,
            time: event.time,
            location: event.location,
            reason: reason.and_then(Raw::display_text).unwrap_or_default(),
            starts_series: starts.is_some_and(Raw::is_true),
            header,
        })
    })?;
    Ok(snapshot.flatten())
}

/// The header in force at that moment; the last `request/header`.
pub fn in_force(log: &Log, moment: Moment) -> Result<Option<Snapshot>> {
    match records(log, Kind::RequestHeader, moment).next_back() {
        Some(entry) => snapshot(log, &mut Bodies::new(log), entry.seq),
        None => Ok(None),
    }
}

/// The first header of a log, read no further than that.
///
/// `None` where only a whole reading can tell: there is none, damage lies before it, or the system
/// prompt that belongs to it stands among the messages.
pub fn first(source: &Source, limits: &Limits) -> Result<Option<Snapshot>> {
    let Some(first) = first_event(source, Kind::RequestHeader, limits)? else { return Ok(None) };
    if first.dialect.system_prompt == SystemPrompt::InMessages {
        return Ok(None);
    }
    let Ok(record) = Raw::parse(&first.line) else { return Ok(None) };
    let [seq, time, data] = record.get_all(["seq", "time", "data"]);
    let Some(data) = data else { return Ok(None) };
    let [reason, starts] = data.get_all(["reason", "startsSeries"]);
    Ok(request_header::canonical(data, first.dialect).map(|header| Snapshot {
        seq: Seq(seq.and_then(Raw::count).unwrap_or(0)),
        time: time.and_then(Raw::safe_int).unwrap_or(0),
        location: crate::format::event::Location::default(),
        reason: reason.and_then(Raw::display_text).unwrap_or_default(),
        starts_series: starts.is_some_and(Raw::is_true),
        header,
    }))
}

/// The first header of a log that was read.
pub fn first_of(log: &Log) -> Result<Option<Snapshot>> {
    match records(log, Kind::RequestHeader, Moment::Stored).next() {
        Some(entry) => snapshot(log, &mut Bodies::new(log), entry.seq),
        None => Ok(None),
    }
}

/// All headers up to that moment, ascending.
pub fn history(log: &Log, moment: Moment) -> Result<Vec<Snapshot>> {
    let mut bodies = Bodies::new(log);
    let mut out = Vec::new();
    for entry in records(log, Kind::RequestHeader, moment) {
        out.extend(snapshot(log, &mut bodies, entry.seq)?);
    }
    Ok(out)
}

/// The text of the last `request/context` at that moment, with its seq.
pub fn context(log: &Log, moment: Moment) -> Result<Option<(Seq, Vec<u8>)>> {
    let Some(entry) = records(log, Kind::RequestContext, moment).next_back() else { return Ok(None) };
    let data = Bodies::new(log).with(entry.seq, |event| event.data.bytes().to_vec())?;
    Ok(data.map(|data| (entry.seq, data)))
}

/// The system prompt in force: the header's, or the last filled system message on the surface.
pub fn system_prompt(log: &Log, moment: Moment) -> Result<Option<String>> {
    if log.dialect().system_prompt == SystemPrompt::InHeader {
        let header = in_force(log, moment)?.map(|s| s.header);
        let text = header.as_deref().and_then(|h| Raw::parse(h).ok()?.get("system")?.display_text());
        return Ok(text);
    }
    let surface = moment.surface(log);
    let nodes: Vec<u64> = surface.nodes().filter(|n| n.kind == Kind::SystemMessage).map(|n| n.seq).collect();
    let mut bodies = Bodies::new(log);
    for seq in nodes.into_iter().rev() {
        let words = bodies.with(Seq(seq), |event| {
            let content = event.message()?.get("content")?;
            Some(crate::format::message::words(content, usize::MAX))
        })?;
        if let Some(words) = words.flatten().filter(|w| !w.is_empty()) {
            return Ok(Some(words));
        }
    }
    Ok(None)
}
