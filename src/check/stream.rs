//! The grammar of an attempt's chunks (v0 section 15.6, SG1): as events in generations 0 and 1, as
//! the stream of an answer or an attempt later.

use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::json::Raw;
use std::collections::HashMap;

/// One attempt.
#[derive(Default)]
struct Attempt {
    /// The open and closed blocks by their index: the type, and whether it is open.
    blocks: HashMap<u64, (Vec<u8>, bool)>,
    usage: bool,
    finished: bool,
    /// Something was found; one finding is enough for an attempt.
    broken: bool,
}

#[derive(Default)]
pub(super) struct Streams {
    attempt: Attempt,
}

fn type_of(value: Raw<'_>, name: &str) -> Vec<u8> {
    value.get(name).and_then(Raw::text).map(|t| t.into_owned()).unwrap_or_default()
}

impl Attempt {
    /// Takes one chunk; what is wrong with it.
    fn chunk(&mut self, chunk: Raw<'_>) -> Option<&'static str> {
        let kind = type_of(chunk, "type");
        if self.finished {
            return Some("a chunk behind the finish");
        }
        let index = chunk.get("index").and_then(Raw::count);
        match &*kind {
            b"usage" => std::mem::replace(&mut self.usage, true).then_some("usage twice"),
            b"finish" => {
                self.finished = true;
                let reason = chunk.path(&["reason", "kind"]);
                let broken = reason.is_some_and(|r| r.is("error") || r.is("aborted"));
                (!broken && self.blocks.values().any(|block| block.1))
                    .then_some("a block is open at the finish")
            }
            b"block-start" => {
                let Some(index) = index else { return Some("a block without an index") };
                let block = (type_of(chunk, "blockType"), true);
                self.blocks.insert(index, block).is_some().then_some("a block starts twice")
            }
            b"block-end" => match index.and_then(|index| self.blocks.get_mut(&index)).filter(|b| b.1) {
                Some(block) => {
                    block.1 = false;
                    let same =
                        chunk.path(&["block", "type"]).and_then(Raw::text).is_some_and(|t| *t == *block.0);
                    (!same).then_some("a block ends as another type than it started")
                }
                None => Some("a block ends that is not open"),
            },
            b"text-delta" => self.delta(index, b"text"),
            b"reasoning-delta" => self.delta(index, b"reasoning"),
            b"tool-call-delta" => self.delta(index, b"tool-call"),
            _ => None,
        }
    }

    fn delta(&self, index: Option<u64>, of: &[u8]) -> Option<&'static str> {
        let block = index.and_then(|index| self.blocks.get(&index));
        match block {
            Some((kind, true)) if kind == of => None,
            Some((_, true)) => Some("a delta of another type than its block"),
            _ => Some("a delta for a block that is not open"),
        }
    }

    /// Takes one record of a stream.
    fn record(&mut self, record: Raw<'_>) -> Option<&'static str> {
        let index = record.get("index").and_then(Raw::count);
        match &*type_of(record, "type") {
            b"chunk" => self.chunk(record.get("chunk")?),
            _ if self.finished => Some("a chunk behind the finish"),
            b"text-chunks" => self.delta(index, b"text"),
            b"reasoning-chunks" => self.delta(index, b"reasoning"),
            b"tool-call-chunks" => self.delta(index, b"tool-call"),
            _ => None,
        }
    }
}

impl Family for Streams {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        match event.kind {
            Kind::AssistantChunk => {
                if self.attempt.finished {
                    self.attempt = Attempt::default();
                }
                let what = event.data.get("chunk").and_then(|chunk| self.attempt.chunk(chunk));
                if let Some(what) = what.filter(|_| !self.attempt.broken) {
                    self.attempt.broken = true;
                    sink.note(Code::StreamGrammar, event, format!("{what} (SG1)"));
                }
            }
            Kind::LlmRetry | Kind::StepStart | Kind::StepEnd | Kind::CompactionStart => {
                self.attempt = Attempt::default()
            }
            Kind::AssistantMessage | Kind::AssistantAttempt => {
                self.attempt = Attempt::default();
                let Some(stream) = event.data.get("stream") else { return };
                let mut attempt = Attempt::default();
                if let Some(what) = stream.elements().find_map(|record| attempt.record(record)) {
                    sink.note(Code::StreamGrammar, event, format!("{what} (SG1)"));
                }
            }
            _ => {}
        }
    }
}
