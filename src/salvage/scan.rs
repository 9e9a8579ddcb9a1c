//! The walk over a log of which nothing is believed: frames whose structure walks and whose checksum
//! holds, lines that are records, and everything between them.

use super::record::{At, Fate, Record, Run, Why};
use crate::error::Result;
use crate::format::dialect::Dialect;
use crate::format::header;
use crate::format::judge;
use crate::format::kind::Kind;
use crate::format::row::{Form, Row, RowContext};
use crate::json::jumps::Jumps;
use crate::json::scan::value_end;
use crate::limits::{GLUED_TRIES, Limits, RESYNC_TRIES};
use crate::log::scan::Splitter;
use crate::position::TextOffset;
use crate::seq::MAX_SAFE;
use crate::storage::container::Container;
use crate::storage::decode::{Decoder, Step, Stretch};
use crate::storage::frame::{self, Found, Frame, MAGIC};
use crate::storage::source::{Source, Window};
use crate::storage::text::TextMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How long a spoiled line may be to be tried as the first half of a record cut in two.
const HALF_BYTES: usize = 1 << 20;

/// What the walk found.
pub struct Scan {
    /// How the text is stored.
    pub container: Container,
    /// Which part of the text each frame holds; runs between frames hold none.
    pub map: TextMap,
    /// The header line: where it starts in the text, its bytes, and those it accounts for.
    pub header: Option<(u64, u64, u64)>,
    /// Its text.
    pub header_text: Vec<u8>,
    /// The whole records, in file order.
    pub records: Vec<Record>,
    /// The runs that give none, in file order.
    pub runs: Vec<Run>,
    /// All bytes that were read: of text where it decodes, as stored where it does not.
    pub read_bytes: u64,
}

impl Scan {
    /// Walks over the whole source. `fallback` judges the records when no header is found.
    pub fn of(source: &Source, fallback: &'static Dialect, limits: &Limits) -> Result<Scan> {
        let mut walk = Walk::new(source, fallback, *limits)?;
        match walk.scan.container {
            Container::Raw => walk.raw()?,
            Container::Zstd => walk.zstd()?,
        }
        walk.text_ends();
        Ok(walk.scan)
    }

    /// The byte of the file at which a run is found: of text the frame's first byte.
    #[must_use]
    pub fn file_byte(&self, at: At) -> u64 {
        match at {
            At::File(byte) => byte,
            At::Text(text) => self.map.file_byte(TextOffset(text)),
        }
    }
}

struct Walk<'a> {
    source: &'a Source,
    window: Window<'a>,
    decoder: Decoder,
    compressed: Vec<u8>,
    limits: Limits,
    splitter: Splitter,
    /// Where the splitter's text begins.
    base: u64,
    lines: Lines,
    scan: Scan,
}

