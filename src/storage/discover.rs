//! The logs under a root, found by names and file metadata alone (format v0, sections 2.1 and 2.4;
//! generations, section 1.1).

pub use super::session_dir::{Candidate, SessionDir, generations, lower_generation_newer};
use crate::error::{Error, Result, io_reason};
use std::ffi::OsString;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

/// The root that the harness uses when none is given: `$DSH_HOME/sessions`, else `~/.dsh/sessions`.
///
/// `env` looks up an environment variable; an empty one counts as unset. `None` when no variable
/// tells where home is.
pub fn default_root(env: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(home) = set("DSH_HOME") {
        return Some(home.join("sessions"));
    }
    let names = if cfg!(windows) { ["USERPROFILE", "HOME"] } else { ["HOME", "USERPROFILE"] };
    names.into_iter().find_map(set).map(|home| home.join(".dsh").join("sessions"))
}

/// What was found at a place where a log was looked for, and is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The file or directory.
    pub path: PathBuf,
    /// Why it is passed over, without the path.
    pub why: String,
}

impl Skipped {
    fn unread(path: PathBuf, error: &io::Error) -> Skipped {
        Skipped { path, why: format!("cannot be read: {}", io_reason(error)) }
    }
}

/// All that lies under a root, in order of path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// The sessions.
    pub candidates: Vec<Candidate>,
    /// What is no session, or could not be read.
    pub skipped: Vec<Skipped>,
}

/// The session directories under a root, in order of path, without a look into them.
///
/// At root level, and in a project, links and what is neither directory nor log is no business of
/// ours. A log directly in a project directory is of the obsolete flat layout and passed over with a
/// reason, as is a directory that cannot be read. An absent root holds no sessions; errors when a
/// root that exists cannot be read as a directory.
pub fn session_dirs(root: &Path) -> Result<(Vec<SessionDir>, Vec<Skipped>)> {
    let (mut dirs, mut skipped) = (Vec::new(), Vec::new());
    let entries = match fs::read_dir(root) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok((dirs, skipped)),
        entries => entries.map_err(|e| Error::io("read", root, e))?,
    };
    for entry in entries {
        let entry = entry.map_err(|e| Error::io("read", root, e))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir())
            && let Err(e) = project_sessions(&entry, &mut dirs, &mut skipped)
        {
            skipped.push(Skipped::unread(entry.path(), &e));
        }
    }
    dirs.sort_unstable_by(|a, b| a.dir.cmp(&b.dir));
    skipped.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok((dirs, skipped))
}

fn project_sessions(at: &DirEntry, dirs: &mut Vec<SessionDir>, skipped: &mut Vec<Skipped>) -> io::Result<()> {
    let project = at.file_name().to_string_lossy().into_owned();
    for entry in fs::read_dir(at.path())? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let segment = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() {
            dirs.push(SessionDir { project: project.clone(), segment, dir: entry.path() });
        } else if kind.is_file() && (segment.ends_with(".jsonl") || segment.ends_with(".jsonl.zstd")) {
            let why = "a log of the obsolete flat layout, outside a session directory".to_owned();
            skipped.push(Skipped { path: entry.path(), why });
        }
    }
    Ok(())
}

/// Finds all logs under a root: one reading of each directory, one look at each log.
///
/// A session directory without a log is passed over with a reason. Errors as [`session_dirs`] does.
pub fn walk(root: &Path) -> Result<Walk> {
    let (dirs, skipped) = session_dirs(root)?;
    let mut walk = Walk { candidates: Vec::with_capacity(dirs.len()), skipped };
    for session in dirs {
        let dir = session.dir.clone();
        match session.look() {
            Ok(Some(candidate)) => walk.candidates.push(candidate),
            Ok(None) => walk.skipped.push(Skipped { path: dir, why: "no session log in it".to_owned() }),
            Err(e) => walk.skipped.push(Skipped::unread(dir, &e)),
        }
    }
    walk.skipped.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(walk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::layout::LogName;
    use crate::storage::session_dir::tests::{names, put};

    #[test]
    fn the_default_root_is_under_dsh_home_or_home() {
        let root = |set: &[(&str, &str)]| {
            default_root(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()))
        };
        assert_eq!(root(&[("DSH_HOME", "d"), ("HOME", "h")]), Some(Path::new("d").join("sessions")));
        assert_eq!(
            root(&[("DSH_HOME", ""), ("HOME", "h")]),
            Some(Path::new("h").join(".dsh").join("sessions"))
        );
        assert_eq!(root(&[("USERPROFILE", "u")]), Some(Path::new("u").join(".dsh").join("sessions")));
        assert_eq!(root(&[]), None);
    }

    #[test]
    fn a_walk_lists_sessions_and_names_what_it_passes_over() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        put(root, "--p--/b/session.jsonl.zstd");
        put(root, "--p--/b/session.v4.jsonl.zstd");
        put(root, "_no-cwd/a/session.jsonl");
        put(root, "--p--/flat.jsonl.zstd");
        put(root, "--p--/notes.txt");
        put(root, "stray.jsonl");
        fs::create_dir(root.join("--p--/empty")).unwrap();
        let walk = walk(root).unwrap();
        let found: Vec<_> =
            walk.candidates.iter().map(|c| (c.project.as_str(), c.segment.as_str())).collect();
        assert_eq!(found, [("--p--", "b"), ("_no-cwd", "a")]);
        let first = &walk.candidates[0];
        assert_eq!(first.name, LogName { generation: 4, zstd: true });
        assert_eq!((names(&first.others), first.bytes), (vec!["session.jsonl.zstd"], 3));
        let skipped: Vec<_> =
            walk.skipped.iter().map(|s| (names(std::slice::from_ref(&s.path))[0], &*s.why)).collect();
        assert_eq!(skipped.len(), 2);
        assert_eq!(skipped[0], ("empty", "no session log in it"));
        assert!(skipped[1].0 == "flat.jsonl.zstd" && skipped[1].1.contains("flat layout"));
    }

    #[cfg(unix)]
    #[test]
    fn links_to_projects_and_pipes_by_the_name_of_a_log_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        put(root, "--p--/a/session.jsonl");
        std::os::unix::fs::symlink(root.join("--p--"), root.join("_alias")).unwrap();
        std::os::unix::fs::symlink("nowhere", root.join("--p--/a/session.v4.jsonl")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(root.join("--p--/a/session.v5.jsonl")).unwrap();
        let walk = walk(root).unwrap();
        assert_eq!((walk.candidates.len(), walk.skipped.len()), (1, 0));
        assert_eq!(walk.candidates[0].name.generation, 0);
    }

    #[test]
    fn an_absent_root_is_empty_and_a_file_as_root_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(walk(&dir.path().join("none")).unwrap(), Walk::default());
        let file = put(dir.path(), "file");
        assert_eq!(walk(&file).unwrap_err().path, Some(file));
    }
}
