//! The stream of an answer put together again: a published upgrade must give the message from it
//! (v4 section 5, v0 section 8.3).

use crate::format::event::Event;
use crate::format::schema::{Members, Shape};
use crate::format::shape::is;
use crate::json::text::push_wtf8;
use crate::json::write::{self, Object};
use crate::json::{Raw, canonical};
use crate::seq::MAX_SAFE;
use std::collections::HashMap;

const INT: Shape = Shape::Between(-9_007_199_254_740_991, 9_007_199_254_740_991);
const TEXTS: Shape = Shape::Both(
    &Shape::Exact(
        &[
            ("type", Shape::Any),
            ("time0", INT),
            ("index", Shape::Count),
            ("dt", Shape::List(&INT)),
            ("texts", Shape::Some(&Shape::Text)),
        ],
        NONE,
    ),
    &GAPS,
);
const ARGS: Shape = Shape::Both(
    &Shape::Exact(
        &[
            ("type", Shape::Any),
            ("time0", INT),
            ("index", Shape::Count),
            ("dt", Shape::List(&INT)),
            ("id", Shape::Filled),
            ("args", Shape::Some(&Shape::Text)),
        ],
        &[("name", Shape::Filled)],
    ),
    &GAPS,
);
const GAPS: Shape = Shape::Test(has_its_gaps, "a run with a gap between each two of its members");
const CHUNK: Shape = Shape::Exact(&[("type", Shape::Any), ("time", INT), ("chunk", Shape::Object)], NONE);
const RECORD: Shape = Shape::By(
    "type",
    &[("text-chunks", TEXTS), ("reasoning-chunks", TEXTS), ("tool-call-chunks", ARGS), ("chunk", CHUNK)],
    None,
);
const NONE: Members = &[];

fn has_its_gaps(run: Raw<'_>) -> bool {
    let [texts, args, dt, start] = run.get_all(["texts", "args", "dt", "time0"]);
    let count = |list: Option<Raw<'_>>| list.map_or(0, |list| list.elements().count());
    let times =
        dt.into_iter().flat_map(Raw::elements).try_fold(start.and_then(Raw::safe_int), |time, gap| {
            let next = time?.checked_add(gap.safe_int()?)?;
            (next.unsigned_abs() <= MAX_SAFE).then_some(Some(next))
        });
    times.is_some() && count(texts.or(args)) == count(dt) + 1
}

/// A block that came.
struct Part {
    index: u64,
    kind: Vec<u8>,
    text: Vec<u8>,
    id: Vec<u8>,
    name: Vec<u8>,
    /// The block as its end gives it: nothing that comes later changes it.
    closed: Option<Vec<u8>>,
}

impl Part {
    fn block(&self) -> Option<Vec<u8>> {
        if let Some(block) = &self.closed {
            return Some(block.clone());
        }
        let object = Object::new().text("type", &self.kind);
        match &*self.kind {
            b"text" | b"reasoning" => Some(object.text("text", &self.text).end()),
            b"tool-call" => {
                let made_up = format!("call-{}", self.index).into_bytes();
                let id = if self.id.is_empty() { &made_up } else { &self.id };
                let object = object.text("id", id).text("name", &self.name);
                Some(object.text("arguments", &self.text).end())
            }
            _ => None,
        }
    }

    /// Whether the block stays in an answer that was cut short: words, and not only blanks.
    fn has_words(&self, block: Raw<'_>) -> bool {
        let [kind, text] = block.get_all(["type", "text"]);
        let text = text.and_then(Raw::display_text).unwrap_or_default();
        (is(kind, "text") || is(kind, "reasoning")) && !text.trim().is_empty()
    }
}

/// What came of a stream so far.
#[derive(Default)]
struct Replay {
    parts: Vec<Part>,
    places: HashMap<u64, usize>,
    usage: Option<Vec<u8>>,
    finish: Option<Vec<u8>>,
}

fn text(value: Option<Raw<'_>>) -> Vec<u8> {
    value.and_then(Raw::text).map(|text| text.into_owned()).unwrap_or_default()
}

impl Replay {
    fn part(&mut self, index: u64, kind: &[u8]) -> &mut Part {
        let at = *self.places.entry(index).or_insert_with(|| {
            let (text, id, name) = (Vec::new(), Vec::new(), Vec::new());
            self.parts.push(Part { index, kind: kind.to_vec(), text, id, name, closed: None });
            self.parts.len() - 1
        });
        &mut self.parts[at]
    }

