//! Reads a whole log: header, segments in parallel, the fold in order, then the verdict.

use super::closers::{self, Cause, Closer};
use super::pipeline;
use super::projection;
use super::reader::{Finished, Island, Reader, Sums};
use super::rewrites;
use super::scan::{self, Piece, SegmentEnd, Worker};
use super::verdict::{self, Cut, Outcome, Verdict};
use crate::error::Result;
use crate::fault::{Code, Severity};
use crate::finding::{Finding, Findings};
use crate::format::dialect::{Dialect, Inherited};
use crate::format::header::{self, Header, HeaderReading};
use crate::format::row::RowContext;
use crate::json::jumps::Jumps;
use crate::limits::Limits;
use crate::log::index::Index;
use crate::log::surface::Surface;
use crate::log::turns::Turns;
use crate::position::{FileOffset, FrameNo, LineNo, Place, TextOffset};
use crate::storage::container::{Container, End, Segment, Segments};
use crate::storage::source::Source;
use crate::storage::text::{TextMap, TextReader};

/// How to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// Bounds on what an input can make us allocate.
    pub limits: Limits,
    /// How many threads decode; 0 = as many as there are cores, at most 8.
    pub threads: usize,
}

/// A log that has been read: a compact index over bytes that stay on disk.
pub struct Log {
    pub(crate) source: Source,
    pub(crate) map: TextMap,
    container: Container,
    header: Option<Header>,
    dialect: &'static Dialect,
    known: bool,
    sums: Sums,
    findings: Findings,
    islands: Vec<Island>,
    closers: Vec<Closer>,
    verdict: Verdict,
    frames: u64,
    lines: u64,
    torn_from: Option<u64>,
    accepted_end: u64,
}

impl Log {
    /// Reads a log. Damage gives findings; errors mean that the file could not be read.
    pub fn read(source: Source, options: &ReadOptions) -> Result<Log> {
        Log::read_watched(source, options, &mut |_| {})
    }

    /// As [`Log::read`]; `progress` is told now and then how many bytes of the file are done.
    pub fn read_watched(source: Source, options: &ReadOptions, progress: &mut dyn FnMut(u64)) -> Result<Log> {
        let container = Container::of(&source)?;
        let mut segments = Segments::new(&source, container);
        let opening = Opening::read(&source, &mut segments, container, &options.limits)?;
        let id = opening.reading.header.as_ref().map(|h| h.id.clone()).unwrap_or_default();
        let context =
            RowContext { dialect: opening.reading.dialect, session_id: &id, known: opening.reading.known };
        let has_parent = opening.reading.header.as_ref().is_some_and(|h| h.parent_session.is_some());
        let mut pass = Pass::new(&context, options, container, has_parent);
        pass.open(&opening, &context);
        let torn = pass.segments(&source, &mut segments, &context, options, progress)?;
        pass.end(&source, &segments, torn.as_ref(), &context)?;
        pass.into_log(source, container, opening.reading, segments_end(&torn), options)
    }
}

fn segments_end(torn: &Option<Segment>) -> Option<u64> {
    torn.as_ref().map(|segment| segment.start)
}

/// What stands at the very beginning: the header, or what is there instead.
struct Opening {
    reading: HeaderReading,
    /// Lines of the first segment behind the header line, as text.
    rest: Vec<(u64, Vec<u8>)>,
    /// Bytes of text up to the end of the header line.
    header_end: u64,
    span: Option<(u64, u64, u64)>,
    faults: Vec<Finding>,
    /// The first line is a record and no header.
    headless: bool,
}

