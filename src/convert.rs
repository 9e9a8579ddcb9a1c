//! Convert: the same events in another container, in other batches, or with chunk rows packed or
//! expanded. A new file always, and read back against the old one before it counts.

use crate::error::{Error, ErrorKind, Result, shell_word};
use crate::fault::{Code, Severity};
use crate::format::chunk_pack::Run;
use crate::log::index::Flags;
use crate::log::visit::Bodies;
use crate::log::{Log, ReadOptions};
use crate::position::FrameNo;
use crate::storage::container::Container;
use crate::storage::disk::{Disk, RealDisk};
use crate::storage::encode::FrameWriter;
use crate::storage::publish::publish_on;
use crate::storage::source::Source;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

/// How many stored lines make one batch where the log does not say: what the harness's own writer puts
/// into a frame, 10 to 14.
pub const BATCH: usize = 12;

/// How chunk rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// As they are.
    Stored,
    /// Runs of three and more in one line, as the harness packs a batch (v0 section 6.1).
    Packed,
    /// One line for each event.
    Expanded,
}

/// A conversion that was checked and can be written.
pub struct Conversion<'a> {
    log: &'a Log,
    container: Container,
    rows: Rows,
    /// How many batches the new file holds, the header not counted.
    pub batches: u64,
    /// Whether the batches are those of the log, and not made by number.
    pub keeps_batches: bool,
}

