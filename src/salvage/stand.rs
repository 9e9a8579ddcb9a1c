//! Which of the chosen records can stand: the longest beginning with which the session opens, found by
//! reading it as it would be.

use super::header::{self, Made};
use super::record::{Fate, Record};
use super::scan::Scan;
use crate::error::{Error, ErrorKind, Result};
use crate::fault::{Code, Severity};
use crate::format::kind::Kind;
use crate::log::verdict::Outcome;
use crate::log::{Log, ReadOptions};
use crate::position::TextOffset;
use crate::storage::source::Source;
use crate::storage::text::TextReader;
use std::io::{self, BufWriter, Write};

/// How often a beginning is read again and shortened before the search halves it.
const STEPS: usize = 64;

/// Cuts the kept records back to those that stand, and mends a header that promises what is gone.
pub(super) fn cut_back(
    source: &Source,
    scan: &mut Scan,
    kept: &mut Vec<usize>,
    made: &mut Made,
    options: &ReadOptions,
) -> Result<()> {
    let mut steps = 0;
    loop {
        let log = candidate(source, scan, kept, made, options)?;
        let Some(limit) = limit(&log, scan, kept) else { return Ok(()) };
        let stands = match limit {
            Limit::Seeded(is_seeded) => {
                *made = header::seeded(made, is_seeded).ok_or_else(|| cannot(source, &log))?;
                continue_once(&mut steps, source, &log)?;
                continue;
            }
            Limit::Records(stands) => stands,
        };
        if kept.is_empty() {
            return Err(cannot(source, &log));
        }
        steps += 1;
        let most = kept.len() - 1;
        let stands = if steps > STEPS { stands.min(most / 2) } else { stands.min(most) };
        for n in kept.drain(stands..) {
            scan.records[n].fate = Fate::CannotStand;
        }
    }
}

/// A header is changed but a few times: each flip must be answered by fewer records.
fn continue_once(steps: &mut usize, source: &Source, log: &Log) -> Result<()> {
    *steps += 1;
    if *steps > STEPS { Err(cannot(source, log)) } else { Ok(()) }
}

enum Limit {
    /// So many records can stand at most.
    Records(usize),
    /// The header must say otherwise whether events are inherited.
    Seeded(bool),
}

/// What keeps a candidate from opening; `None` when it opens.
fn limit(log: &Log, scan: &Scan, kept: &[usize]) -> Option<Limit> {
    let verdict = log.verdict();
    if verdict.outcome.opens() {
        let whole = verdict.cut.is_none();
        let events = log.index().next_seq().0;
        return (!whole).then(|| Limit::Records(before(scan, kept, events)));
    }
    let refusing = || log.findings().list().iter().filter(|finding| finding.severity == Severity::Refuses);
    for finding in refusing() {
        match finding.code {
            Code::SeedMarkerMissing => return Some(Limit::Seeded(false)),
            Code::SeedMarkerUnexpected => return Some(Limit::Seeded(true)),
            _ => {}
        }
    }
    let by_line = |line: u64| usize::try_from(line.saturating_sub(2)).unwrap_or(usize::MAX);
    let stands = refusing()
        .map(|finding| match (finding.place.seq, finding.place.line) {
            (Some(seq), _) => before(scan, kept, seq.0),
            (None, Some(line)) => by_line(line.0),
            (None, None) => kept.len(),
        })
        .min();
    let stands = stands.unwrap_or(0);
    if stands < kept.len() {
        return Some(Limit::Records(stands));
    }
    // What is wrong is how the log ends: then it ends before its last turn.
    let turn = kept.iter().rposition(|n| scan.records[*n].kind == Kind::TurnStart);
    Some(Limit::Records(turn.unwrap_or(0)))
}

/// How many of the kept records stand before a seq.
fn before(scan: &Scan, kept: &[usize], seq: u64) -> usize {
    kept.partition_point(|n| scan.records[*n].next() <= seq)
}

fn cannot(source: &Source, log: &Log) -> Error {
    let why = log.verdict().reason.as_ref().map_or_else(String::new, ToString::to_string);
    let kind = match log.verdict().outcome {
        Outcome::Unsupported => ErrorKind::Unsupported,
        _ => ErrorKind::Corrupt,
    };
    Error::new(kind, "not-salvageable", format!("not even the header can stand: {why}"))
        .at_path(source.path())
}

/// The session as it would be, in a file without a name.
fn candidate(
    source: &Source,
    scan: &Scan,
    kept: &[usize],
    made: &Made,
    options: &ReadOptions,
) -> Result<Log> {
    let to_error = |e| Error::io("write a trial of", source.path(), e);
    let file = tempfile::NamedTempFile::new().map_err(to_error)?;
    let mut out = BufWriter::with_capacity(256 << 10, file.as_file());
    let mut reader = TextReader::new(source, &scan.map);
    let mut write = |text: &[u8]| out.write_all(text).and_then(|()| out.write_all(b"\n")).map_err(to_error);
    write(&made.line)?;
    for n in kept {
        write(&text_of(&mut reader, &scan.records[*n])?)?;
    }
    out.flush().map_err(to_error)?;
    drop(out);
    // The open file outlives its name.
    Log::read(Source::open(file.path())?, options)
}

/// The text of a record, without the newline that cut it in two.
pub(super) fn text_of<'r>(
    reader: &'r mut TextReader<'_>,
    record: &Record,
) -> Result<std::borrow::Cow<'r, [u8]>> {
    let bytes = usize::try_from(record.bytes).unwrap_or(usize::MAX);
    if !record.joined {
        let line = reader.line(TextOffset(record.text))?;
        return Ok(std::borrow::Cow::Borrowed(line.get(..bytes).unwrap_or(line)));
    }
    let mut text = reader.line(TextOffset(record.text))?.to_vec();
    let second = record.text + text.len() as u64 + 1;
    text.extend_from_slice(reader.line(TextOffset(second))?);
    Ok(std::borrow::Cow::Owned(text))
}

/// Reads bytes of the text, as [`TextReader::line`] does for lines.
pub(super) fn text_bytes(reader: &mut TextReader<'_>, at: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    while (out.len() as u64) < bytes {
        let line = reader.line(TextOffset(at + out.len() as u64)).map_err(io::Error::other)?;
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out.truncate(usize::try_from(bytes).unwrap_or(usize::MAX));
    Ok(out)
}
