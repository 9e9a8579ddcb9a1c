//! The document of `header`.

use dsh_log::json::Raw;
use dsh_log::json::write::{Object, array};
use dsh_log::seq::Seq;
use dsh_log::view::header::Snapshot;
use dsh_log::view::header_change::{Change, between};

/// The header in force.
pub(crate) fn document(
    snapshot: Option<&Snapshot>,
    context: Option<&(Seq, Vec<u8>)>,
    system_prompt: Option<&str>,
) -> Vec<u8> {
    let null = b"null".as_slice();
    let out = Object::new().text("schema", b"dsh-log/header@1");
    let out = match snapshot {
        Some(snapshot) => out
            .int("seq", snapshot.seq.0)
            .raw("header", &snapshot.header)
            .text("reason", snapshot.reason.as_bytes())
            .int("time", snapshot.time),
        None => out.null("seq").null("header"),
    };
    out.raw("context", context.map_or(null, |c| &c.1))
        .int_if("contextSeq", context.map(|c| c.0.0))
        .text_if("systemPrompt", system_prompt.map(str::as_bytes))
        .end()
}

/// Every header, each with what it changed.
pub(crate) fn history(snapshots: &[Snapshot]) -> Vec<u8> {
    let mut before: Option<&Snapshot> = None;
    let mut list = Vec::new();
    for snapshot in snapshots {
        let changes = array(changes(before, snapshot).iter().map(change));
        list.push(
            Object::new()
                .int("seq", snapshot.seq.0)
                .int("time", snapshot.time)
                .int_if("turn", snapshot.location.turn)
                .int_if("step", snapshot.location.step)
                .text("reason", snapshot.reason.as_bytes())
                .raw_if("startsSeries", snapshot.starts_series.then_some(b"true".as_slice()))
                .raw("changes", &changes)
                .raw("header", &snapshot.header)
                .end(),
        );
        before = Some(snapshot);
    }
    Object::new().text("schema", b"dsh-log/header@1").list("history", list).end()
}

/// What a header changes against the one before it; nothing for the first.
pub(crate) fn changes(before: Option<&Snapshot>, after: &Snapshot) -> Vec<Change> {
    let parse = |snapshot: &Snapshot| Raw::parse(&snapshot.header).map(|h| h.bytes().to_vec()).ok();
    let (Some(old), Some(new)) = (before.and_then(parse), parse(after)) else { return Vec::new() };
    match (Raw::parse(&old), Raw::parse(&new)) {
        (Ok(old), Ok(new)) => between(old, new),
        _ => Vec::new(),
    }
}

/// One change.
pub(super) fn change(change: &Change) -> Vec<u8> {
    let tool = |what: &str, name: &str| {
        Object::new().text("change", what.as_bytes()).text("tool", name.as_bytes()).end()
    };
    match change {
        Change::Config { field, before, after } => Object::new()
            .text("change", b"config")
            .text("field", field.as_bytes())
            .raw_if("before", before.as_deref().map(str::as_bytes))
            .raw_if("after", after.as_deref().map(str::as_bytes))
            .end(),
        Change::System { before, after } => Object::new()
            .text("change", b"system")
            .text("before", before.as_bytes())
            .text("after", after.as_bytes())
            .end(),
        Change::ToolAdded(name) => tool("tool-added", name),
        Change::ToolRemoved(name) => tool("tool-removed", name),
        Change::ToolAltered(name) => tool("tool-altered", name),
        Change::ToolsReordered => Object::new().text("change", b"tools-reordered").end(),
    }
}
