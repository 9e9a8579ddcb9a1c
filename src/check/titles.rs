//! Titles name messages exactly when the user did not set them (v0 section 15.4, T1).

use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::kind::Kind;

pub(super) struct Titles;

impl Family for Titles {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        if event.kind != Kind::SessionTitle {
            return;
        }
        let names = event.data.get("messageSeqs").is_some_and(|list| list.elements().next().is_some());
        let by_user = event.data.path(&["source", "kind"]).is_some_and(|kind| kind.is("user"));
        if names == by_user {
            sink.warn(Code::InvTitle, event, "messageSeqs is empty exactly when the user set the title (T1)");
        }
    }
}
