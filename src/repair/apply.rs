//! Carrying out a plan, and proving that it did what it said.

use super::plan::{Change, Plan};
use crate::error::{Error, ErrorKind, Result};
use crate::log::verdict::{Outcome, Verdict};
use crate::log::{Log, ReadOptions};
use crate::storage::disk::{Disk, RealDisk};
use crate::storage::layout::LogName;
use crate::storage::lock::Lock;
use crate::storage::publish::publish_on;
use crate::storage::source::Source;
use crate::storage::write;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where the repaired log goes, and what is kept besides.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// A new file; without one the log is repaired in its place.
    pub output: Option<PathBuf>,
    /// A copy of the file as it was, made first.
    pub backup: Option<PathBuf>,
    /// The time of the repair, epoch milliseconds; it names the file of cut bytes.
    pub now: i64,
}

/// What was done. Made only by applying a plan.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The file that now holds the repaired log.
    pub path: PathBuf,
    /// Whether anything was written.
    pub written: bool,
    /// The file that holds the cut bytes.
    pub sidecar: Option<PathBuf>,
    /// The verdict of the log as it is now.
    pub after: Verdict,
}

type Fill<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;
type Check<'a> = &'a mut dyn FnMut(&Path) -> Result<()>;

impl Plan {
    /// Carries out the plan. The result is read back before it counts: it opens, it holds the planned
    /// events, and every kept byte is what it was.
    ///
    /// Errors: `locked` when the session is in use, `changed` when the file is not what was planned
    /// for, `not-verified` when the result is not as planned (nothing is changed then), and what the
    /// file system says.
    pub fn apply(self, target: &Target, options: &ReadOptions) -> Result<Applied> {
        self.apply_on(&RealDisk, target, options)
    }

    /// As [`Plan::apply`], on a given disk.
    pub fn apply_on(self, disk: &dyn Disk, target: &Target, options: &ReadOptions) -> Result<Applied> {
        let _lock = self.lock(target)?;
        if let Some(backup) = &target.backup {
            copy(disk, &self.path, backup)?;
        }
        if let Some(output) = &target.output {
            return self.to_new_file(disk, output, options);
        }
        match &self.change {
            Change::Nothing => Ok(Applied {
                path: self.path.clone(),
                written: false,
                sidecar: None,
                after: self.before.clone(),
            }),
            Change::Append(bytes) => {
                write::append_on(disk, &self.path, &self.identity, bytes)?;
                let after = self.verify(&self.path, options)?;
                Ok(Applied { path: self.path.clone(), written: true, sidecar: None, after })
            }
            Change::Tail { keep, bytes } => self.replace_tail(disk, *keep, bytes, target, options),
        }
    }

    fn lock(&self, target: &Target) -> Result<Option<Lock>> {
        take_lock(&self.path, self.locks && target.output.is_none() && self.change != Change::Nothing)
    }

    fn replace_tail(
        &self,
        disk: &dyn Disk,
        keep: u64,
        bytes: &[u8],
        target: &Target,
        options: &ReadOptions,
    ) -> Result<Applied> {
        // The cut bytes are safe in a file of their own before the log changes.
        let sidecar = self.sidecar(target.now);
        if let Some(sidecar) = &sidecar {
            keep_aside(disk, &self.path, keep, sidecar)?;
        }
        let after = self.write_whole(keep, bytes, options, |fill, check| {
            write::replace_on(disk, &self.path, &self.identity, fill, check).map(drop)
        })?;
        Ok(Applied { path: self.path.clone(), written: true, sidecar, after })
    }

    fn to_new_file(&self, disk: &dyn Disk, output: &Path, options: &ReadOptions) -> Result<Applied> {
        let (keep, bytes): (u64, &[u8]) = match &self.change {
            Change::Nothing => (self.identity.bytes, &[]),
            Change::Append(bytes) => (self.identity.bytes, bytes),
            Change::Tail { keep, bytes } => (*keep, bytes),
        };
        let after = self.write_whole(keep, bytes, options, |fill, check| {
            publish_on(disk, output, false, fill, check).map(drop)
        })?;
        Ok(Applied { path: output.to_owned(), written: true, sidecar: None, after })
    }