impl<'a> Conversion<'a> {
    /// Plans a conversion.
    ///
    /// Frames of a zstd log stay batches. Raw text, and a log that lies in one frame with its header,
    /// is cut into batches of [`BATCH`] stored lines.
    ///
    /// Errors: `not-convertible` when the log does not open, or opens only after repair of its tail;
    /// `no-chunk-rows` when rows are asked for in a generation that has none.
    pub fn plan(log: &'a Log, container: Container, rows: Rows) -> Result<Conversion<'a>> {
        refuse(log)?;
        if rows == Rows::Packed && !log.dialect().chunk_rows {
            let message = format!("format {} has no packed chunk rows", log.dialect().version);
            return Err(Error::new(ErrorKind::Refused, "no-chunk-rows", message).at_path(log.source().path()));
        }
        let keeps_batches = log.container() == Container::Zstd && frame_of(log, 0) != Some(FrameNo(0));
        let mut plan = Conversion { log, container, rows, batches: 0, keeps_batches };
        let mut from = 0;
        while from < log.index().entries().len() {
            from = plan.batch_end(from);
            plan.batches += 1;
        }
        Ok(plan)
    }

    /// Writes the new file.
    ///
    /// Errors: `already-exists`, `not-verified` when its events are not those of the log byte for
    /// byte, and what the file system says.
    pub fn write(&self, path: &Path, options: &ReadOptions) -> Result<()> {
        self.write_on(&RealDisk, path, options)
    }

    /// As [`Conversion::write`], on a given disk.
    pub fn write_on(&self, disk: &dyn Disk, path: &Path, options: &ReadOptions) -> Result<()> {
        publish_on(disk, path, true, |out| self.encode(out), |stage| self.verify(stage, options))
    }

    /// The record after the batch that begins with one.
    fn batch_end(&self, from: usize) -> usize {
        let entries = self.log.index().entries().len();
        if !self.keeps_batches {
            return (from + BATCH).min(entries);
        }
        let frame = frame_of(self.log, from);
        (from..entries).find(|n| frame_of(self.log, *n) != frame).unwrap_or(entries)
    }

    fn encode(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut header = self.log.header().map(|header| header.text.clone()).unwrap_or_default();
        header.push(b'\n');
        self.put(&header, out)?;
        let mut bodies = Bodies::new(self.log);
        let entries = self.log.index().entries().len();
        let mut from = 0;
        while from < entries {
            let upto = self.batch_end(from);
            match self.container {
                Container::Raw => self.batch(&mut bodies, from, upto, out)?,
                Container::Zstd => {
                    let mut frame = FrameWriter::new(&mut *out)?;
                    self.batch(&mut bodies, from, upto, &mut frame)?;
                    frame.finish()?;
                }
            }
            from = upto;
        }
        Ok(())
    }

    fn put(&self, text: &[u8], out: &mut dyn Write) -> io::Result<()> {
        if self.container == Container::Raw {
            return out.write_all(text);
        }
        let mut frame = FrameWriter::new(out)?;
        frame.write_all(text)?;
        frame.finish()
    }

    fn batch(
        &self,
        bodies: &mut Bodies<'_>,
        from: usize,
        upto: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut run = Run::default();
        for n in from..upto {
            let entry = self.log.index().entries()[n];
            let packed = entry.flags.has(Flags::PACKED);
            if packed && self.rows != Rows::Stored {
                let mut written = Ok(());
                let _ = bodies
                    .record(n, |event| {
                        written = self.one(&mut run, event.text, out);
                        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                    })
                    .map_err(io::Error::other)?;
                written?;
                continue;
            }
            let line = bodies.line_at(entry.text).map_err(io::Error::other)?;
            self.one(&mut run, line, out)?;
        }
        run.flush(out)
    }

    fn one(&self, run: &mut Run, line: &[u8], out: &mut dyn Write) -> io::Result<()> {
        if self.rows == Rows::Packed {
            return run.take(line, out);
        }
        out.write_all(line)?;
        out.write_all(b"\n")
    }

    /// Walks over both logs event by event.
    fn verify(&self, stage: &Path, options: &ReadOptions) -> Result<()> {
        let copy = Log::read(Source::open(stage)?, options)?;
        let error = |what: String| {
            Error::new(ErrorKind::Corrupt, "not-verified", format!("the copy is not the log: {what}"))
                .at_path(stage)
        };
        if !copy.verdict().outcome.opens() || copy.verdict().cut.is_some() {
            return Err(error(format!("it {}", copy.verdict().outcome.name())));
        }
        let header = |log: &Log| log.header().map(|header| header.text.clone());
        if header(self.log) != header(&copy) {
            return Err(error("its header differs".to_owned()));
        }
        let (wanted, found) = (self.log.index().events(), copy.index().events());
        if wanted != found {
            return Err(error(format!("{found} events, {wanted} wanted")));
        }
        let mut theirs = Bodies::new(&copy);
        let mut differs = Ok(None);
        let span = crate::log::walk::Span { closers: false, ..self.log.whole() };
        // Members of a row are read by their row, so each record is walked once and not searched.
        let mut held: std::collections::VecDeque<Vec<u8>> = std::collections::VecDeque::new();
        let mut record = 0;
        self.log.walk(
            span,
            |_| true,
            |event| {
                while held.is_empty() && record < copy.index().entries().len() {
                    let read = theirs.record(record, |event| {
                        held.push_back(event.text.to_vec());
                        ControlFlow::Continue(())
                    });
                    record += 1;
                    if let Err(e) = read {
                        differs = Err(e);
                        return ControlFlow::Break(());
                    }
                }
                if held.pop_front().as_deref() == Some(event.text) {
                    return ControlFlow::Continue(());
                }
                differs = Ok(Some(event.seq));
                ControlFlow::Break(())
            },
        )?;
        match differs? {
            Some(seq) => Err(error(format!("event {seq} differs"))),
            None => Ok(()),
        }
    }
}

fn frame_of(log: &Log, record: usize) -> Option<FrameNo> {
    let entry = log.index().entries().get(record)?;
    log.place_of(entry.seq).frame
}

fn refuse(log: &Log) -> Result<()> {
    let verdict = log.verdict();
    let shown = shell_word(log.source().path());
    let refusing = || log.findings().list().iter().filter(|finding| finding.severity == Severity::Refuses);
    let one_frame =
        refusing().next().is_some() && refusing().all(|finding| finding.code == Code::HeaderFrame);
    let torn = verdict.cut.is_some();
    if (verdict.outcome.opens() && !torn) || (one_frame && log.header().is_some()) {
        return Ok(());
    }
    let why = match &verdict.reason {
        Some(reason) => reason.to_string(),
        None => "its tail is torn".to_owned(),
    };
    let (kind, code, hint) = match torn {
        true => (ErrorKind::Refused, "torn", format!("dsh-log repair {shown}")),
        false => (ErrorKind::Corrupt, "not-convertible", format!("dsh-log salvage {shown} -o rescued")),
    };
    Err(Error::new(kind, code, format!("not convertible as it is: {why}"))
        .at_path(log.source().path())
        .hint(hint))
}
