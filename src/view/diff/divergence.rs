//! How far the events of two logs are the same, and the first ones that differ.

use super::Side;
use crate::error::Result;
use crate::format::event::{Event, Location};
use crate::json::{Raw, canonical};
use crate::log::Log;
use crate::log::index::Entry;
use crate::log::visit::Bodies;
use crate::log::walk::Span;
use crate::seq::Seq;
use std::hash::{BuildHasher, Hasher, RandomState};

/// How many records or events are compared at first; then twice as many, and so on.
const WINDOW: u64 = 1024;
/// How many are compared at once at most.
const WINDOW_MOST: u64 = 1 << 16;
/// How much of an event's data is kept to show, in bytes.
const SHOWN: usize = 240;

/// The event at which a session goes its own way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    /// Its seq.
    pub seq: Seq,
    /// Its type as written.
    pub kind: String,
    /// Its time, epoch milliseconds.
    pub time: i64,
    /// Where it stands.
    pub location: Location,
    /// The beginning of its data, as stored.
    pub data: String,
}

/// How far the events are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The seq from which on they are not the same.
    pub at: Seq,
    /// How many events before it are the same.
    pub common: u64,
    /// The turns that were begun in those.
    pub turns: u64,
    /// The event of each session there; `None` = its log ends before it.
    pub own: [Option<Own>; 2],
}

impl Divergence {
    /// Whether any event differs.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.own.iter().any(Option::is_some)
    }
}

/// Compares the stored events from the beginning. Two are the same when all their members are, by
/// value: the order of members, escapes and the way rows were packed make no difference.
///
/// A record over the limit, which is not read, counts as different.
pub fn of(first: Side<'_>, second: Side<'_>) -> Result<Divergence> {
    let start = first.log.index().first_seq().max(second.log.index().first_seq());
    let same_start = first.log.index().first_seq() == second.log.index().first_seq();
    let keys = RandomState::new();
    let end = end_of(first).min(end_of(second));
    let (mut at, mut window) = (start.0, WINDOW);
    if same_start {
        at = same_lines(first.log, second.log, &keys)?.0.min(end.0);
    }
    while same_start && at < end.0 {
        let upto = end.0.min(at + window) - 1;
        let span = Span { from: Seq(at), upto: Seq(upto), closers: false };
        let (one, other) = (prints(first.log, span, &keys)?, prints(second.log, span, &keys)?);
        let same = one.iter().zip(&other).zip(at..).take_while(|((a, b), seq)| a == b && a.0.0 == *seq);
        at += same.count() as u64;
        if at <= upto {
            break;
        }
        window = (window * 2).min(WINDOW_MOST);
    }
    let at = Seq(at);
    let entries = first.log.index().entries();
    let turns = entries.iter().filter(|e| e.kind == crate::format::kind::Kind::TurnStart && e.seq < at);
    Ok(Divergence {
        at,
        common: at.0 - start.0,
        turns: if same_start { turns.count() as u64 } else { 0 },
        own: [own(first, at)?, own(second, at)?],
    })
}

/// The seq behind the last stored event that counts.
fn end_of(side: Side<'_>) -> Seq {
    let next = side.log.index().next_seq();
    if side.moment.upto() < next { Seq(side.moment.upto().0 + 1) } else { next }
}

/// The seq behind the records at the beginning whose stored lines are the same, byte for byte: quick,
/// and all there is to tell of most forks.
fn same_lines(first: &Log, second: &Log, keys: &RandomState) -> Result<Seq> {
    let print = |entry: &Entry, line: Option<&[u8]>| line.map(|line| (entry.seq, keys.hash_one(line)));
    let (mut record, mut window) = (0, WINDOW as usize);
    loop {
        let (mut one, mut other) = (Vec::new(), Vec::new());
        first.lines_mapped(record..record + window, print, |print| one.push(print))?;
        second.lines_mapped(record..record + window, print, |print| other.push(print))?;
        let same = one.iter().zip(&other).take_while(|(a, b)| a.is_some() && a == b).count();
        record += same;
        if same < window {
            let at = |log: &Log| log.index().entries().get(record).map_or(log.index().next_seq(), |e| e.seq);
            return Ok(at(first).min(at(second)));
        }
        window = (window * 2).min(WINDOW_MOST as usize);
    }
}

/// What stands for each event of a span.
fn prints(log: &Log, span: Span, keys: &RandomState) -> Result<Vec<(Seq, u64)>> {
    let mut prints = Vec::new();
    let print = |(): &mut (), event: &Event<'_>| Some((event.seq, print_of(event, keys)));
    log.walk_mapped(span, |_| true, || (), print, |print| prints.push(print))?;
    Ok(prints)
}

fn print_of(event: &Event<'_>, keys: &RandomState) -> u64 {
    let mut hasher = keys.build_hasher();
    match Raw::parse(event.text) {
        Ok(record) => hasher.write(&canonical::rewrite(record, canonical::Order::Sorted)),
        Err(_) => hasher.write(event.text),
    }
    hasher.finish()
}

fn own(side: Side<'_>, at: Seq) -> Result<Option<Own>> {
    if at >= end_of(side) {
        return Ok(None);
    }
    let read = |event: &Event<'_>| Own {
        seq: event.seq,
        kind: event.type_text(),
        time: event.time,
        location: event.location,
        data: String::from_utf8_lossy(&event.data.bytes()[..event.data.bytes().len().min(SHOWN)])
            .into_owned(),
    };
    let read = Bodies::new(side.log).with(at, read)?;
    Ok(Some(read.unwrap_or_else(|| Own {
        seq: at,
        kind: String::new(),
        time: 0,
        location: Location::default(),
        data: String::new(),
    })))
}
