//! What the harness's upgrade to a later generation would refuse (generations 1.5 and 9, v4 section
//! 12): every refusal that a log shows by itself, each with the edge that it belongs to.
//!
//! An edge judges the events of the log as it is, and knows what the edges before it have changed.
//! The rules between events are asked once, by the last edge, as the harness asks them of its result.

mod edge0;
mod edge1;
mod edge2;
mod edge3;
mod kept;
mod legacy;
mod messages;
mod parts;
mod payloads;
mod replay;
#[cfg(test)]
mod tests;

use super::{Family, Sink};
use crate::fault::{Code, Severity};
use crate::finding::Finding;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::shape::{filled, is, strict_count};
use crate::json::Raw;
use crate::log::Log;
use crate::position::{FileOffset, LineNo, Place};
use crate::seq::Seq;

/// From which generation to which.
#[derive(Clone, Copy)]
struct Way {
    from: u32,
    to: u32,
}

impl Way {
    /// Whether the edge that begins at a generation is on the way.
    fn takes(self, edge: u32) -> bool {
        self.from <= edge && edge < self.to
    }

    /// Whether it is the first.
    fn begins_at(self, edge: u32) -> bool {
        self.from == edge && self.takes(edge)
    }

    /// Whether that generation is the target.
    fn ends_at(self, generation: u32) -> bool {
        self.to == generation && self.from < generation
    }
}

/// What an edge needs of the log as a whole.
#[derive(Clone)]
struct Source {
    way: Way,
    id: Vec<u8>,
    has_parent: bool,
    is_seeded: bool,
    inherited: u64,
}

impl Source {
    fn of(log: &Log, target: u32) -> Source {
        let header = log.header();
        let seeded = |header: &crate::format::header::Header| {
            header.seed_length.is_some() || header.is_seeded == Some(true)
        };
        Source {
            way: Way { from: log.dialect().version, to: target },
            id: header.map(|header| header.id.clone()).unwrap_or_default(),
            has_parent: header.is_some_and(|header| header.parent_session.is_some()),
            is_seeded: header.is_some_and(seeded),
            inherited: log.inherited(),
        }
    }

    /// A delivery marker of the generation that an edge leaves is of this log, or was inherited.
    fn own_delivery(&self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        let [id, version, through] = event.data.get_all(["sessionId", "sessionFormatVersion", "throughSeq"]);
        if version.map_or(Some(0), Raw::count) != Some(u64::from(out.edge)) {
            return;
        }
        let earlier = strict_count(through).is_some_and(|seq| seq < event.seq.0);
        let own = id.and_then(Raw::text).is_some_and(|id| *id == *self.id);
        let was_inherited = self.has_parent && event.seq.0 < self.inherited;
        if !earlier || !filled(id) || !own && !was_inherited {
            out.refuse(event, "a delivery marker that does not fit its log");
        }
    }
}

/// Where an edge leaves what it refuses.
struct Refusals<'a, 'b> {
    edge: u32,
    sink: &'a mut Sink<'b>,
}

impl Refusals<'_, '_> {
    fn refuse(&mut self, event: &Event<'_>, what: &str) {
        self.refuse_at(event.seq, what);
    }

    fn refuse_at(&mut self, seq: Seq, what: &str) {
        let message = self.message(what);
        self.sink.add(Code::UpgradeRefused, Severity::Warns, seq, message);
    }

    fn message(&self, what: &str) -> String {
        format!("the upgrade from {} to {} refuses: {what}", self.edge, self.edge + 1)
    }
}

/// One edge of the chain: takes the events of the log as it is, in order.
trait Edge {
    fn event(&mut self, event: &Event<'_>, out: &mut Refusals<'_, '_>);

    fn end(&mut self, _out: &mut Refusals<'_, '_>) {}
}

/// Whether an event puts a prompt into the inbox: a turn that begins right after it may close one
/// that was still open.
fn is_restart(event: &Event<'_>) -> bool {
    if event.kind != Kind::InboxSpliced {
        return false;
    }
    let [target, inserted] = event.data.get_all(["target", "inserted"]);
    is(target, "next-turn") && inserted.is_some_and(|list| list.elements().next().is_some())
}

/// The edges on the way to the target, each with the generation it begins at.
pub struct Upgrade {
    source: Source,
    legacy: Option<legacy::Legacy>,
    edges: Vec<(u32, Box<dyn Edge>)>,
    kept: Option<kept::Kept>,
    header: Option<String>,
}

impl Upgrade {
    /// Judges the way from a log's own generation to `target`.
    #[must_use]
    pub fn new(log: &Log, target: u32) -> Upgrade {
        let source = Source::of(log, target);
        let mut edges: Vec<(u32, Box<dyn Edge>)> = vec![
            (0, Box::new(edge0::Edge0::new(source.clone()))),
            (1, Box::new(edge1::Edge1::new(source.clone()))),
            (2, Box::new(edge2::Edge2::new(source.clone()))),
            (3, Box::new(edge3::Edge3::new(source.clone()))),
        ];
        edges.retain(|(edge, _)| source.way.takes(*edge));
        // Generation 1 was never the last one of a release, so nothing asks for its rules.
        let kept = edges.last().filter(|(edge, _)| *edge > 0).map(|_| kept::Kept::new(source.way));
        let line = log.header().filter(|_| source.way.takes(0)).map(|header| &*header.text);
        let header = line.and_then(|line| parts::HEADER.fit(Raw::parse(line).ok()?).err());
        let legacy = source.way.takes(0).then(legacy::Legacy::default);
        Upgrade { source, legacy, edges, kept, header }
    }

    /// What was wrong with the header, which is read before any event.
    fn header(&mut self, sink: &mut Sink<'_>) {
        let Some(what) = self.header.take() else { return };
        let message = Refusals { edge: 0, sink }.message(&format!("a header that {what}"));
        let place = Place { byte: Some(FileOffset(0)), line: Some(LineNo(1)), ..Place::default() };
        let finding = Finding::new(Code::UpgradeRefused, Severity::Warns, place, message);
        sink.findings.push(finding, &sink.limits);
    }
}

impl Family for Upgrade {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        self.header(sink);
        let mended = self.legacy.as_mut().and_then(|legacy| legacy.mended(event));
        let data = mended.as_deref().and_then(|data| Raw::parse(data).ok()).unwrap_or(event.data);
        let event = &Event { data, ..*event };
        for (edge, judge) in &mut self.edges {
            judge.event(event, &mut Refusals { edge: *edge, sink });
        }
        if let Some(kept) = &mut self.kept {
            kept.event(event);
        }
    }

    fn end(&mut self, sink: &mut Sink<'_>) {
        self.header(sink);
        for (edge, judge) in &mut self.edges {
            judge.end(&mut Refusals { edge: *edge, sink });
        }
        let Some((edge, _)) = self.edges.last() else { return };
        let mut out = Refusals { edge: *edge, sink };
        for violation in self.kept.take().into_iter().flat_map(|kept| kept.finish(self.source.inherited)) {
            out.refuse_at(Seq(violation.seq), &format!("{} ({})", violation.message, violation.rule));
        }
    }
}