impl Opening {
    fn read(
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

/// The pass over the segments behind the header.
struct Pass {
    reader: Reader,
    map: TextMap,
    limits: Limits,
    base: u64,
    carry: Vec<u8>,
    carry_at: u64,
    /// Whether the text began inside a record when the current segment did.
    joins: bool,
    spoiled: Vec<Finding>,
}

impl Pass {
    fn new(context: &RowContext<'_>, options: &ReadOptions, container: Container, has_parent: bool) -> Pass {
        Pass {
            reader: Reader::new(context, options.limits, has_parent),
            map: TextMap::new(container),
            limits: options.limits,
            base: 0,
            carry: Vec::new(),
            carry_at: 0,
            joins: false,
            spoiled: Vec::new(),
        }
    }

    fn open(&mut self, opening: &Opening, context: &RowContext<'_>) {
        for finding in &opening.faults {
            self.reader.bad_frame(finding.clone());
        }
        for fault in &opening.reading.faults {
            let place = Place { line: Some(LineNo(1)), ..Place::at_byte(0) };
            let finding = Finding::new(fault.code, Severity::Refuses, place, fault.message.clone());
            self.reader.add(finding, None);
        }
        if let Some((file, file_end, text_bytes)) = opening.span {
            self.map.push(file, file_end, text_bytes);
            self.base = text_bytes;
        }
        self.reader.header_ends(opening.header_end);
        let judged = |at, text: &[u8]| {
            scan::judge(
                at,
                text.len() as u64,
                Some(text),
                context,
                self.limits.record_bytes,
                &mut Jumps::default(),
            )
        };
        let lines: Vec<scan::Line> = opening.rest.iter().map(|(at, text)| judged(*at, text)).collect();
        if opening.headless {
            let first = lines.iter().find_map(|line| line.row.seq).unwrap_or(0.0);
            self.reader.without_header(first.max(0.0) as u64);
        }
        for line in lines {
            self.reader.line(line.at, line);
        }
    }

    /// Reads the rest of the first segment and all later ones; the torn one is handed back.
    fn segments(
        &mut self,
        source: &Source,
        segments: &mut Segments<'_>,
        context: &RowContext<'_>,
        options: &ReadOptions,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Option<Segment>> {
        let mut torn = None;
        let limit = options.limits.record_bytes;
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from).min(8),
            n => n,
        };
        pipeline::run(
            threads,
            || {
                let segment = segments.next_segment()?;
                if segment.as_ref().is_some_and(|s| s.torn) {
                    torn = segment;
                    return Ok(None);
                }
                Ok(segment)
            },
            Worker::default,
            |worker, segment: Segment, give| scan::segment(worker, source, &segment, context, limit, give),
            |piece| {
                let is_end = matches!(piece, Piece::End(_));
                self.take(piece, context)?;
                if is_end {
                    progress(self.map.file_bytes());
                }
                Ok(())
            },
        )?;
        Ok(torn)
    }

    fn take(&mut self, piece: Piece, context: &RowContext<'_>) -> Result<()> {
        match piece {
            Piece::Failed(e) => return Err(e),
            Piece::Lines(mut lines, first) => {
                if let Some(first) = first
                    && !self.carry.is_empty()
                    && let Some(line) = lines.first_mut()
                {
                    self.join(line, &first, context);
                }
                for line in lines {
                    let at =
                        if std::mem::take(&mut self.joins) { self.carry_at } else { self.base + line.at };
                    self.reader.line(at, line);
                }
            }
            Piece::BadFrame(bad) => {
                let place = Place::at_byte(bad.file);
                let code = if bad.window { Code::FrameWindow } else { Code::FrameUndecodable };
                let message = format!(
                    "the frame of {} bytes cannot be decoded: {}",
                    bad.file_end - bad.file,
                    bad.why.to_lowercase()
                );
                self.reader.bad_frame(Finding::new(code, Severity::Refuses, place, message));
            }
            Piece::End(end) => self.segment_ends(end),
        }
        Ok(())
    }

    /// A record that lies over two segments: its bytes are joined before its text is judged.
    fn join(&mut self, line: &mut scan::Line, first: &[u8], context: &RowContext<'_>) {
        let mut joined = std::mem::take(&mut self.carry);
        joined.extend_from_slice(first);
        let bytes = joined.len() as u64;
        let text = (bytes <= self.limits.record_bytes).then_some(&joined[..]);
        *line = scan::judge(0, bytes, text, context, self.limits.record_bytes, &mut Jumps::default());
        self.joins = true;
    }

    fn segment_ends(&mut self, end: SegmentEnd) {
        for span in &end.spans {
            if span.torn {
                self.map.push_torn(span.file, span.file_end, span.text_bytes);
            } else {
                self.map.push(span.file, span.file_end, span.text_bytes);
            }
        }
        if self.carry.is_empty() {
            self.carry_at = self.base + end.unterminated_at;
        }
        self.carry.extend_from_slice(&end.unterminated);
        self.base = self.map.text_bytes();
    }

    /// What stands at the end of the container: clean, torn, or bytes that are no frame.
    fn end(
        &mut self,
        source: &Source,
        segments: &Segments<'_>,
        torn: Option<&Segment>,
        context: &RowContext<'_>,
    ) -> Result<()> {
        if self.map_is_zstd() {
            let unterminated = (!self.carry.is_empty()).then_some(self.carry_at);
            self.reader.complete_frames_end(unterminated);
        }
        if let End::Spoiled { frame, byte, reserved } = segments.end() {
            self.spoiled = spoiled_findings(source, frame, byte, reserved)?;
        }
        if let Some(segment) = torn {
            self.reader.torn_frame();
            let mut failed = Ok(());
            let mut worker = Worker::default();
            let limit = self.limits.record_bytes;
            scan::segment(&mut worker, source, segment, context, limit, &mut |piece| {
                failed = self.take(piece, context);
                failed.is_ok()
            });
            failed?;
        }
        Ok(())
    }

    fn map_is_zstd(&self) -> bool {
        self.map.container() == Container::Zstd
    }

    fn into_log(
        mut self,
        source: Source,
        container: Container,
        reading: HeaderReading,
        torn_from: Option<u64>,
        options: &ReadOptions,
    ) -> Result<Log> {
        for finding in std::mem::take(&mut self.spoiled) {
            self.reader.add(finding, None);
        }
        let mut finished = self.reader.finish();
        resolve_places(&mut finished, &self.map);
        let mut log = Log {
            source,
            map: self.map,
            container,
            header: reading.header,
            dialect: reading.dialect,
            known: reading.known,
            findings: std::mem::take(&mut finished.findings),
            islands: std::mem::take(&mut finished.islands),
            closers: Vec::new(),
            verdict: Verdict { outcome: Outcome::Opens, class: None, reason: None, cut: None },
            frames: 0,
            lines: finished.lines,
            torn_from,
            accepted_end: finished.accepted_end,
            sums: finished.sums.clone(),
        };
        log.frames = log.map.frame_count();
        log.judge(&finished, &options.limits)?;
        Ok(log)
    }
}

/// Findings carry their place in the text; now that all frames are known it becomes one in the file.
fn resolve_places(finished: &mut Finished, map: &TextMap) {
    for (finding, text) in finished.findings.list_mut().iter_mut().zip(&finished.finding_texts) {
        if let Some(at) = text {
            finding.place.byte = Some(FileOffset(map.file_byte(TextOffset(*at))));
            finding.place.frame = map.frame_of(TextOffset(*at));
        }
    }
}

fn spoiled_findings(source: &Source, frame: u64, byte: u64, reserved: bool) -> Result<Vec<Finding>> {
    let unread = source.bytes() - frame;
    let place = Place::at_byte(byte);
    if reserved {
        let message = format!(
            "a zstd frame uses a reserved bit or block type; {unread} bytes from byte {frame} on unread"
        );
        return Ok(vec![Finding::new(Code::FrameReserved, Severity::Refuses, place, message)]);
    }
    let zeros = zero_run(source, frame)?;
    let mut head = [0; 4];
    let got = source.read_at(byte, &mut head)?;
    let found: String = head[..got].iter().map(|b| format!("{b:02x}")).collect();
    let message = format!("no zstd frame where one must start; {unread} bytes unread");
    let mut list =
        vec![Finding::new(Code::FrameMagic, Severity::Refuses, place, message).versus("28b52ffd", found)];
    if zeros > 0 {
        let rest = if zeros == unread { "up to the end of the file" } else { "and other bytes behind them" };
        let message = format!("a run of {zeros} zero bytes {rest}");
        list.push(Finding::new(Code::NulRun, Severity::Warns, place, message));
    }
    Ok(list)
}

fn zero_run(source: &Source, from: u64) -> Result<u64> {
    let mut buf = vec![0; 64 << 10];
    let mut zeros = 0;
    loop {
        let got = source.read_at(from + zeros, &mut buf)?;
        let run = buf[..got].iter().take_while(|b| **b == 0).count();
        zeros += run as u64;
        if run < buf.len() {
            return Ok(zeros);
        }
    }
}

impl Log {
    /// From what was read to what the harness would do with it.
    fn judge(&mut self, finished: &Finished, limits: &Limits) -> Result<()> {
        self.check_seed_markers(limits);
        for (seq, fault) in projection::check(self)?.into_iter().chain(rewrites::check(self)?) {
            self.add_event_fault(seq, fault, limits);
        }
        self.report_islands(limits);
        let opens = !self.has_refusal();
        if opens && let Some((code, message)) = closers::fault(&self.sums.turns, self.dialect) {
            let place = Place::at_seq(self.sums.index.next_seq());
            self.findings.push(Finding::new(code, Severity::Refuses, place, message), limits);
        }
        self.closers = closers::closers(
            &self.sums.turns,
            self.sums.index.next_seq().0,
            self.sums.last_time,
            Cause::Interrupted,
            self.dialect,
        );
        // Nothing is appended to a log that does not open, so nothing is shown as appended.
        if !self.known || self.has_refusal() {
            self.closers.clear();
        }
        self.note_the_tail(finished, limits);
        self.decide(finished);
        Ok(())
    }

