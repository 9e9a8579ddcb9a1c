//! What the model said: final messages, failed attempts, and words that were cut off (format v0,
//! section 16.3; generations 2.5 to 2.7).

use super::content;
use super::draft::{self, Draft};
use super::rows::{Assistant, AssistantState, Body, Row};
use super::shelf::{Anchor, Place, Shelf};
use crate::format::event::Event;
use crate::json::Raw;

/// The step that is open, as far as its words go.
#[derive(Debug, Default)]
pub(super) struct Step {
    started: Option<i64>,
    first_token: Option<i64>,
    draft: Draft,
    /// Where the streamed words began to be visible: the row they may become is about that chunk.
    visible: Option<(Place, Row)>,
}

/// What a final message adds to its turn's figures.
pub(super) struct Spoken {
    /// Whether it has words.
    pub(super) words: bool,
    /// When the first token came.
    pub(super) first_token: Option<i64>,
    /// When the step began.
    pub(super) started: Option<i64>,
}

impl Step {
    /// A step begins.
    pub(super) fn start(&mut self, event: &Event<'_>, shelf: &mut Shelf) {
        self.forget(shelf);
        *self = Step { started: Some(event.time), ..Step::default() };
    }

    /// Whether the first token has come.
    pub(super) fn has_first_token(&self) -> bool {
        self.first_token.is_some()
    }

    /// Takes a streamed chunk, a log event in the generations that have them.
    pub(super) fn chunk(&mut self, event: &Event<'_>, shelf: &mut Shelf) {
        let Some(chunk) = event.data.get("chunk") else { return };
        if self.first_token.is_none() && draft::bears_token(chunk) {
            self.first_token = Some(event.time);
        }
        let changed = self.draft.chunk(chunk);
        match &mut self.visible {
            Some((_, row)) => row.time = event.time,
            None if changed.is_some_and(|index| self.draft.shows(index)) => {
                let row = Row::begun(event);
                self.visible = Some((shelf.hold(Anchor::at(event.seq)), row));
            }
            None => {}
        }
    }

    /// A retry was scheduled: the failed attempt's words are not shown. The time of the first token
    /// stays.
    pub(super) fn retry(&mut self, shelf: &mut Shelf) {
        self.forget(shelf);
    }

    fn forget(&mut self, shelf: &mut Shelf) {
        self.draft = Draft::default();
        if let Some((place, _)) = self.visible.take() {
            shelf.drop(place);
        }
    }

    /// Takes an appended message: the final word of its step.
    pub(super) fn message(&mut self, event: &Event<'_>, shelf: &mut Shelf) -> Spoken {
        self.forget(shelf);
        let [message, usage, interrupted, stream] =
            event.data.get_all(["message", "usage", "interrupted", "stream"]);
        let [id, source, content] = message.map_or([None; 3], |m| m.get_all(["id", "source", "content"]));
        let [provider, model] = source.map_or([None; 2], |s| s.get_all(["provider", "model"]));
        let interrupted = interrupted.is_some_and(Raw::is_true);
        let blocks = content::blocks(content);
        let first_token = self.first_token.or_else(|| stream.and_then(draft::first_token));
        let spoken =
            Spoken { words: blocks.iter().any(content::Block::is_words), first_token, started: self.started };
        if interrupted || blocks.iter().any(content::Block::is_visible) {
            let row = Assistant {
                state: if interrupted { AssistantState::Interrupted } else { AssistantState::Done },
                message_id: content::text(id),
                blocks,
                content: content::copy(content).unwrap_or_else(|| b"[]".to_vec()),
                usage: content::copy(usage),
                provider: content::text(provider),
                model: content::text(model),
                started: self.started,
                first_token,
                failure: None,
            };
            shelf.put(Anchor::at(event.seq), Row::new(event, Body::Assistant(row)));
        }
        spoken
    }

    /// Takes an attempt that settled without a message: its words are shown as those of a failed
    /// attempt. One without words shows in the retry or the error that follows.
    pub(super) fn attempt(&mut self, event: &Event<'_>, shelf: &mut Shelf) {
        let Some(stream) = event.data.get("stream") else { return };
        let mut draft = Draft::default();
        stream.elements().for_each(|record| draft.record(record));
        if !draft.is_visible() {
            return;
        }
        let row = Assistant {
            started: self.started,
            first_token: draft::first_token(stream),
            ..unfinished(draft, AssistantState::Failed)
        };
        shelf.put(Anchor::at(event.seq), Row::new(event, Body::Assistant(row)));
    }

    /// The step, or its turn, is closed: words that streamed and became no message are a row of
    /// their own. Says whether that row has text.
    pub(super) fn close(&mut self, event: &Event<'_>, shelf: &mut Shelf) -> bool {
        let step = std::mem::take(self);
        let Some((place, row)) = step.visible else { return false };
        shelf.drop(place);
        let body = unfinished(step.draft, AssistantState::Interrupted);
        let words = body.blocks.iter().any(content::Block::is_words);
        let body = Assistant { started: step.started, first_token: step.first_token, ..body };
        let row = Row { body: Body::Assistant(body), synthetic: false, ..row };
        shelf.put(Anchor::at(event.seq).minus(90), row);
        words
    }

    /// The log ends inside the step.
    pub(super) fn finish(self, shelf: &mut Shelf) {
        let Some((place, row)) = self.visible else { return };
        let body = unfinished(self.draft, AssistantState::Running);
        let body = Assistant { started: self.started, first_token: self.first_token, ..body };
        shelf.fill(place, Row { body: Body::Assistant(body), ..row });
    }
}

/// The row of words that never became a message.
fn unfinished(draft: Draft, state: AssistantState) -> Assistant {
    let content = draft.content();
    let blocks = content::blocks(Raw::parse(&content).ok());
    Assistant { state, blocks, content, failure: draft.failure, ..Assistant::default() }
}
