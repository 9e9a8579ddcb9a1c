//! A worker's share: one segment of the container decoded, split into lines, each line judged
//! alone.

use crate::error::Result;
use crate::format::judge;
use crate::format::row::{Form, Row, RowContext};
use crate::json::jumps::Jumps;
use crate::storage::container::Segment;
use crate::storage::decode::{Decoder, Step, Stretch};
use crate::storage::source::Source;

/// One line and where it stands.
#[derive(Debug)]
pub struct Line {
    /// Where it starts in the segment's text, in bytes.
    pub at: u64,
    /// How long it is, without its newline.
    pub bytes: u64,
    /// What it says.
    pub row: Row,
    /// Its text, when the line is spoiled and a whole record may be glued into it.
    pub spoiled: Option<Vec<u8>>,
}

/// What a worker hands on, in the order of the text.
#[derive(Debug)]
pub enum Piece {
    /// Lines that end within the segment. With the first of them comes the text of the first line,
    /// in case a record that began before the segment goes on in it.
    Lines(Vec<Line>, Option<Vec<u8>>),
    /// A frame could not be decoded; nothing of a small one was handed on.
    BadFrame(BadFrame),
    /// The segment is over.
    End(SegmentEnd),
    /// The file could not be read.
    Failed(crate::error::Error),
}

/// A whole frame that gives no text that can be trusted.
#[derive(Clone, Copy, Debug)]
pub struct BadFrame {
    /// Its first byte in the file.
    pub file: u64,
    /// Just after its last byte.
    pub file_end: u64,
    /// What the decoder says.
    pub why: &'static str,
    /// Whether it is the size of its window that refuses.
    pub window: bool,
}

/// A frame, or a stretch of raw text, and how much text it gave.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Its first byte in the file.
    pub file: u64,
    /// Just after its last byte.
    pub file_end: u64,
    /// Bytes of text.
    pub text_bytes: u64,
    /// Whether a crash cut it short.
    pub torn: bool,
}

/// What is known when a segment is over.
#[derive(Debug, Default)]
pub struct SegmentEnd {
    /// The text after its last newline.
    pub unterminated: Vec<u8>,
    /// Where that starts in the segment's text.
    pub unterminated_at: u64,
    /// Its frames in order.
    pub spans: Vec<Span>,
}

/// How many lines are handed on together.
const LINES: usize = 1024;

/// Cuts text that comes in pieces into lines.
pub struct Splitter {
    carry: Vec<u8>,
    line_at: u64,
    at: u64,
    limit: u64,
    dropped: u64,
}

impl Splitter {
    /// A splitter at the start of the text; lines longer than `limit` bytes are passed over.
    #[must_use]
    pub fn new(limit: u64) -> Splitter {
        Splitter { carry: Vec::new(), line_at: 0, at: 0, limit, dropped: 0 }
    }

    /// How much text has gone through.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Takes a piece; `each` gets the start, the length and, unless it is too long, the text of each
    /// line that ends in it.
    pub fn push(&mut self, piece: &[u8], each: &mut impl FnMut(u64, u64, Option<&[u8]>)) {
        let mut from = 0;
        for newline in memchr::memchr_iter(b'\n', piece) {
            let line = &piece[from..newline];
            if self.carry.is_empty() && self.dropped == 0 {
                let fits = line.len() as u64 <= self.limit;
                each(self.line_at, line.len() as u64, fits.then_some(line));
            } else {
                self.keep(line);
                let bytes = self.carry.len() as u64 + self.dropped;
                each(self.line_at, bytes, (self.dropped == 0).then_some(&self.carry));
                self.carry.clear();
                self.dropped = 0;
            }
            from = newline + 1;
            self.line_at = self.at + from as u64;
        }
        self.keep(&piece[from..]);
        self.at += piece.len() as u64;
    }

    fn keep(&mut self, part: &[u8]) {
        let held = self.carry.len() as u64;
        if self.dropped > 0 || held + part.len() as u64 > self.limit {
            self.dropped += held + part.len() as u64;
            self.carry = Vec::new();
        } else {
            self.carry.extend_from_slice(part);
        }
    }