    fn has_refusal(&self) -> bool {
        self.findings.list().iter().any(|f| f.severity == Severity::Refuses)
    }

    fn add_event_fault(&mut self, seq: u64, fault: crate::format::row::RowFault, limits: &Limits) {
        let place = self.place_of(crate::seq::Seq(seq));
        self.findings.push(Finding::new(fault.code, Severity::Refuses, place, fault.message), limits);
    }

    fn check_seed_markers(&mut self, limits: &Limits) {
        let Some(header) = self.header.as_ref().filter(|_| self.known) else { return };
        if self.dialect.inherited != Inherited::TaggedEndSeed {
            return;
        }
        let (code, message) = match (header.is_seeded, self.sums.tagged_seed) {
            (Some(true), None) => {
                let message =
                    "the header says that the log begins with inherited events, and no end of them is marked";
                (Code::SeedMarkerMissing, message)
            }
            (Some(false), Some(_)) => {
                let message =
                    "the header says that nothing is inherited, and an end of inherited events is marked";
                (Code::SeedMarkerUnexpected, message)
            }
            _ => return,
        };
        let place = self.sums.tagged_seed.map_or(Place::default(), |seq| Place::at_seq(crate::seq::Seq(seq)));
        self.findings.push(Finding::new(code, Severity::Refuses, place, message), limits);
    }

