//! What the harness's upgrade to a later generation would refuse (generations 1.5 and 9, v4 section
//! 12): the refusals that the format pages name, each with the edge that it belongs to.

use super::life::named;
use super::{Family, Sink};
use crate::fault::{Code, Severity};
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::sources::Sources;
use crate::json::Raw;
use crate::log::Log;
use std::collections::{HashMap, HashSet};

/// The state over the events; each edge on the way to the target is judged.
pub struct Upgrade {
    from: u32,
    to: u32,
    turn: Option<u64>,
    step: Option<u64>,
    steps_begun: bool,
    compaction: Option<(u64, Vec<u64>)>,
    /// Open calls of the step: the id, and whether it was started.
    open: HashMap<Vec<u8>, bool>,
    surface_begun: bool,
    children: HashSet<Vec<u8>>,
    id: Vec<u8>,
    inherited: u64,
    has_parent: bool,
    /// The runs of chunk events so far, which the edge from 1 to 2 consumes.
    chunks: Vec<(u64, u64)>,
}

impl Upgrade {
    /// Judges the way from a log's own generation to `target`.
    #[must_use]
    pub fn new(log: &Log, target: u32) -> Upgrade {
        Upgrade {
            from: log.dialect().version,
            to: target,
            turn: None,
            step: None,
            steps_begun: false,
            compaction: None,
            open: HashMap::new(),
            surface_begun: false,
            children: HashSet::new(),
            id: log.header().map(|h| h.id.clone()).unwrap_or_default(),
            inherited: log.inherited(),
            has_parent: log.header().is_some_and(|h| h.parent_session.is_some()),
            chunks: Vec::new(),
        }
    }

    /// Whether the edge that begins at a generation is on the way.
    fn takes(&self, edge: u32) -> bool {
        self.from <= edge && edge < self.to
    }

    fn refuse(&self, edge: u32, event: &Event<'_>, sink: &mut Sink<'_>, what: &str) {
        if self.takes(edge) {
            let message = format!("the upgrade from {edge} to {} refuses: {what}", edge + 1);
            sink.add(Code::UpgradeRefused, Severity::Warns, event.seq, message);
        }
    }

    fn edge_0(&self, event: &Event<'_>, sink: &mut Sink<'_>) {
        match event.kind {
            Kind::Unknown => self.refuse(0, event, sink, "an unknown event type, even an ignorable one"),
            Kind::RequestHeaderDelta | Kind::ModeSet => self.refuse(0, event, sink, "a retired event type"),
            Kind::RequestHeader if event.data.get("reason").is_some_and(|r| r.is("fallback")) => {
                self.refuse(0, event, sink, "a request/header with the reason fallback");
            }
            Kind::SubagentDescriptor if event.data.get("version").and_then(Raw::count) != Some(3) => {
                self.refuse(0, event, sink, "a subagent/descriptor of another version than 3");
            }
            Kind::PermissionPreset if event.data.get("origin").is_some() => {
                self.refuse(0, event, sink, "a permission/preset with an origin");
            }
            _ => {}
        }
    }

