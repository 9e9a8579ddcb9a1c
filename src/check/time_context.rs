//! The time of a step, told to the model before its request (v0 section 15.6, TC1).

use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::shape::{is, only};
use crate::json::Raw;

/// Whether a step is open, and whether its request was made.
#[derive(Default)]
pub(super) struct TimeContext {
    step: bool,
    requested: bool,
}

/// Whether the message is of the plugin, under either of the names of its source.
fn is_time_context(source: Raw<'_>) -> bool {
    let [kind, plugin] = source.get_all(["kind", "plugin"]);
    is(kind, "time-context") || is(kind, "plugin") && is(plugin, "time-context")
}

/// Whether the one text block of a message is the text of its one section.
fn shows_its_section(message: Raw<'_>) -> bool {
    let [content, source] = message.get_all(["content", "source"]);
    let block = only(content).filter(|block| is(block.get("type"), "text"));
    let section = only(source.and_then(|source| source.get("sections")));
    let text = |part: Option<Raw<'_>>| part?.get("text")?.text().map(|text| text.into_owned());
    text(block).is_some_and(|shown| Some(shown) == text(section))
}

impl Family for TimeContext {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        match event.kind {
            Kind::StepStart => (self.step, self.requested) = (true, false),
            Kind::StepEnd | Kind::TurnStart | Kind::TurnEnd => self.step = false,
            Kind::RequestHeader => self.requested = true,
            Kind::UserMessage if event.data.get("source").is_some_and(is_time_context) => {
                if !self.step {
                    sink.warn(Code::InvTimeContext, event, "a time context outside of any step (TC1)");
                } else if self.requested {
                    let message = "a time context behind the request/header of its step (TC1)";
                    sink.warn(Code::InvTimeContext, event, message);
                }
                if !shows_its_section(event.data) {
                    let message = "a time context that is not the one text of its one section (TC1)";
                    sink.warn(Code::InvTimeContext, event, message);
                }
            }
            _ => {}
        }
    }
}
