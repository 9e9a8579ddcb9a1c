//! A session as its header and its file say it is.

use super::glob::Pattern;
use crate::render::time::rfc3339;
use dsh_log::format::header::{self, Header};
use dsh_log::json::{number, write::Object};
use dsh_log::storage::container::Container;
use dsh_log::storage::decode::Decoder;
use dsh_log::storage::discover::Candidate;
use dsh_log::storage::header_line::{HeaderLine, read_header_line_with};
use dsh_log::storage::source::Source;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// One line of the list.
pub(super) struct Session {
    candidate: Candidate,
    header: Header,
    container: Container,
}

impl Session {
    /// Reads the header of a log; why it is no session otherwise.
    pub(super) fn read(candidate: Candidate, decoder: &mut Decoder) -> Result<Session, String> {
        let source = Source::open(&candidate.log).map_err(|e| e.to_string())?;
        let container = Container::of(&source).map_err(|e| e.to_string())?;
        let text = match read_header_line_with(decoder, &source).map_err(|e| e.to_string())? {
            HeaderLine::Line { text, .. } => text,
            HeaderLine::Absent(why) => return Err(why.to_owned()),
            HeaderLine::Spoiled { byte, why } => return Err(format!("byte {byte}: {why}")),
        };
        let reading = header::read(&text);
        let why = || reading.faults.first().map_or("no header".to_owned(), |fault| fault.message.to_string());
        let header = reading.header.clone().ok_or_else(why)?;
        Ok(Session { candidate, header, container })
    }

    /// When it was created, in epoch milliseconds.
    pub(super) fn started(&self) -> Option<i64> {
        self.header.created_at
    }

    /// When its log last changed, in epoch milliseconds.
    pub(super) fn changed(&self) -> Option<i64> {
        let since = self.candidate.modified.duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(since.as_millis()).ok()
    }

    /// The stored size of its log.
    pub(super) fn bytes(&self) -> u64 {
        self.candidate.bytes
    }

    /// Its id, in WTF-8.
    pub(super) fn id(&self) -> &[u8] {
        &self.header.id
    }

    /// Its id for people; the name of its directory when it has none.
    pub(super) fn shown_id(&self) -> String {
        let id = self.header.shown_id();
        if id.is_empty() { self.candidate.segment.clone() } else { id }
    }

    /// Its directory for people, with `~` for the user's home.
    pub(super) fn shown_project(&self, home: Option<&Path>) -> String {
        let Some(cwd) = self.header.shown_cwd() else { return "-".to_owned() };
        match home.and_then(|home| Path::new(&cwd).strip_prefix(home).ok()) {
            Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Some(rest) => format!("~/{}", rest.display()),
            None => cwd,
        }
    }

    /// Whether its directory, or the name of its project directory, fits.
    pub(super) fn is_of_project(&self, pattern: &Pattern) -> bool {
        self.header.shown_cwd().is_some_and(|cwd| pattern.fits(&cwd)) || pattern.fits(&self.candidate.project)
    }

    /// The version its header states.
    pub(super) fn format(&self) -> String {
        number::stringify(self.header.version)
    }

    /// How its text is stored.
    pub(super) fn container(&self) -> &'static str {
        self.container.name()
    }

    /// The session as one JSON object.
    pub(super) fn to_json(&self) -> Vec<u8> {
        let time = |ms: Option<i64>| ms.and_then(rfc3339).map(String::into_bytes);
        let header = &self.header;
        // A number no JSON has, such as infinity, is unknown.
        let format = header.version.is_finite().then(|| self.format().into_bytes());
        Object::new()
            .text("id", &header.id)
            .text("project", self.candidate.project.as_bytes())
            .text_if("cwd", header.cwd.as_deref())
            .int_if("createdAt", self.started())
            .text_if("created", time(self.started()).as_deref())
            .int_if("changedAt", self.changed())
            .text_if("changed", time(self.changed()).as_deref())
            .raw_if("format", format.as_deref())
            .text("container", self.container().as_bytes())
            .int("bytes", self.bytes())
            .text_if("parentSession", header.parent_session.as_deref())
            .text_if("origin", header.origin.as_deref().map(str::as_bytes))
            .text("path", self.candidate.log.to_string_lossy().as_bytes())
            .end()
    }
}