    /// What stands after the last newline, and where it starts.
    #[must_use]
    pub fn rest(self) -> (Vec<u8>, u64) {
        (self.carry, self.line_at)
    }
}

/// What a worker keeps between segments.
#[derive(Default)]
pub struct Worker {
    jumps: Jumps,
    decoder: Decoder,
    compressed: Vec<u8>,
}

/// Where the lines of one segment go.
struct Lines<'a, 'b> {
    jumps: Jumps,
    context: &'a RowContext<'a>,
    limit: u64,
    first_line: Option<Vec<u8>>,
    /// Whether a record that began before the segment may go on in its first line: raw segments are
    /// cut at lines, frames need not be.
    may_join: bool,
    held: Vec<Line>,
    spans: Vec<Span>,
    give: &'b mut dyn FnMut(Piece) -> bool,
    go_on: bool,
}

impl Lines<'_, '_> {
    fn line(&mut self, at: u64, bytes: u64, text: Option<&[u8]>) {
        let mut line = judge(at, bytes, text, self.context, self.limit, &mut self.jumps);
        if self.may_join && self.first_line.is_none() {
            self.first_line = Some(text.unwrap_or_default().to_vec());
        }
        if line.row.form == Form::Unparsable {
            line.spoiled = text.map(<[u8]>::to_vec);
        }
        self.held.push(line);
        if self.held.len() >= LINES {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if !self.held.is_empty() {
            let lines = std::mem::take(&mut self.held);
            let first_line = self.first_line.take();
            self.may_join = false;
            self.give(Piece::Lines(lines, first_line));
        }
    }

    fn bad_frame(&mut self, file: u64, file_end: u64, why: &'static str, window: bool) {
        self.flush();
        self.give(Piece::BadFrame(BadFrame { file, file_end, why, window }));
        self.spans.push(Span { file, file_end, text_bytes: 0, torn: false });
    }

    fn give(&mut self, piece: Piece) {
        self.go_on = self.go_on && (self.give)(piece);
    }
}

/// Judges one line of text; `None` stands for a line over the limit.
#[must_use]
pub fn judge(
    at: u64,
    bytes: u64,
    text: Option<&[u8]>,
    context: &RowContext<'_>,
    limit: u64,
    jumps: &mut Jumps,
) -> Line {
    let row = match text {
        Some(text) => judge::parse_with(text, context, jumps),
        None => {
            Row::bad(Form::TooLong, &format!("a record of {bytes} bytes is longer than the limit of {limit}"))
        }
    };
    Line { at, bytes, row, spoiled: None }
}

/// Scans one segment, handing on its pieces in order.
pub fn segment(
    worker: &mut Worker,
    source: &Source,
    segment: &Segment,
    context: &RowContext<'_>,
    limit: u64,
    give: &mut dyn FnMut(Piece) -> bool,
) {
    let jumps = std::mem::take(&mut worker.jumps);
    let mut lines = Lines {
        jumps,
        context,
        limit,
        first_line: None,
        may_join: segment.torn || !segment.frames.is_empty(),
        held: Vec::new(),
        spans: Vec::new(),
        give,
        go_on: true,
    };
    let mut splitter = Splitter::new(limit);
    let scanned = if segment.torn || !segment.frames.is_empty() {
        frames(worker, source, segment, &mut splitter, &mut lines)
    } else {
        raw(worker, source, segment, &mut splitter, &mut lines)
    };
    lines.flush();
    worker.jumps = std::mem::take(&mut lines.jumps);
    if let Err(e) = scanned {
        lines.give(Piece::Failed(e));
        return;
    }
    let (unterminated, unterminated_at) = splitter.rest();
    let spans = std::mem::take(&mut lines.spans);
    lines.give(Piece::End(SegmentEnd { unterminated, unterminated_at, spans }));
}

fn raw(
    worker: &mut Worker,
    source: &Source,
    segment: &Segment,
    splitter: &mut Splitter,
    lines: &mut Lines<'_, '_>,
) -> Result<()> {
    let mut at = segment.start;
    while at < segment.end && lines.go_on {
        let wanted = (1 << 20).min((segment.end - at) as usize);
        worker.compressed.resize(wanted, 0);
        let got = source.read_at(at, &mut worker.compressed)?;
        if got == 0 {
            break;
        }
        splitter.push(&worker.compressed[..got], &mut |at, n, text| lines.line(at, n, text));
        at += got as u64;
    }
    let text_bytes = splitter.at();
    lines.spans.push(Span { file: segment.start, file_end: segment.end, text_bytes, torn: false });
    Ok(())
}

fn frames(
    worker: &mut Worker,
    source: &Source,
    segment: &Segment,
    splitter: &mut Splitter,
    lines: &mut Lines<'_, '_>,
) -> Result<()> {
    if segment.torn {
        let stretch = Stretch { start: segment.start, end: segment.end, bound: u64::MAX };
        return streamed(worker, source, stretch, true, splitter, lines);
    }
    if let [frame] = segment.frames[..]
        && !Decoder::is_small(frame.bound)
    {
        if frame.window_too_large {
            lines.bad_frame(frame.start, frame.end, WINDOW, true);
            return Ok(());
        }
        return streamed(worker, source, frame.into(), false, splitter, lines);
    }
    worker.compressed.resize((segment.end - segment.start) as usize, 0);
    let got = source.read_at(segment.start, &mut worker.compressed)?;
    for frame in &segment.frames {
        if !lines.go_on {
            break;
        }
        let from = (frame.start - segment.start) as usize;
        let to = ((frame.end - segment.start) as usize).min(got);
        let bytes = worker.compressed.get(from..to).unwrap_or_default();
        let decoded = if frame.window_too_large {
            Err(WINDOW)
        } else {
            worker.decoder.small(bytes, frame.bound).map_err(|e| e.0)
        };
        match decoded {
            Ok(text) => {
                splitter.push(text, &mut |at, n, line| lines.line(at, n, line));
                let text_bytes = text.len() as u64;
                lines.spans.push(Span { file: frame.start, file_end: frame.end, text_bytes, torn: false });
            }
            Err(why) => lines.bad_frame(frame.start, frame.end, why, frame.window_too_large),
        }
    }
    Ok(())
}

const WINDOW: &str = "its window is larger than 2^27 bytes";

fn streamed(
    worker: &mut Worker,
    source: &Source,
    stretch: Stretch,
    torn: bool,
    splitter: &mut Splitter,
    lines: &mut Lines<'_, '_>,
) -> Result<()> {
    let before = splitter.at();
    worker.decoder.begin(stretch, torn);
    let failed = loop {
        match worker.decoder.step(source)? {
            Step::Piece(text) => splitter.push(text, &mut |at, n, line| lines.line(at, n, line)),
            Step::End => break None,
            Step::Failed(why) => break Some(why),
        }
        if !lines.go_on {
            break None;
        }
    };
    let text_bytes = splitter.at() - before;
    lines.spans.push(Span { file: stretch.start, file_end: stretch.end, text_bytes, torn });
    if let Some(why) = failed.filter(|_| !torn) {
        lines.flush();
        lines.give(Piece::BadFrame(BadFrame {
            file: stretch.start,
            file_end: stretch.end,
            why: why.0,
            window: false,
        }));
    }
    Ok(())
}

/// The lines of one segment, as text; what the decoder says where a frame cannot be decoded.
pub fn segment_lines(
    source: &Source,
    segment: &Segment,
    splitter: &mut Splitter,
    line: &mut impl FnMut(u64, u64, Option<&[u8]>),
) -> Result<Option<&'static str>> {
    if segment.frames.is_empty() {
        let mut at = segment.start;
        let mut buf = vec![0; 64 << 10];
        while at < segment.end {
            let wanted = buf.len().min((segment.end - at) as usize);
            let got = source.read_at(at, &mut buf[..wanted])?;
            if got == 0 {
                break;
            }
            splitter.push(&buf[..got], line);
            at += got as u64;
        }
    }
    let mut decoder = Decoder::new();
    for frame in &segment.frames {
        if frame.window_too_large {
            return Ok(Some(WINDOW));
        }
        decoder.begin((*frame).into(), false);
        loop {
            match decoder.step(source)? {
                Step::Piece(text) => splitter.push(text, line),
                Step::End => break,
                Step::Failed(why) => return Ok(Some(why.0)),
            }
        }
    }
    Ok(None)
}
