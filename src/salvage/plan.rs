//! A salvage worked out, and what became of it.

use super::account::Account;
use super::aside;
use super::header::{self, Given, Made};
use super::histories::{Branch, Histories, Keep};
use super::record::{Fate, Record};
use super::scan::Scan;
use super::stand::{cut_back, text_of};
use crate::error::{Error, ErrorKind, Result, shell_word};
use crate::format::dialect::Dialect;
use crate::format::header as stored_header;
use crate::log::{Log, ReadOptions};
use crate::position::{FrameNo, TextOffset};
use crate::storage::container::Container;
use crate::storage::disk::{Disk, RealDisk};
use crate::storage::encode::FrameWriter;
use crate::storage::layout::LogName;
use crate::storage::publish::publish_on;
use crate::storage::source::Source;
use crate::storage::text::TextReader;
use std::cell::Cell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A log taken apart and a new session worked out from it; nothing is written yet.
pub struct Salvage {
    source: Source,
    scan: Scan,
    dialect: &'static Dialect,
    kept: Vec<usize>,
    made: Made,
    branches: Vec<Branch>,
    account: Account,
}

/// What was written.
#[derive(Clone, Debug)]
pub struct Salvaged {
    /// The new session's log.
    pub output: PathBuf,
    /// The file of everything that is not in it.
    pub sidecar: PathBuf,
}

impl Salvage {
    /// Takes a log apart and works the new session out.
    ///
    /// Errors: `two-histories` when there are several and `keep` chooses none of them (see
    /// [`Salvage::branches_of`]), `header-gone` when the header is and nothing is given for it,
    /// `unsupported-format` for a log of a newer harness, `not-salvageable` when not even a header can
    /// stand; and what the file system says.
    pub fn plan(
        source: Source,
        keep: Option<&Keep>,
        given: &Given,
        options: &ReadOptions,
    ) -> Result<Salvage> {
        refuse_newer(&source)?;
        let fallback = fallback(&source, given)?;
        let mut scan = Scan::of(&source, fallback, &options.limits)?;
        let reading = stored_header::read(&scan.header_text);
        let dialect = if scan.header.is_some() { reading.dialect } else { fallback };
        let histories = Histories::of(&scan.records);
        let branches = histories.branches(&scan.records);
        let Some(mut kept) = histories.choose(&mut scan, keep) else {
            return Err(undecided(&source, &branches, keep));
        };
        let sound = scan.header.is_some() && reading.faults.is_empty();
        let mut made = match sound && given.id.is_none() && given.cwd.is_none() {
            true => header::stored(&scan.header_text),
            false => {
                let created = scan.records.first().map_or(0, |record| record.time);
                header::rebuilt(source.path(), reading.header.as_ref(), given, dialect, created)?
            }
        };
        // Faults of the whole header are found late, as the harness does; then it is rebuilt.
        if let Err(error) = cut_back(&source, &mut scan, &mut kept, &mut made, options) {
            let rebuildable = error.code == "not-salvageable" && made.stored;
            if !rebuildable {
                return Err(error);
            }
            let Some(again) = histories.choose(&mut scan, keep) else { return Err(error) };
            kept = again;
            let created = scan.records.first().map_or(0, |record| record.time);
            made = header::rebuilt(source.path(), reading.header.as_ref(), given, dialect, created)?;
            cut_back(&source, &mut scan, &mut kept, &mut made, options)?;
        }
        let account = Account::of(&scan, made.stored);
        Ok(Salvage { source, scan, dialect, kept, made, branches, account })
    }

    /// The histories of a log side by side; none when there is but one.
    pub fn branches_of(source: &Source, given: &Given, options: &ReadOptions) -> Result<(Scan, Vec<Branch>)> {
        let scan = Scan::of(source, fallback(source, given)?, &options.limits)?;
        let branches = Histories::of(&scan.records).branches(&scan.records);
        Ok((scan, branches))
    }

    /// The account.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// What the walk found, every record with its fate.
    #[must_use]
    pub fn scan(&self) -> &Scan {
        &self.scan
    }

    /// The histories that there were to choose from; none when there was one.
    #[must_use]
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// The generation.
    #[must_use]
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// The container of the log.
    #[must_use]
    pub fn container(&self) -> Container {
        self.scan.container
    }

    /// The new session's header line.
    #[must_use]
    pub fn header(&self) -> &[u8] {
        &self.made.line
    }

    /// The members of the header that are not stored ones.
    #[must_use]
    pub fn invented(&self) -> &[&'static str] {
        &self.made.invented
    }

