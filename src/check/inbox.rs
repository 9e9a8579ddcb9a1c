//! The inbox: splices within bounds, no message pending twice (v0 sections 7.2 and 15.6, IN1).

use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::json::Raw;
use std::collections::HashSet;

/// The pending messages of both lists; a fork inherits none.
pub(super) struct Inbox {
    from: u64,
    lists: [Vec<Vec<u8>>; 2],
    pending: HashSet<Vec<u8>>,
}

impl Inbox {
    pub(super) fn new(from: u64) -> Inbox {
        Inbox { from, lists: Default::default(), pending: HashSet::new() }
    }
}

impl Family for Inbox {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        if event.kind != Kind::InboxSpliced || event.seq.0 < self.from {
            return;
        }
        let [target, start, removed, inserted] =
            event.data.get_all(["target", "start", "removedCount", "inserted"]);
        let which = usize::from(target.is_some_and(|t| t.is("next-step")));
        let list = &mut self.lists[which];
        let start = start.and_then(Raw::count).unwrap_or(u64::MAX);
        let removed = removed.map_or(Some(0), Raw::count).unwrap_or(u64::MAX);
        let end = start.saturating_add(removed);
        if end > list.len() as u64 {
            let message = format!("a splice of {removed} at {start} in a list of {} (IN1)", list.len());
            sink.warn(Code::InvInbox, event, message);
        }
        let (start, end) =
            ((start as usize).min(list.len()), usize::try_from(end).unwrap_or(usize::MAX).min(list.len()));
        for gone in list.drain(start..end) {
            self.pending.remove(&gone);
        }
        for (at, message) in (start..).zip(inserted.into_iter().flat_map(Raw::elements)) {
            let id = message.get("id").and_then(Raw::text).map(|id| id.into_owned()).unwrap_or_default();
            if !self.pending.insert(id.clone()) {
                sink.warn(
                    Code::InvInbox,
                    event,
                    "a message is put into the inbox that waits there already (IN1)",
                );
            }
            self.lists[which].insert(at, id);
        }
    }
}
