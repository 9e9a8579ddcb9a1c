//! Schedules: ids used once, changes of active records only (v0 sections 7.4 and 15.6, SC1).

use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::json::Raw;
use std::collections::HashMap;

/// Every id, and whether its record is still active and repeats.
pub(super) struct Schedule {
    from: u64,
    records: HashMap<Vec<u8>, (bool, bool)>,
}

impl Schedule {
    pub(super) fn new(from: u64) -> Schedule {
        Schedule { from, records: HashMap::new() }
    }
}

impl Family for Schedule {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        if event.kind != Kind::ScheduleChange || event.seq.0 < self.from {
            return;
        }
        let [operation, record, id, accepted] =
            event.data.get_all(["operation", "schedule", "id", "acceptedAt"]);
        let text = |v: Option<Raw<'_>>| v.and_then(Raw::text).map(|t| t.into_owned()).unwrap_or_default();
        if operation.is_some_and(|o| o.is("create")) {
            let id = text(record.and_then(|r| r.get("id")));
            let repeats = record.and_then(|r| r.get("kind")).is_some_and(|kind| kind.is("every"));
            if self.records.insert(id, (true, repeats)).is_some() {
                sink.warn(
                    Code::InvSchedule,
                    event,
                    "a schedule is made under the id of an earlier one (SC1)",
                );
            }
            return;
        }
        let dispatch = operation.is_some_and(|o| o.is("dispatch"));
        match self.records.get_mut(&text(id)).filter(|record| record.0) {
            None => sink.warn(Code::InvSchedule, event, "changes a schedule that is not active (SC1)"),
            Some((active, repeats)) => {
                if dispatch && *repeats != accepted.is_some() {
                    sink.warn(
                        Code::InvSchedule,
                        event,
                        "acceptedAt stands exactly on repeating schedules (SC1)",
                    );
                }
                *active = dispatch && *repeats;
            }
        }
    }
}
