//! The first event of a kind, found without reading what lies behind it.

use super::scan::{self, Splitter};
use crate::error::Result;
use crate::format::dialect::Dialect;
use crate::format::header::{self, Header, HeaderReading};
use crate::format::judge;
use crate::format::kind::Kind;
use crate::json::jumps::Jumps;
use crate::limits::Limits;
use crate::storage::container::{Container, Segments};
use crate::storage::source::Source;

/// What was found near the beginning of a log.
#[derive(Clone, Debug)]
pub struct First {
    /// The header line as read.
    pub header: Header,
    /// The generation that the header names.
    pub dialect: &'static Dialect,
    /// The stored line of the event.
    pub line: Vec<u8>,
}

/// The first event of that kind, read from the start of the file and no further.
///
/// `None` when there is no header of a known generation, when the log holds no such event, or when
/// damage lies before it: then only a whole reading can tell more.
pub fn first_event(source: &Source, kind: Kind, limits: &Limits) -> Result<Option<First>> {
    let container = Container::of(source)?;
    let mut segments = Segments::new(source, container);
    let mut splitter = Splitter::new(limits.record_bytes);
    let mut reading = None;
    let mut found = None;
    let mut sound = true;
    let mut jumps = Jumps::default();
    while let Some(segment) = segments.next_segment()?.filter(|s| !s.torn) {
        let mut line = |_, _, text: Option<&[u8]>| {
            let Some(text) = text.filter(|_| found.is_none() && sound) else { return };
            if reading.is_none() {
                reading = Some(header::read(text));
                return;
            }
            match judge::envelope(text, &mut jumps) {
                Ok(parts) if parts.kind() == kind => found = Some(text.to_vec()),
                Ok(_) => {}
                Err(_) => sound = false,
            }
        };
        let bad = scan::segment_lines(source, &segment, &mut splitter, &mut line)?;
        let known = reading.as_ref().is_some_and(|r: &HeaderReading| r.known && r.header.is_some());
        if bad.is_some() || !sound || !known || found.is_some() {
            break;
        }
    }
    let reading = reading.filter(|r| r.known);
    Ok(match (reading, found) {
        (Some(reading), Some(line)) => {
            reading.header.map(|header| First { header, dialect: reading.dialect, line })
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::encode;

    fn text(events: &str) -> String {
        let header = r#"{"type":"session","version":0,"id":"a","createdAt":1,"delegationDepth":0}"#;
        format!("{header}\n{events}")
    }

    #[test]
    fn what_lies_behind_the_event_is_not_looked_at() {
        let wanted = r#"{"type":"plan/mode","seq":0,"time":1,"data":{"active":true}}"#;
        let source = Source::memory("log", text(&format!("{wanted}\nnot json\n")).into_bytes());
        let first = first_event(&source, Kind::PlanMode, &Limits::default()).unwrap().unwrap();
        assert_eq!(first.line, wanted.as_bytes());
        let mut zstd = encode::frame(text("").as_bytes()).unwrap();
        zstd.extend(encode::frame(format!("{wanted}\n").as_bytes()).unwrap());
        zstd.extend(b"no frame at all");
        let source = Source::memory("log.zstd", zstd);
        let first = first_event(&source, Kind::PlanMode, &Limits::default()).unwrap().unwrap();
        assert_eq!((first.line, first.header.id), (wanted.as_bytes().to_vec(), b"a".to_vec()));
    }

    #[test]
    fn damage_before_the_event_is_left_to_a_whole_reading() {
        let wanted = r#"{"type":"plan/mode","seq":0,"time":1,"data":{"active":true}}"#;
        let source = Source::memory("log", text(&format!("not json\n{wanted}\n")).into_bytes());
        assert!(first_event(&source, Kind::PlanMode, &Limits::default()).unwrap().is_none());
    }
}