impl<'a> Walk<'a> {
    fn new(source: &'a Source, fallback: &'static Dialect, limits: Limits) -> Result<Walk<'a>> {
        let mut walk = Walk {
            source,
            window: Window::new(source),
            decoder: Decoder::new(),
            compressed: Vec::new(),
            limits,
            splitter: Splitter::new(limits.record_bytes),
            base: 0,
            lines: Lines { dialect: fallback, id: Vec::new(), jumps: Jumps::default(), half: None },
            scan: Scan {
                container: Container::of(source)?,
                map: TextMap::new(Container::Zstd),
                header: None,
                header_text: Vec::new(),
                records: Vec::new(),
                runs: Vec::new(),
                read_bytes: 0,
            },
        };
        let mut head = [0];
        let got = source.read_at(0, &mut head)?;
        // A spoiled beginning may hide frames from the test that tells containers apart.
        if walk.scan.container == Container::Raw && got == 1 && head[0] != b'{' {
            let first = walk.resync(0)?;
            if first < source.bytes() {
                walk.scan.container = Container::Zstd;
            }
        }
        walk.scan.map = TextMap::new(walk.scan.container);
        Ok(walk)
    }

    fn raw(&mut self) -> Result<()> {
        let mut piece = vec![0; 1 << 20];
        let mut at = 0;
        while at < self.source.bytes() {
            let got = self.source.read_at(at, &mut piece)?;
            if got == 0 {
                break;
            }
            self.text(&piece[..got]);
            at += got as u64;
        }
        self.scan.map.push(0, at, at);
        self.scan.read_bytes = at;
        Ok(())
    }

    fn zstd(&mut self) -> Result<()> {
        let end = self.source.bytes();
        let mut at = 0;
        let mut contiguous = true;
        while at < end {
            let found = frame::walk(&mut self.window, at)?;
            if let Found::Frame(frame) = found
                && (frame.checksum || contiguous)
                && self.decodes(&frame)?
            {
                self.take(&frame)?;
                at = frame.end;
                contiguous = true;
                continue;
            }
            let (next, why) = match found {
                Found::Frame(frame) if frame.end == end || self.is_trusted(frame.end)? => {
                    (frame.end, Why::Undecodable)
                }
                Found::Frame(_) => (self.resync(at + 1)?, Why::Undecodable),
                Found::Torn => (self.resync(at + 1)?, Why::Torn),
                Found::NoMagic | Found::Reserved(_) => (self.resync(at + 1)?, Why::Foreign),
            };
            if found == Found::Torn && next == end && contiguous {
                return self.torn(at);
            }
            self.gap(at, next, why)?;
            at = next;
            contiguous = false;
        }
        Ok(())
    }

    /// Whether a frame that carries a checksum stands there and decodes.
    fn is_trusted(&mut self, at: u64) -> Result<bool> {
        match frame::walk(&mut self.window, at)? {
            Found::Frame(frame) if frame.checksum => self.decodes(&frame),
            _ => Ok(false),
        }
    }

    /// The next place from `from` on at which a trusted frame stands; the end of the file when there
    /// is none.
    fn resync(&mut self, from: u64) -> Result<u64> {
        let finder = memchr::memmem::Finder::new(&MAGIC);
        let mut piece = vec![0; 256 << 10];
        let mut at = from;
        let mut tries = 0;
        loop {
            let got = self.source.read_at(at, &mut piece)?;
            if got < MAGIC.len() {
                return Ok(self.source.bytes());
            }
            for found in finder.find_iter(&piece[..got]) {
                tries += 1;
                if tries > RESYNC_TRIES {
                    return Ok(self.source.bytes());
                }
                if self.is_trusted(at + found as u64)? {
                    return Ok(at + found as u64);
                }
            }
            at += (got - (MAGIC.len() - 1)) as u64;
        }
    }

    /// Decodes a frame to its end without looking at its text, so that its checksum is known first.
    fn decodes(&mut self, frame: &Frame) -> Result<bool> {
        if frame.window_too_large {
            return Ok(false);
        }
        if Decoder::is_small(frame.bound) {
            self.load(frame)?;
            return Ok(self.decoder.small(&self.compressed, frame.bound).is_ok());
        }
        self.decoder.begin((*frame).into(), false);
        loop {
            match self.decoder.step(self.source)? {
                Step::Piece(_) => {}
                Step::End => return Ok(true),
                Step::Failed(_) => return Ok(false),
            }
        }
    }

    fn load(&mut self, frame: &Frame) -> Result<()> {
        self.compressed.resize((frame.end - frame.start) as usize, 0);
        let got = self.source.read_at(frame.start, &mut self.compressed)?;
        self.compressed.truncate(got);
        Ok(())
    }

    fn take(&mut self, frame: &Frame) -> Result<()> {
        let bytes = self.stream((*frame).into(), false)?;
        self.scan.map.push(frame.start, frame.end, bytes);
        self.scan.read_bytes += bytes;
        Ok(())
    }

    /// What a crash left of the last frame: all text that can be had, as the harness takes it.
    fn torn(&mut self, at: u64) -> Result<()> {
        let end = self.source.bytes();
        let bytes = self.stream(Stretch { start: at, end, bound: u64::MAX }, true)?;
        if bytes == 0 {
            return self.gap(at, end, Why::Torn);
        }
        self.scan.map.push_torn(at, end, bytes);
        self.scan.read_bytes += bytes;
        Ok(())
    }

    fn stream(&mut self, stretch: Stretch, torn: bool) -> Result<u64> {
        let mut decoder = std::mem::take(&mut self.decoder);
        decoder.begin(stretch, torn);
        let mut bytes = 0;
        let outcome = loop {
            match decoder.step(self.source) {
                Ok(Step::Piece(text)) => {
                    bytes += text.len() as u64;
                    self.text(text);
                }
                Ok(Step::End | Step::Failed(_)) => break Ok(bytes),
                Err(e) => break Err(e),
            }
        };
        self.decoder = decoder;
        outcome
    }

    fn text(&mut self, piece: &[u8]) {
        let (base, lines, scan) = (self.base, &mut self.lines, &mut self.scan);
        self.splitter.push(piece, &mut |at, bytes, text| lines.line(scan, base + at, bytes, text, true));
    }

    /// The text ends here, or stops at bytes that give none.
    fn text_ends(&mut self) {
        let splitter = std::mem::replace(&mut self.splitter, Splitter::new(self.limits.record_bytes));
        let end = self.base + splitter.at();
        let (rest, at) = splitter.rest();
        let bytes = end - (self.base + at);
        if bytes > 0 {
            let text = (rest.len() as u64 == bytes).then_some(&rest[..]);
            self.lines.line(&mut self.scan, self.base + at, bytes, text, false);
        }
        self.lines.half = None;
        self.base = end;
    }

    fn gap(&mut self, from: u64, to: u64, why: Why) -> Result<()> {
        self.text_ends();
        let zeros = self.zeros(from, to)?;
        let parts = [(from, zeros, Why::Zeros), (from + zeros, to - from - zeros, why)];
        for (at, bytes, why) in parts.into_iter().filter(|part| part.1 > 0) {
            self.scan.run(At::File(at), bytes, why);
        }
        self.scan.map.push(from, to, 0);
        self.scan.read_bytes += to - from;
        Ok(())
    }

    /// How many zero bytes stand there; short runs are part of what follows.
    fn zeros(&mut self, from: u64, to: u64) -> Result<u64> {
        let mut at = from;
        while at < to {
            let wanted = (64 << 10).min((to - at) as usize);
            let piece = self.window.get(at, wanted)?;
            let run = piece.iter().take_while(|byte| **byte == 0).count();
            at += run as u64;
            if run < wanted {
                break;
            }
        }
        Ok(if at - from >= 4 { at - from } else { 0 })
    }
}

