//! From generation 0 to 1: only known types with payloads of exactly the known shape (generations
//! 1.5 and 9).

use super::messages::messages_of;
use super::parts::GOAL_CHANGE;
use super::payloads::shape_of;
use super::{Edge, Refusals, Source};
use crate::format::dialect::Dialect;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::schema::{Members, Shape};
use crate::format::shape::{is, only};
use crate::json::write::Object;
use crate::json::{Raw, canonical};

pub(super) struct Edge0 {
    source: Source,
}

impl Edge0 {
    pub(super) fn new(source: Source) -> Edge0 {
        Edge0 { source }
    }
}

/// Whether generation 1, whose vocabulary both first edges share, has the type.
pub(super) fn is_in_vocabulary(kind: Kind) -> bool {
    Dialect::of(1).is_some_and(|dialect| dialect.knows(kind))
}

/// What is wrong with a payload by itself, as the generation asks for it in which it was written.
pub(super) fn payload(event: &Event<'_>, generation: u32) -> Result<(), String> {
    if let Some(shape) = shape_of(event.kind) {
        shape.fit(event.data).map_err(|what| format!("the payload of {}: {what}", event.kind))?;
    }
    earlier(event)?;
    for message in messages_of(event) {
        let Some(source) = message.get("source") else { continue };
        if is(source.get("kind"), "goal") && source.get("change").is_some() {
            legacy_goal(message, source)?;
        }
        for reference in source.get("references").into_iter().flat_map(Raw::elements) {
            let version = reference.get("capturedFormatVersion").and_then(Raw::count);
            if version.is_some_and(|version| version > u64::from(generation)) {
                return Err("a session reference of a later generation than its log".to_owned());
            }
        }
    }
    Ok(())
}

/// Members that name other events name different, earlier ones.
fn earlier(event: &Event<'_>) -> Result<(), String> {
    let own = event.seq.0;
    let late = |list: Option<Raw<'_>>| {
        let mut seqs: Vec<u64> = list.into_iter().flat_map(Raw::elements).filter_map(Raw::count).collect();
        seqs.sort_unstable();
        seqs.windows(2).any(|pair| pair[0] == pair[1]) || seqs.last().is_some_and(|last| *last >= own)
    };
    let wrong = match event.kind {
        Kind::CommandDone => {
            event.data.get("sourceEventSeq").and_then(Raw::count).is_some_and(|seq| seq >= own)
        }
        Kind::CompactionSummary | Kind::CompactionPrune => late(event.data.get("shadowedSeqs")),
        Kind::SessionTitle | Kind::SessionTitleLlmRequest => late(event.data.get("messageSeqs")),
        _ => false,
    };
    match wrong {
        true => Err(format!("{} names an event that is not an earlier one, or names it twice", event.kind)),
        false => Ok(()),
    }
}

const SOURCE: Members = &[
    ("kind", Shape::Any),
    ("goalId", Shape::Filled),
    ("revision", Shape::Positive),
    ("round", Shape::Exactly(0)),
    ("change", GOAL_CHANGE),
];

/// A change of a goal that stands in a message: the source agrees with it, the text shows it.
fn legacy_goal(message: Raw<'_>, source: Raw<'_>) -> Result<(), String> {
    Shape::Exact(SOURCE, &[]).fit(source).map_err(|what| format!("a goal's change in a message: {what}"))?;
    let [id, revision, change] = source.get_all(["goalId", "revision", "change"]);
    let Some(change) = change else { return Ok(()) };
    let clears = is(change.get("operation"), "clear");
    let [of, members]: [&[&str]; 2] = match clears {
        true => [&["cleared"], &["cleared", "clearedAt"]],
        false => [&["goal"], &["goal", "roundsStarted", "createdAt", "updatedAt"]],
    };
    let [own_id, own_revision] =
        change.path(of).map(|goal| goal.get_all(["id", "revision"])).unwrap_or_default();
    let same_id = id.and_then(Raw::text) == own_id.and_then(Raw::text);
    if !same_id || revision.and_then(Raw::count) != own_revision.and_then(Raw::count) {
        return Err("a goal's change in a message whose source names another".to_owned());
    }
    let shown = members.iter().fold(Object::new(), |object, name| {
        object.raw_if(name, change.get(name).map(canonical::stringify).as_deref())
    });
    let text = [b"<goal_state>", &*shown.end(), b"</goal_state>"].concat();
    let block = only(message.get("content")).filter(|block| is(block.get("type"), "text"));
    match block.and_then(|block| block.get("text")?.text()).is_some_and(|stored| *stored == *text) {
        true => Ok(()),
        false => Err("a goal's change in a message whose text does not show it".to_owned()),
    }
}

impl Edge0 {
    fn delivery(&self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        if event.data.get("sessionFormatVersion").is_some() {
            return out.refuse(event, "a delivery marker with a sessionFormatVersion");
        }
        self.source.own_delivery(event, out);
    }
}

impl Edge for Edge0 {
    fn event(&mut self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        match event.kind {
            Kind::RequestHeaderDelta | Kind::ModeSet => return out.refuse(event, "a retired event type"),
            Kind::RequestHeader if is(event.data.get("reason"), "fallback") => {
                return out.refuse(event, "a request/header with the reason fallback");
            }
            kind if !is_in_vocabulary(kind) => {
                return out.refuse(event, "an unknown event type, even an ignorable one");
            }
            Kind::SubagentDescriptor if event.data.get("version").and_then(Raw::count) != Some(3) => {
                return out.refuse(event, "a subagent/descriptor of another version than 3");
            }
            _ => {}
        }
        if let Err(what) = payload(event, 0) {
            out.refuse(event, &what);
        } else if event.kind == Kind::DeliveryAccepted {
            self.delivery(event, out);
        }
    }
}