    fn edge_1(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        let seq = event.seq.0;
        match event.kind {
            Kind::Unknown if self.from == 1 => {
                self.refuse(1, event, sink, "an unknown event type, even an ignorable one");
            }
            Kind::AssistantChunk => {
                match self.chunks.last_mut() {
                    Some((_, last)) if *last + 1 == seq => *last = seq,
                    _ => self.chunks.push((seq, seq)),
                }
                let (turn, step) = named(event);
                if turn != self.turn || step != self.step || self.step.is_none() {
                    self.refuse(1, event, sink, "a chunk outside of an open turn and step");
                }
            }
            Kind::UserMessage
                if event.op.is_replace() && self.compaction.is_none() && is_checkpoint(event) =>
            {
                self.refuse(1, event, sink, "a checkpoint without compaction/start");
            }
            Kind::CommandDone => {
                let source = event.data.get("sourceEventSeq").and_then(Raw::count);
                if source.is_some_and(|source| self.is_chunk(source)) {
                    self.refuse(1, event, sink, "a command/done that names a chunk");
                }
            }
            _ => {}
        }
        if event.kind != Kind::AssistantMessage
            && let Some(list) = Raw::parse(event.text).ok().and_then(|record| record.get("sourceEventSeqs"))
            && let Ok(sources) = Sources::parse(list, seq, false)
            && sources.runs().iter().any(|run| self.is_chunk(run.first) || self.is_chunk(run.last))
        {
            self.refuse(1, event, sink, "sources that name chunks");
        }
        let cut = self.inherited;
        let inside = |run: &(u64, u64)| run.0 < cut && cut <= run.1;
        if cut > 0
            && seq == cut
            && event.kind == Kind::AssistantChunk
            && self.chunks.last().is_some_and(inside)
        {
            self.refuse(1, event, sink, "the end of the inherited events splits an attempt");
        }
    }

    fn is_chunk(&self, seq: u64) -> bool {
        let after = self.chunks.partition_point(|run| run.0 <= seq);
        after > 0 && self.chunks[after - 1].1 >= seq
    }

    fn edge_2(&self, event: &Event<'_>, sink: &mut Sink<'_>) {
        let on_surface = matches!(event.kind, Kind::UserMessage | Kind::AssistantMessage | Kind::ToolResult);
        if on_surface && !self.steps_begun {
            self.refuse(2, event, sink, "a surface event before the first step/start");
        }
        if self.from == 2
            && event.kind == Kind::AssistantMessage
            && Raw::parse(event.text).is_ok_and(|record| record.get("sourceEventSeqs").is_some())
        {
            self.refuse(2, event, sink, "an assistant/message with sourceEventSeqs");
        }
    }

    fn edge_3(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        match event.kind {
            Kind::DeliveryAccepted => self.delivery(event, sink),
            Kind::SubagentCatalog if event.seq.0 >= self.inherited => {
                let child = text(event.data.get("childId"));
                if !self.children.insert(child) {
                    self.refuse(3, event, sink, "two subagent/catalog entries of one child");
                }
            }
            Kind::RequestHeader => {
                let tools = event.data.path(&["header", "tools"]);
                if tools.into_iter().flat_map(Raw::elements).any(|tool| tool.get("deferLoading").is_some()) {
                    self.refuse(3, event, sink, "a tool with deferLoading of its own");
                }
            }
            Kind::SystemMessage if event.op.is_replace() => {}
            Kind::SystemMessage if self.surface_begun && self.from == 3 && !self.has_head(sink) => {
                self.refuse(3, event, sink, "a system/message after other surface nodes (N8)");
            }
            _ => {}
        }
        self.blocks(event, sink);
        self.life(event, sink);
    }

    fn has_head(&self, sink: &Sink<'_>) -> bool {
        sink.log.surface().all().first().is_some_and(|node| node.kind == Kind::SystemMessage)
    }

    fn delivery(&self, event: &Event<'_>, sink: &mut Sink<'_>) {
        let [id, version, through] = event.data.get_all(["sessionId", "sessionFormatVersion", "throughSeq"]);
        let version = version.map_or(Some(0), Raw::count);
        if version.is_none_or(|v| v >= 4) {
            return self.refuse(3, event, sink, "a delivery marker of generation 4 or later");
        }
        if version != Some(3) {
            return;
        }
        let earlier = through.and_then(Raw::count).is_some_and(|seq| seq < event.seq.0);
        let id = text(id);
        let inherited = self.has_parent && event.seq.0 < self.inherited;
        if !earlier || id.is_empty() || id != self.id && !inherited {
            self.refuse(3, event, sink, "a delivery marker that does not fit its log");
        }
    }

