//! What people said, and what was put in beside it: user, steering and context rows (format v0,
//! sections 7.2 and 16.2).

use super::content;
use super::rows::{Body, Context, Row, Said};
use super::shelf::{Anchor, Place, Shelf};
use crate::format::event::Event;
use crate::json::Raw;
use std::collections::HashSet;

/// The pending messages and the last thing a person said.
#[derive(Debug, Default)]
pub(super) struct People {
    /// The ids of the messages that wait for the next step.
    next_step: Vec<Vec<u8>>,
    /// Those that were claimed and have not appeared yet.
    claimed: HashSet<Vec<u8>>,
    /// A person's message waits one event long: a reference that follows puts its labels on it.
    waiting: Option<(Place, Row)>,
}

impl People {
    /// Follows the next-step inbox; what was removed from it and not canceled is steering.
    pub(super) fn splice(&mut self, data: Raw<'_>) {
        let [target, start, removed, inserted, outcome] =
            data.get_all(["target", "start", "removedCount", "inserted", "outcome"]);
        if !target.is_some_and(|target| target.is("next-step")) {
            return;
        }
        let clamp = |value: Option<Raw<'_>>, most: usize| {
            value.and_then(Raw::count).map_or(0, |n| usize::try_from(n).unwrap_or(most).min(most))
        };
        let start = clamp(start, self.next_step.len());
        let end = start + clamp(removed, self.next_step.len() - start);
        let ids = inserted.into_iter().flat_map(Raw::elements).filter_map(|message| id(message));
        let gone: Vec<Vec<u8>> = self.next_step.splice(start..end, ids.collect::<Vec<_>>()).collect();
        if !outcome.is_some_and(|outcome| outcome.is("canceled")) {
            self.claimed.extend(gone);
        }
    }

    /// A fork inherits no pending input.
    pub(super) fn forget_pending(&mut self) {
        self.next_step.clear();
        self.claimed.clear();
    }

    /// What a turn claimed appears within it or never.
    pub(super) fn turn_ended(&mut self) {
        self.claimed.clear();
    }

    /// Takes an appended user message.
    pub(super) fn said(&mut self, event: &Event<'_>, shelf: &mut Shelf) {
        let said = said(event.data);
        let source = event.data.get("source");
        let kind = source.and_then(|source| source.get("kind"));
        if kind.is_some_and(|kind| kind.is("user")) {
            let steering = id(event.data).is_some_and(|id| self.claimed.remove(&id));
            let body = if steering { Body::Steering(said) } else { Body::User(said) };
            self.waiting = Some((shelf.hold(Anchor::at(event.seq)), Row::new(event, body)));
            return;
        }
        let recall = kind.is_some_and(|kind| kind.is("session-reference"));
        let context = Context {
            role: if recall { "recall" } else { "inject" },
            label: content::label(source),
            form: content::form(source),
            said,
            source: content::copy(source),
        };
        shelf.put(Anchor::at(event.seq), Row::new(event, Body::Context(context)));
    }

    /// Lets the waiting message go when another event comes, with the labels of a reference that
    /// follows at once.
    pub(super) fn next(&mut self, event: Option<&Event<'_>>, shelf: &mut Shelf) {
        let Some((place, mut row)) = self.waiting.take() else { return };
        if let (Some(event), Body::User(said) | Body::Steering(said)) = (event, &mut row.body)
            && event.seq == row.seq.next()
            && event.kind == crate::format::kind::Kind::UserMessage
            && let Some(source) = event.data.get("source")
            && source.get("kind").is_some_and(|kind| kind.is("session-reference"))
        {
            said.references = content::distinct(source.get("references"), "label");
        }
        shelf.fill(place, row);
    }
}

fn id(message: Raw<'_>) -> Option<Vec<u8>> {
    message.get("id").and_then(Raw::text).map(std::borrow::Cow::into_owned)
}

/// Reads a message.
pub(super) fn said(message: Raw<'_>) -> Said {
    let [id, content] = message.get_all(["id", "content"]);
    Said {
        message_id: content::text(id),
        blocks: content::blocks(content),
        content: content::copy(content).unwrap_or_else(|| b"[]".to_vec()),
        references: Vec::new(),
    }
}
