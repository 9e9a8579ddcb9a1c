//! The sessions that name another one as their parent: forks and subagents, and theirs.

use super::exit::Failure;
use dsh_log::format::header::{self, Header};
use dsh_log::storage::discover;
use dsh_log::storage::header_line::{HeaderLine, read_header_line};
use dsh_log::storage::locate::{self, Target};
use dsh_log::storage::source::Source;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A session with a parent.
pub(crate) struct Child {
    /// Its log.
    pub(crate) path: PathBuf,
    /// Its header.
    pub(crate) header: Header,
}

/// The sessions under a root that name a parent; only header frames are read.
pub(crate) fn under(root: &Path) -> Result<Vec<Child>, Failure> {
    let logs = discover::walk(root)?.candidates.into_iter().map(|candidate| candidate.log);
    Ok(logs.filter_map(child).collect())
}

/// The sessions that an exported archive holds beside its log, in `subagents`.
pub(crate) fn beside(log: &Path) -> Vec<Child> {
    let folder = log.parent().map(|dir| dir.join("subagents"));
    let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok());
    let mut paths: Vec<PathBuf> = entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let logs = paths.into_iter().filter_map(|dir| locate::locate(&Target::parse(dir.as_os_str()), None).ok());
    logs.filter_map(|located| child(located.path)).collect()
}

/// The session at a path, when it names a parent.
fn child(path: PathBuf) -> Option<Child> {
    let line = Source::open(&path).and_then(|source| read_header_line(&source));
    let Ok(HeaderLine::Line { text, .. }) = line else { return None };
    let header = header::read(&text).header.filter(|header| header.parent_session.is_some())?;
    Some(Child { path, header })
}

/// Those of the sessions that descend from one, the children before the grandchildren.
pub(crate) fn descendants(mut all: Vec<Child>, of: &[u8]) -> Vec<Child> {
    let mut parents: HashSet<Vec<u8>> = HashSet::from([of.to_vec()]);
    let mut found = Vec::new();
    loop {
        let of_these = |c: &Child| c.header.parent_session.as_ref().is_some_and(|id| parents.contains(id));
        let (next, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(of_these);
        if next.is_empty() {
            return found;
        }
        parents = next.iter().map(|child| child.header.id.clone()).collect();
        found.extend(next);
        all = rest;
    }
}