    /// Content blocks: each with a type, results not nested.
    fn blocks(&self, event: &Event<'_>, sink: &mut Sink<'_>) {
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
            self.refuse(3, event, sink, "a content block without a type");
        }
        for block in content.elements().filter(is_result) {
            let inner = block.get("content");
            if inner.into_iter().flat_map(Raw::elements).any(|block| is_result(&block)) {
                self.refuse(3, event, sink, "a tool-result inside a tool-result");
            }
            if block.get("isError").is_some_and(|e| !e.is_true() && e.bytes() != b"false") {
                self.refuse(3, event, sink, "a tool-result whose isError is no boolean");
            }
        }
    }

    /// The rules of generation 4 that real logs of generation 3 break (N7, N12, N13, N15).
    fn life(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        match event.kind {
            Kind::AssistantMessage if !event.op.is_replace() => {
                let content = event.message().and_then(|m| m.get("content"));
                for block in content.into_iter().flat_map(Raw::elements) {
                    if block.get("type").is_some_and(|t| t.is("tool-call"))
                        && self.open.insert(text(block.get("id")), false).is_some()
                    {
                        self.refuse(3, event, sink, "a call under the id of an open one (N13)");
                    }
                }
            }
            Kind::ToolCall => drop(self.open.insert(text(event.data.get("callId")), true)),
            Kind::ToolResult if !event.op.is_replace() => self.result(event, sink),
            Kind::StepEnd | Kind::TurnEnd => {
                let count = self.open.len();
                if count > 0 {
                    let what = format!("a step or turn ends with {count} calls without result (N10, N12)");
                    self.refuse(3, event, sink, &what);
                }
                self.open.clear();
            }
            _ => {}
        }
    }

    fn result(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        let id = text(event.message().and_then(|m| m.path(&["source", "callId"])));
        let started = self.open.remove(&id);
        let not_started = event.data.path(&["error", "code"]).is_some_and(|code| code.is("TOOL_NOT_STARTED"));
        match started {
            None => self.refuse(3, event, sink, "a tool/result that answers no open call (N15)"),
            Some(false) if !not_started => {
                self.refuse(
                    3,
                    event,
                    sink,
                    "a result of a call that was not started, and not the exact repair (N15)",
                );
            }
            Some(_) => {}
        }
    }

    fn compaction(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        let ends = event.kind == Kind::CompactionEnd;
        if ends && self.compaction.take().is_some_and(|(_, crossed)| !crossed.is_empty()) {
            self.refuse(3, event, sink, "a compaction that crosses the edge of a turn (N7)");
        }
        match event.kind {
            Kind::CompactionStart => self.compaction = Some((event.seq.0, Vec::new())),
            Kind::TurnStart | Kind::TurnEnd => {
                if let Some((_, crossed)) = &mut self.compaction {
                    crossed.push(event.seq.0);
                }
            }
            Kind::EndSeed => self.compaction = None,
            _ => {}
        }
    }
}

fn text(value: Option<Raw<'_>>) -> Vec<u8> {
    value.and_then(Raw::text).map(|text| text.into_owned()).unwrap_or_default()
}

fn is_checkpoint(event: &Event<'_>) -> bool {
    event.data.path(&["source", "plugin"]).is_some_and(|plugin| plugin.is("compact"))
}

impl Family for Upgrade {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        match event.kind {
            Kind::TurnStart => (self.turn, self.step) = (named(event).0, None),
            Kind::StepStart => {
                self.step = named(event).1;
                self.steps_begun = true;
            }
            _ => {}
        }
        if self.takes(0) {
            self.edge_0(event, sink);
        }
        if self.takes(1) {
            self.edge_1(event, sink);
        }
        if self.takes(2) {
            self.edge_2(event, sink);
        }
        self.compaction(event, sink);
        if self.takes(3) {
            self.edge_3(event, sink);
        }
        self.surface_begun |= sink.log.dialect().is_surface(event.kind);
        match event.kind {
            Kind::TurnEnd => (self.turn, self.step) = (None, None),
            Kind::StepEnd => self.step = None,
            _ => {}
        }
    }
}
