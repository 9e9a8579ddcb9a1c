//! Words that stream in: chunks put together the way the transcript shows them (format v0, section
//! 16.3), from chunk events or from the `stream` member of later generations.

use super::content::{self, Failure};
use crate::json::Raw;
use crate::json::text::push_wtf8;
use crate::json::write::{self, Object};
use std::collections::BTreeMap;

#[derive(Debug)]
enum Part {
    Text(Vec<u8>),
    Reasoning(Vec<u8>),
    Call {
        id: Vec<u8>,
        name: Vec<u8>,
        arguments: Vec<u8>,
    },
    /// A block as its `block-end` gave it.
    Stored(Vec<u8>),
    /// A block that was begun and is of no kind we can put together.
    Other(Vec<u8>),
}

/// The blocks of one attempt so far.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// By chunk index, not by order of arrival.
    parts: BTreeMap<u64, Part>,
    /// The last usage.
    pub(super) usage: Option<Vec<u8>>,
    /// The failure of the last finish.
    pub(super) failure: Option<Failure>,
}

impl Draft {
    /// Takes one chunk; gives the index of the block it changed.
    pub(super) fn chunk(&mut self, chunk: Raw<'_>) -> Option<u64> {
        let [kind, index, text, block, usage, reason] =
            chunk.get_all(["type", "index", "text", "block", "usage", "reason"]);
        let kind = kind.and_then(Raw::text)?;
        match &*kind {
            b"usage" => self.usage = content::copy(usage),
            b"finish" => {
                self.failure = reason.and_then(|reason| reason.get("failure")).map(content::failure);
            }
            _ => {}
        }
        let index = index.and_then(Raw::count)?;
        let text = text.and_then(Raw::text).unwrap_or_default();
        match &*kind {
            b"block-start" => self.start(index, chunk),
            b"text-delta" => self.text(index, &text),
            b"reasoning-delta" => self.reasoning(index, &text),
            b"tool-call-delta" => self.call(index, chunk, chunk.get("argumentsDelta").into_iter()),
            b"block-end" => {
                self.parts.insert(index, closed(block?));
            }
            _ => return None,
        }
        Some(index)
    }

    fn start(&mut self, index: u64, chunk: Raw<'_>) {
        let kind = chunk.get("blockType").and_then(Raw::text).unwrap_or_default();
        let part = match &*kind {
            b"text" => Part::Text(Vec::new()),
            b"reasoning" => Part::Reasoning(Vec::new()),
            b"tool-call" => Part::Call { id: Vec::new(), name: Vec::new(), arguments: Vec::new() },
            other => Part::Other(other.to_vec()),
        };
        self.parts.insert(index, part);
    }

    fn text(&mut self, index: u64, text: &[u8]) {
        match self.parts.get_mut(&index) {
            Some(Part::Text(so_far)) => push_wtf8(so_far, text),
            _ => {
                self.parts.insert(index, Part::Text(text.to_vec()));
            }
        }
    }

    fn reasoning(&mut self, index: u64, text: &[u8]) {
        match self.parts.get_mut(&index) {
            Some(Part::Reasoning(so_far)) => push_wtf8(so_far, text),
            _ => {
                self.parts.insert(index, Part::Reasoning(text.to_vec()));
            }
        }
    }

    fn call<'a>(&mut self, index: u64, of: Raw<'_>, pieces: impl Iterator<Item = Raw<'a>>) {
        let [new_id, new_name] = of.get_all(["id", "name"]);
        let bytes = |value: Option<Raw<'_>>| value.and_then(Raw::text).unwrap_or_default().into_owned();
        if !matches!(self.parts.get(&index), Some(Part::Call { .. })) {
            let empty = Part::Call { id: Vec::new(), name: Vec::new(), arguments: Vec::new() };
            self.parts.insert(index, empty);
        }
        if let Some(Part::Call { id, name, arguments }) = self.parts.get_mut(&index) {
            if id.is_empty() {
                *id = bytes(new_id);
            }
            if new_name.is_some_and(Raw::is_filled_text) {
                *name = bytes(new_name);
            }
            for piece in pieces.filter_map(Raw::text) {
                push_wtf8(arguments, &piece);
            }
        }
    }

    /// Takes one record of a `stream` (generations 2.5): a run of deltas, or a chunk with its time.
    pub(super) fn record(&mut self, record: Raw<'_>) {
        let [kind, index, texts, chunk] = record.get_all(["type", "index", "texts", "chunk"]);
        let Some(kind) = kind.and_then(Raw::text) else { return };
        if &*kind == b"chunk" {
            if let Some(chunk) = chunk {
                self.chunk(chunk);
            }
            return;
        }
        let Some(index) = index.and_then(Raw::count) else { return };
        let texts = texts.into_iter().flat_map(Raw::elements).filter_map(Raw::text);
        match &*kind {
            b"text-chunks" => texts.for_each(|text| self.text(index, &text)),
            b"reasoning-chunks" => texts.for_each(|text| self.reasoning(index, &text)),
            b"tool-call-chunks" => {
                let pieces = record.get("args").into_iter().flat_map(Raw::elements);
                self.call(index, record, pieces);
            }
            _ => {}
        }
    }

    /// The content of the blocks as a message would hold it.
    pub(super) fn content(&self) -> Vec<u8> {
        write::array(self.parts.values().map(|part| {
            match part {
                Part::Text(text) => Object::new().text("type", b"text").text("text", text).end(),
                Part::Reasoning(text) => Object::new().text("type", b"reasoning").text("text", text).end(),
                Part::Call { id, name, arguments } => Object::new()
                    .text("type", b"tool-call")
                    .text("id", id)
                    .text("name", name)
                    .text("arguments", arguments)
                    .end(),
                Part::Stored(block) => block.clone(),
                Part::Other(kind) => Object::new().text("type", kind).end(),
            }
        }))
    }

    /// Whether any block makes a row visible.
    pub(super) fn is_visible(&self) -> bool {
        self.parts.values().any(Part::is_visible)
    }

    /// Whether that block makes a row visible; asked after each chunk, so it looks at no other.
    pub(super) fn shows(&self, index: u64) -> bool {
        self.parts.get(&index).is_some_and(Part::is_visible)
    }
}

