//! Durable writes: all of it is on the disk when they return, or the file is as it was (format v0,
//! section 2.5).

use super::disk::{Disk, DiskFile, RealDisk};
pub use super::lock::Lock;
pub use super::publish::{publish_new, publish_on, publish_with};
use super::source::Identity;
use super::stage::{Stage, dir_of, holds, reads_otherwise, sync_dir};
use crate::error::{Error, ErrorKind, Result, io_reason};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Appends `bytes` to a file that is still what it was when it was read; what the file is then.
///
/// Written, synced, and read again. Errors: `changed` when the file is another or has other content
/// than `expected`, or when somebody else wrote at the same time; and what the file system says,
/// after the file is cut back to its old size. Where that fails too, the message says both.
pub fn append(path: &Path, expected: &Identity, bytes: &[u8]) -> Result<Identity> {
    append_on(&RealDisk, path, expected, bytes)
}

/// As [`append`], on a given disk.
pub fn append_on(disk: &dyn Disk, path: &Path, expected: &Identity, bytes: &[u8]) -> Result<Identity> {
    let to_error = |e| Error::io("append to", path, e);
    let mut file = disk.open_to_append(path).map_err(|e| Error::io("open", path, e))?;
    let found = Identity::of(&file.metadata().map_err(to_error)?);
    if !is_same(&found, expected) {
        return Err(changed(path));
    }
    let written = DiskFile { disk, file: &file }.write_all(bytes);
    if let Err(e) = written.and_then(|()| disk.sync(&file)) {
        return Err(rolled_back(disk, &file, found.bytes, bytes.len(), to_error(e)));
    }
    let wanted = found.bytes + bytes.len() as u64;
    let looked =
        file.metadata().and_then(|meta| Ok((Identity::of(&meta), holds(&mut file, found.bytes, bytes)?)));
    let failure = match looked {
        // With another writer's bytes in it nothing may be cut, and ours stand where they landed.
        Ok((now, _)) if now.bytes != wanted => {
            let mut failure = changed(path);
            failure.message.push_str("; what was appended may stand in it");
            return Err(failure.hint("check the file before anything is appended again"));
        }
        Ok((now, true)) => return Ok(now),
        Ok((_, false)) => reads_otherwise(path),
        Err(e) => Error::io("read", path, e),
    };
    Err(rolled_back(disk, &file, found.bytes, bytes.len(), failure))
}

/// Cuts a file back after a failed append of `tried` bytes; the failure, and what came of the cut.
fn rolled_back(disk: &dyn Disk, file: &File, old: u64, tried: usize, mut failure: Error) -> Error {
    let cut = || {
        // More than we can have written is somebody else's, and not ours to cut.
        if file.metadata()?.len() > old + tried as u64 {
            return Err(io::Error::other("another process wrote to it meanwhile"));
        }
        disk.truncate(file, old)?;
        disk.sync(file)
    };
    if let Err(e) = cut() {
        let why = io_reason(&e);
        failure.message.push_str(&format!("; and it could not be cut back to {old} bytes: {why}"));
    }
    failure
}

/// Puts new content in the place of a file that is still what it was when it was read; what the
/// file is then.
///
/// The content is written beside the file, with its permissions and owner, synced, and given to
/// `verify`; then it is renamed over. A link is followed to the file it names. On any failure the
/// new content is removed and the file is untouched, but for a failure to sync the directory at the
/// very end. Errors: `changed`, what `verify` says, and what the file system says.
pub fn replace(
    path: &Path,
    expected: &Identity,
    write_new: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    verify: impl FnOnce(&Path) -> Result<()>,
) -> Result<Identity> {
    replace_on(&RealDisk, path, expected, write_new, verify)
}

/// As [`replace`], on a given disk.
pub fn replace_on(
    disk: &dyn Disk,
    path: &Path,
    expected: &Identity,
    write_new: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    verify: impl FnOnce(&Path) -> Result<()>,
) -> Result<Identity> {
    let real = fs::canonicalize(path).map_err(|e| Error::io("read", path, e))?;
    let check = || match is_same(&Identity::of_path(&real)?, expected) {
        true => Ok(()),
        false => Err(changed(path)),
    };
    check()?;
    let mut stage = Stage::beside(disk, &real)?;
    stage.take_after(&real)?;
    stage.fill(write_new)?;
    verify(stage.path())?;
    check()?;
    disk.rename(stage.path(), &real).map_err(|e| Error::io("replace", path, e))?;
    stage.is_gone();
    sync_dir(disk, dir_of(&real))?;
    Identity::of_path(&real)
}

/// Whether two identities are of one unchanged file.
///
/// The change time of the inode is left out: it moves when a file is linked or backed up.
#[must_use]
pub fn is_same(found: &Identity, expected: &Identity) -> bool {
    Identity { changed: 0, ..*found } == Identity { changed: 0, ..*expected }
}

