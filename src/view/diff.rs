//! Two sessions side by side: what they have in common, where they part, and what each did from there
//! on (v0 section 13, generations 8).

pub mod alignment;
pub mod divergence;
pub mod lineage;
pub mod moves;

use super::header;
use super::header_change::{self, Change};
use super::moment::Moment;
use super::requests;
use crate::error::Result;
use crate::format::kind::Kind;
use crate::json::{Raw, canonical};
use crate::log::Log;
use crate::seq::Seq;
use alignment::Pair;
use divergence::Divergence;
use lineage::Kinship;
use moves::{Move, What};
use std::collections::BTreeMap;

/// A log and the moment at which it is looked at.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// The log.
    pub log: &'a Log,
    /// As of when.
    pub moment: Moment,
}

/// A member of the header line in which two sessions differ; texts are stored JSON, `None` = absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// In the first session.
    pub first: Option<Vec<u8>>,
    /// In the second.
    pub second: Option<Vec<u8>>,
}

/// What one session did from where the two part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Since {
    /// Stored events.
    pub events: u64,
    /// Turns that were begun.
    pub turns: u64,
    /// Model calls, each attempt counted.
    pub requests: u64,
    /// Tool calls.
    pub calls: u64,
    /// Those that failed, or whose outcome nobody knows.
    pub failures: u64,
}

/// The comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Diff {
    /// What the headers say of how the two are related.
    pub kinship: Kinship,
    /// The members of the header lines that differ, by name.
    pub header: Vec<Field>,
    /// How far the events are the same.
    pub divergence: Divergence,
    /// What changed between the request headers in force, from the first to the second.
    pub settings: Vec<Change>,
    /// What was said and done from there on, in the first and in the second.
    pub moves: [Vec<Move>; 2],
    /// Those moves beside each other.
    pub pairs: Vec<Pair>,
    /// What they add up to.
    pub since: [Since; 2],
}

impl Diff {
    /// Whether nothing differs: header lines and events are the same.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.header.is_empty() && !self.divergence.differs()
    }
}

/// Compares two sessions. Errors when a file cannot be read.
pub fn of(first: Side<'_>, second: Side<'_>) -> Result<Diff> {
    let divergence = divergence::of(first, second)?;
    let from = divergence.at;
    let moves = [moves::list(first.log, first.moment, from)?, moves::list(second.log, second.moment, from)?];
    Ok(Diff {
        kinship: lineage::kinship(first.log.header(), second.log.header()),
        header: fields(first.log, second.log),
        settings: settings(first, second)?,
        pairs: alignment::align(&moves[0], &moves[1]),
        since: [since(first, from, &moves[0]), since(second, from, &moves[1])],
        divergence,
        moves,
    })
}

/// The members in which the header lines differ, by value.
fn fields(first: &Log, second: &Log) -> Vec<Field> {
    type Members = BTreeMap<String, (Vec<u8>, Vec<u8>)>;
    let members = |log: &Log| -> Members {
        let line = log.header().and_then(|header| Raw::parse(&header.text).ok());
        let members = line.into_iter().flat_map(Raw::members);
        let value =
            |value: Raw<'_>| (canonical::rewrite(value, canonical::Order::Sorted), value.bytes().to_vec());
        members.map(|(key, v)| (key.display_text().unwrap_or_default(), value(v))).collect()
    };
    let (one, other) = (members(first), members(second));
    let names: std::collections::BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let differ = |name: &&String| one.get(*name).map(|v| &v.0) != other.get(*name).map(|v| &v.0);
    let stored = |members: &Members, name: &str| members.get(name).map(|value| value.1.clone());
    names
        .into_iter()
        .filter(differ)
        .map(|name| Field { name: name.clone(), first: stored(&one, name), second: stored(&other, name) })
        .collect()
}

/// What changed from the request header in force in one session to that in the other.
fn settings(first: Side<'_>, second: Side<'_>) -> Result<Vec<Change>> {
    let header = |side: Side<'_>| -> Result<Vec<u8>> {
        let snapshot = header::in_force(side.log, side.moment)?;
        Ok(snapshot.map_or_else(|| b"{}".to_vec(), |snapshot| snapshot.header))
    };
    let (one, other) = (header(first)?, header(second)?);
    Ok(match (Raw::parse(&one), Raw::parse(&other)) {
        (Ok(one), Ok(other)) => header_change::between(one, other),
        _ => Vec::new(),
    })
}

fn since(side: Side<'_>, from: Seq, moves: &[Move]) -> Since {
    let index = side.log.index();
    let upto = side.moment.upto();
    let turns =
        index.entries().iter().filter(|e| e.kind == Kind::TurnStart && e.seq >= from && e.seq <= upto);
    let requests = requests::list_upto(side.log, upto);
    let calls = || moves.iter().filter(|m| m.what == What::Call);
    let end = if upto < index.next_seq() { upto.0 + 1 } else { index.next_seq().0 };
    Since {
        events: end.saturating_sub(from.0.max(index.first_seq().0)),
        turns: turns.count() as u64,
        requests: requests.iter().filter(|r| r.first >= from).count() as u64,
        calls: calls().count() as u64,
        failures: calls().filter(|m| m.outcome.as_ref().is_some_and(|o| o.is_failure())).count() as u64,
    }
}

#[cfg(test)]
mod tests;
