//! What repair would do to a log, worked out before anything is touched.

use super::mend::{Mend, mend};
use crate::error::{Error, ErrorKind, Result, shell_word};
use crate::finding::Finding;
use crate::log::index::Flags;
use crate::log::verdict::{Cut, Outcome, Verdict};
use crate::log::visit::Bodies;
use crate::log::{Log, ReadOptions};
use crate::position::Place;
use crate::storage::container::Container;
use crate::storage::encode;
use crate::storage::source::Identity;
use std::path::{Path, PathBuf};

/// What is wrong with a log, as far as repair is concerned.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    path: PathBuf,
    identity: Identity,
    container: Container,
    verdict: Verdict,
    locks: bool,
    closers: Vec<Vec<u8>>,
    recovered: Vec<Vec<u8>>,
    /// What would be cut; of a log that is mended, what is no part of it.
    cut: Option<Cut>,
    mended: Option<Mended>,
    balanced_events: u64,
}

impl Diagnosis {
    /// Diagnoses a log that was read from a file. Errors when its file cannot be read again.
    pub fn of(log: &Log) -> Result<Diagnosis> {
        Diagnosis::of_with(log, &ReadOptions::default())
    }

    /// As [`Diagnosis::of`], where a second reading is needed with these options.
    pub fn of_with(log: &Log, options: &ReadOptions) -> Result<Diagnosis> {
        match mend(log, options)? {
            None => Diagnosis::as_read(log),
            Some(Mend::EndSeed(event)) => {
                let mut diagnosis = Diagnosis::as_read(log)?;
                diagnosis.closers = vec![event];
                diagnosis.balanced_events = log.index().events() + 1;
                diagnosis.mended = Some(Mended::EndSeed);
                Ok(diagnosis)
            }
            Some(Mend::Padding(from, inner)) => {
                let mut diagnosis = Diagnosis::as_read(&inner)?;
                diagnosis.identity = log.source().identity();
                diagnosis.verdict = log.verdict().clone();
                let bytes = log.source().bytes() - from;
                diagnosis.cut = Some(Cut { from, bytes, recovered: 0, lost_records: 0 });
                diagnosis.mended = Some(Mended::Padding);
                Ok(diagnosis)
            }
        }
    }

    fn as_read(log: &Log) -> Result<Diagnosis> {
        let mut recovered = Vec::new();
        if log.container() == Container::Zstd && log.verdict().cut.is_some() {
            let mut bodies = Bodies::new(log);
            for entry in log.index().entries().iter().filter(|e| e.flags.has(Flags::TORN)) {
                recovered.push(bodies.line_at(entry.text)?.to_vec());
            }
        }
        let closers: Vec<Vec<u8>> = log.closers().iter().map(|closer| closer.text.clone()).collect();
        Ok(Diagnosis {
            path: log.source().path().to_owned(),
            identity: log.source().identity(),
            container: log.container(),
            verdict: log.verdict().clone(),
            locks: log.dialect().lock_file,
            balanced_events: log.index().events() + closers.len() as u64,
            closers,
            recovered,
            cut: log.verdict().cut,
            mended: None,
        })
    }

    /// What the harness would do as things are.
    #[must_use]
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Whether repair has something to do, or could not do it.
    #[must_use]
    pub fn needs_repair(&self) -> bool {
        self.verdict.outcome != Outcome::Opens
    }
}

/// What of a log that the harness refuses is no damage, so that repair mends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mended {
    /// Zero bytes from the end of the last frame to the end of the file.
    Padding,
    /// A resume that was killed before its end-seed: the closers of a turn stand without it (v4
    /// section 9.5).
    EndSeed,
}

/// How the file changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Not at all.
    Nothing,
    /// These bytes are appended; every stored byte stays.
    Append(Vec<u8>),
    /// The tail from `keep` on is dropped and these bytes stand there instead; what is dropped is
    /// kept in a file of its own.
    Tail {
        /// How many bytes stay.
        keep: u64,
        /// What follows them.
        bytes: Vec<u8>,
    },
}

