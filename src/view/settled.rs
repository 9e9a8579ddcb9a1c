//! What the event that settles an attempt tells, and what a stream of chunks does (v0 sections 8.3 and
//! 8.4, generations 2.5 to 2.7).

use super::tokens::Tokens;
use crate::format::event::Event;
use crate::json::Raw;

/// What chunks tell, wherever they stand.
#[derive(Clone, Debug, Default)]
pub(super) struct Streamed {
    /// The last usage.
    pub(super) usage: Option<Tokens>,
    /// The code of the failure, or the kind of the finish reason.
    pub(super) failure: Option<String>,
    /// When the first words, reasoning or arguments came.
    pub(super) first_token: Option<i64>,
}

impl Streamed {
    /// Takes one chunk: usage, the reason of the finish, the first token.
    pub(super) fn take(&mut self, chunk: Raw<'_>, time: Option<i64>) {
        let [kind, usage, reason] = chunk.get_all(["type", "usage", "reason"]);
        let Some(kind) = kind else { return };
        if kind.is("usage") {
            self.usage = usage.filter(|u| u.is_object()).map(Tokens::of).or(self.usage);
        } else if kind.is("finish") {
            let code = reason.and_then(|r| r.path(&["failure", "code"]).or(r.get("kind")));
            self.failure = code.and_then(Raw::display_text);
        } else if self.first_token.is_none() && bears_token(chunk) {
            self.first_token = time;
        }
    }

    /// Takes one record of the stream of a message or an attempt.
    fn record(&mut self, record: Raw<'_>) {
        let [kind, time, time0, chunk] = record.get_all(["type", "time", "time0", "chunk"]);
        if kind.is_some_and(|k| k.is("chunk")) {
            if let Some(chunk) = chunk {
                self.take(chunk, time.and_then(Raw::safe_int));
            }
        } else if self.first_token.is_none() {
            self.first_token = time0.and_then(Raw::safe_int).and_then(|t| first_in_run(record, t));
        }
    }
}

/// When the first member of a run that says something came.
fn first_in_run(run: Raw<'_>, time0: i64) -> Option<i64> {
    let [gaps, texts, arguments] = run.get_all(["dt", "texts", "args"]);
    let mut time = time0;
    let mut gaps = gaps.into_iter().flat_map(Raw::elements);
    for text in texts.or(arguments)?.elements() {
        if text.is_filled_text() {
            return Some(time);
        }
        time = time.saturating_add(gaps.next().and_then(Raw::safe_int).unwrap_or(0));
    }
    None
}

/// Whether a chunk is a delta that says something (v0 section 8.3).
pub(super) fn bears_token(chunk: Raw<'_>) -> bool {
    let [kind, text, arguments, name] = chunk.get_all(["type", "text", "argumentsDelta", "name"]);
    let filled = |value: Option<Raw<'_>>| value.is_some_and(Raw::is_filled_text);
    match kind {
        Some(k) if k.is("text-delta") || k.is("reasoning-delta") => filled(text),
        Some(k) if k.is("tool-call-delta") => filled(arguments) || name.is_some(),
        _ => false,
    }
}

/// What the event that settles an attempt tells.
#[derive(Debug)]
pub(super) struct Settled {
    /// Whether its message has content.
    pub(super) has_content: bool,
    /// The provider and the model.
    pub(super) model: Option<(String, String)>,
    /// Its own usage.
    pub(super) usage: Option<Tokens>,
    /// Whether it was cancelled.
    pub(super) interrupted: bool,
    /// What its stream tells, where it has one.
    pub(super) stream: Streamed,
}

impl Settled {
    /// Reads it.
    pub(super) fn of(event: &Event<'_>) -> Settled {
        let [message, stream, usage, interrupted] =
            event.data.get_all(["message", "stream", "usage", "interrupted"]);
        let [source, content] = message.map_or([None; 2], |m| m.get_all(["source", "content"]));
        let [provider, model] = source.map_or([None; 2], |s| s.get_all(["provider", "model"]));
        let shown = |value: Option<Raw<'_>>| value.and_then(Raw::display_text);
        let mut streamed = Streamed::default();
        stream.into_iter().flat_map(Raw::elements).for_each(|record| streamed.record(record));
        Settled {
            has_content: content.is_some_and(|c| c.elements().next().is_some()),
            model: shown(provider).zip(shown(model)),
            usage: usage.filter(|u| u.is_object()).map(Tokens::of),
            interrupted: interrupted.is_some_and(Raw::is_true),
            stream: streamed,
        }
    }
}