    /// The file that is put beside an output.
    #[must_use]
    pub fn sidecar(output: &Path) -> PathBuf {
        let mut name = output.file_name().unwrap_or_default().to_owned();
        name.push(".aside.ndjson");
        output.with_file_name(name)
    }

    /// Writes the new session and what is put aside, each to a new file. What is put aside is safe
    /// before the session is there.
    ///
    /// Errors: `already-exists`, `not-verified` when the session does not read back as planned, and
    /// what the file system says.
    pub fn write(&self, output: &Path, container: Container, options: &ReadOptions) -> Result<Salvaged> {
        self.write_on(&RealDisk, output, container, options)
    }

    /// As [`Salvage::write`], on a given disk.
    pub fn write_on(
        &self,
        disk: &dyn Disk,
        output: &Path,
        container: Container,
        options: &ReadOptions,
    ) -> Result<Salvaged> {
        let sidecar = Salvage::sidecar(output);
        // A name that is taken is found out before anything is written.
        if std::fs::symlink_metadata(output).is_ok() {
            return Err(Error::io("create", output, io::ErrorKind::AlreadyExists.into()));
        }
        let bytes = Cell::new(0);
        publish_on(
            disk,
            &sidecar,
            true,
            |out| {
                let mut counted = Counted { out, bytes: &bytes };
                aside::write(&self.source, &self.scan, !self.made.stored, &mut counted)
            },
            |stage| match std::fs::metadata(stage) {
                Ok(meta) if meta.len() == bytes.get() => Ok(()),
                Ok(_) => Err(unverified(stage, "what was put aside reads back shorter".to_owned())),
                Err(e) => Err(Error::io("read", stage, e)),
            },
        )?;
        let written = publish_on(
            disk,
            output,
            true,
            |out| self.encode(out, container),
            |stage| self.verify(stage, options),
        );
        if let Err(error) = written {
            // Without its session it says nothing.
            let _ = disk.remove(&sidecar);
            return Err(error);
        }
        Ok(Salvaged { output: output.to_owned(), sidecar })
    }

    fn verify(&self, stage: &Path, options: &ReadOptions) -> Result<()> {
        let log = Log::read(Source::open(stage)?, options)?;
        let verdict = log.verdict();
        let events = log.index().events();
        if verdict.outcome.opens() && verdict.cut.is_none() && events == self.account.events {
            return Ok(());
        }
        let why = verdict.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        let planned = self.account.events;
        let name = verdict.outcome.name();
        let message =
            format!("the session is not as planned: it {name} with {events} events, {planned} planned{why}");
        Err(unverified(stage, message))
    }

    fn encode(&self, out: &mut dyn Write, container: Container) -> io::Result<()> {
        let mut reader = TextReader::new(&self.source, &self.scan.map);
        if container == Container::Raw {
            out.write_all(&self.made.line)?;
            out.write_all(b"\n")?;
            return self.kept.iter().try_for_each(|n| self.put(&mut reader, *n, out));
        }
        let mut header = FrameWriter::new(&mut *out)?;
        header.write_all(&self.made.line)?;
        header.write_all(b"\n")?;
        header.finish()?;
        let mut from = 0;
        while from < self.kept.len() {
            let upto = from + self.batch(from);
            match self.whole_frame(from, upto) {
                Some((start, end)) => self.copy(start, end, out)?,
                None => {
                    let mut frame = FrameWriter::new(&mut *out)?;
                    self.kept[from..upto].iter().try_for_each(|n| self.put(&mut reader, *n, &mut frame))?;
                    frame.finish()?;
                }
            }
            from = upto;
        }
        Ok(())
    }

    fn put(&self, reader: &mut TextReader<'_>, n: usize, out: &mut dyn Write) -> io::Result<()> {
        let text = text_of(reader, &self.scan.records[n]).map_err(io::Error::other)?;
        out.write_all(&text)?;
        out.write_all(b"\n")
    }

    fn record(&self, n: usize) -> &Record {
        &self.scan.records[self.kept[n]]
    }

    fn frame_of(&self, n: usize) -> Option<FrameNo> {
        self.scan.map.frame_of(TextOffset(self.record(n).text))
    }

    /// How many kept records from there on make one batch: those of one frame, since a frame is one
    /// durable batch; of raw text, and of a frame that holds the whole log, twelve.
    fn batch(&self, from: usize) -> usize {
        let frame = self.frame_of(from).filter(|frame| *frame != FrameNo(0));
        let rest = from..self.kept.len();
        match frame {
            Some(frame) => rest.take_while(|n| self.frame_of(*n) == Some(frame)).count(),
            None => rest.take_while(|n| self.frame_of(*n) == self.frame_of(from)).take(BATCH).count(),
        }
    }

