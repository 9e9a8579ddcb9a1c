//! From what a user names a session by to the file that is opened (product page, SESSION argument).

use super::by_id::{by_id, no_log_in};
use super::discover::{self, Candidate, SessionDir, lower_generation_newer};
use super::layout::LogName;
use crate::error::{Error, ErrorKind, Result};
use std::ffi::OsStr;
use std::path::{Path, PathBuf, is_separator};

/// What a SESSION argument stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A log file or a session directory.
    Path(PathBuf),
    /// The session under the root that was written last.
    Latest,
    /// Standard input.
    Stdin,
    /// A session id or its beginning, or the name of its directory.
    Id(String),
}

impl Target {
    /// Reads an argument: `-`, `@latest`, what exists or looks like a path, else an id.
    #[must_use]
    pub fn parse(arg: &OsStr) -> Target {
        match arg.to_str() {
            Some("-") => Target::Stdin,
            Some("@latest") => Target::Latest,
            Some(text) => {
                let like_path =
                    text.contains(is_separator) || text.ends_with(".jsonl") || text.ends_with(".zstd");
                match like_path || Path::new(text).exists() {
                    true => Target::Path(text.into()),
                    false => Target::Id(text.to_owned()),
                }
            }
            // The part of an id that is typed is Unicode.
            None => Target::Path(arg.into()),
        }
    }
}

/// A session that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The file to open; `-` for standard input.
    pub path: PathBuf,
    /// The directory it lies in, when its name is that of a log in a session directory.
    pub session_dir: Option<PathBuf>,
    /// What the user should know about the choice, each without the path.
    pub warnings: Vec<String>,
}

/// Finds the file that a target stands for.
///
/// Errors: `no-root` (usage) when an id or `@latest` comes without a root; `not-found` (I/O) when
/// nothing is there; `ambiguous` (usage) when an id fits several sessions; and what the file system
/// says.
pub fn locate(target: &Target, root: Option<&Path>) -> Result<Located> {
    let root = || {
        let error = Error::new(ErrorKind::Usage, "no-root", "no directory of sessions is known");
        root.ok_or_else(|| error.hint("give it with --root, or give the path of a log"))
    };
    match target {
        Target::Stdin => Ok(Located { path: "-".into(), session_dir: None, warnings: Vec::new() }),
        Target::Path(path) => at_path(path),
        Target::Latest => latest(root()?),
        Target::Id(id) => by_id(id, root()?).map(chosen),
    }
}

fn at_path(path: &Path) -> Result<Located> {
    let meta = std::fs::metadata(path).map_err(|e| Error::io("open", path, e))?;
    if meta.is_dir() {
        return match SessionDir::of(path).candidate()? {
            Some(candidate) => Ok(chosen(candidate)),
            None => Err(no_log_in(path)),
        };
    }
    let mut located = Located { path: path.to_owned(), session_dir: None, warnings: Vec::new() };
    if let Some(name) = path.file_name().and_then(OsStr::to_str).and_then(LogName::parse) {
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // A directory that cannot be listed is no reason not to open a file that is named.
        let highest = discover::generations(dir).ok().and_then(|logs| logs.last().map(|(name, _)| *name));
        if let Some(highest) = highest.filter(|highest| highest.generation > name.generation) {
            let highest = highest.file_name();
            located.warnings.push(format!("an older generation: the harness reads `{highest}` beside it"));
        }
        located.session_dir = Some(dir.to_owned());
    }
    Ok(located)
}

fn chosen(candidate: Candidate) -> Located {
    let mut warnings = Vec::new();
    let file_name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(lower) = lower_generation_newer(&candidate) {
        let (lower, log) = (file_name(&lower), file_name(&candidate.log));
        warnings
            .push(format!("`{lower}` was written after `{log}`: an older release went on with the session"));
    }
    let zstd = |path: &PathBuf| path.extension().is_some_and(|suffix| suffix == "zstd");
    if candidate.others.iter().any(|other| zstd(other) != candidate.name.zstd) {
        let log = file_name(&candidate.log);
        warnings
            .push(format!("raw and zstd logs lie side by side, which the harness refuses; `{log}` is read"));
    }
    Located { path: candidate.log, session_dir: Some(candidate.dir), warnings }
}

