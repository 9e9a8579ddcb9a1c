//! A session directory and the logs in it (format v0, section 2.1; generations, section 1.1).

use super::layout::LogName;
use crate::error::{Error, Result};
use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The logs in a session directory, in order of generation, raw before zstd.
///
/// Errors when the directory cannot be read.
pub fn generations(dir: &Path) -> Result<Vec<(LogName, PathBuf)>> {
    generations_in(dir).map_err(|e| Error::io("read", dir, e))
}

fn generations_in(dir: &Path) -> io::Result<Vec<(LogName, PathBuf)>> {
    let mut logs = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let Some(name) = entry.file_name().to_str().and_then(LogName::parse) else { continue };
        if is_file(&entry)? {
            logs.push((name, entry.path()));
        }
    }
    logs.sort_unstable_by_key(|(name, _)| *name);
    Ok(logs)
}

/// Whether it is a regular file, through links too; a pipe by a log's name must never be opened.
fn is_file(entry: &DirEntry) -> io::Result<bool> {
    let kind = entry.file_type()?;
    Ok(kind.is_file() || kind.is_symlink() && fs::metadata(entry.path()).is_ok_and(|meta| meta.is_file()))
}

/// A session directory that holds a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The name of the project directory.
    pub project: String,
    /// The name of the session directory.
    pub segment: String,
    /// The session directory.
    pub dir: PathBuf,
    /// The log of the highest generation.
    pub log: PathBuf,
    /// What its name says.
    pub name: LogName,
    /// The other logs in the directory, in order of generation.
    pub others: Vec<PathBuf>,
    /// The size of the log.
    pub bytes: u64,
    /// When the log last changed.
    pub modified: SystemTime,
}

/// A directory where a session's logs should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionDir {
    /// The name of the project directory.
    pub project: String,
    /// Its own name.
    pub segment: String,
    /// The directory.
    pub dir: PathBuf,
}

impl SessionDir {
    /// The session of a directory, by the names in its path.
    #[must_use]
    pub fn of(dir: &Path) -> SessionDir {
        let text = |name: Option<&OsStr>| name.unwrap_or_default().to_string_lossy().into_owned();
        SessionDir {
            project: text(dir.parent().and_then(Path::file_name)),
            segment: text(dir.file_name()),
            dir: dir.to_owned(),
        }
    }

    /// Looks for the logs in it; `None` when there is none.
    ///
    /// Errors when the directory or its log cannot be read.
    pub fn candidate(self) -> Result<Option<Candidate>> {
        let dir = self.dir.clone();
        self.look().map_err(|e| Error::io("read", &dir, e))
    }

    /// As [`SessionDir::candidate`], for callers that go on where one directory fails.
    pub(super) fn look(self) -> io::Result<Option<Candidate>> {
        let mut logs = generations_in(&self.dir)?;
        let Some((name, log)) = logs.pop() else { return Ok(None) };
        let meta = fs::metadata(&log)?;
        Ok(Some(Candidate {
            project: self.project,
            segment: self.segment,
            dir: self.dir,
            log,
            name,
            others: logs.into_iter().map(|(_, path)| path).collect(),
            bytes: meta.len(),
            modified: meta.modified()?,
        }))
    }
}

/// The log of a lower generation that was written after the one of the highest, the latest if there
/// are several: what an older release leaves that went on with a session already upgraded.
#[must_use]
pub fn lower_generation_newer(candidate: &Candidate) -> Option<PathBuf> {
    let lower = candidate.others.iter().filter(|path| {
        let name = path.file_name().and_then(OsStr::to_str).and_then(LogName::parse);
        name.is_some_and(|name| name.generation < candidate.name.generation)
    });
    let dated = lower.filter_map(|path| Some((fs::metadata(path).ok()?.modified().ok()?, path)));
    dated.filter(|(time, _)| *time > candidate.modified).max().map(|(_, path)| path.clone())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::fs::File;
    use std::time::Duration;

    /// Puts a log that says nothing at a path under a root.
    pub(in crate::storage) fn put(root: &Path, path: &str) -> PathBuf {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "{}\n").unwrap();
        path
    }

    pub(in crate::storage) fn names(paths: &[PathBuf]) -> Vec<&str> {
        paths.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect()
    }

    #[test]
    fn generations_are_sorted_by_number_and_other_files_left_out() {
        let dir = tempfile::tempdir().unwrap();
        for name in
            ["session.v10.jsonl", "session.v9.jsonl.zstd", "session.v9.jsonl", "session.lock", "x.jsonl"]
        {
            put(dir.path(), name);
        }
        fs::create_dir(dir.path().join("session.v11.jsonl")).unwrap();
        let paths: Vec<_> = generations(dir.path()).unwrap().into_iter().map(|(_, path)| path).collect();
        assert_eq!(names(&paths), ["session.v9.jsonl", "session.v9.jsonl.zstd", "session.v10.jsonl"]);
    }

    #[test]
    fn a_lower_generation_that_was_written_later_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let high = put(dir.path(), "session.v4.jsonl");
        let low = put(dir.path(), "session.v2.jsonl");
        let at = |path: &Path, seconds| {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        };
        at(&high, 200);
        at(&low, 100);
        let look = || SessionDir::of(dir.path()).candidate().unwrap().unwrap();
        assert_eq!(lower_generation_newer(&look()), None);
        at(&low, 300);
        assert_eq!(lower_generation_newer(&look()), Some(low));
    }
}