    /// Has the kept bytes and the new ones written by `place`, which gets what fills the new file
    /// and what checks it before it counts; gives the verdict of the check.
    fn write_whole(
        &self,
        keep: u64,
        bytes: &[u8],
        options: &ReadOptions,
        place: impl FnOnce(Fill<'_>, Check<'_>) -> Result<()>,
    ) -> Result<Verdict> {
        let source = Source::open(&self.path)?;
        let mut after = None;
        place(
            &mut |out| copy_bytes(&source, 0, keep, out).and_then(|()| out.write_all(bytes)),
            &mut |stage| {
                after = Some(self.verify(stage, options)?);
                same_bytes(&source, 0, stage, 0, keep)
            },
        )?;
        Ok(after.unwrap_or_else(|| self.before.clone()))
    }

    /// Reads the result back: it must open as it is and hold the planned events.
    fn verify(&self, path: &Path, options: &ReadOptions) -> Result<Verdict> {
        let log = Log::read(Source::open(path)?, options)?;
        let verdict = log.verdict().clone();
        let events = log.index().events();
        if verdict.outcome == Outcome::Opens && events == self.events {
            return Ok(verdict);
        }
        let message = format!(
            "the repaired log is not as planned: it {} with {events} events, {} planned",
            verdict.outcome.name(),
            self.events
        );
        Err(Error::new(ErrorKind::Corrupt, "not-verified", message).at_path(path))
    }
}

/// A session's own file is locked as the harness locks it; a copy elsewhere is nobody's session.
pub(super) fn take_lock(path: &Path, locks: bool) -> Result<Option<Lock>> {
    let name = path.file_name().and_then(|n| n.to_str()).and_then(LogName::parse);
    match path.parent() {
        Some(dir) if locks && name.is_some() => Lock::take(dir).map(Some),
        _ => Ok(None),
    }
}

/// Writes the bytes from `from` on into a new file.
fn keep_aside(disk: &dyn Disk, path: &Path, from: u64, sidecar: &Path) -> Result<()> {
    let source = Source::open(path)?;
    let end = source.bytes();
    publish_on(
        disk,
        sidecar,
        false,
        |out| copy_bytes(&source, from, end, out),
        |stage| same_bytes(&source, from, stage, 0, end - from),
    )
}

/// Copies a file to a new one.
fn copy(disk: &dyn Disk, path: &Path, to: &Path) -> Result<()> {
    let source = Source::open(path)?;
    let bytes = source.bytes();
    publish_on(
        disk,
        to,
        false,
        |out| copy_bytes(&source, 0, bytes, out),
        |stage| same_bytes(&source, 0, stage, 0, bytes),
    )
}

pub(super) fn copy_bytes(source: &Source, from: u64, to: u64, out: &mut dyn Write) -> io::Result<()> {
    let mut buf = vec![0; 256 << 10];
    let mut at = from;
    while at < to {
        let wanted = buf.len().min((to - at) as usize);
        let got = source.read_at(at, &mut buf[..wanted]).map_err(io::Error::other)?;
        if got == 0 {
            return Err(io::Error::other("the file became shorter while it was copied"));
        }
        out.write_all(&buf[..got])?;
        at += got as u64;
    }
    Ok(())
}

/// Checks that a copy has, from `to` on, the bytes of the source from `from` on.
pub(super) fn same_bytes(source: &Source, from: u64, copy: &Path, to: u64, bytes: u64) -> Result<()> {
    let written = Source::open(copy)?;
    let (mut a, mut b) = (vec![0; 256 << 10], vec![0; 256 << 10]);
    let mut at = 0;
    while at < bytes {
        let wanted = a.len().min((bytes - at) as usize);
        let got = source.read_at(from + at, &mut a[..wanted])?;
        let read = written.read_at(to + at, &mut b[..wanted])?;
        if got == 0 || got != read || a[..got] != b[..got] {
            let message = format!("the copy reads otherwise from byte {} on", to + at);
            return Err(Error::new(ErrorKind::Io, "not-verified", message).at_path(copy));
        }
        at += got as u64;
    }
    Ok(())
}
