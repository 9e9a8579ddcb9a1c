//! The JSON document of `exposure`.

use dsh_log::evidence::exposure::Carrier;
use dsh_log::json::write::Object;
use dsh_log::view::requests::Request;
use std::path::Path;

/// One session: its id, its file, what carried it.
pub(crate) fn session(id: &str, path: &Path, carriers: &[Carrier]) -> Vec<u8> {
    Object::new()
        .text("id", id.as_bytes())
        .text("path", path.to_string_lossy().as_bytes())
        .list("carriers", carriers.iter().map(carrier))
        .end()
}

/// The document over all sessions that were looked at.
pub(crate) fn document(sessions: &[Vec<u8>]) -> Vec<u8> {
    Object::new().text("schema", b"dsh-log/exposure@1").list("sessions", sessions).end()
}

fn carrier(c: &Carrier) -> Vec<u8> {
    let name = |r: Option<Request>| r.map(|r| r.to_string().into_bytes());
    Object::new()
        .int("seq", c.seq.0)
        .text("type", c.kind.name().as_bytes())
        .text("copy", c.copy.name().as_bytes())
        .bool("inherited", c.inherited)
        .int("requests", c.requests as u64)
        .text_if("first", name(c.first).as_deref())
        .text_if("last", name(c.last).as_deref())
        .int_if("until", c.until.map(|seq| seq.0))
        .int_if("offset", c.offset.map(|n| n as u64))
        .end()
}
