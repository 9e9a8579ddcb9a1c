//! The header line: what it says, and what is wrong with it (v0 section 4, generations 1.2, v4
//! section 1.2).

use super::dialect::{Dialect, Inherited};
use super::parts::RowFault;
use crate::fault::Code;
use crate::json::{Raw, text};
use std::borrow::Cow;

/// The header of a session, as far as it can be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    /// The line as stored, without its newline.
    pub text: Vec<u8>,
    /// The version it states; not always an integer.
    pub version: f64,
    /// The session id in WTF-8; empty when it is no string.
    pub id: Vec<u8>,
    /// Epoch milliseconds.
    pub created_at: Option<i64>,
    /// The project's directory, in WTF-8.
    pub cwd: Option<Vec<u8>>,
    /// The id of the session this one was forked or delegated from, in WTF-8.
    pub parent_session: Option<Vec<u8>>,
    /// How many leading events are inherited (formats 0 and 1).
    pub seed_length: Option<u64>,
    /// Whether the log begins with inherited events (from format 2 on).
    pub is_seeded: Option<bool>,
    /// `subagent`, for a delegated session.
    pub origin: Option<String>,
    /// 0 for a session of its own, the parent's plus one for a subagent.
    pub delegation_depth: Option<u64>,
    /// The composition it was created with.
    pub agent_preset: Option<String>,
}

impl Header {
    /// The id for people.
    #[must_use]
    pub fn shown_id(&self) -> String {
        text::lossy(&self.id)
    }

    /// The directory for people.
    #[must_use]
    pub fn shown_cwd(&self) -> Option<String> {
        self.cwd.as_deref().map(text::lossy)
    }

    /// The parent's id for people.
    #[must_use]
    pub fn shown_parent(&self) -> Option<String> {
        self.parent_session.as_deref().map(text::lossy)
    }
}

/// What a first line turned out to be.
#[derive(Debug)]
pub struct HeaderReading {
    /// The header, unless the line is none.
    pub header: Option<Header>,
    /// The generation that reads the rest; the newest known one for a newer log.
    pub dialect: &'static Dialect,
    /// Whether the version is one we know.
    pub known: bool,
    /// What is wrong, in the order in which the harness looks.
    pub faults: Vec<RowFault>,
}

const KEYS_V0: &[&str] = &[
    "type",
    "version",
    "id",
    "createdAt",
    "cwd",
    "parentSession",
    "seedLength",
    "origin",
    "delegationDepth",
    "agentPreset",
];
const KEYS_V2: &[&str] = &[
    "type",
    "version",
    "id",
    "createdAt",
    "cwd",
    "parentSession",
    "isSeeded",
    "origin",
    "delegationDepth",
    "agentPreset",
];
const RETIRED: [&str; 2] = ["sandboxMode", "approvalPolicy"];

/// Reads a header line (without its newline).
#[must_use]
pub fn read(line: &[u8]) -> HeaderReading {
    let decoded = text::stored(line);
    let mut reading = read_decoded(&decoded);
    if let (Cow::Owned(_), Some(header)) = (&decoded, &mut reading.header) {
        header.text = line.trim_ascii().to_vec();
    }
    reading
}

fn read_decoded(line: &[u8]) -> HeaderReading {
    let oldest = Dialect::of(0).unwrap_or(Dialect::newest());
    let none = |fault| HeaderReading { header: None, dialect: oldest, known: true, faults: vec![fault] };
    let value = match Raw::parse(line) {
        Ok(value) => value,
        Err(e) => {
            let message = format!("the header line is not JSON: {} at byte {} of the line", e.what, e.offset);
            return none(RowFault::new(Code::HeaderNotJson, message));
        }
    };
    let version = value.get("version").and_then(Raw::number);
    if let Some(n) = version.filter(|n| known_dialect(*n).is_none()) {
        return foreign(value, n);
    }
    let Some(dialect) = version.and_then(known_dialect) else {
        let looks_like_one = value.get("type").is_some_and(|t| t.is("session"));
        let message =
            if looks_like_one { "the header has no version" } else { "the first line is no session header" };
        return none(RowFault::new(Code::HeaderShape, message));
    };
    if !value.get("type").is_some_and(|t| t.is("session")) {
        return none(RowFault::new(Code::HeaderShape, "the first line is no session header"));
    }
    let mut faults = Vec::new();
    match dialect.inherited {
        Inherited::SeedLength => seed_length_faults(value, dialect, &mut faults),
        Inherited::TaggedEndSeed => end_seed_faults(value, &mut faults),
    }
    identity_faults(value, &mut faults);
    HeaderReading { header: Some(fields(value)), dialect, known: true, faults }
}

