//! Time that goes back (v0 section 15.1, I14).

use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;

#[derive(Default)]
pub(super) struct Time {
    last: Option<i64>,
}

impl Family for Time {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        if let Some(last) = self.last.filter(|last| event.time < *last) {
            let message = format!("time goes back by {} ms (I14)", last.saturating_sub(event.time));
            sink.note(Code::TimeBackwards, event, message);
        }
        self.last = Some(event.time);
    }
}
