//! The JSON documents of `verify`.

use dsh_log::check::rules;
use dsh_log::fault::{Code, Severity};
use dsh_log::finding::Findings;
use dsh_log::json::write::{Object, array};
use dsh_log::log::Log;

/// How many findings of each severity: refuses, cuts, warns, notes.
pub(crate) fn by_severity(findings: &Findings) -> [u64; 4] {
    let count = |severity| findings.list().iter().filter(|f| f.severity == severity).count() as u64;
    [count(Severity::Refuses), count(Severity::Cuts), count(Severity::Warns), count(Severity::Notes)]
}

fn members(object: Object, log: &Log, findings: &Findings) -> Object {
    let counts =
        findings.counts().iter().fold(Object::new(), |out, (code, n)| out.int(code.name(), *n)).end();
    object
        .list("findings", findings.list().iter().map(|finding| finding.to_json()))
        .raw("counts", &counts)
        .raw("verdict", &log.verdict().to_json())
}

/// The document of one log; `counts` by code, those beyond the list included.
pub(crate) fn document(log: &Log, findings: &Findings) -> Vec<u8> {
    members(Object::new().text("schema", b"dsh-log/verify@1"), log, findings).end()
}

/// One session among many.
pub(crate) fn line(path: &str, log: &Log, findings: &Findings) -> Vec<u8> {
    let id = log.header().map(|h| h.id.as_slice());
    members(Object::new().text("path", path.as_bytes()).text_if("id", id), log, findings).end()
}

/// A session that could not be read.
pub(crate) fn unread(path: &str, why: &str) -> Vec<u8> {
    Object::new().text("path", path.as_bytes()).text("error", why.as_bytes()).end()
}

/// The document over a whole root.
pub(crate) fn all<'a>(lines: impl Iterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    Object::new().text("schema", b"dsh-log/verify@1").list("sessions", lines).end()
}

/// The document of all rules.
pub(crate) fn rules() -> Vec<u8> {
    let list = array(Code::ALL.iter().map(|code| rules::to_json(*code)));
    Object::new().text("schema", b"dsh-log/verify@1").raw("rules", &list).end()
}
