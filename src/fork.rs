//! Forks: a new session from a closed prefix of another (v0 section 13, generations 5, v4 section
//! 10). The source is never touched.

use crate::error::{Error, ErrorKind, Result, shell_word};
use crate::format::detail::Detail;
use crate::format::dialect::{Dialect, ForkRule, Inherited};
use crate::format::event::Event;
use crate::format::judge;
use crate::format::kind::Kind;
use crate::format::row::RowContext;
use crate::json::Raw;
use crate::json::write::Object;
use crate::log::closers::{self, Cause};
use crate::log::index::{Entry, Flags};
use crate::log::turns::Turns;
use crate::log::verdict::Outcome;
use crate::log::visit::Bodies;
use crate::log::walk::Span;
use crate::log::{Log, ReadOptions};
use crate::seq::Seq;
use crate::storage::container::Container;
use crate::storage::disk::{Disk, RealDisk};
use crate::storage::encode::FrameWriter;
use crate::storage::publish::publish_on;
use crate::storage::source::Source;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

/// Where to cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// The last closed place, as a host chooses it; the child keeps the composition in force.
    LastClosed,
    /// Exactly after that event, given as text so that what is no seq can be named.
    After(String),
}

/// The identity of the child.
#[derive(Clone, Debug)]
pub struct Child {
    /// Its session id.
    pub id: String,
    /// When it is made, epoch milliseconds.
    pub created_at: i64,
}

/// A fork that was checked and can be written.
pub struct ForkPlan<'a> {
    log: &'a Log,
    /// The last inherited event; `None` when none is inherited.
    pub boundary: Option<Seq>,
    /// The child's header line.
    pub header: Vec<u8>,
    /// The events that follow the inherited ones.
    pub own: Vec<Vec<u8>>,
    /// How many events the child has.
    pub events: u64,
}

/// A place at which a fork may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// The `turn/end`, or the last event behind it before the next turn.
    pub seq: Seq,
    /// The turn that ends there.
    pub turn: Option<u32>,
}

/// The turn edges of the balanced log: seq and whether a turn starts.
fn edges(log: &Log) -> Vec<(u64, Kind)> {
    let stored = log.index().entries().iter().map(|e| (e.seq.0, e.kind));
    let closers = log.closers().iter().map(|c| (c.seq, c.kind));
    stored.chain(closers).filter(|(_, kind)| kind.is_turn_edge()).collect()
}

/// The end of each closed turn of the balanced log, with the records that follow it before the next
/// turn.
#[must_use]
pub fn closed_places(log: &Log) -> Vec<Closed> {
    let last = last_seq(log);
    let edges = edges(log);
    let mut out = Vec::new();
    for (n, (seq, kind)) in edges.iter().enumerate() {
        if *kind != Kind::TurnEnd {
            continue;
        }
        let upto = match edges.get(n + 1) {
            Some((next, Kind::TurnStart)) => next - 1,
            Some((next, _)) => next - 1,
            None => last.map_or(*seq, |last| last.0),
        };
        let entry = log.index().record_of(Seq(*seq)).map(|r| log.index().entries()[r]);
        out.push(Closed { seq: Seq(upto), turn: entry.and_then(|e| e.location().turn) });
    }
    out
}

fn last_seq(log: &Log) -> Option<Seq> {
    let next = log.index().next_seq().0 + log.closers().len() as u64;
    next.checked_sub(1).filter(|_| log.index().events() > 0).map(Seq)
}