impl Scan {
    fn run(&mut self, at: At, bytes: u64, why: Why) {
        let due = self.records.last().map(Record::next);
        let seq = due.or(self.header.map(|_| 0));
        // Neighbours of one kind are one run.
        if let Some(last) = self.runs.last_mut()
            && last.why == why
            && last.seq == seq
            && joins(last.at, last.bytes, at)
        {
            last.bytes += bytes;
            return;
        }
        self.runs.push(Run { at, bytes, seq, why });
    }
}

fn joins(before: At, bytes: u64, at: At) -> bool {
    match (before, at) {
        (At::File(a), At::File(b)) | (At::Text(a), At::Text(b)) => a + bytes == b,
        _ => false,
    }
}

/// Lines taken apart.
struct Lines {
    dialect: &'static Dialect,
    id: Vec<u8>,
    jumps: Jumps,
    /// A line that gave nothing: the next one may be its other half.
    half: Option<(u64, Vec<u8>)>,
}

impl Lines {
    fn line(&mut self, scan: &mut Scan, at: u64, bytes: u64, text: Option<&[u8]>, newline: bool) {
        let tail = u64::from(newline);
        let half = self.half.take();
        let Some(line) = text else { return scan.run(At::Text(at), bytes + tail, Why::TooLong) };
        if line.iter().all(|byte| crate::json::scan::is_blank(*byte)) {
            return scan.run(At::Text(at), bytes + tail, Why::Blank);
        }
        if self.header(scan, at, line, tail) {
            return;
        }
        let (records, runs) = (scan.records.len(), scan.runs.len());
        self.pieces(scan, at, line, tail);
        let nothing = scan.records.len() == records && line.len() <= HALF_BYTES;
        if nothing
            && let Some((first_at, first)) = half
            && first_at + first.len() as u64 + 1 == at
        {
            let joined = [&first[..], line].concat();
            let due = scan.records.last().map_or(0, Record::next);
            if let Some(mut record) = self.record(&joined).filter(|record| record.seq == due) {
                // Both halves were counted as runs, the last of them.
                scan.runs.truncate(runs);
                take_back(scan, first_at);
                record.text = first_at;
                record.bytes = at + bytes - first_at;
                record.span = record.bytes + tail;
                record.joined = true;
                scan.records.push(record);
                return;
            }
        }
        self.half = (nothing && newline).then(|| (at, line.to_vec()));
    }

