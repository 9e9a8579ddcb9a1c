//! What waits: the inbox and the schedule (v0 sections 7.2 and 7.4).

use crate::format::event::Event;
use crate::format::message::words;
use crate::json::Raw;
use crate::seq::Seq;

/// A message that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The splice that put it there.
    pub seq: Seq,
    /// The id of the message, for people.
    pub id: String,
    /// The kind of its source.
    pub source: String,
    /// Its first words.
    pub words: String,
}

/// The two lists of messages that wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inbox {
    /// Prompts for turns to come.
    pub next_turn: Vec<Pending>,
    /// What goes into the next step.
    pub next_step: Vec<Pending>,
    /// Splices whose bounds do not hold; the harness does not start an agent on such a log.
    pub broken: Vec<Seq>,
}

const WORDS: usize = 200;

impl Inbox {
    /// Takes one `agent/inbox/spliced`.
    pub(super) fn take(&mut self, event: &Event<'_>) {
        let [target, start, removed, inserted] =
            event.data.get_all(["target", "start", "removedCount", "inserted"]);
        let list = match target {
            Some(t) if t.is("next-turn") => &mut self.next_turn,
            Some(t) if t.is("next-step") => &mut self.next_step,
            _ => return self.broken.push(event.seq),
        };
        let start = start.and_then(Raw::count).and_then(|n| usize::try_from(n).ok());
        let removed = removed.map_or(Some(0), Raw::count).and_then(|n| usize::try_from(n).ok());
        let range = start.zip(removed).and_then(|(start, n)| Some(start..start.checked_add(n)?));
        let Some(range) = range.filter(|range| range.end <= list.len()) else {
            return self.broken.push(event.seq);
        };
        let inserted =
            inserted.into_iter().flat_map(Raw::elements).map(|message| pending(event.seq, message));
        list.splice(range, inserted.collect::<Vec<_>>());
    }
}

fn pending(seq: Seq, message: Raw<'_>) -> Pending {
    let [id, content] = message.get_all(["id", "content"]);
    let mut said = content.map(|c| words(c, WORDS)).unwrap_or_default();
    if let Some((end, _)) = said.char_indices().nth(WORDS) {
        said.truncate(end);
    }
    Pending {
        seq,
        id: id.and_then(Raw::display_text).unwrap_or_default(),
        source: message.path(&["source", "kind"]).and_then(Raw::display_text).unwrap_or_default(),
        words: said,
    }
}

/// A prompt for a later time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// The event that made it.
    pub seq: Seq,
    /// The last event that touched it.
    pub touched: Seq,
    /// Its id.
    pub id: String,
    /// Whether it comes again after each dispatch.
    pub repeats: bool,
    /// What it says, as stored.
    pub record: Vec<u8>,
    /// When it was last dispatched, as the log writes it.
    pub accepted_at: Option<String>,
}

/// What is scheduled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The records that are active, in the order in which they were made.
    pub active: Vec<Scheduled>,
}

impl Schedule {
    /// Takes one `schedule/change`.
    pub(super) fn take(&mut self, event: &Event<'_>) {
        let [operation, schedule, id, accepted] =
            event.data.get_all(["operation", "schedule", "id", "acceptedAt"]);
        let text = |value: Option<Raw<'_>>| value.and_then(Raw::display_text);
        let is = |name: &str| operation.is_some_and(|o| o.is(name));
        if is("create") {
            let Some(record) = schedule else { return };
            let [id, kind] = record.get_all(["id", "kind"]);
            self.active.push(Scheduled {
                seq: event.seq,
                touched: event.seq,
                id: text(id).unwrap_or_default(),
                repeats: kind.is_some_and(|k| k.is("every")),
                record: record.bytes().to_vec(),
                accepted_at: None,
            });
        } else if let Some(id) = text(id) {
            let dispatched = is("dispatch");
            self.active.retain(|s| s.id != id || (dispatched && s.repeats));
            for record in self.active.iter_mut().filter(|s| s.id == id) {
                record.touched = event.seq;
                record.accepted_at = text(accepted).or(record.accepted_at.take());
            }
        }
    }
}
