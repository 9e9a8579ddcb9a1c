//! The tasks of a team and what blocks what (v0 section 15.6, TM1).

use super::id::{Id, shown};
use crate::format::schema::Shape;
use crate::format::shape::{canonical_decimal, is};
use crate::json::Raw;
use std::collections::{HashMap, HashSet};

const TASK: Shape = Shape::Exact(
    &[
        ("id", Shape::Filled),
        ("revision", Shape::Positive),
        ("subject", Shape::Text),
        ("description", Shape::Text),
        ("status", Shape::OneOf(&["pending", "in_progress", "completed", "deleted"])),
        ("blockedBy", Shape::List(&Shape::Filled)),
        ("writeScopes", Shape::List(&Shape::Text)),
    ],
    &[("ownerId", Shape::Filled)],
);

struct Task {
    revision: u64,
    deleted: bool,
    blocked_by: Vec<Id>,
}

#[derive(Default)]
pub(super) struct Tasks {
    tasks: HashMap<Id, Task>,
}

impl Tasks {
    /// Takes the next record of a task; what is wrong with it.
    pub(super) fn task(&mut self, task: Raw<'_>) -> Result<(), String> {
        TASK.fit(task)?;
        let [id, revision, status, blockers] = task.get_all(["id", "revision", "status", "blockedBy"]);
        let own = Id::of(id);
        let revision = revision.and_then(Raw::count).unwrap_or_default();
        let before = self.tasks.get(&own).map_or(0, |task| task.revision);
        let blocked_by: Vec<Id> =
            blockers.into_iter().flat_map(Raw::elements).map(|id| Id::of(Some(id))).collect();
        let deleted = is(status, "deleted");
        self.tasks.insert(own, Task { revision, deleted, blocked_by });
        let name = id.and_then(Raw::text).unwrap_or_default();
        let number = name.strip_prefix(b"task-").filter(|n| n.iter().all(u8::is_ascii_digit));
        if number.is_some_and(|number| !number.is_empty() && canonical_decimal(number).is_none()) {
            return Err(format!("the number of {} is no safe integer", shown(id)));
        }
        if revision != before + 1 {
            return Err(format!("a task at revision {revision}, expected {}", before + 1));
        }
        if deleted {
            return self.blocks_another(own);
        }
        self.graph(own)
    }

    /// A task that goes must not block one that stays.
    fn blocks_another(&self, gone: Id) -> Result<(), String> {
        let blocks = |task: &Task| !task.deleted && task.blocked_by.contains(&gone);
        match self.tasks.values().any(blocks) {
            true => Err("a task is deleted that blocks another".to_owned()),
            false => Ok(()),
        }
    }

    /// The graph was sound before, so a new fault has to do with the task that changed.
    fn graph(&self, own: Id) -> Result<(), String> {
        let blockers = self.tasks.get(&own).map_or(&[][..], |task| &task.blocked_by);
        let mut met = HashSet::new();
        for blocker in blockers {
            if *blocker == own {
                return Err("a task that blocks itself".to_owned());
            }
            if !met.insert(*blocker) {
                return Err("a task with the same blocker twice".to_owned());
            }
            if self.tasks.get(blocker).is_none_or(|task| task.deleted) {
                return Err("a task that waits for one that is not there".to_owned());
            }
        }
        let mut waiting: Vec<Id> = blockers.to_vec();
        while let Some(task) = waiting.pop().and_then(|id| self.tasks.get(&id)) {
            for blocker in &task.blocked_by {
                if *blocker == own {
                    return Err("tasks that wait for each other in a circle".to_owned());
                }
                if met.insert(*blocker) {
                    waiting.push(*blocker);
                }
            }
        }
        Ok(())
    }
}