impl Part {
    fn is_visible(&self) -> bool {
        // From the end, where the newest words are.
        let filled = |text: &[u8]| text.iter().rev().any(|byte| !byte.is_ascii_whitespace());
        match self {
            Part::Text(text) | Part::Reasoning(text) => filled(text),
            Part::Call { .. } => false,
            Part::Other(_) => true,
            Part::Stored(block) => Raw::parse(block).is_ok_and(|block| content::block(block).is_visible()),
        }
    }
}

/// A block as its end gives it. A plain one stays open to late deltas, which are not ignored here;
/// one with members of its own is kept as stored.
fn closed(block: Raw<'_>) -> Part {
    let [kind, text] = block.get_all(["type", "text"]);
    let text = text.and_then(Raw::text).filter(|_| block.members().count() == 2);
    match (kind, text) {
        (Some(kind), Some(text)) if kind.is("text") => Part::Text(text.into_owned()),
        (Some(kind), Some(text)) if kind.is("reasoning") => Part::Reasoning(text.into_owned()),
        _ => Part::Stored(block.bytes().to_vec()),
    }
}

/// Whether a chunk counts as the first token: words, or arguments or a name of a call (section 8.3).
pub(super) fn bears_token(chunk: Raw<'_>) -> bool {
    let [kind, text, arguments, name] = chunk.get_all(["type", "text", "argumentsDelta", "name"]);
    let filled = |value: Option<Raw<'_>>| value.is_some_and(Raw::is_filled_text);
    kind.is_some_and(|kind| match kind.text().as_deref() {
        Some(b"text-delta" | b"reasoning-delta") => filled(text),
        Some(b"tool-call-delta") => filled(arguments) || name.is_some(),
        _ => false,
    })
}

/// When the first token of a `stream` came.
pub(super) fn first_token(stream: Raw<'_>) -> Option<i64> {
    stream.elements().find_map(|record| {
        let [kind, time, time0, chunk] = record.get_all(["type", "time", "time0", "chunk"]);
        if kind?.is("chunk") {
            return bears_token(chunk?).then_some(time?.safe_int()?);
        }
        let [texts, args, dt, name] = record.get_all(["texts", "args", "dt", "name"]);
        let mut time = time0?.safe_int()?;
        let mut gaps = dt.into_iter().flat_map(Raw::elements);
        for member in texts.or(args)?.elements() {
            if member.is_filled_text() || name.is_some() {
                return Some(time);
            }
            let gap = gaps.next().and_then(Raw::safe_int).unwrap_or(0);
            time = time.saturating_add(gap);
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(chunks: &[&str]) -> Draft {
        let mut draft = Draft::default();
        for chunk in chunks {
            draft.chunk(Raw::parse(chunk.as_bytes()).unwrap());
        }
        draft
    }

    #[test]
    fn blocks_stand_by_index_and_their_end_is_authoritative() {
        let draft = draft(&[
            r#"{"type":"text-delta","index":1,"text":"b"}"#,
            r#"{"type":"reasoning-delta","index":0,"text":"a"}"#,
            r#"{"type":"text-delta","index":1,"text":"c"}"#,
            r#"{"type":"block-end","index":0,"block":{"type":"reasoning","text":"A"}}"#,
        ]);
        let expected = r#"[{"type":"reasoning","text":"A"},{"type":"text","text":"bc"}]"#;
        assert_eq!(draft.content(), expected.as_bytes());
        assert!(draft.is_visible());
    }

    #[test]
    fn a_pair_of_surrogates_cut_between_deltas_is_whole() {
        let draft = draft(&[
            r#"{"type":"text-delta","index":0,"text":"x\ud83d"}"#,
            r#"{"type":"text-delta","index":0,"text":"\ude00y"}"#,
        ]);
        assert_eq!(draft.content(), "[{\"type\":\"text\",\"text\":\"x\u{1F600}y\"}]".as_bytes());
    }

    #[test]
    fn blank_text_and_calls_alone_are_not_visible() {
        let call = r#"{"type":"tool-call-delta","index":1,"id":"c","name":"t","argumentsDelta":"{"}"#;
        assert!(!draft(&[r#"{"type":"text-delta","index":0,"text":" \n"}"#, call]).is_visible());
    }

    #[test]
    fn the_first_token_of_a_stream_passes_over_empty_members() {
        let stream = r#"[{"type":"chunk","time":4,"chunk":{"type":"block-start","index":0}},
            {"type":"text-chunks","time0":5,"index":0,"dt":[2,9],"texts":["","a","b"]}]"#;
        assert_eq!(first_token(Raw::parse(stream.as_bytes()).unwrap()), Some(7));
    }
}
