//! What the harness's upgrade to a later generation would refuse (generations 1.5 and 9, v4 section
//! 12): the refusals that the format pages name, each with the edge that it belongs to.

mod edge0;
mod edge1;
mod edge2;
mod edge3;

use super::{Family, Sink};
use crate::fault::{Code, Severity};
use crate::format::event::Event;
use crate::json::Raw;
use crate::log::Log;

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
}

/// What an edge needs of the log as a whole.
struct Source {
    way: Way,
    id: Vec<u8>,
    has_parent: bool,
    inherited: u64,
}

/// Where an edge leaves what it refuses.
struct Refusals<'a, 'b> {
    edge: u32,
    sink: &'a mut Sink<'b>,
}

impl Refusals<'_, '_> {
    fn refuse(&mut self, event: &Event<'_>, what: &str) {
        let (edge, next) = (self.edge, self.edge + 1);
        let message = format!("the upgrade from {edge} to {next} refuses: {what}");
        self.sink.add(Code::UpgradeRefused, Severity::Warns, event.seq, message);
    }
}

/// One edge of the chain: takes the events of the log as it is, in order.
trait Edge {
    fn event(&mut self, event: &Event<'_>, out: &mut Refusals<'_, '_>);
}

/// The edges on the way to the target, each with the generation it begins at.
pub struct Upgrade {
    edges: Vec<(u32, Box<dyn Edge>)>,
}

impl Upgrade {
    /// Judges the way from a log's own generation to `target`.
    #[must_use]
    pub fn new(log: &Log, target: u32) -> Upgrade {
        let source = || Source {
            way: Way { from: log.dialect().version, to: target },
            id: log.header().map(|h| h.id.clone()).unwrap_or_default(),
            has_parent: log.header().is_some_and(|h| h.parent_session.is_some()),
            inherited: log.inherited(),
        };
        let mut edges: Vec<(u32, Box<dyn Edge>)> = vec![
            (0, Box::new(edge0::Edge0)),
            (1, Box::new(edge1::Edge1::new(source()))),
            (2, Box::new(edge2::Edge2::new(source()))),
            (3, Box::new(edge3::Edge3::new(source()))),
        ];
        let way = source().way;
        edges.retain(|(edge, _)| way.takes(*edge));
        Upgrade { edges }
    }
}

fn text(value: Option<Raw<'_>>) -> Vec<u8> {
    value.and_then(Raw::text).map(|text| text.into_owned()).unwrap_or_default()
}

impl Family for Upgrade {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        for (edge, judge) in &mut self.edges {
            judge.event(event, &mut Refusals { edge: *edge, sink });
        }
    }
}
