//! Commands: runs and their outcomes (v0 section 15.3, K1 to K3).

use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::json::Raw;
use std::collections::{BTreeSet, HashSet};

#[derive(Default)]
pub(super) struct Commands {
    runs: HashSet<Vec<u8>>,
    events: BTreeSet<u64>,
}

impl Family for Commands {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        if !matches!(event.kind, Kind::CommandRun | Kind::CommandDone) {
            return;
        }
        self.events.insert(event.seq.0);
        let [id, kind, source] = event.data.get_all(["commandId", "kind", "sourceEventSeq"]);
        let id = id.and_then(Raw::text).map(|id| id.into_owned()).unwrap_or_default();
        if event.kind == Kind::CommandRun {
            if !self.runs.insert(id) {
                sink.warn(Code::InvCommand, event, "a command runs under the id of an earlier one (K1)");
            }
            return;
        }
        if !self.runs.contains(&id) {
            sink.warn(Code::InvCommand, event, "a command is done that was never run (K2)");
        }
        let Some(source) = source else { return };
        let earlier = source.count().is_some_and(|n| n < event.seq.0 && !self.events.contains(&n));
        if !kind.is_some_and(|k| k.is("success")) || !earlier {
            sink.warn(Code::InvCommand, event, "a command names what is no source of its success (K3)");
        }
    }
}
