//! Schedules: ids used once, changes of active records only (v0 sections 7.4 and 15.6, SC1).

use super::id::Id;
use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::instant;
use crate::format::kind::Kind;
use crate::format::schema::Shape;
use crate::format::shape::is;
use crate::json::Raw;
use std::collections::HashMap;

const INSTANT: Shape = Shape::Test(is_instant, "an instant with milliseconds in UTC");
const SECONDS: Shape = Shape::Positive;
const AFTER: Shape =
    Shape::Exact(&[ID, KIND, PROMPT, ("afterSeconds", SECONDS), ("scheduledAt", INSTANT)], &[]);
const AT: Shape = Shape::Exact(&[ID, KIND, PROMPT, ("scheduledAt", INSTANT)], &[]);
const OFTEN: Shape = Shape::Test(|seconds| seconds.count() >= Some(300), "at least 300");
const EVERY: Shape = Shape::Exact(
    &[ID, KIND, PROMPT, ("everySeconds", Shape::Both(&SECONDS, &OFTEN)), ("scheduledAt", INSTANT)],
    &[],
);
const RECORD: Shape = Shape::By("kind", &[("after", AFTER), ("at", AT), ("every", EVERY)], None);
const ID: (&str, Shape) = ("id", Shape::Trimmed);
const KIND: (&str, Shape) = ("kind", Shape::Any);
const PROMPT: (&str, Shape) = ("prompt", Shape::Trimmed);
const VERSION: (&str, Shape) = ("version", Shape::Exactly(1));
const OPERATION: (&str, Shape) = ("operation", Shape::Any);
const CREATE: Shape = Shape::Exact(&[VERSION, OPERATION, ("schedule", RECORD)], &[]);
const DELETE: Shape = Shape::Exact(&[VERSION, OPERATION, ID], &[]);
const DISPATCH: Shape = Shape::Exact(&[VERSION, OPERATION, ID], &[("acceptedAt", INSTANT)]);
const CHANGE: Shape =
    Shape::By("operation", &[("create", CREATE), ("delete", DELETE), ("dispatch", DISPATCH)], None);

/// Behind the last millisecond of the year 9999.
const END_OF_TIME: i64 = 253_402_300_800_000;

fn instant_of(value: Option<Raw<'_>>) -> Option<i64> {
    instant::parse(&value?.text()?)
}

fn is_instant(value: Raw<'_>) -> bool {
    instant_of(Some(value)).is_some()
}

/// An active record: when it is due, and after how many milliseconds again.
struct Record {
    due: i64,
    interval: Option<i64>,
}

impl Record {
    fn read(record: Raw<'_>) -> Option<Record> {
        let [due, every] = record.get_all(["scheduledAt", "everySeconds"]);
        let interval = every.and_then(Raw::safe_int).map(|seconds| seconds.saturating_mul(1000));
        Some(Record { due: instant_of(due)?, interval })
    }

    /// The record after it was accepted at that time; none when it has no next one.
    fn after(self, accepted: i64) -> Option<Record> {
        let interval = self.interval.filter(|interval| *interval > 0)?;
        let turns = accepted.saturating_sub(self.due) / interval + 1;
        let due = self.due.saturating_add(turns.saturating_mul(interval));
        (due < END_OF_TIME).then_some(Record { due, ..self })
    }
}

/// Every id; one whose record is gone keeps its id only.
pub(super) struct Schedule {
    from: u64,
    records: HashMap<Id, Option<Record>>,
}

impl Schedule {
    pub(super) fn new(from: u64) -> Schedule {
        Schedule { from, records: HashMap::new() }
    }

    fn create(&mut self, record: Raw<'_>) -> Result<(), &'static str> {
        match self.records.insert(Id::of(record.get("id")), Record::read(record)) {
            None => Ok(()),
            Some(_) => Err("is made under the id of an earlier one"),
        }
    }

    fn end(&mut self, data: Raw<'_>) -> Result<(), &'static str> {
        let [operation, id, accepted] = data.get_all(["operation", "id", "acceptedAt"]);
        let slot = self.records.get_mut(&Id::of(id));
        let (Some(slot), true) = (slot, is(operation, "dispatch")) else {
            let known = self.records.get_mut(&Id::of(id)).and_then(Option::take);
            return known.map(drop).ok_or("is changed that is not active");
        };
        let Some(record) = slot.take() else { return Err("is changed that is not active") };
        if record.interval.is_some() != accepted.is_some() {
            return Err("is dispatched with an acceptedAt though it does not repeat, or without");
        }
        let Some(accepted) = instant_of(accepted) else { return Ok(()) };
        let early = accepted < record.due;
        *slot = record.after(accepted);
        if early { Err("is accepted before it was due") } else { Ok(()) }
    }
}

impl Family for Schedule {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        if event.kind != Kind::ScheduleChange || event.seq.0 < self.from {
            return;
        }
        if !sink.shape(Code::InvSchedule, event, &CHANGE, "SC1") {
            return;
        }
        let verdict = match event.data.get("schedule") {
            Some(record) => self.create(record),
            None => self.end(event.data),
        };
        if let Err(what) = verdict {
            sink.warn(Code::InvSchedule, event, format!("a schedule {what} (SC1)"));
        }
    }
}