/// What repair will do. Made only from a diagnosis.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The file.
    pub path: PathBuf,
    /// What the file was when it was read; it must still be that.
    pub identity: Identity,
    /// How the file changes.
    pub change: Change,
    /// What is cut.
    pub cut: Option<Cut>,
    /// The events that are appended, as text.
    pub appended: Vec<Vec<u8>>,
    /// How many events of a torn frame are written again.
    pub recovered: u64,
    /// The verdict before.
    pub before: Verdict,
    /// Whether the session has a lock file that a writer must hold.
    pub locks: bool,
    /// How many events the repaired log holds.
    pub events: u64,
    /// What of a refused log is mended.
    pub mended: Option<Mended>,
}

impl Plan {
    /// Plans the repair. With `may_cut`, whole records in the tail that do not continue the log are
    /// cut too (and kept aside, as all that is cut).
    ///
    /// Errors: `not-repairable` when the damage is not a tail, `unsupported-format` when the log is of
    /// another version, `would-lose-records` when whole records would be cut without leave.
    pub fn make(diagnosis: Diagnosis, may_cut: bool) -> Result<Plan> {
        refuse(&diagnosis, may_cut)?;
        let change = match diagnosis.cut {
            None if diagnosis.closers.is_empty() => Change::Nothing,
            None => Change::Append(batch(&diagnosis.closers, diagnosis.container, &diagnosis.path)?),
            Some(cut) => {
                let mut lines = diagnosis.recovered.clone();
                lines.extend(diagnosis.closers.iter().cloned());
                Change::Tail { keep: cut.from, bytes: batch(&lines, diagnosis.container, &diagnosis.path)? }
            }
        };
        let recovered = diagnosis.cut.map_or(0, |cut| cut.recovered);
        Ok(Plan {
            path: diagnosis.path,
            identity: diagnosis.identity,
            change,
            cut: diagnosis.cut,
            mended: diagnosis.mended,
            appended: diagnosis.closers,
            recovered,
            before: diagnosis.verdict,
            locks: diagnosis.locks,
            events: diagnosis.balanced_events,
        })
    }

    /// The file that will hold the cut bytes, for a repair at that time (epoch milliseconds).
    #[must_use]
    pub fn sidecar(&self, now: i64) -> Option<PathBuf> {
        let cut = self.cut?;
        let mut name = self.path.file_name()?.to_owned();
        name.push(format!(".cut-{}-{now}", cut.from));
        Some(self.path.with_file_name(name))
    }
}

fn refuse(diagnosis: &Diagnosis, may_cut: bool) -> Result<()> {
    let shown = shell_word(&diagnosis.path);
    match diagnosis.verdict.outcome {
        Outcome::Opens | Outcome::OpensAfterRepair => {}
        Outcome::Refuses | Outcome::Unsupported if diagnosis.mended.is_some() => {}
        Outcome::Refuses | Outcome::Unsupported => {
            let reason = diagnosis.verdict.reason.clone();
            // The place stands beside the message.
            let plain = reason.clone().map(|reason| Finding { place: Place::default(), ..reason });
            let why = plain.as_ref().map_or_else(String::new, ToString::to_string);
            let unsupported = diagnosis.verdict.outcome == Outcome::Unsupported;
            let (kind, code) = match unsupported {
                true => (ErrorKind::Unsupported, "unsupported-format"),
                false => (ErrorKind::Corrupt, "not-repairable"),
            };
            let error = Error::new(kind, code, format!("not repairable: {why}"));
            let place = reason.map(|r| r.place).unwrap_or_default();
            return Err(error.at_path(&diagnosis.path).at(place).hint(match unsupported {
                true => format!("dsh-log inspect {shown}"),
                false => format!("dsh-log salvage {shown} --dry-run -o rescued"),
            }));
        }
    }
    if let Some(cut) = diagnosis.cut.filter(|cut| cut.lost_records > 0 && !may_cut) {
        let message = format!(
            "{} whole records behind byte {} do not continue the log and would be cut",
            cut.lost_records, cut.from
        );
        let error = Error::new(ErrorKind::Refused, "would-lose-records", message).at_path(&diagnosis.path);
        return Err(
            error.hint(format!("dsh-log repair --cut {shown}   (keeps what is cut in a file beside)"))
        );
    }
    Ok(())
}

/// Lines as one durable batch of that container.
fn batch(lines: &[Vec<u8>], container: Container, path: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    for line in lines {
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    if text.is_empty() {
        return Ok(text);
    }
    match container {
        Container::Raw => Ok(text),
        Container::Zstd => encode::frame(&text).map_err(|e| Error::io("compress for", path, e)),
    }
}
