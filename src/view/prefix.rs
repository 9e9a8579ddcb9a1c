//! How much of one request stands at the beginning of another: what a prompt cache can reuse.
//!
//! The order is that in which providers read a request: the model's name, the system prompt where
//! the header holds it, the tools, then each message as stored, separated by a comma. Settings such
//! as the temperature are no part of it.

use super::header;
use super::messages;
use super::moment::Moment;
use crate::error::Result;
use crate::json::Raw;
use crate::log::Log;
use crate::log::projection;
use crate::log::visit::Bodies;
use crate::seq::Seq;

/// What made two requests differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Another model was asked: nothing of a cache can be reused.
    Model,
    /// Another system prompt in the header.
    System,
    /// Other tools.
    Tools,
    /// An event took the place of others.
    Replacement,
    /// An event changed how a message is shown.
    Projection,
}

impl Why {
    /// The word used in text and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Why::Model => "model",
            Why::System => "system-prompt",
            Why::Tools => "tools",
            Why::Replacement => "replacement",
            Why::Projection => "projection",
        }
    }
}

/// What made two requests differ, and the event that did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// What it was.
    pub why: Why,
    /// The event, where one can be named.
    pub seq: Option<Seq>,
}

/// How two requests compare.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    /// The bytes that both begin with.
    pub bytes: u64,
    /// All bytes of the earlier one.
    pub before: u64,
    /// All bytes of the later one.
    pub after: u64,
    /// Why the later one does not begin with the whole of the earlier one; `None` when it does.
    pub cause: Option<Cause>,
    /// The events whose messages only the later one has, in order.
    pub new: Vec<u64>,
    /// The events whose messages only the earlier one had, in order.
    pub gone: Vec<u64>,
}

/// The parts before the messages, and the header they come from.
struct Head {
    parts: [(Why, Vec<u8>); 3],
    seq: Option<Seq>,
}

fn head(log: &Log, moment: Moment) -> Result<Head> {
    let snapshot = header::in_force(log, moment)?;
    let empty = |why| (why, Vec::new());
    let mut parts = [empty(Why::Model), empty(Why::System), empty(Why::Tools)];
    let seq = snapshot.as_ref().map(|s| s.seq);
    if let Some(header) = snapshot.as_ref().and_then(|s| Raw::parse(&s.header).ok()) {
        let [config, system, tools] = header.get_all(["config", "system", "tools"]);
        let [provider, model] = config.map_or([None; 2], |c| c.get_all(["provider", "model"]));
        for value in [provider, model].into_iter().flatten() {
            parts[0].1.extend_from_slice(value.bytes());
        }
        parts[1].1 = system.map(|s| s.bytes().to_vec()).unwrap_or_default();
        parts[2].1 = tools.map(|t| t.bytes().to_vec()).unwrap_or_default();
    }
    Ok(Head { parts, seq })
}

fn common(a: &[u8], b: &[u8]) -> u64 {
    a.iter().zip(b).take_while(|(a, b)| a == b).count() as u64
}

/// The comparison under way.
struct Walk {
    prefix: Prefix,
    equal: bool,
}

impl Walk {
    /// Takes a part of both; whether they are the same.
    fn part(&mut self, before: &[u8], after: &[u8]) -> bool {
        self.prefix.bytes += if self.equal { common(before, after) } else { 0 };
        let same = before == after;
        self.equal &= same;
        same
    }

    fn differ(&mut self, why: Why, seq: Option<Seq>) {
        if self.prefix.cause.is_none() {
            self.prefix.cause = Some(Cause { why, seq });
        }
    }
}

/// Compares what the model had at two moments, the earlier one first.
pub fn compare(log: &Log, before: Moment, after: Moment) -> Result<Prefix> {
    let (old, new) = (head(log, before)?, head(log, after)?);
    let mut walk = Walk { prefix: Prefix::default(), equal: true };
    for ((why, a), (_, b)) in old.parts.iter().zip(&new.parts) {
        walk.prefix.before += a.len() as u64;
        walk.prefix.after += b.len() as u64;
        if !walk.part(a, b) {
            walk.differ(*why, new.seq);
        }
    }
    let mut earlier: Vec<(u64, u64)> = Vec::new();
    messages::each(log, before, |seq, text| -> Result<()> {
        earlier.push((seq.0, text.len() as u64));
        Ok(())
    })?;
    walk.prefix.before += joined(earlier.iter().map(|(_, bytes)| *bytes));
    messages_of(log, (before, &earlier), after, &mut walk)?;
    Ok(walk.prefix)
}

/// The bytes of messages with commas between them.
fn joined(lengths: impl Iterator<Item = u64>) -> u64 {
    let (count, sum) = lengths.fold((0_u64, 0), |(n, sum), bytes| (n + 1, sum + bytes));
    sum + count.saturating_sub(1)
}

fn messages_of(log: &Log, before: (Moment, &[(u64, u64)]), after: Moment, walk: &mut Walk) -> Result<()> {
    let (moment, earlier) = before;
    let old_projections = projection::as_of(log, moment.upto().0)?;
    let new_projections = projection::as_of(log, after.upto().0)?;
    let mut bodies = Bodies::new(log);
    let mut later: Vec<u64> = Vec::new();
    let mut bytes_after = Vec::new();
    messages::each(log, after, |seq, text| -> Result<()> {
        let at = later.len();
        later.push(seq.0);
        bytes_after.push(text.len() as u64);
        let Some((old, bytes)) = earlier.get(at).copied().filter(|_| walk.equal) else { return Ok(()) };
        // The comma that both have.
        walk.prefix.bytes += u64::from(at > 0);
        if old == seq.0 && old_projections.of(old) == new_projections.of(old) {
            walk.prefix.bytes += bytes;
            return Ok(());
        }
        let before = messages::message_text(log, old, &old_projections, &mut bodies)?.unwrap_or_default();
        if !walk.part(&before, text) {
            let (why, by) = cause(log, (old, seq.0), after);
            walk.differ(why, by);
        }
        Ok(())
    })?;
    // Everything was the same, but the earlier one had more.
    if walk.equal
        && let Some((old, _)) = earlier.get(later.len())
    {
        let (why, by) = cause(log, (*old, *old), after);
        walk.differ(why, by);
    }
    walk.prefix.after += joined(bytes_after.into_iter());
    let had: std::collections::HashSet<u64> = earlier.iter().map(|(seq, _)| *seq).collect();
    let has: std::collections::HashSet<u64> = later.iter().copied().collect();
    walk.prefix.new = later.into_iter().filter(|seq| !had.contains(seq)).collect();
    walk.prefix.gone = earlier.iter().map(|(seq, _)| *seq).filter(|seq| !has.contains(seq)).collect();
    Ok(())
}

/// Why a message stands where another one stood.
fn cause(log: &Log, (old, new): (u64, u64), after: Moment) -> (Why, Option<Seq>) {
    let by = log.surface().replaced_by(old).filter(|by| *by <= after.upto().0);
    match by {
        Some(by) => (Why::Replacement, Some(Seq(by))),
        None if old == new => {
            let offloads = &log.sums().offloads;
            let last = offloads.iter().rev().find(|seq| **seq <= after.upto().0);
            (Why::Projection, last.map(|seq| Seq(*seq)))
        }
        None => (Why::Replacement, Some(Seq(new))),
    }
}
