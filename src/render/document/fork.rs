//! The documents of `fork`.

use dsh_log::fork::{Closed, ForkPlan};
use dsh_log::json::write::Object;
use std::path::Path;

/// The fork; without a path it is only planned.
pub(crate) fn document(plan: &ForkPlan<'_>, path: Option<&Path>) -> Vec<u8> {
    let out = Object::new()
        .text("schema", b"dsh-log/fork@1")
        .text_if("path", path.map(|p| p.to_string_lossy().into_owned().into_bytes()).as_deref());
    let out = match plan.boundary {
        Some(seq) => out.int("boundary", seq.0),
        None => out.null("boundary"),
    };
    out.raw("header", &plan.header).int("events", plan.events).list("own", &plan.own).end()
}

/// The places at which a fork may be cut, each with the words that its turn began with.
pub(crate) fn places(list: &[(Closed, String)]) -> Vec<u8> {
    let list = list.iter().map(|(place, words)| {
        Object::new()
            .int("boundary", place.seq.0)
            .int_if("turn", place.turn)
            .text("words", words.as_bytes())
            .end()
    });
    Object::new().text("schema", b"dsh-log/fork@1").list("boundaries", list).end()
}
