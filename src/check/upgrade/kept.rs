//! The rules between events that the result of an upgrade must keep: from generation 2 on the target
//! asks them (generations 4, v4 sections 8 and 12). They are the rules of generation 4, so events are
//! shown to them in its shape.

use super::Way;
use super::is_restart;
use crate::check::life::named;
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::relations::{RelEvent, RelHeader, Relations, Violation, takes_part};
use crate::format::shape::{is, only};
use crate::format::sources::Sources;
use crate::format::surface_op::SurfaceOp;
use crate::json::Raw;
use crate::json::write::Object;

/// The phase of the rules between events; what stands in one message is left to the edges.
const BETWEEN_EVENTS: u8 = 2;

pub(super) struct Kept {
    way: Way,
    relations: Relations,
    turn: Option<u64>,
    in_step: bool,
    prompted: bool,
}

impl Kept {
    pub(super) fn new(way: Way) -> Kept {
        let relations = Relations::new(&RelHeader::default());
        Kept { way, relations, turn: None, in_step: false, prompted: false }
    }

    /// Takes the next event.
    pub(super) fn event(&mut self, event: &Event<'_>) {
        let kind = kind_of(event.kind);
        if !takes_part(kind) {
            self.prompted = false;
            return;
        }
        if kind == Kind::TurnStart {
            self.restart(event);
        }
        let list = event.sources;
        let sources = list.and_then(|list| Sources::parse(list, event.seq.0, false).ok());
        let shown = shown(event);
        let data = shown.as_deref().and_then(|text| Raw::parse(text).ok()).unwrap_or(event.data);
        self.relations.event(&RelEvent {
            seq: event.seq.0,
            kind,
            data,
            op: event.op,
            sources: sources.as_ref(),
            has_sources: list.is_some(),
        });
        match kind {
            Kind::TurnStart => (self.turn, self.in_step) = (named(event).0, false),
            Kind::TurnEnd => (self.turn, self.in_step) = (None, false),
            Kind::StepStart => self.in_step = true,
            Kind::StepEnd => self.in_step = false,
            _ => {}
        }
        self.prompted = is_restart(event);
    }

    /// Two of the edges close a turn that was still open when a new prompt began the next one.
    fn restart(&mut self, event: &Event<'_>) {
        let Some(open) = self.turn.filter(|_| self.prompted && !self.in_step) else { return };
        if !(self.way.takes(1) || self.way.takes(3)) || named(event).0 != Some(open + 1) {
            return;
        }
        let data = Object::new().int("turn", open).end();
        let Ok(data) = Raw::parse(&data) else { return };
        self.relations.event(&RelEvent {
            seq: event.seq.0,
            kind: Kind::TurnEnd,
            data,
            op: SurfaceOp::Absent,
            sources: None,
            has_sources: false,
        });
    }

    /// What the target refuses.
    pub(super) fn finish(self, inherited: u64) -> impl Iterator<Item = Violation> {
        // Of what stands in one event, the catalogue of children goes to generation 4 as it is.
        let as_it_is = self.way.takes(3);
        let is_asked = move |violation: &Violation| {
            violation.phase == BETWEEN_EVENTS || as_it_is && violation.code == Code::RelCatalog
        };
        self.relations.finish(inherited).into_iter().filter(is_asked)
    }
}

fn kind_of(kind: Kind) -> Kind {
    match kind {
        Kind::CodeDispatch => Kind::PtcDispatch,
        Kind::CodeDispatchStart => Kind::PtcDispatchStart,
        kind => kind,
    }
}

/// The payload as generation 4 writes it, where it differs in what the rules look at.
fn shown(event: &Event<'_>) -> Option<Vec<u8>> {
    let of_plugin =
        |source: Option<Raw<'_>>, name: &str| source.is_some_and(|source| is(source.get("plugin"), name));
    match event.kind {
        Kind::ToolResult => result(event),
        Kind::UserMessage => {
            let source = event.data.get("source").filter(|source| of_plugin(Some(*source), "compact"))?;
            let [id, command] =
                source.get_all(["compactionId", "sourceCommandId"]).map(|id| id.map(Raw::bytes));
            let source = Object::new()
                .text("kind", b"compact-checkpoint")
                .raw_if("compactionId", id)
                .raw_if("sourceCommandId", command)
                .end();
            Some(Object::new().raw("source", &source).end())
        }
        Kind::SessionTitleLlmRequest => {
            let [seqs, messages] = event.data.get_all(["messageSeqs", "messages"]);
            let message = only(messages)?;
            if !of_plugin(message.get("source"), "dsh-session-title-llm") {
                return None;
            }
            let [role, content] = message.get_all(["role", "content"]).map(|part| part.map(Raw::bytes));
            let source = Object::new().text("kind", b"dsh-session-title-llm").end();
            let message =
                Object::new().raw_if("role", role).raw("source", &source).raw_if("content", content).end();
            let messages = [b"[", &*message, b"]"].concat();
            let seqs = seqs.map(Raw::bytes);
            Some(Object::new().raw_if("messageSeqs", seqs).raw("messages", &messages).end())
        }
        _ => None,
    }
}

/// A result out of its wrapper.
fn result(event: &Event<'_>) -> Option<Vec<u8>> {
    let message = event.message()?;
    let block = only(message.get("content"));
    let [failed, content] = block.map_or([None; 2], |block| block.get_all(["isError", "content"]));
    let [id, call] =
        [message.get("id"), message.path(&["source", "callId"])].map(|part| part.map(Raw::bytes));
    let message = Object::new()
        .raw_if("toolCallId", call)
        .raw_if("isError", failed.map(Raw::bytes))
        .raw_if("content", content.map(Raw::bytes))
        .raw_if("id", id)
        .end();
    let [turn, step, error] = event.data.get_all(["turn", "step", "error"]).map(|part| part.map(Raw::bytes));
    let data = Object::new().raw_if("turn", turn).raw_if("step", step).raw("message", &message);
    Some(data.raw_if("error", error).end())
}
