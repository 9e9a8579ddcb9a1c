//! From generation 0 to 1: only known types of known shape.

use super::{Edge, Refusals};
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::json::Raw;

pub(super) struct Edge0;

impl Edge for Edge0 {
    fn event(&mut self, event: &Event<'_>, out: &mut Refusals<'_, '_>) {
        match event.kind {
            Kind::Unknown => out.refuse(event, "an unknown event type, even an ignorable one"),
            Kind::RequestHeaderDelta | Kind::ModeSet => out.refuse(event, "a retired event type"),
            Kind::RequestHeader if event.data.get("reason").is_some_and(|r| r.is("fallback")) => {
                out.refuse(event, "a request/header with the reason fallback");
            }
            Kind::SubagentDescriptor if event.data.get("version").and_then(Raw::count) != Some(3) => {
                out.refuse(event, "a subagent/descriptor of another version than 3");
            }
            Kind::PermissionPreset if event.data.get("origin").is_some() => {
                out.refuse(event, "a permission/preset with an origin");
            }
            _ => {}
        }
    }
}
