//! The tail of a turn, with its reason and figures, and the rows of what ended it (format v0,
//! sections 16.2, 16.5 and 16.6).

use super::assistant::Spoken;
use super::content;
use super::rows::{Body, Row, TurnEnd, TurnError};
use super::shelf::{Anchor, Place, Shelf};
use crate::format::event::Event;
use crate::json::Raw;
use crate::view::tokens::Tokens;

/// The turn that is open.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// Whether one is open.
    pub(super) open: bool,
    started: Option<i64>,
    steps: u32,
    last_step: Option<u32>,
    tools: u32,
    usage: Option<Tokens>,
    /// The lowest step that had a first token, and how long that took.
    first_token: Option<(u32, u64)>,
    decode_ms: u64,
    decode_tokens: u64,
    /// The place after the last words of the turn, for the max-tokens notice.
    closing: Option<Place>,
    /// Whether something happened after these words that a branch would lose.
    busy: bool,
}

impl Turn {
    /// A turn begins. One that was left open leaves no tail.
    pub(super) fn start(&mut self, event: &Event<'_>, shelf: &mut Shelf) {
        self.leave(shelf);
        *self = Turn { open: true, started: Some(event.time), ..Turn::default() };
    }

    /// Gives up the place held for a notice.
    pub(super) fn leave(&mut self, shelf: &mut Shelf) {
        if let Some(notice) = self.closing.take() {
            shelf.drop(notice);
        }
    }

    /// A step begins.
    pub(super) fn step(&mut self, event: &Event<'_>) {
        self.steps = self.steps.saturating_add(1);
        self.last_step = event.location.step.or(self.last_step);
    }

    /// A tool was called.
    pub(super) fn tool(&mut self) {
        self.tools = self.tools.saturating_add(1);
        self.busy = true;
    }

    /// Something that is no words happened.
    pub(super) fn busy(&mut self) {
        self.busy = true;
    }

    /// A message was completed.
    pub(super) fn spoke(&mut self, event: &Event<'_>, spoken: &Spoken, shelf: &mut Shelf) {
        let usage = event.data.get("usage");
        if let Some(usage) = usage {
            self.count(usage);
        }
        let span = |from: i64, to: i64| u64::try_from(to.saturating_sub(from)).unwrap_or(0);
        if let Some(first) = spoken.first_token {
            let step = event.location.step.unwrap_or(u32::MAX);
            if let Some(started) = spoken.started
                && self.first_token.is_none_or(|(lowest, _)| step < lowest)
            {
                self.first_token = Some((step, span(started, first)));
            }
            if let Some(tokens) = usage.and_then(|usage| usage.get("outputTokens")).and_then(Raw::count) {
                self.decode_ms = self.decode_ms.saturating_add(span(first, event.time));
                self.decode_tokens = self.decode_tokens.saturating_add(tokens);
            }
        }
        self.busy = true;
        if spoken.words {
            let at = Anchor::at(event.seq);
            self.words(at.plus(5), shelf);
        }
    }

    /// The last words of the turn stand before this place.
    pub(super) fn words(&mut self, notice: Anchor, shelf: &mut Shelf) {
        self.leave(shelf);
        self.closing = Some(shelf.hold(notice));
        self.busy = false;
    }

    fn count(&mut self, usage: Raw<'_>) {
        self.usage.get_or_insert_default().add(Tokens::of(usage));
    }

    /// The turn ends: its error or notice, then its tail.
    ///
    /// The tail stands where the turn ends. The web client moves it up behind the last words, but in
    /// a page that is read from top to bottom an end before the turn's last tools misleads.
    pub(super) fn end(&mut self, event: &Event<'_>, shelf: &mut Shelf) {
        let reason = event.data.get("reason");
        let kind = content::text(reason.and_then(|reason| reason.get("kind")));
        let error =
            reason.and_then(|reason| reason.get("error")).filter(|_| kind.as_deref() == Some("error"));
        let at = Anchor::at(event.seq);
        let turn = std::mem::take(self);
        let notice = turn.closing;
        let spoke = notice.is_some();
        if let Some(error) = error {
            let body = TurnError { failure: content::failure(error), last_step: turn.last_step };
            shelf.put(at, Row::new(event, Body::TurnError(body)));
        }
        let capped = kind.as_deref() == Some("max-tokens");
        match notice {
            Some(place) if capped => shelf.fill(place, Row::new(event, Body::MaxTokens)),
            Some(place) => shelf.drop(place),
            None if capped => shelf.put(at, Row::new(event, Body::MaxTokens)),
            None => {}
        }
        let can_branch = spoke && !turn.busy && error.is_none();
        let body = TurnEnd { detail: detail(reason), reason: kind, can_branch, ..turn.figures(event.time) };
        shelf.put(at, Row { step: None, ..Row::new(event, Body::TurnEnd(body)) });
    }

    fn figures(&self, end: i64) -> TurnEnd {
        let rate = (self.decode_ms > 0).then(|| self.decode_tokens as f64 * 1000.0 / self.decode_ms as f64);
        TurnEnd {
            duration_ms: self.started.map(|start| u64::try_from(end.saturating_sub(start)).unwrap_or(0)),
            steps: self.steps,
            tools: self.tools,
            usage: self.usage,
            first_token_ms: self.first_token.map(|(_, ms)| ms),
            tokens_per_second: rate,
            ..TurnEnd::default()
        }
    }
}

/// Who aborted the turn, or what a hook said, or the error's code.
fn detail(reason: Option<Raw<'_>>) -> Option<String> {
    let [cause, error] = reason?.get_all(["reason", "error"]);
    if let Some(error) = error {
        return content::text(error.get("code"));
    }
    let [kind, said] = cause?.get_all(["kind", "reason"]);
    match (content::text(kind), content::text(said)) {
        (Some(kind), Some(said)) => Some(format!("{kind}: {said}")),
        (kind, said) => kind.or(said),
    }
}