fn known_dialect(version: f64) -> Option<&'static Dialect> {
    // Negative zero is 0 here, as it is for the harness.
    (version >= 0.0 && version.fract() == 0.0 && version <= f64::from(u32::MAX))
        .then(|| Dialect::of(version as u32))
        .flatten()
}

/// A version that we do not know: nothing but the plainest members may be believed.
fn foreign(value: Raw<'_>, version: f64) -> HeaderReading {
    let shown = crate::json::number::stringify(version);
    let shown = if version.is_finite() { shown } else { "infinity".into() };
    let newest = Dialect::newest();
    let fault = if version < 0.0 {
        RowFault::new(Code::FormatOlder, format!("format version {shown} is older than any released one"))
    } else {
        let message = format!(
            "written by a newer harness: format version {shown}, this tool knows 0 to {}",
            newest.version
        );
        RowFault::new(Code::FormatNewer, message)
    };
    HeaderReading { header: Some(fields(value)), dialect: newest, known: false, faults: vec![fault] }
}

fn fields(value: Raw<'_>) -> Header {
    let [id, cwd, parent, preset, origin] =
        value.get_all(["id", "cwd", "parentSession", "agentPreset", "origin"]);
    let [version, created, seed, seeded, depth] =
        value.get_all(["version", "createdAt", "seedLength", "isSeeded", "delegationDepth"]);
    let bytes = |value: Option<Raw<'_>>| value.and_then(Raw::text).map(std::borrow::Cow::into_owned);
    let shown = |value: Option<Raw<'_>>| value.and_then(Raw::display_text);
    Header {
        text: value.bytes().to_vec(),
        version: version.and_then(Raw::number).unwrap_or(f64::NAN),
        id: bytes(id).unwrap_or_default(),
        created_at: created.and_then(Raw::safe_int),
        cwd: bytes(cwd),
        parent_session: bytes(parent),
        seed_length: seed.and_then(Raw::count),
        is_seeded: seeded.map(Raw::is_true),
        origin: shown(origin),
        delegation_depth: depth.and_then(Raw::count),
        agent_preset: shown(preset),
    }
}

fn is_count(value: Raw<'_>) -> bool {
    value.count().is_some() && !value.is_negative_zero()
}

fn is_text(value: Raw<'_>) -> bool {
    value.kind() == crate::json::Kind::String
}

/// The shape that all generations ask of the members they share.
fn shape_faults(value: Raw<'_>, faults: &mut Vec<RowFault>) {
    let mut need = |name: &str, wanted: &str, optional: bool, sound: fn(Raw<'_>) -> bool| {
        let member = value.get(name);
        if member.map_or(optional, sound) {
            return;
        }
        let found = member.map_or("nothing", |m| m.kind().name());
        let message = format!("the header's {name} is not {wanted}: found {found}");
        faults.push(RowFault::new(Code::HeaderShape, message));
    };
    need("id", "a string", false, is_text);
    need("createdAt", "a count of milliseconds", false, is_count);
    need("delegationDepth", "a count", false, is_count);
    need("origin", "`subagent`", true, |v| v.is("subagent"));
    need("agentPreset", "a string", true, is_text);
}

fn retired_faults(value: Raw<'_>, faults: &mut Vec<RowFault>) {
    for name in RETIRED {
        if value.get(name).is_some() {
            let message = format!("the header holds the retired field {name}");
            faults.push(RowFault::new(Code::HeaderRetiredFields, message));
        }
    }
}

fn foreign_key_faults(value: Raw<'_>, known: &[&str], faults: &mut Vec<RowFault>) {
    for (key, _) in value.members() {
        if !known.iter().chain(&RETIRED).any(|name| key.is(name)) {
            let name = key.display_text().unwrap_or_default();
            let message =
                format!("the header holds the unknown key {name}, as a fork of the harness may write");
            faults.push(RowFault::new(Code::HeaderShape, message));
        }
    }
}

