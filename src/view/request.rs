//! One request as it was sent, and the list of all of them (v0 sections 10 and 11).

use super::attempt::{self, Attempt};
use super::header::{self, Snapshot};
use super::messages;
use super::moment::Moment;
use super::prefix::{self, Prefix};
use super::requests::{self, Request};
use super::routes::Routes;
use crate::error::Result;
use crate::format::kind::Kind;
use crate::log::Log;
use crate::log::index::Flags;
use crate::log::surface::{Playback, Surface};
use crate::log::visit::Bodies;
use crate::seq::Seq;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// One line of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Which one.
    pub request: Request,
    /// What is known of it.
    pub attempt: Attempt,
    /// How many messages it had.
    pub messages: u64,
    /// Whether it came from the parent session.
    pub inherited: bool,
}

/// Hands on all requests up to a moment, in order.
///
/// The surface is played forward once, so the time grows with the log and not with its square.
pub fn each<E: From<crate::error::Error>>(
    log: &Log,
    moment: Moment,
    mut each: impl FnMut(Listed) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let routes = Routes::read(log)?;
    let mut empty = empty_nodes(log)?;
    let mut playback = Playback::new(log.surface());
    let mut bodies = Bodies::new(log);
    for request in requests::list_upto(log, moment.upto()) {
        let messages = request.upto.map_or(0, |upto| count(playback.to(upto.0), upto, &mut empty));
        let mut attempt = attempt::read(log, &mut bodies, &request, true)?;
        if let Some(seq) = request.settled.filter(|_| !attempt.has_content) {
            empty.insert(seq.0);
        }
        if attempt.model.is_none() {
            attempt.model = routes.at(request.first).map(|(p, m)| (p.to_owned(), m.to_owned()));
        }
        let inherited = request.first.0 < log.inherited();
        each(Listed { request, attempt, messages, inherited })?;
    }
    Ok(())
}

/// The nodes that hold a place and no message, as far as no attempt tells of them.
fn empty_nodes(log: &Log) -> Result<BTreeSet<u64>> {
    let mut empty = BTreeSet::new();
    let wanted = |kind: Kind, flags: Flags| match kind {
        Kind::SystemMessage | Kind::DeveloperMessage => true,
        Kind::AssistantMessage => flags.has(Flags::REPLACES),
        _ => false,
    };
    log.walk(
        crate::log::walk::Span { closers: false, ..log.whole() },
        |entry| wanted(entry.kind, entry.flags),
        |event| {
            if messages::derive(event).is_none() {
                empty.insert(event.seq.0);
            }
            ControlFlow::Continue(())
        },
    )?;
    Ok(empty)
}

/// Counts the messages of a surface. Places that hold none and are shadowed by now are forgotten,
/// so that a log with many of them does not cost their number at each request.
fn count(surface: &Surface, upto: Seq, empty: &mut BTreeSet<u64>) -> u64 {
    empty.retain(|seq| *seq > upto.0 || surface.current(*seq).is_some());
    surface.current_count() - empty.range(..=upto.0).count() as u64
}

/// One request, whole. Its messages are read by [`messages::each`] at its moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Whole {
    /// Which one.
    pub request: Request,
    /// What the model had: the log right before the attempt.
    pub moment: Moment,
    /// What is known of it.
    pub attempt: Attempt,
    /// The header in force.
    pub header: Option<Snapshot>,
    /// The context in force, with its seq.
    pub context: Option<(Seq, Vec<u8>)>,
    /// The system prompt, from the header or from the messages.
    pub system: Option<String>,
}

/// Reads one request; `None` when nothing stands before it.
pub fn whole(log: &Log, request: &Request) -> Result<Option<Whole>> {
    let Some(upto) = request.upto else { return Ok(None) };
    let moment = Moment::After(upto);
    let mut attempt = attempt::read(log, &mut Bodies::new(log), request, true)?;
    if attempt.model.is_none() {
        let routes = Routes::read(log)?;
        attempt.model = routes.at(request.first).map(|(p, m)| (p.to_owned(), m.to_owned()));
    }
    Ok(Some(Whole {
        request: *request,
        moment,
        attempt,
        header: header::in_force(log, moment)?,
        context: header::context(log, moment)?,
        system: header::system_prompt(log, moment)?,
    }))
}

/// The request before one, in the order of the log.
#[must_use]
pub fn before(list: &[Request], request: &Request) -> Option<Request> {
    let at = list.partition_point(|other| other.first < request.first);
    list.get(at.checked_sub(1)?).copied()
}

/// What two requests have in common; the earlier one first. `None` when nothing stands before one.
pub fn compare(log: &Log, earlier: &Request, later: &Request) -> Result<Option<Prefix>> {
    let (Some(before), Some(after)) = (earlier.upto, later.upto) else { return Ok(None) };
    prefix::compare(log, Moment::After(before), Moment::After(after)).map(Some)
}

#[cfg(test)]
mod tests;