    fn delta<'a>(&mut self, kind: &[u8], of: Raw<'_>, pieces: impl Iterator<Item = Raw<'a>>) {
        let [index, id, name] = of.get_all(["index", "id", "name"]);
        let Some(index) = index.and_then(Raw::count) else { return };
        let part = self.part(index, kind);
        if let Some(id) = id {
            part.id = text(Some(id));
        }
        if name.is_some_and(Raw::is_filled_text) {
            part.name = text(name);
        }
        for piece in pieces.filter_map(Raw::text) {
            push_wtf8(&mut part.text, &piece);
        }
    }

    fn chunk(&mut self, chunk: Raw<'_>) {
        let [kind, index, block, words, arguments] =
            chunk.get_all(["type", "index", "block", "text", "argumentsDelta"]);
        match &*text(kind) {
            b"usage" => self.usage = chunk.get("usage").map(|usage| usage.bytes().to_vec()),
            b"finish" => self.finish = Some(chunk.bytes().to_vec()),
            b"text-delta" => self.delta(b"text", chunk, words.into_iter()),
            b"reasoning-delta" => self.delta(b"reasoning", chunk, words.into_iter()),
            b"tool-call-delta" => self.delta(b"tool-call", chunk, arguments.into_iter()),
            b"block-start" => {
                if let Some(index) = index.and_then(Raw::count) {
                    self.part(index, &text(chunk.get("blockType")));
                }
            }
            b"block-end" => {
                if let (Some(index), Some(block)) = (index.and_then(Raw::count), block) {
                    let part = self.part(index, &text(block.get("type")));
                    part.closed.get_or_insert_with(|| block.bytes().to_vec());
                }
            }
            _ => {}
        }
    }

    fn record(&mut self, record: Raw<'_>) {
        let [kind, chunk, texts, args] = record.get_all(["type", "chunk", "texts", "args"]);
        let pieces = texts.or(args).into_iter().flat_map(Raw::elements);
        match &*text(kind) {
            b"text-chunks" => self.delta(b"text", record, pieces),
            b"reasoning-chunks" => self.delta(b"reasoning", record, pieces),
            b"tool-call-chunks" => self.delta(b"tool-call", record, pieces),
            _ => chunk.map_or((), |chunk| self.chunk(chunk)),
        }
    }

    /// The blocks, and the state for a replay that goes with them.
    fn settle(&self, interrupted: bool) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
        let finish = self.finish.as_deref().and_then(|finish| Raw::parse(finish).ok());
        let cut = finish.is_some_and(|f| f.path(&["reason", "kind"]).is_some_and(|k| k.is("max-tokens")));
        let mut kept = Vec::new();
        for part in &self.parts {
            let block = match part.block() {
                Some(block) => block,
                None if interrupted => continue,
                None => return None,
            };
            let value = Raw::parse(&block).ok()?;
            let stays = match interrupted {
                true => part.has_words(value),
                false => !cut || !is(value.get("type"), "tool-call"),
            };
            kept.push((block.clone(), stays));
        }
        let state = finish.and_then(|finish| finish.get("replayState"));
        let state = state.and_then(|state| filtered(state, &kept));
        let content = write::array(kept.into_iter().filter(|(_, stays)| *stays).map(|(block, _)| block));
        Some((content, state))
    }
}

/// The state without what belonged to blocks that were dropped; none when it has another number.
fn filtered(state: Raw<'_>, kept: &[(Vec<u8>, bool)]) -> Option<Vec<u8>> {
    let Some(blocks) = state.get("blocks") else { return Some(state.bytes().to_vec()) };
    if blocks.elements().count() != kept.len() {
        return None;
    }
    let stay = blocks.elements().zip(kept).filter(|(_, (_, stays))| *stays);
    let blocks = write::array(stay.map(|(block, _)| block.bytes().to_vec()));
    Some(Object::new().raw_if("response", state.get("response").map(Raw::bytes)).raw("blocks", &blocks).end())
}

fn same(stored: Option<Raw<'_>>, made: Option<&[u8]>) -> bool {
    match (stored, made.and_then(|made| Raw::parse(made).ok())) {
        (None, None) => true,
        (Some(stored), Some(made)) => canonical::equal(stored, made),
        _ => false,
    }
}

/// Why an answer does not come of its stream; one without a stream is believed.
pub(super) fn replay(event: &Event<'_>) -> Result<(), String> {
    let [stream, usage, interrupted] = event.data.get_all(["stream", "usage", "interrupted"]);
    let mut replay = Replay::default();
    let mut is_empty = true;
    for record in stream.into_iter().flat_map(Raw::elements) {
        RECORD.fit(record).map_err(|what| format!("a record of a stream: {what}"))?;
        replay.record(record);
        is_empty = false;
    }
    let Some(message) = event.message().filter(|_| !is_empty) else { return Ok(()) };
    let Some((content, state)) = replay.settle(interrupted.is_some_and(Raw::is_true)) else {
        return Err("a stream that leaves a block open which only its end could tell".to_owned());
    };
    if !same(message.get("content"), Some(&content)) {
        return Err("a stream that gives another content than its message".to_owned());
    }
    if !same(usage, replay.usage.as_deref()) {
        return Err("a stream that gives another usage than its message".to_owned());
    }
    match same(message.path(&["source", "replayState"]), state.as_deref()) {
        true => Ok(()),
        false => Err("a stream that gives another replayState than its message".to_owned()),
    }
}