    /// Takes the header line, which may stand behind foreign bytes.
    fn header(&mut self, scan: &mut Scan, at: u64, line: &[u8], tail: u64) -> bool {
        let Some(start) = memchr::memmem::find(line, b"{") else { return false };
        let starts = memchr::memmem::find_iter(line, b"{\"type\":\"session\"").take(GLUED_TRIES);
        for start in std::iter::once(start).chain(starts) {
            let reading = header::read(&line[start..]);
            let Some(header) = reading.header.filter(|_| reading.known) else { continue };
            let bytes = (line.len() - start) as u64;
            if scan.header.is_some() || !scan.records.is_empty() {
                scan.run(At::Text(at), line.len() as u64 + tail, Why::SecondHeader);
                return true;
            }
            if start > 0 {
                scan.run(At::Text(at), start as u64, why_of(&line[..start]));
            }
            self.dialect = reading.dialect;
            self.id = header.id;
            scan.header = Some((at + start as u64, bytes, bytes + tail));
            scan.header_text = line[start..].to_vec();
            return true;
        }
        false
    }

    /// The records of a line: one, as a rule; several when lines were glued, behind stubs or not.
    fn pieces(&mut self, scan: &mut Scan, at: u64, line: &[u8], tail: u64) {
        let mut pos = 0;
        let mut tries = 0;
        while pos < line.len() {
            let rest = &line[pos..];
            let mut found = self.record(rest).map(|record| (record, rest.len()));
            if found.is_none()
                && rest[0] == b'{'
                && let Some(end) = value_end(rest, 0).ok().filter(|end| *end < rest.len())
            {
                found = self.record(&rest[..end]).map(|record| (record, end));
            }
            if let Some((mut record, bytes)) = found {
                let last = pos + bytes == line.len();
                record.text = at + pos as u64;
                record.bytes = bytes as u64;
                record.span = record.bytes + if last { tail } else { 0 };
                scan.records.push(record);
                pos += bytes;
                continue;
            }
            tries += 1;
            let next = memchr::memmem::find(&rest[1..], b"{\"type\":").filter(|_| tries <= GLUED_TRIES);
            let end = next.map_or(line.len(), |n| pos + 1 + n);
            let more = if end == line.len() { tail } else { 0 };
            let why = if pos == 0 && end == line.len() { self.why(line) } else { why_of(&line[pos..end]) };
            scan.run(At::Text(at + pos as u64), (end - pos) as u64 + more, why);
            pos = end;
        }
    }

    fn parse(&mut self, text: &[u8]) -> Row {
        let context = RowContext { dialect: self.dialect, session_id: &self.id, known: true, glean: None };
        judge::parse_with(text, &context, &mut self.jumps)
    }

    /// The record that a text is, when it is one and has a place.
    fn record(&mut self, text: &[u8]) -> Option<Record> {
        let row = self.parse(text);
        let is_seq = |n: &f64| (0.0..=MAX_SAFE as f64).contains(n) && n.fract() == 0.0;
        let seq = row.seq.filter(|_| row.is_record()).filter(is_seq)? as u64;
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Some(Record {
            text: 0,
            bytes: text.len() as u64,
            span: 0,
            seq,
            members: row.members(),
            time: row.time,
            hash: hasher.finish(),
            kind: row.kind,
            closer: is_closer(row.kind, text),
            joined: false,
            fate: Fate::Apart,
        })
    }

    fn why(&mut self, line: &[u8]) -> Why {
        match self.parse(line).form {
            Form::Event | Form::Packed(_) => Why::NoSeq,
            _ => why_of(line),
        }
    }
}

fn why_of(bytes: &[u8]) -> Why {
    if bytes.iter().all(|byte| *byte == 0) { Why::Zeros } else { Why::NoRecord }
}

/// Gives back the run that ends with the half of a record that starts at `text`.
fn take_back(scan: &mut Scan, text: u64) {
    if let Some(last) = scan.runs.last_mut()
        && let At::Text(at) = last.at
    {
        match text.checked_sub(at) {
            Some(0) => drop(scan.runs.pop()),
            Some(before) => last.bytes = before,
            None => {}
        }
    }
}

/// Whether a record is what a resume writes before anything else.
fn is_closer(kind: Kind, text: &[u8]) -> bool {
    let has = |needle: &[u8]| memchr::memmem::find(text, needle).is_some();
    match kind {
        Kind::EndSeed | Kind::StepEnd => true,
        Kind::TurnEnd => has(b"\"kind\":\"interrupted\""),
        Kind::ToolResult => has(b"\"id\":\"interrupted-tool-result-"),
        _ => false,
    }
}