    fn report_islands(&mut self, limits: &Limits) {
        for island in self.islands.clone() {
            let place = Place {
                seq: Some(crate::seq::Seq(island.first)),
                frame: self.map.frame_of(island.text),
                byte: Some(FileOffset(self.map.file_byte(island.text))),
                line: None,
            };
            let message = format!(
                "{} readable records behind the damage, events {} to {}, beginning with {}",
                island.records, island.first, island.last, island.kind
            );
            self.findings.push(Finding::new(Code::RecordsBehind, Severity::Warns, place, message), limits);
        }
    }

    fn note_the_tail(&mut self, finished: &Finished, limits: &Limits) {
        if !self.has_refusal() {
            let cut = self.cut(finished);
            if let Some(cut) = cut {
                let message = format!(
                    "{} bytes of a torn tail; {} events in them are whole and kept",
                    cut.bytes, cut.recovered
                );
                let place = Place::at_byte(cut.from);
                self.findings.push(Finding::new(Code::TornTail, Severity::Cuts, place, message), limits);
            }
            self.verdict.cut = cut;
        }
        if let Some((turn, start)) = self.sums.turns.open_turn() {
            let number = turn.json().map(|t| String::from_utf8_lossy(&t).into_owned()).unwrap_or_default();
            let calls = self.sums.turns.pending().count();
            let message =
                format!("turn {number} was still open when the log ends, with {calls} unanswered calls");
            let place = self.place_of(crate::seq::Seq(start));
            self.findings.push(Finding::new(Code::OpenTurn, Severity::Notes, place, message), limits);
        }
    }