fn seed_length_faults(value: Raw<'_>, dialect: &Dialect, faults: &mut Vec<RowFault>) {
    shape_faults(value, faults);
    retired_faults(value, faults);
    if dialect.strict_header {
        foreign_key_faults(value, KEYS_V0, faults);
    }
    if value.get("cwd").and_then(Raw::text).is_some_and(|cwd| !cwd.is_empty() && !is_absolute(&cwd)) {
        faults.push(RowFault::new(Code::HeaderCwd, "the header's cwd is not an absolute path"));
    }
    if value.get("parentSession").is_some_and(|v| !is_text(v)) {
        faults.push(RowFault::new(Code::HeaderParentSession, "the header's parentSession is not a string"));
    }
    if value.get("seedLength").is_some_and(|v| v.count().is_none()) {
        faults.push(RowFault::new(Code::HeaderSeedLength, "the header's seedLength is not a count"));
    }
}

fn end_seed_faults(value: Raw<'_>, faults: &mut Vec<RowFault>) {
    retired_faults(value, faults);
    foreign_key_faults(value, KEYS_V2, faults);
    shape_faults(value, faults);
    let absolute = |v: Raw<'_>| v.text().is_some_and(|cwd| is_absolute(&cwd));
    if value.get("cwd").is_some_and(|v| !absolute(v)) {
        faults.push(RowFault::new(Code::HeaderShape, "the header's cwd is not an absolute path"));
    }
    if value.get("parentSession").is_some_and(|v| !is_text(v)) {
        faults.push(RowFault::new(Code::HeaderShape, "the header's parentSession is not a string"));
    }
    if value.get("isSeeded").is_none_or(|v| v.kind() != crate::json::Kind::Bool) {
        faults.push(RowFault::new(Code::HeaderShape, "the header's isSeeded is not a boolean"));
    }
}

/// Whether the path is absolute on the platform that reads, which is what the harness asks.
fn is_absolute(path: &[u8]) -> bool {
    std::path::Path::new(&text::lossy(path)).is_absolute()
}

fn identity_faults(value: Raw<'_>, faults: &mut Vec<RowFault>) {
    if value.get("id").is_some_and(|id| id.text().is_some_and(|t| t.is_empty())) {
        faults.push(RowFault::new(Code::Identity, "the header's id is empty"));
    }
    match value.get("cwd") {
        Some(cwd) if !is_text(cwd) => {
            let message = format!("the header's cwd is {}", cwd.kind().name());
            faults.push(RowFault::new(Code::Identity, message));
        }
        Some(cwd) if !cwd.is_filled_text() => {
            faults.push(RowFault::new(Code::Identity, "the header's cwd is empty"));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(line: &str) -> Vec<Code> {
        read(line.as_bytes()).faults.iter().map(|f| f.code).collect()
    }

    #[test]
    fn the_version_is_looked_at_before_anything_else() {
        assert_eq!(codes(r#"{"version":9}"#), [Code::FormatNewer]);
        assert_eq!(codes(r#"{"version":0.5}"#), [Code::FormatNewer]);
        assert_eq!(codes(r#"{"version":1e999}"#), [Code::FormatNewer]);
        assert_eq!(codes(r#"{"version":-1}"#), [Code::FormatOlder]);
    }

    #[test]
    fn negative_zero_is_generation_0() {
        assert!(
            codes(r#"{"type":"session","version":-0,"id":"a","createdAt":1,"delegationDepth":0}"#).is_empty()
        );
    }

    #[test]
    fn unknown_keys_refuse_from_generation_1_on() {
        let header = |v| {
            format!(r#"{{"type":"session","version":{v},"id":"a","createdAt":1,"delegationDepth":0,"x":1}}"#)
        };
        assert!(codes(&header(0)).is_empty());
        assert_eq!(codes(&header(1)), [Code::HeaderShape]);
    }

    #[test]
    fn a_sound_header_of_generation_4_has_no_fault() {
        let line = r#"{"type":"session","version":4,"id":"s-y","createdAt":1,"cwd":"/srv","parentSession":"s-x","isSeeded":true,"delegationDepth":0}"#;
        let reading = read(line.as_bytes());
        assert!(reading.faults.is_empty());
        assert_eq!(reading.header.unwrap().parent_session.unwrap(), b"s-x");
    }

    #[test]
    fn an_id_that_is_not_utf8_is_read_as_the_harness_decodes_it_and_the_line_stays_as_stored() {
        let line =
            b"{\"type\":\"session\",\"version\":0,\"id\":\"\xFF\",\"createdAt\":1,\"delegationDepth\":0}";
        let header = read(line).header.unwrap();
        assert_eq!((&header.id[..], &header.text[..]), ("\u{FFFD}".as_bytes(), &line[..]));
    }
}
