//! From generation 3 to 4: sources, results and blocks get their new shape, and the rules between
//! events must hold.

use super::{Edge, Refusals, Source, text};
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::json::Raw;
use std::collections::{HashMap, HashSet};

pub(super) struct Edge3 {
    source: Source,
    /// Edges of turns inside the open compaction.
    crossed: Option<u64>,
    /// Open calls of the step: the id, and whether it was started.
    open: HashMap<Vec<u8>, bool>,
    surface_begun: bool,
    children: HashSet<Vec<u8>>,
}

impl Edge3 {
    pub(super) fn new(source: Source) -> Edge3 {
        Edge3 { source, crossed: None, open: HashMap::new(), surface_begun: false, children: HashSet::new() }
    }

    fn delivery(&self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        let [id, version, through] = event.data.get_all(["sessionId", "sessionFormatVersion", "throughSeq"]);
        let version = version.map_or(Some(0), Raw::count);
        if version.is_none_or(|v| v >= 4) {
            return out.refuse(event, "a delivery marker of generation 4 or later");
        }
        if version != Some(3) {
            return;
        }
        let earlier = through.and_then(Raw::count).is_some_and(|seq| seq < event.seq.0);
        let id = text(id);
        let inherited = self.source.has_parent && event.seq.0 < self.source.inherited;
        if !earlier || id.is_empty() || id != self.source.id && !inherited {
            out.refuse(event, "a delivery marker that does not fit its log");
        }
    }

    /// The rules of generation 4 that real logs of generation 3 break (N7, N12, N13, N15).
    fn life(&mut self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        match event.kind {
            Kind::AssistantMessage if !event.op.is_replace() => {
                let content = event.message().and_then(|m| m.get("content"));
                for block in content.into_iter().flat_map(Raw::elements) {
                    if block.get("type").is_some_and(|t| t.is("tool-call"))
                        && self.open.insert(text(block.get("id")), false).is_some()
                    {
                        out.refuse(event, "a call under the id of an open one (N13)");
                    }
                }
            }
            Kind::ToolCall => drop(self.open.insert(text(event.data.get("callId")), true)),
            Kind::ToolResult if !event.op.is_replace() => self.result(event, out),
            Kind::StepEnd | Kind::TurnEnd => {
                let count = self.open.len();
                if count > 0 {
                    let what = format!("a step or turn ends with {count} calls without result (N10, N12)");
                    out.refuse(event, &what);
                }
                self.open.clear();
            }
            _ => {}
        }
    }

    fn result(&mut self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        let id = text(event.message().and_then(|m| m.path(&["source", "callId"])));
        let started = self.open.remove(&id);
        let not_started = event.data.path(&["error", "code"]).is_some_and(|code| code.is("TOOL_NOT_STARTED"));
        match started {
            None => out.refuse(event, "a tool/result that answers no open call (N15)"),
            Some(false) if !not_started => {
                out.refuse(event, "a result of a call that was not started, and not the exact repair (N15)")
            }
            Some(_) => {}
        }
    }

    fn compaction(&mut self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        match event.kind {
            Kind::CompactionStart => self.crossed = Some(0),
            Kind::TurnStart | Kind::TurnEnd => {
                self.crossed = self.crossed.map(|crossed| crossed + 1);
            }
            Kind::CompactionEnd if self.crossed.take().is_some_and(|crossed| crossed > 0) => {
                out.refuse(event, "a compaction that crosses the edge of a turn (N7)");
            }
            Kind::EndSeed => self.crossed = None,
            _ => {}
        }
    }
}

/// Content blocks: each with a type, results not nested.
fn blocks(event: &Event<'_>, out: &mut Refusals<'_, '_>) {
    if !matches!(
        event.kind,
        Kind::UserMessage | Kind::AssistantMessage | Kind::ToolResult | Kind::SystemMessage
    ) {
        return;
    }
    let Some(content) = event.message().and_then(|m| m.get("content")) else { return };
    let is_result = |block: &Raw<'_>| block.get("type").is_some_and(|t| t.is("tool-result"));
    let untyped = |block: Raw<'_>| block.get("type").and_then(Raw::text).is_none();
    if content.elements().any(untyped) {
        out.refuse(event, "a content block without a type");
    }
    for block in content.elements().filter(is_result) {
        let inner = block.get("content");
        if inner.into_iter().flat_map(Raw::elements).any(|block| is_result(&block)) {
            out.refuse(event, "a tool-result inside a tool-result");
        }
        if block.get("isError").is_some_and(|e| !e.is_true() && e.bytes() != b"false") {
            out.refuse(event, "a tool-result whose isError is no boolean");
        }
    }
}

impl Edge for Edge3 {
    fn event(&mut self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        self.compaction(event, out);
        match event.kind {
            Kind::DeliveryAccepted => self.delivery(event, out),
            Kind::SubagentCatalog if event.seq.0 >= self.source.inherited => {
                let child = text(event.data.get("childId"));
                if !self.children.insert(child) {
                    out.refuse(event, "two subagent/catalog entries of one child");
                }
            }
            Kind::RequestHeader => {
                let tools = event.data.path(&["header", "tools"]);
                if tools.into_iter().flat_map(Raw::elements).any(|tool| tool.get("deferLoading").is_some()) {
                    out.refuse(event, "a tool with deferLoading of its own");
                }
            }
            Kind::SystemMessage if event.op.is_replace() => {}
            Kind::SystemMessage if self.surface_begun && self.source.way.begins_at(3) && !has_head(out) => {
                out.refuse(event, "a system/message after other surface nodes (N8)");
            }
            _ => {}
        }
        blocks(event, out);
        self.life(event, out);
        self.surface_begun |= out.sink.log.dialect().is_surface(event.kind);
    }
}

fn has_head(out: &Refusals<'_, '_>) -> bool {
    out.sink.log.surface().all().first().is_some_and(|node| node.kind == Kind::SystemMessage)
}