/// The failure of a file that is not what it was when it was read.
#[must_use]
pub fn changed(path: &Path) -> Error {
    let message = format!("`{}` changed while we worked", path.display());
    Error::new(ErrorKind::Contended, "changed", message)
        .at_path(path)
        .hint("try again when nothing writes to it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn file_with(text: &str) -> (tempfile::TempDir, PathBuf, Identity) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("session.jsonl");
        fs::write(&path, text).unwrap();
        let identity = Identity::of_path(&path).unwrap();
        (dir, path, identity)
    }

    fn files_in(dir: &Path) -> usize {
        fs::read_dir(dir).unwrap().count()
    }

    #[test]
    fn appended_bytes_follow_the_old_ones_and_the_new_identity_allows_the_next() {
        let (_dir, path, identity) = file_with("a\n");
        let identity = append(&path, &identity, b"b\n").unwrap();
        assert_eq!(identity, Identity::of_path(&path).unwrap());
        let long = vec![b'x'; 200_000];
        append(&path, &identity, &long).unwrap();
        assert_eq!(fs::read(&path).unwrap(), [b"a\nb\n".as_slice(), &long].concat());
    }

    #[test]
    fn nothing_is_appended_to_a_file_that_changed_or_is_gone() {
        let (dir, path, identity) = file_with("a\n");
        fs::write(&path, "other\n").unwrap();
        let error = append(&path, &identity, b"b\n").unwrap_err();
        assert_eq!((error.kind, error.code), (ErrorKind::Contended, "changed"));
        assert_eq!(fs::read(&path).unwrap(), b"other\n");
        assert_eq!(append(&dir.path().join("none"), &identity, b"b\n").unwrap_err().code, "not-found");
    }

    #[test]
    fn a_failed_append_is_cut_back_unless_somebody_else_wrote() {
        let (_dir, path, _) = file_with("old\nhalf");
        let file = File::options().append(true).open(&path).unwrap();
        let failure = || Error::new(ErrorKind::Io, "io", "failed");
        assert_eq!(rolled_back(&RealDisk, &file, 4, 3, failure()).message.split(';').count(), 2);
        assert_eq!(fs::read(&path).unwrap(), b"old\nhalf");
        assert_eq!(rolled_back(&RealDisk, &file, 4, 6, failure()).message, "failed");
        assert_eq!(fs::read(&path).unwrap(), b"old\n");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_that_cannot_be_cut_back_either_gives_both_failures() {
        let full = Path::new("/dev/full");
        if !full.exists() {
            return;
        }
        let error = append(full, &Identity::of_path(full).unwrap(), b"x").unwrap_err();
        assert!(error.message.contains("no space left"), "{error}");
        assert!(error.message.contains("could not be cut back to 0 bytes"), "{error}");
    }

    #[test]
    fn a_file_is_replaced_with_its_permissions() {
        let (dir, path, _) = file_with("old");
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
        let identity = Identity::of_path(&path).unwrap();
        let verify = |stage: &Path| {
            assert_eq!(fs::read(stage).unwrap(), b"new");
            Ok(())
        };
        let now = replace(&path, &identity, |out| out.write_all(b"new"), verify).unwrap();
        assert_eq!(now, Identity::of_path(&path).unwrap());
        assert_eq!((fs::read(&path).unwrap(), files_in(dir.path())), (b"new".to_vec(), 1));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        }
    }

    #[test]
    fn a_replacement_that_fails_at_any_step_leaves_the_file_alone() {
        let (dir, path, identity) = file_with("old");
        let sound = |out: &mut dyn Write| out.write_all(b"new");
        let unwritten =
            replace(&path, &identity, |_| Err(io::Error::other("Broken")), |_| Ok(())).unwrap_err();
        assert!(unwritten.message.ends_with("broken"), "{unwritten}");
        let refused = |_: &Path| Err(Error::new(ErrorKind::Refused, "no", "not so"));
        assert_eq!(replace(&path, &identity, sound, refused).unwrap_err().code, "no");
        assert_eq!((fs::read(&path).unwrap(), files_in(dir.path())), (b"old".to_vec(), 1));
        let late = |_: &Path| fs::write(&path, "grown").map_err(|e| Error::io("write", &path, e));
        assert_eq!(replace(&path, &identity, sound, late).unwrap_err().code, "changed");
        assert_eq!(replace(&path, &identity, sound, |_| Ok(())).unwrap_err().code, "changed");
        assert_eq!((fs::read(&path).unwrap(), files_in(dir.path())), (b"grown".to_vec(), 1));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_and_stays_a_link() {
        let (dir, path, identity) = file_with("old");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("session.jsonl", &link).unwrap();
        replace(&link, &identity, |out| out.write_all(b"new"), |_| Ok(())).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_replaced_in_a_directory_that_cannot_be_written() {
        let (dir, path, identity) = file_with("old");
        fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o500)).unwrap();
        // Permissions do not bind the superuser.
        if File::create(dir.path().join("probe")).is_err() {
            let sound = |out: &mut dyn Write| out.write_all(b"new");
            assert_eq!(replace(&path, &identity, sound, |_| Ok(())).unwrap_err().code, "permission-denied");
            assert_eq!(
                publish_new(&dir.path().join("n"), b"x", false).unwrap_err().code,
                "permission-denied"
            );
        }
        fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    }
}
