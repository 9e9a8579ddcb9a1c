//! One event as a view meets it: stored text, read in place.

use super::dialect::Dialect;
use super::kind::Kind;
use super::parts::Parts;
use super::sources::Sources;
use super::surface_op::SurfaceOp;
use crate::json::Raw;
use crate::seq::Seq;

/// The turn and the step in which an event stands (v0 section 16.1); `None` = outside of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The turn's number.
    pub turn: Option<u32>,
    /// The step's number within the turn.
    pub step: Option<u32>,
}

/// One event, packed rows expanded and old shapes upgraded.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// Its sequence number.
    pub seq: Seq,
    /// Epoch milliseconds.
    pub time: i64,
    /// Its type.
    pub kind: Kind,
    /// Where it stands.
    pub location: Location,
    /// Its place on the surface.
    pub op: SurfaceOp,
    /// Its payload.
    pub data: Raw<'a>,
    /// Its `sourceEventSeqs` as stored, sound or not.
    pub sources: Option<Raw<'a>>,
    /// Its whole text.
    pub text: &'a [u8],
    /// Whether it is a closer that repair would append, and not stored.
    pub synthetic: bool,
}

impl<'a> Event<'a> {
    /// The event of a record of today's shape, as far as its line tells: the number, the time and the
    /// place are for who knows them to fill in.
    #[must_use]
    pub fn of_parts(parts: &Parts<'a>, kind: Kind, text: &'a [u8], dialect: &Dialect) -> Option<Event<'a>> {
        Some(Event {
            seq: Seq(0),
            time: 0,
            kind,
            location: Location::default(),
            op: SurfaceOp::parse(parts.op, dialect),
            data: parts.data.or(Raw::parse(b"null").ok())?,
            sources: parts.sources,
            text,
            synthetic: false,
        })
    }

    /// The message it carries: `data` of a user message, `data.message` of the others.
    #[must_use]
    pub fn message(&self) -> Option<Raw<'a>> {
        match self.kind {
            Kind::UserMessage => Some(self.data),
            _ => self.data.get("message"),
        }
    }

    /// The earlier events that it names as its sources; `None` when it names none, or in a malformed way.
    #[must_use]
    pub fn cited(&self) -> Option<Sources> {
        Sources::parse(self.sources?, self.seq.0, false).ok()
    }

    /// The type as it is written, also of a type that we do not know.
    #[must_use]
    pub fn type_text(&self) -> String {
        match self.kind {
            Kind::Unknown => Raw::parse(self.text)
                .ok()
                .and_then(|event| event.get("type")?.display_text())
                .unwrap_or_default(),
            kind => kind.name().to_owned(),
        }
    }
}
