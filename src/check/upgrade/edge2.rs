//! From generation 2 to 3: the system prompt becomes a message at the head of the surface.

use super::{Edge, Refusals, Source};
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::json::Raw;

pub(super) struct Edge2 {
    source: Source,
    steps_begun: bool,
}

impl Edge2 {
    pub(super) fn new(source: Source) -> Edge2 {
        Edge2 { source, steps_begun: false }
    }
}

impl Edge for Edge2 {
    fn event(&mut self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        self.steps_begun |= event.kind == Kind::StepStart;
        let on_surface = matches!(event.kind, Kind::UserMessage | Kind::AssistantMessage | Kind::ToolResult);
        if on_surface && !self.steps_begun {
            out.refuse(event, "a surface event before the first step/start");
        }
        if self.source.way.begins_at(2)
            && event.kind == Kind::AssistantMessage
            && Raw::parse(event.text).is_ok_and(|record| record.get("sourceEventSeqs").is_some())
        {
            out.refuse(event, "an assistant/message with sourceEventSeqs");
        }
    }
}