impl<'a> ForkPlan<'a> {
    /// Checks the boundary and lays out the child.
    ///
    /// Errors carry the harness's codes: `INVALID_BOUNDARY`, `OPEN_TURN`; `not-forkable` when the
    /// source itself does not open.
    pub fn make(log: &'a Log, boundary: &Boundary, child: &Child) -> Result<ForkPlan<'a>> {
        let verdict = log.verdict();
        if !verdict.outcome.opens() {
            let why = verdict.reason.as_ref().map_or_else(String::new, ToString::to_string);
            let kind = match verdict.outcome {
                Outcome::Unsupported => ErrorKind::Unsupported,
                _ => ErrorKind::Corrupt,
            };
            let error = Error::new(kind, "not-forkable", format!("the source does not open: {why}"));
            return Err(error.at_path(log.source().path()));
        }
        let dialect = log.dialect();
        let at = match boundary {
            Boundary::LastClosed => last_closed(log),
            Boundary::After(text) => Some(exact(log, text)?),
        };
        if let Some(at) = at
            && dialect.fork != ForkRule::OpenTaggedSeed
        {
            check_closed(log, at)?;
        }
        let inherited = at.map_or(0, |seq| seq.0 + 1);
        let own = own_events(log, at, child.created_at)?;
        let preset = match boundary {
            Boundary::LastClosed => effective_preset(log, at)?,
            Boundary::After(_) => None,
        };
        let header = header_line(log, dialect, child, inherited, preset.as_deref());
        let events = inherited + own.len() as u64;
        Ok(ForkPlan { log, boundary: at, header, own, events })
    }

    /// Writes the child to a new file, reads it back, and only then gives it its name. An existing
    /// file is never replaced.
    pub fn write(&self, path: &Path, container: Container, options: &ReadOptions) -> Result<()> {
        self.write_on(&RealDisk, path, container, options)
    }

    /// As [`ForkPlan::write`], on a given disk.
    pub fn write_on(
        &self,
        disk: &dyn Disk,
        path: &Path,
        container: Container,
        options: &ReadOptions,
    ) -> Result<()> {
        let mut failed = None;
        let written = publish_on(
            disk,
            path,
            true,
            |out| self.encode(out, container, &mut failed),
            |stage| self.verify(stage, options),
        );
        match failed {
            Some(error) => Err(error),
            None => written,
        }
    }

    fn encode(
        &self,
        out: &mut dyn Write,
        container: Container,
        failed: &mut Option<Error>,
    ) -> io::Result<()> {
        match container {
            Container::Raw => {
                out.write_all(&self.header)?;
                out.write_all(b"\n")?;
                self.body(out, failed)
            }
            Container::Zstd => {
                let mut header = FrameWriter::new(&mut *out)?;
                header.write_all(&self.header)?;
                header.write_all(b"\n")?;
                header.finish()?;
                let mut body = FrameWriter::new(out)?;
                self.body(&mut body, failed)?;
                body.finish()
            }
        }
    }

    fn body(&self, out: &mut dyn Write, failed: &mut Option<Error>) -> io::Result<()> {
        let mut written = Ok(());
        let read = self.inherited(|line| {
            written = out.write_all(line).and_then(|()| out.write_all(b"\n"));
            written.is_ok()
        });
        if let Err(e) = read {
            *failed = Some(e);
            return Err(io::Error::other("the source could not be read"));
        }
        written?;
        for event in &self.own {
            out.write_all(event)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// The inherited records as they go into the child: stored lines as they are, old shapes as the
    /// harness upgrades them, since their ids are the source's.
    fn inherited(&self, mut each: impl FnMut(&[u8]) -> bool) -> Result<()> {
        let Some(boundary) = self.boundary else { return Ok(()) };
        let index = self.log.index();
        let mut bodies = Bodies::new(self.log);
        for (record, entry) in index.entries().iter().enumerate() {
            if entry.seq > boundary {
                break;
            }
            let whole = entry.seq.0 + index.members(record) - 1 <= boundary.0;
            let go_on = if whole && !entry.flags.has(Flags::LEGACY) {
                each(bodies.line_at(entry.text)?)
            } else {
                let mut go_on = true;
                let _ = bodies.record(record, |event| {
                    go_on = event.seq > boundary || each(event.text);
                    if go_on && event.seq < boundary {
                        ControlFlow::Continue(())
                    } else {
                        ControlFlow::Break(())
                    }
                })?;
                go_on
            };
            if !go_on {
                return Ok(());
            }
        }
        for closer in self.log.closers().iter().filter(|c| c.seq <= boundary.0) {
            if !each(&closer.text) {
                break;
            }
        }
        Ok(())
    }

    fn verify(&self, stage: &Path, options: &ReadOptions) -> Result<()> {
        let child = Log::read(Source::open(stage)?, options)?;
        let opens = child.verdict().outcome == Outcome::Opens;
        if opens && child.index().events() == self.events {
            return Ok(());
        }
        let why = child.verdict().reason.as_ref().map_or_else(String::new, |r| format!(": {r}"));
        let message = format!(
            "the fork is not as planned: it {} with {} events, {} planned{why}",
            child.verdict().outcome.name(),
            child.index().events(),
            self.events
        );
        Err(Error::new(ErrorKind::Corrupt, "not-verified", message).at_path(stage))
    }
}

/// The place where a host would cut by default: the last `turn/end` and what follows it, up to what
/// belongs to the next turn. A log that never had a turn is closed at its end.
fn last_closed(log: &Log) -> Option<Seq> {
    let last = last_seq(log)?;
    let edges = edges(log);
    let Some((end, _)) = edges.iter().rev().find(|(_, kind)| *kind == Kind::TurnEnd) else {
        return Some(last);
    };
    let stored = log.index().entries();
    let stops = |entry: &&Entry| {
        let queued = log.dialect().fork == ForkRule::OpenTaggedSeed
            && (entry.kind == Kind::InboxSpliced
                || (entry.kind == Kind::UserMessage && !entry.flags.has(Flags::REPLACES)));
        entry.seq.0 > *end && (entry.kind == Kind::TurnStart || queued)
    };
    let upto = stored.iter().find(stops).map_or(last.0, |entry| entry.seq.0 - 1);
    Some(Seq(upto.max(*end)))
}

/// An exact boundary: a seq of the balanced log.
fn exact(log: &Log, text: &str) -> Result<Seq> {
    let last = last_seq(log);
    let seq = text.parse::<u64>().ok().filter(|seq| last.is_some_and(|last| *seq <= last.0));
    seq.map(Seq).ok_or_else(|| {
        let range = match last {
            Some(last) => format!("the log holds events 0 to {last}"),
            None => "the log holds no event".to_owned(),
        };
        let message = format!("`{text}` is no boundary: {range}");
        Error::new(ErrorKind::Refused, "INVALID_BOUNDARY", message).at_path(log.source().path())
    })
}

/// The last turn edge of the prefix must not be a start.
fn check_closed(log: &Log, at: Seq) -> Result<()> {
    let edges = edges(log);
    let open =
        edges.iter().rev().find(|(seq, _)| *seq <= at.0).is_some_and(|(_, kind)| *kind == Kind::TurnStart);
    if !open {
        return Ok(());
    }
    let before = edges.iter().rev().find(|(seq, kind)| *seq < at.0 && *kind == Kind::TurnEnd);
    let after = edges.iter().find(|(seq, kind)| *seq > at.0 && *kind == Kind::TurnEnd);
    let nearest: Vec<String> = before.into_iter().chain(after).map(|(seq, _)| seq.to_string()).collect();
    let message = match nearest.is_empty() {
        true => format!("a turn is open at event {at}, and the log has no closed place"),
        false => {
            let places = if nearest.len() == 1 { "place is" } else { "places are" };
            format!("a turn is open at event {at}; the nearest closed {places} {}", nearest.join(" and "))
        }
    };
    let error = Error::new(ErrorKind::Refused, "OPEN_TURN", message).at_path(log.source().path());
    let hint =
        nearest.first().map(|n| format!("dsh-log fork {} --boundary {n}", shell_word(log.source().path())));
    Err(match hint {
        Some(hint) => error.hint(hint),
        None => error,
    })
}

/// The events that the child begins with as its own.
fn own_events(log: &Log, at: Option<Seq>, now: i64) -> Result<Vec<Vec<u8>>> {
    let dialect = log.dialect();
    let next = at.map_or(0, |seq| seq.0 + 1);
    let marker = |time: i64, data: &[u8]| {
        Object::new()
            .text("type", Kind::EndSeed.name().as_bytes())
            .int("seq", next)
            .int("time", time)
            .raw("data", data)
            .end()
    };
    match dialect.fork {
        ForkRule::ClosedPlainSeed => {
            let ends_with_one = match at {
                Some(seq) => kind_at(log, seq) == Some(Kind::EndSeed),
                None => false,
            };
            Ok(if ends_with_one { Vec::new() } else { vec![marker(now, b"{}")] })
        }
        ForkRule::ClosedTaggedSeed => Ok(vec![marker(now, br#"{"inherited":true}"#)]),
        ForkRule::OpenTaggedSeed => {
            let time = match at {
                Some(seq) => Bodies::new(log).with(seq, |event| event.time)?.unwrap_or(now),
                None => now,
            };
            let text = marker(time, br#"{"inherited":true}"#);
            let turns = turns_with_marker(log, at, next, &text)?;
            let closers = closers::closers(&turns, next + 1, time, Cause::Forked, dialect);
            Ok(std::iter::once(text).chain(closers.into_iter().map(|c| c.text)).collect())
        }
    }
}

fn kind_at(log: &Log, seq: Seq) -> Option<Kind> {
    let closer = log.closers().iter().find(|c| c.seq == seq.0).map(|c| c.kind);
    closer.or_else(|| log.index().record_of(seq).map(|r| log.index().entries()[r].kind))
}

/// The open turn of the inherited events with the marker behind them.
fn turns_with_marker(log: &Log, at: Option<Seq>, next: u64, marker: &[u8]) -> Result<Turns> {
    let mut turns = Turns::new(log.dialect());
    let id = log.header().map(|h| h.id.clone()).unwrap_or_default();
    let context = RowContext { dialect: log.dialect(), session_id: &id, known: true, glean: None };
    let mut take = |seq: u64, kind: Kind, text: &[u8]| {
        let row = judge::parse(text, &context);
        let detail: Option<&Detail> = row.detail.as_deref();
        turns.apply(seq, kind, detail);
    };
    if let Some(upto) = at {
        let span = Span { from: log.index().first_seq(), upto, closers: false };
        let matters = |entry: &Entry| entry.kind != Kind::AssistantChunk;
        log.walk(span, matters, |event: &Event<'_>| {
            take(event.seq.0, event.kind, event.text);
            ControlFlow::Continue(())
        })?;
        for closer in log.closers().iter().filter(|c| c.seq <= upto.0) {
            take(closer.seq, closer.kind, &closer.text);
        }
    }
    take(next, Kind::EndSeed, marker);
    Ok(turns)
}

/// The composition in force at the boundary: the last one selected, else the header's.
fn effective_preset(log: &Log, at: Option<Seq>) -> Result<Option<Vec<u8>>> {
    let selected = at.and_then(|seq| log.index().last_of(Kind::AgentPresetSelected, seq));
    if let Some(entry) = selected {
        let literal = Bodies::new(log)
            .with(entry.seq, |event| event.data.get("agentPreset").map(|p| p.bytes().to_vec()))?;
        return Ok(literal.flatten());
    }
    let header =
        log.header().and_then(|h| Raw::parse(&h.text).ok()?.get("agentPreset").map(|p| p.bytes().to_vec()));
    Ok(header)
}

/// The child's header, its keys in the order in which the harness writes them.
fn header_line(
    log: &Log,
    dialect: &Dialect,
    child: &Child,
    inherited: u64,
    preset: Option<&[u8]>,
) -> Vec<u8> {
    let source = log.header();
    let cwd = source.and_then(|h| h.cwd.as_deref());
    let header = Object::new()
        .text("type", b"session")
        .int("version", dialect.version)
        .text("id", child.id.as_bytes())
        .int("createdAt", child.created_at)
        .text_if("cwd", cwd)
        .text_if("parentSession", source.map(|h| h.id.as_slice()));
    let header = match dialect.inherited {
        Inherited::SeedLength => header.int("seedLength", inherited),
        Inherited::TaggedEndSeed => header.bool("isSeeded", true),
    };
    header.int("delegationDepth", 0).raw_if("agentPreset", preset).end()
}
