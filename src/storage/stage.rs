//! A file that is written beside its final place and vanishes unless it gets there (format v0,
//! section 2.5); and what durable writes share.

use super::disk::{Disk, DiskFile};
use crate::error::{Error, ErrorKind, Result};
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// How many names are tried before a directory counts as one that takes none.
const ATTEMPTS: usize = 16;

/// The stage of a file: `<final name>.<12 hex>.tmp` in the same directory, for its owner only.
pub(super) struct Stage<'a> {
    disk: &'a dyn Disk,
    path: PathBuf,
    file: File,
    gone: bool,
}

impl<'a> Stage<'a> {
    /// An empty stage beside `target`.
    pub(super) fn beside(disk: &'a dyn Disk, target: &Path) -> Result<Stage<'a>> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..ATTEMPTS {
            let mut name = target.file_name().unwrap_or_default().to_owned();
            // The standard library's hash keys are its only source of chance.
            let chance = RandomState::new().hash_one(std::process::id()) >> 16;
            name.push(format!(".{chance:012x}.tmp"));
            let path = target.with_file_name(name);
            match disk.create(&path) {
                Ok(file) => return Ok(Stage { disk, path, file, gone: false }),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => last = e,
                Err(e) => return Err(Error::io("create", &path, e)),
            }
        }
        Err(Error::io("create a file beside", target, last))
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all of it and syncs it.
    pub(super) fn fill(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        let file = DiskFile { disk: self.disk, file: &self.file };
        let mut out = BufWriter::with_capacity(256 << 10, file);
        let filled = write(&mut out).and_then(|()| out.flush()).and_then(|()| self.disk.sync(&self.file));
        filled.map_err(|e| Error::io("write", &self.path, e))
    }

    /// Gives it the owner and the permissions of another file.
    pub(super) fn take_after(&self, other: &Path) -> Result<()> {
        let meta = fs::metadata(other).map_err(|e| Error::io("read", other, e))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};
            let ours = self.file.metadata().map_err(|e| Error::io("read", &self.path, e))?;
            if (ours.uid(), ours.gid()) != (meta.uid(), meta.gid()) {
                let kept = fchown(&self.file, Some(meta.uid()), Some(meta.gid()));
                kept.map_err(|e| Error::io("keep the owner of", other, e))?;
            }
        }
        let kept = self.file.set_permissions(meta.permissions());
        kept.map_err(|e| Error::io("keep the permissions of", other, e))
    }

    /// Says that it was renamed and is no longer at its path.
    pub(super) fn is_gone(&mut self) {
        self.gone = true;
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        if !self.gone {
            // A stage that stays is harmless: readers ignore it.
            let _ = self.disk.remove(&self.path);
        }
    }
}

/// Makes the names in a directory durable.
pub(super) fn sync_dir(disk: &dyn Disk, dir: &Path) -> Result<()> {
    disk.sync_dir(dir).map_err(|e| Error::io("sync", dir, e))
}

/// The directory a path's file lies in.
pub(super) fn dir_of(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether the file has these bytes at `offset`.
pub(super) fn holds(file: &mut File, offset: u64, bytes: &[u8]) -> io::Result<bool> {
    file.seek(SeekFrom::Start(offset))?;
    let mut piece = vec![0; bytes.len().min(64 << 10)];
    for expected in bytes.chunks(64 << 10) {
        let piece = &mut piece[..expected.len()];
        match file.read_exact(piece) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            read => read?,
        }
        if piece != expected {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The failure of a write that the disk did not keep.
pub(super) fn reads_otherwise(path: &Path) -> Error {
    let message = format!("what was written to `{}` reads back otherwise", path.display());
    Error::new(ErrorKind::Io, "io", message).at_path(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::disk::RealDisk;

    #[test]
    fn stages_have_names_of_their_own_and_vanish() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("session.v4.jsonl");
        let (one, two) =
            (Stage::beside(&RealDisk, &target).unwrap(), Stage::beside(&RealDisk, &target).unwrap());
        assert_ne!(one.path(), two.path());
        let name = one.path().file_name().unwrap().to_str().unwrap();
        let hex = name.strip_prefix("session.v4.jsonl.").unwrap().strip_suffix(".tmp").unwrap();
        assert!(hex.len() == 12 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()), "{hex}");
        drop((one, two));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