    /// The bytes of the frame that holds these kept records and nothing else, so that it can be taken
    /// over as it is.
    fn whole_frame(&self, from: usize, upto: usize) -> Option<(u64, u64)> {
        let frame = self.frame_of(from)?;
        let (start, end, bytes) = self.scan.map.frame_span(frame)?;
        let (text, _) = self.scan.map.text_span(frame)?;
        let records = (from..upto).map(|n| self.record(n));
        let mut at = text;
        for record in records {
            // A newline inside, one that is missing, or bytes between records: then it is made anew.
            if record.text != at || record.joined || record.span != record.bytes + 1 {
                return None;
            }
            at += record.span;
        }
        let whole = at == text + bytes && !self.scan.map.is_torn(frame);
        whole.then_some((start, end))
    }

    fn copy(&self, from: u64, to: u64, out: &mut dyn Write) -> io::Result<()> {
        let mut piece = vec![0; 256 << 10];
        let mut at = from;
        while at < to {
            let wanted = piece.len().min((to - at) as usize);
            let got = self.source.read_at(at, &mut piece[..wanted]).map_err(io::Error::other)?;
            if got == 0 {
                return Err(io::Error::other("the file became shorter while it was copied"));
            }
            out.write_all(&piece[..got])?;
            at += got as u64;
        }
        Ok(())
    }
}

/// How many records a batch holds where the log does not say: what the harness's own writer puts into
/// one, 10 to 14.
pub(crate) const BATCH: usize = 12;

struct Counted<'a> {
    out: &'a mut dyn Write,
    bytes: &'a Cell<u64>,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.bytes.set(self.bytes.get() + n as u64);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn unverified(stage: &Path, message: String) -> Error {
    Error::new(ErrorKind::Corrupt, "not-verified", message).at_path(stage)
}

/// The generation that judges the records when the header is gone: as given, or as the name states.
fn fallback(source: &Source, given: &Given) -> Result<&'static Dialect> {
    let named = source.path().file_name().and_then(|name| name.to_str()).and_then(LogName::parse);
    let version = given.format.or(named.map(|name| name.generation)).unwrap_or(0);
    Dialect::of(version).ok_or_else(|| {
        let message = format!("format {version} is not known");
        Error::new(ErrorKind::Usage, "no-format", message)
    })
}

/// A log of a newer harness is no damaged one.
fn refuse_newer(source: &Source) -> Result<()> {
    let mut head = vec![0; 64 << 10];
    let got = source.read_at(0, &mut head)?;
    let head = &head[..got];
    let line = match Container::of(source)? {
        Container::Raw => head.split(|byte| *byte == b'\n').next().unwrap_or_default().to_vec(),
        Container::Zstd => first_line(source)?,
    };
    let reading = stored_header::read(&line);
    if reading.known {
        return Ok(());
    }
    let message = "the log is of a format that is not known here; it is not damaged for that";
    Err(Error::new(ErrorKind::Unsupported, "unsupported-format", message).at_path(source.path()))
}

fn first_line(source: &Source) -> Result<Vec<u8>> {
    use crate::storage::decode::{Decoder, Step, Stretch};
    let mut decoder = Decoder::new();
    decoder.begin(Stretch { start: 0, end: source.bytes(), bound: u64::MAX }, true);
    Ok(match decoder.step(source)? {
        Step::Piece(text) => text.split(|byte| *byte == b'\n').next().unwrap_or_default().to_vec(),
        Step::End | Step::Failed(_) => Vec::new(),
    })
}

fn undecided(source: &Source, branches: &[Branch], keep: Option<&Keep>) -> Error {
    let at = branches.iter().map(|branch| branch.from).min().unwrap_or(0);
    let message = match keep {
        Some(Keep::Named(name)) => format!("there is no history `{name}`"),
        _ => format!(
            "{} histories continue the session from event {at} on, and none is chosen",
            branches.len()
        ),
    };
    let shown = shell_word(source.path());
    Error::new(ErrorKind::Refused, "two-histories", message)
        .at_path(source.path())
        .hint(format!("dsh-log salvage {shown} --keep A -o rescued"))
}

impl Salvage {
    /// How many records have that fate.
    #[must_use]
    pub fn count(&self, fate: Fate) -> u64 {
        self.scan.records.iter().filter(|record| record.fate == fate).count() as u64
    }
}