    /// What repair would cut: from the torn frame on, or from the first byte not accepted.
    fn cut(&self, finished: &Finished) -> Option<Cut> {
        let from = match self.container {
            Container::Zstd => self.torn_from?,
            Container::Raw => finished.accepted_end,
        };
        let bytes = self.source.bytes().saturating_sub(from);
        (bytes > 0).then_some(Cut {
            from,
            bytes,
            recovered: finished.recovered,
            lost_records: finished.lost_records,
        })
    }

    fn decide(&mut self, finished: &Finished) {
        let reason = verdict::deciding(self.findings.list(), self.dialect).cloned();
        let Some(reason) = reason else {
            let repair = self.verdict.cut.is_some() || !self.closers.is_empty();
            self.verdict.outcome = if repair { Outcome::OpensAfterRepair } else { Outcome::Opens };
            return;
        };
        let unsupported = verdict::is_unsupported(reason.code);
        self.verdict.outcome = if unsupported { Outcome::Unsupported } else { Outcome::Refuses };
        let by_line = reason.code.class().starts_with("lines:") && reason.code != Code::LineNull;
        self.verdict.class = match finished.issue_class {
            Some(class) if by_line => Some(class),
            _ => Some(reason.code.class()),
        };
        self.verdict.cut = None;
        self.verdict.reason = Some(reason);
    }

    /// The bytes it was read from.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// How its text is stored.
    #[must_use]
    pub fn container(&self) -> Container {
        self.container
    }

    /// The header; `None` when it is missing or is none.
    #[must_use]
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// The generation whose rules it was read by.
    #[must_use]
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// Whether the version in the header is one we know.
    #[must_use]
    pub fn is_known_format(&self) -> bool {
        self.known
    }

    /// What the harness would do.
    #[must_use]
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// What was found, in the order of reading.
    #[must_use]
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// The closers that repair would append.
    #[must_use]
    pub fn closers(&self) -> &[Closer] {
        &self.closers
    }

    /// The stored records: those that the harness accepts or, of a refused log, those that can be
    /// read from the start without a hole.
    #[must_use]
    pub fn index(&self) -> &Index {
        &self.sums.index
    }

    /// The surface of the stored events.
    #[must_use]
    pub fn surface(&self) -> &Surface {
        &self.sums.surface
    }

    /// The open turn of the stored events.
    #[must_use]
    pub fn turns(&self) -> &Turns {
        &self.sums.turns
    }

    /// What else the stored events add up to.
    #[must_use]
    pub fn sums(&self) -> &Sums {
        &self.sums
    }

    /// Readable records that do not continue the log.
    #[must_use]
    pub fn islands(&self) -> &[Island] {
        &self.islands
    }

    /// How many zstd frames were read, a torn one included; 0 for a raw container.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// How many lines were read, the header included.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// How many bytes of text were decoded.
    #[must_use]
    pub fn text_bytes(&self) -> u64 {
        self.map.text_bytes()
    }

    /// The text offset just after the last accepted line.
    #[must_use]
    pub fn accepted_end(&self) -> TextOffset {
        TextOffset(self.accepted_end)
    }

    /// How many events are inherited from a parent session.
    #[must_use]
    pub fn inherited(&self) -> u64 {
        match self.dialect.inherited {
            Inherited::SeedLength => self.header.as_ref().and_then(|h| h.seed_length).unwrap_or(0),
            Inherited::TaggedEndSeed => self.sums.tagged_seed.unwrap_or(0),
        }
        .min(self.sums.index.events())
    }

    /// Which frame and byte an event stands at.
    #[must_use]
    pub fn place_of(&self, seq: crate::seq::Seq) -> Place {
        let record = self.sums.index.record_of(seq).map(|n| self.sums.index.entries()[n].text);
        Place {
            seq: Some(seq),
            frame: record.and_then(|at| self.map.frame_of(at)),
            byte: record.map(|at| FileOffset(self.map.file_byte(at))),
            line: None,
        }
    }

    /// Whether some frame is so large that reading backwards in it means decoding it again.
    #[must_use]
    pub fn has_large_frames(&self) -> bool {
        self.map.largest_frame() > crate::storage::decode::SMALL_TEXT
    }

    /// A reader over the decoded text.
    #[must_use]
    pub fn text(&self) -> TextReader<'_> {
        TextReader::new(&self.source, &self.map)
    }
}
