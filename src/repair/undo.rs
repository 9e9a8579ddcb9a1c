//! Taking a repair back: the cut bytes return to their place and what repair wrote goes.
//!
//! Nothing but the two files is needed. The original is put together again, planned again, and only
//! when that plan gives the present file byte for byte does the original return.

use super::apply::{copy_bytes, same_bytes, take_lock};
use super::plan::{Change, Diagnosis, Plan};
use crate::error::{Error, ErrorKind, Result};
use crate::log::{Log, ReadOptions};
use crate::storage::disk::{Disk, RealDisk};
use crate::storage::source::{Identity, Source};
use crate::storage::write;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A repair that can be taken back.
#[derive(Debug)]
pub struct Undo {
    /// The repaired log.
    pub path: PathBuf,
    /// The file of cut bytes.
    pub sidecar: PathBuf,
    /// How many bytes of the log stay.
    pub keep: u64,
    /// How many bytes return.
    pub returns: u64,
    /// How many bytes that repair wrote go.
    pub goes: u64,
    identity: Identity,
    locks: bool,
}

/// The log and the place of the cut that the name of a file of cut bytes states.
#[must_use]
pub fn named(sidecar: &Path) -> Option<(PathBuf, u64)> {
    let (log, rest) = sidecar.file_name()?.to_str()?.rsplit_once(".cut-")?;
    let (from, _) = rest.split_once('-')?;
    Some((sidecar.with_file_name(log), from.parse().ok()?))
}

impl Undo {
    /// Looks whether a repair can be taken back. `log` is the repaired log where it is not the one
    /// that the name of the sidecar states.
    ///
    /// Errors: `no-sidecar` when the name states no cut, `written-since` when the log is not as the
    /// repair left it, and what the file system says.
    pub fn plan(sidecar: &Path, log: Option<&Path>, options: &ReadOptions) -> Result<Undo> {
        let Some((named, keep)) = named(sidecar) else {
            let message = "its name is not that of a file of cut bytes: LOG.cut-BYTE-TIME";
            return Err(Error::new(ErrorKind::Usage, "no-sidecar", message).at_path(sidecar));
        };
        let path = log.map_or(named, Path::to_owned);
        let now = Source::open(&path)?;
        let cut = Source::open(sidecar)?;
        if now.bytes() < keep {
            return Err(written_since(&path));
        }
        // What the log was before the repair, under its own name so that it is read as it was.
        let before = Source::spool(&path, now.part(0, keep).chain(cut.part(0, cut.bytes())))?;
        let wanted = Plan::make(Diagnosis::of_with(&Log::read(before, options)?, options)?, true).ok();
        let Some(Plan { change: Change::Tail { keep: from, bytes }, locks, .. }) = wanted else {
            return Err(written_since(&path));
        };
        let written = now.bytes() - keep;
        let as_left = from == keep && written == bytes.len() as u64 && ends_with(&now, keep, &bytes)?;
        if !as_left {
            return Err(written_since(&path));
        }
        let returns = cut.bytes();
        let (identity, sidecar) = (now.identity(), sidecar.to_owned());
        Ok(Undo { path, sidecar, keep, returns, goes: written, identity, locks })
    }

    /// Puts the bytes back. The file of cut bytes stays.
    ///
    /// Errors: as those of a repair.
    pub fn apply(self) -> Result<()> {
        self.apply_on(&RealDisk)
    }

    /// As [`Undo::apply`], on a given disk.
    pub fn apply_on(self, disk: &dyn Disk) -> Result<()> {
        let _lock = take_lock(&self.path, self.locks)?;
        let now = Source::open(&self.path)?;
        let cut = Source::open(&self.sidecar)?;
        write::replace_on(
            disk,
            &self.path,
            &self.identity,
            |out| {
                copy_bytes(&now, 0, self.keep, out)?;
                copy_bytes(&cut, 0, cut.bytes(), out)
            },
            |stage| {
                same_bytes(&now, 0, stage, 0, self.keep)?;
                same_bytes(&cut, 0, stage, self.keep, cut.bytes())
            },
        )?;
        Ok(())
    }
}

fn written_since(path: &Path) -> Error {
    let message = "the log is not as that repair left it; nothing is put back";
    Error::new(ErrorKind::Refused, "written-since", message).at_path(path)
}

fn ends_with(now: &Source, keep: u64, bytes: &[u8]) -> Result<bool> {
    let mut tail = vec![0; bytes.len()];
    let got = now.read_at(keep, &mut tail)?;
    Ok(got == bytes.len() && tail == bytes)
}
