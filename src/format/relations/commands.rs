//! Commands that a user ran (v4 section 8.2, N24 and N25).

use super::{RelEvent, Rule, Verdict};
use crate::fault::Code;
use crate::format::shape::{is, strict_count};
use crate::json::Raw;
use std::collections::HashSet;

const N24: Rule = Rule(Code::RelCommand, "N24");
const N25: Rule = Rule(Code::RelCommand, "N25");

/// The ids in use, and which events are about commands, ascending.
#[derive(Clone, Debug, Default)]
pub(super) struct Commands {
    ids: HashSet<Vec<u8>>,
    events: Vec<u64>,
}

impl Commands {
    /// N24: each run has an id of its own.
    pub(super) fn run(&mut self, event: &RelEvent<'_>) -> Verdict {
        self.events.push(event.seq);
        let id = event.data.get("commandId").filter(|id| id.is_filled_text()).and_then(Raw::text);
        let id = id.ok_or_else(|| N24.broken("command/run without a commandId"))?;
        N24.hold(self.ids.insert(id.into_owned()), "command/run with a commandId that is in use")
    }

    /// N25: an end names an earlier run, and perhaps the event that came of it.
    pub(super) fn done(&mut self, event: &RelEvent<'_>) -> Verdict {
        self.events.push(event.seq);
        let [id, kind, source] = event.data.get_all(["commandId", "kind", "sourceEventSeq"]);
        let known = id.and_then(Raw::text).is_some_and(|id| self.ids.contains(&*id));
        N25.hold(known, "command/done without its command/run")?;
        if source.is_none() {
            return Ok(());
        }
        N25.hold(is(kind, "success"), "sourceEventSeq on a command that did not succeed")?;
        let earlier = strict_count(source).filter(|seq| *seq < event.seq);
        let earlier = earlier.ok_or_else(|| N25.broken("sourceEventSeq is not an earlier event"))?;
        N25.hold(
            self.events.binary_search(&earlier).is_err(),
            "sourceEventSeq names an event about a command",
        )
    }
}
