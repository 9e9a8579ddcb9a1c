//! The beginning of a log: the header line, or what stands there instead.

use super::scan;
use crate::error::Result;
use crate::fault::{Code, Severity};
use crate::finding::Finding;
use crate::format::dialect::Dialect;
use crate::format::header::{self, HeaderReading};
use crate::limits::Limits;
use crate::position::{FrameNo, LineNo, Place};
use crate::storage::container::{Container, Segment, Segments};
use crate::storage::source::Source;

/// What stands at the very beginning: the header, or what is there instead.
pub(super) struct Opening {
    pub(super) reading: HeaderReading,
    /// Lines of the first segment behind the header line, as text.
    pub(super) rest: Vec<(u64, Vec<u8>)>,
    /// Bytes of text up to the end of the header line.
    pub(super) header_end: u64,
    pub(super) span: Option<(u64, u64, u64)>,
    pub(super) faults: Vec<Finding>,
    /// The first line is a record and no header.
    pub(super) headless: bool,
}

impl Opening {
    /// Reads the first segment.
    pub(super) fn read(
        source: &Source,
        segments: &mut Segments<'_>,
        container: Container,
        limits: &Limits,
    ) -> Result<Opening> {
        let Some(first) = segments.next_segment()? else { return Ok(Opening::absent(source, container)) };
        if first.torn {
            let mut opening = Opening::absent(source, container);
            opening.span = Some((first.start, first.end, 0));
            return Ok(opening);
        }
        let mut lines = Vec::new();
        let mut text_bytes = 0;
        let mut bad = None;
        let mut rest = (Vec::new(), 0);
        for_each_line(source, &first, limits, &mut |event| match event {
            FirstText::Line(at, text) => lines.push((at, text)),
            FirstText::Bad(why) => bad = Some(why),
            FirstText::End(bytes, unterminated, at) => {
                text_bytes = bytes;
                rest = (unterminated, at);
            }
        })?;
        let mut faults = Vec::new();
        let place = Place { frame: Some(FrameNo(0)), ..Place::at_byte(0) };
        if let Some(why) = bad {
            let message = format!("the header frame cannot be decoded: {why}");
            faults.push(Finding::new(Code::FrameUndecodable, Severity::Refuses, place, message));
        }
        let exact = lines.len() == 1 && rest.0.is_empty();
        if container == Container::Zstd && bad.is_none() && !exact {
            let message = match lines.len() {
                0 => {
                    "the first frame holds no whole line, where exactly the header line must stand".to_owned()
                }
                n => format!("the first frame holds {n} lines, where exactly the header line must stand"),
            };
            faults.push(Finding::new(Code::HeaderFrame, Severity::Refuses, place, message));
        }
        let terminated = !lines.is_empty();
        if !terminated && !rest.0.is_empty() && container == Container::Zstd {
            lines.push((rest.1, rest.0));
        }
        let mut opening = match lines.first() {
            None => {
                let mut absent = Opening::absent(source, container);
                if !faults.is_empty() {
                    absent.faults = faults;
                }
                absent
            }
            Some((_, text)) => Opening {
                reading: header::read(text),
                header_end: text.len() as u64 + u64::from(terminated),
                rest: Vec::new(),
                span: None,
                faults,
                headless: false,
            },
        };
        opening.span = Some((first.start, first.end, text_bytes));
        opening.headless = opening.reading.header.is_none() && lines.first().is_some_and(|l| is_record(&l.1));
        let skip = usize::from(!opening.headless);
        opening.rest = lines.into_iter().skip(skip).collect();
        if opening.headless {
            opening.header_end = 0;
            opening.reading.dialect = dialect_by_name(source);
            let place = Place { line: Some(LineNo(1)), ..Place::at_byte(0) };
            let message = "the header is missing: the first line is a record";
            opening.reading.faults.clear();
            opening.faults.push(Finding::new(Code::HeaderShape, Severity::Refuses, place, message));
        }
        Ok(opening)
    }

    fn absent(source: &Source, container: Container) -> Opening {
        let message = match (source.bytes(), container) {
            (0, _) => "the file is empty",
            (_, Container::Zstd) => "no whole frame: there is no header",
            (_, Container::Raw) => "no whole line: there is no header",
        };
        Opening {
            reading: HeaderReading {
                header: None,
                dialect: dialect_by_name(source),
                known: true,
                faults: Vec::new(),
            },
            rest: Vec::new(),
            header_end: 0,
            span: None,
            faults: vec![Finding::new(Code::HeaderAbsent, Severity::Refuses, Place::at_byte(0), message)],
            headless: false,
        }
    }
}

fn is_record(line: &[u8]) -> bool {
    let Ok(value) = crate::json::Raw::parse(line) else { return false };
    let [kind, seq, seq0] = value.get_all(["type", "seq", "seq0"]);
    kind.is_some() && (seq.is_some() || seq0.is_some())
}

/// The generation that a file's name states; 0 where it states none.
fn dialect_by_name(source: &Source) -> &'static Dialect {
    let name = source.path().file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    (1..=Dialect::newest().version)
        .filter_map(Dialect::of)
        .find(|d| name == d.file_name(true) || name == d.file_name(false))
        .or(Dialect::of(0))
        .unwrap_or(Dialect::newest())
}

enum FirstText {
    Line(u64, Vec<u8>),
    Bad(&'static str),
    End(u64, Vec<u8>, u64),
}

/// The lines of the first segment as text.
fn for_each_line(
    source: &Source,
    segment: &Segment,
    limits: &Limits,
    each: &mut dyn FnMut(FirstText),
) -> Result<()> {
    let mut splitter = scan::Splitter::new(limits.record_bytes);
    let mut line = |at, _, text: Option<&[u8]>| each(FirstText::Line(at, text.unwrap_or_default().to_vec()));
    let bad = scan::segment_lines(source, segment, &mut splitter, &mut line)?;
    if let Some(why) = bad {
        each(FirstText::Bad(why));
    }
    let bytes = splitter.at();
    let (rest, at) = splitter.rest();
    each(FirstText::End(bytes, rest, at));
    Ok(())
}
