//! The lock of a session directory, as generations from 1 on hold it (format v4, section 1.4).
//!
//! On Windows the harness locks by a named semaphore and not by this file: there the lock keeps
//! apart processes of this tool only.

use super::source::Identity;
use crate::error::{Error, ErrorKind, Result};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

/// The file that is locked; it stays in the directory after use.
pub const LOCK_NAME: &str = "session.lock";

/// How often a lock file that is exchanged under us is tried.
const ATTEMPTS: usize = 3;

/// The right to write to a session; given back when it is dropped.
#[derive(Debug)]
pub struct Lock {
    // The lock belongs to the open file and ends with it.
    _file: File,
}

impl Lock {
    /// Locks a session directory without waiting, creating the lock file where there is none.
    ///
    /// Errors: `locked` when another process holds it, and what the file system says.
    pub fn take(dir: &Path) -> Result<Lock> {
        Lock::take_with(dir, |_| {})
    }

    /// As [`Lock::take`]; `locked` is called between locking and the check of what was locked.
    fn take_with(dir: &Path, mut locked: impl FnMut(&Path)) -> Result<Lock> {
        let path = dir.join(LOCK_NAME);
        for _ in 0..ATTEMPTS {
            let file = open(&path).map_err(|e| Error::io("open", &path, e))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(held(&path)),
                Err(TryLockError::Error(e)) => return Err(Error::io("lock", &path, e)),
            }
            locked(&path);
            // Whoever replaced the file meanwhile would lock another one than we did.
            if is_at(&file, &path).map_err(|e| Error::io("read", &path, e))? {
                return Ok(Lock { _file: file });
            }
        }
        Err(held(&path))
    }
}

fn open(path: &Path) -> io::Result<File> {
    // Opening a pipe would wait for its reader.
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return Err(io::Error::other("it is no regular file"));
    }
    File::options().write(true).create(true).truncate(false).open(path)
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let ours = Identity::of(&file.metadata()?);
    match fs::metadata(path) {
        Ok(meta) => {
            let there = Identity::of(&meta);
            Ok((there.device, there.inode) == (ours.device, ours.inode))
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

fn held(path: &Path) -> Error {
    Error::new(ErrorKind::Contended, "locked", "another process has the session open")
        .at_path(path)
        .hint("close the session there and try again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_taken_once_and_given_back_and_its_file_stays_empty() {
        let dir = tempfile::tempdir().unwrap();
        let lock = Lock::take(dir.path()).unwrap();
        let error = Lock::take(dir.path()).unwrap_err();
        assert_eq!((error.kind, error.code), (ErrorKind::Contended, "locked"));
        assert!(error.retryable() && error.hint.is_some());
        drop(lock);
        drop(Lock::take(dir.path()).unwrap());
        assert_eq!(fs::metadata(dir.path().join(LOCK_NAME)).unwrap().len(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_file_exchanged_under_us_is_tried_three_times() {
        let dir = tempfile::tempdir().unwrap();
        let mut calls = 0;
        let exchanged_once = Lock::take_with(dir.path(), |path| {
            calls += 1;
            if calls == 1 {
                fs::remove_file(path).unwrap();
            }
        });
        assert!(exchanged_once.is_ok());
        drop(exchanged_once);
        calls = 0;
        let always = Lock::take_with(dir.path(), |path| {
            calls += 1;
            fs::remove_file(path).unwrap();
        });
        assert_eq!((always.unwrap_err().code, calls), ("locked", 3));
    }

    #[test]
    fn an_absent_directory_and_a_directory_by_the_name_of_the_lock_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Lock::take(&dir.path().join("none")).unwrap_err().code, "not-found");
        fs::create_dir(dir.path().join(LOCK_NAME)).unwrap();
        assert_eq!(Lock::take(dir.path()).unwrap_err().kind, ErrorKind::Io);
    }
}
