//! A new file under its final name: whole, durable, and never in the place of another (format v0,
//! section 2.5).

use super::disk::{Disk, RealDisk};
use super::stage::{Stage, dir_of, holds, reads_otherwise, sync_dir};
use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Creates a file that was not there, with that content.
///
/// With `create_dirs` missing parent directories are made, private to the user. Errors:
/// `already-exists` when the file is there, which then stays as it is; and what the file system
/// says.
pub fn publish_new(path: &Path, bytes: &[u8], create_dirs: bool) -> Result<()> {
    let verify = |stage: &Path| {
        let same = File::open(stage).and_then(|mut file| {
            let whole = file.metadata()?.len() == bytes.len() as u64;
            Ok(whole && holds(&mut file, 0, bytes)?)
        });
        match same.map_err(|e| Error::io("read", stage, e))? {
            true => Ok(()),
            false => Err(reads_otherwise(stage)),
        }
    };
    publish_with(path, create_dirs, |out| out.write_all(bytes), verify)
}

/// As [`publish_new`], with content that is written piece by piece and verified by the caller, who
/// is given the path of the stage.
pub fn publish_with(
    path: &Path,
    create_dirs: bool,
    write_new: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    verify: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    publish_on(&RealDisk, path, create_dirs, write_new, verify)
}

/// As [`publish_with`], on a given disk.
pub fn publish_on(
    disk: &dyn Disk,
    path: &Path,
    create_dirs: bool,
    write_new: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    verify: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let dir = dir_of(path);
    if create_dirs {
        make_dirs(disk, dir)?;
    }
    // The link refuses it too, but only after all the work.
    if fs::symlink_metadata(path).is_ok() {
        return Err(Error::io("create", path, io::ErrorKind::AlreadyExists.into()));
    }
    let mut stage = Stage::beside(disk, path)?;
    stage.fill(write_new)?;
    verify(stage.path())?;
    // A link, unlike a rename, never replaces what came into being meanwhile.
    match disk.link(stage.path(), path) {
        Ok(()) => {}
        Err(e) if knows_no_links(&e) => {
            disk.rename_to_free(stage.path(), path).map_err(|e| Error::io("create", path, e))?;
            stage.is_gone();
        }
        Err(e) => return Err(Error::io("create", path, e)),
    }
    sync_dir(disk, dir)
}

/// Whether a file system has no hard links, as FAT and some network mounts have none. There a rename
/// that does not replace takes their place; claiming the name by an empty file first would leave a
/// reader an empty log when we die in between.
fn knows_no_links(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied)
}

/// Makes a directory and those above it, each durable before the next.
fn make_dirs(disk: &dyn Disk, dir: &Path) -> Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    let above = dir_of(dir);
    if above != dir {
        make_dirs(disk, above)?;
    }
    match disk.make_dir(dir) {
        // Another process may have been faster.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        made => {
            made.map_err(|e| Error::io("create", dir, e))?;
            sync_dir(disk, above)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn files_in(dir: &Path) -> usize {
        fs::read_dir(dir).unwrap().count()
    }

    #[test]
    fn a_new_file_is_published_whole_and_leaves_no_stage() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("session.jsonl");
        publish_new(&path, b"text\n", false).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"text\n");
        assert_eq!(files_in(dir.path()), 1);
    }

    #[test]
    fn an_existing_file_is_never_replaced_by_publishing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("session.jsonl");
        fs::write(&path, "old").unwrap();
        let error = publish_new(&path, b"new", false).unwrap_err();
        assert_eq!((error.kind, error.code), (ErrorKind::Io, "already-exists"));
        fs::remove_file(&path).unwrap();
        // And not when it appears between the first look and the link.
        let late = |_: &Path| fs::write(&path, "old").map_err(|e| Error::io("write", &path, e));
        let error = publish_with(&path, false, |out| out.write_all(b"new"), late).unwrap_err();
        assert_eq!(error.code, "already-exists");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(files_in(dir.path()), 1);
    }

    #[test]
    fn missing_directories_are_made_only_when_asked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p").join("s").join("session.jsonl");
        assert_eq!(publish_new(&path, b"x", false).unwrap_err().code, "not-found");
        publish_new(&path, b"x", true).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            let modes = (mode(&dir.path().join("p")), mode(path.parent().unwrap()), mode(&path));
            assert_eq!(modes, (0o700, 0o700, 0o600));
        }
        let under_file = path.join("x").join("y");
        assert_eq!(publish_new(&under_file, b"x", true).unwrap_err().kind, ErrorKind::Io);
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_that_cannot_be_written_is_an_error() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o500)).unwrap();
        // Permissions do not bind the superuser.
        if File::create(dir.path().join("probe")).is_err() {
            let error = publish_new(&dir.path().join("n"), b"x", false).unwrap_err();
            assert_eq!(error.code, "permission-denied");
        }
        fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o700)).unwrap();
    }
}