fn latest(root: &Path) -> Result<Located> {
    let walk = discover::walk(root)?;
    match walk.candidates.into_iter().max_by(|a, b| (a.modified, &a.dir).cmp(&(b.modified, &b.dir))) {
        Some(candidate) => Ok(chosen(candidate)),
        None => {
            let message = format!("no sessions under `{}`", root.display());
            let hint = "give the right directory with --root";
            Err(Error::new(ErrorKind::Io, "not-found", message).at_path(root).hint(hint))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    fn put(root: &Path, path: &str, seconds: u64) -> PathBuf {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "{}\n").unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        path
    }

    #[test]
    fn arguments_are_told_apart() {
        let parse = |text: &str| Target::parse(OsStr::new(text));
        assert_eq!(parse("-"), Target::Stdin);
        assert_eq!(parse("@latest"), Target::Latest);
        for path in ["./x", "x.jsonl", "x.zstd", "src"] {
            assert_eq!(parse(path), Target::Path(path.into()));
        }
        assert_eq!(parse("session-6b0c"), Target::Id("session-6b0c".to_owned()));
    }

    #[test]
    fn a_directory_gives_its_highest_generation_and_warns_of_what_is_odd() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "session.v2.jsonl.zstd", 100);
        let log = put(dir.path(), "session.v4.jsonl.zstd", 200);
        let at = |path: &Path| locate(&Target::Path(path.to_owned()), None).unwrap();
        let expected = Located { path: log, session_dir: Some(dir.path().to_owned()), warnings: Vec::new() };
        assert_eq!(at(dir.path()), expected);
        let low = put(dir.path(), "session.v3.jsonl", 300);
        let warnings = at(dir.path()).warnings;
        assert!(warnings[0].starts_with("`session.v3.jsonl` was written after"), "{warnings:?}");
        assert!(warnings[1].starts_with("raw and zstd logs lie side by side"), "{warnings:?}");
        assert!(at(&low).warnings[0].contains("`session.v4.jsonl.zstd`"));
    }

    #[test]
    fn a_file_is_taken_as_it_is_and_its_directory_only_by_a_log_name() {
        let dir = tempfile::tempdir().unwrap();
        let copy = put(dir.path(), "copy.jsonl", 1);
        let located = locate(&Target::Path(copy.clone()), None).unwrap();
        assert_eq!(located, Located { path: copy, session_dir: None, warnings: Vec::new() });
    }

    #[test]
    fn a_directory_without_a_log_is_an_error_that_names_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..7 {
            put(dir.path(), &format!("f{n}"), 1);
        }
        let error = locate(&Target::Path(dir.path().to_owned()), None).unwrap_err();
        assert_eq!((error.kind, error.code), (ErrorKind::Io, "not-found"));
        assert_eq!(error.hint.as_deref(), Some("it holds `f0`, `f1`, `f2`, `f3`, `f4` and 2 more"));
        let none = locate(&Target::Path(dir.path().join("none")), None).unwrap_err();
        assert_eq!((none.kind, none.code), (ErrorKind::Io, "not-found"));
    }

    #[test]
    fn the_latest_session_is_the_one_written_last() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "--p--/a/session.jsonl", 10);
        let last = put(dir.path(), "--q--/b/session.jsonl", 30);
        put(dir.path(), "--q--/c/session.jsonl", 20);
        assert_eq!(locate(&Target::Latest, Some(dir.path())).unwrap().path, last);
        let absent = locate(&Target::Latest, Some(&dir.path().join("none"))).unwrap_err();
        assert_eq!(absent.code, "not-found");
        assert_eq!(locate(&Target::Latest, None).unwrap_err().code, "no-root");
    }
}
