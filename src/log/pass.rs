//! The pass over the segments behind the header: workers judge lines, the fold takes them in order.

use super::opening::Opening;
use super::pipeline;
use super::read::{Log, ReadOptions};
use super::reader::{Finished, Reader};
use super::scan::{self, Piece, SegmentEnd, Worker};
use super::verdict::{Outcome, Verdict};
use crate::error::Result;
use crate::fault::{Code, Severity};
use crate::finding::Finding;
use crate::format::header::HeaderReading;
use crate::format::row::RowContext;
use crate::json::jumps::Jumps;
use crate::limits::Limits;
use crate::position::{FileOffset, LineNo, Place, TextOffset};
use crate::storage::container::{Container, End, Segment, Segments};
use crate::storage::source::Source;
use crate::storage::text::TextMap;
use std::ops::ControlFlow;

/// The pass over the segments behind the header.
pub(super) struct Pass {
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
    pub(super) fn new(
        context: &RowContext<'_>,
        options: &ReadOptions,
        container: Container,
        has_parent: bool,
    ) -> Pass {
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

    pub(super) fn open(&mut self, opening: &Opening, context: &RowContext<'_>) {
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
    pub(super) fn segments(
        &mut self,
        source: &Source,
        segments: &mut Segments<'_>,
        context: &RowContext<'_>,
        options: &ReadOptions,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Option<Segment>> {
        let mut torn = None;
        let limit = options.limits.record_bytes;
        pipeline::run(
            pipeline::threads(options.threads),
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
                Ok(ControlFlow::Continue(()))
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
    pub(super) fn end(
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

    pub(super) fn into_log(
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
            threads: options.threads,
            gleaned: Some(std::mem::take(&mut finished.gleaned)),
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
