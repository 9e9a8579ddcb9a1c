//! The document of `salvage`.

use dsh_log::json::write::{Object, array};
use dsh_log::position::{FrameNo, TextOffset};
use dsh_log::salvage::{Account, Branch, Count, Salvage, Salvaged, Scan};
use std::path::Path;

/// What was salvaged, or would be.
pub(crate) fn document(path: &Path, salvage: &Salvage, written: Option<&Salvaged>) -> Vec<u8> {
    let account = salvage.account();
    let name = |path: &Path| path.to_string_lossy().into_owned().into_bytes();
    let invented = salvage.invented().iter().map(|name| format!("\"{name}\""));
    let branches = salvage.branches().iter().map(|branch| self::branch(branch, salvage.scan()));
    let missing =
        account.missing.iter().map(|(from, upto)| Object::new().int("from", *from).int("to", *upto).end());
    Object::new()
        .text("schema", b"dsh-log/salvage@1")
        .text("path", &name(path))
        .bool("applied", written.is_some())
        .raw("read", &count(&account.read).end())
        .raw("kept", &count(&account.kept).int("events", account.events).end())
        .raw("aside", &count(&account.aside).end())
        .raw("lostTotal", &count(&account.lost).end())
        .list("lost", lost(salvage.scan()))
        .list("missing", missing)
        .raw_if("branches", (!salvage.branches().is_empty()).then(|| array(branches)).as_deref())
        .raw("header", salvage.header())
        .list("invented", invented)
        .text_if("output", written.map(|w| name(&w.output)).as_deref())
        .text_if("sidecar", written.map(|w| name(&w.sidecar)).as_deref())
        .end()
}

/// Two histories of which none was chosen.
pub(crate) fn undecided(path: &Path, branches: &[Branch], scan: &Scan) -> Vec<u8> {
    Object::new()
        .text("schema", b"dsh-log/salvage@1")
        .text("path", path.to_string_lossy().as_bytes())
        .bool("applied", false)
        .raw("read", &count(&Count { records: records(scan), bytes: scan.read_bytes }).end())
        .list("branches", branches.iter().map(|branch| self::branch(branch, scan)))
        .end()
}

fn records(scan: &Scan) -> u64 {
    (scan.records.len() + scan.runs.len()) as u64 + u64::from(scan.header.is_some())
}

fn count(count: &Count) -> Object {
    Object::new().int("records", count.records).int("bytes", count.bytes)
}

fn lost(scan: &Scan) -> impl Iterator<Item = Vec<u8>> + '_ {
    scan.runs.iter().map(|run| {
        Object::new()
            .int_if("seq", run.seq)
            .int("byte", scan.file_byte(run.at))
            .int("bytes", run.bytes)
            .text("reason", run.why.name().as_bytes())
            .end()
    })
}

fn branch(branch: &Branch, scan: &Scan) -> Vec<u8> {
    let at = TextOffset(branch.text);
    let kinds = branch.kinds.iter().fold(Object::new(), |out, (kind, n)| out.int(kind.name(), *n));
    Object::new()
        .text("name", branch.name.as_bytes())
        .int("from", branch.from)
        .int("to", branch.upto)
        .int("records", branch.records)
        .int("time", branch.times.0)
        .int("lastTime", branch.times.1)
        .int_if("frame", scan.map.frame_of(at).map(|FrameNo(n)| n))
        .int("byte", scan.map.file_byte(at))
        .raw("kinds", &kinds.end())
        .bool("onlyClosers", branch.only_closers)
        .end()
}

/// The account in one line for people.
pub(crate) fn sum(account: &Account) -> String {
    let part = |count: &Count| format!("{} ({} B)", count.records, count.bytes);
    format!(
        "{} records read = {} kept + {} aside + {} lost",
        part(&account.read),
        part(&account.kept),
        part(&account.aside),
        part(&account.lost)
    )
}
