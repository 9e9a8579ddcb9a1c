//! A session by its id or the beginning of it, among the directory names under a root.

use super::discover::{self, Candidate};
use super::layout::decode_segment;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::SHOWN_CHARS;
use std::path::Path;

/// How many names a message holds; more are counted.
const SHOWN_NAMES: usize = 5;

/// How well a session fits what was typed, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Exact,
    ExactWithoutPrefix,
    Beginning,
}

fn fit(segment: &str, typed: &str) -> Option<Fit> {
    let decoded = decode_segment(segment);
    let id = decoded.as_deref().unwrap_or(segment.as_bytes());
    let typed_bytes = typed.as_bytes();
    let bare = id.strip_prefix(b"session-").unwrap_or(id);
    if id == typed_bytes || segment == typed {
        Some(Fit::Exact)
    } else if bare == typed_bytes {
        Some(Fit::ExactWithoutPrefix)
    } else if id.starts_with(typed_bytes) || bare.starts_with(typed_bytes) {
        Some(Fit::Beginning)
    } else {
        None
    }
}

/// The session under `root` whose id or directory name is `typed`, or begins with it; `session-` in
/// front may be left out. A whole id wins over the beginning of one.
///
/// Errors: `not-found`, `ambiguous`, `no-session` for the empty text, and what the file system says.
pub(super) fn by_id(typed: &str, root: &Path) -> Result<Candidate> {
    if typed.is_empty() {
        return Err(Error::new(ErrorKind::Usage, "no-session", "the session is given as an empty text"));
    }
    let (dirs, skipped) = discover::session_dirs(root)?;
    let mut hits: Vec<_> =
        dirs.into_iter().filter_map(|dir| Some((fit(&dir.segment, typed)?, dir))).collect();
    let best = hits.iter().map(|(fit, _)| *fit).min();
    hits.retain(|(fit, _)| Some(*fit) == best);
    let mut found = Vec::new();
    let only = (hits.len() == 1).then(|| hits[0].1.dir.clone());
    for (_, dir) in hits {
        // What could not be read may be the one that is meant, so its error is the answer.
        found.extend(dir.candidate()?);
    }
    let Some(last) = found.pop() else {
        return Err(only.map_or_else(|| no_session(typed, root, skipped.len()), |dir| no_log_in(&dir)));
    };
    if found.is_empty() {
        return Ok(last);
    }
    found.push(last);
    Err(ambiguous(typed, &found))
}

fn no_session(typed: &str, root: &Path, passed_over: usize) -> Error {
    let mut message = format!("no session `{}` under `{}`", shown(typed), root.display());
    if passed_over > 0 {
        message.push_str(&format!(" ({passed_over} not looked at)"));
    }
    Error::new(ErrorKind::Io, "not-found", message).at_path(root).hint("dsh-log ls")
}

fn ambiguous(typed: &str, found: &[Candidate]) -> Error {
    // Only the project tells two sessions of one id apart.
    let same = found.windows(2).all(|pair| pair[0].segment == pair[1].segment);
    let name = |c: &Candidate| if same { format!("{}/{}", c.project, c.segment) } else { c.segment.clone() };
    let message =
        format!("`{}` fits {} sessions: {}", shown(typed), found.len(), listed(found.iter().map(name)));
    let hint = if same { "give the path of the session directory" } else { "give more of the id" };
    Error::new(ErrorKind::Usage, "ambiguous", message).hint(hint)
}

/// The error for a directory where a log should be, with what is there instead.
pub(super) fn no_log_in(dir: &Path) -> Error {
    let found: Vec<String> = match std::fs::read_dir(dir) {
        Ok(entries) => {
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
        }
        Err(e) => return Error::io("read", dir, e),
    };
    let message = format!("no session log in `{}`", dir.display());
    let hint = match found.is_empty() {
        true => "the directory is empty".to_owned(),
        false => format!("it holds {}", listed(found)),
    };
    Error::new(ErrorKind::Io, "not-found", message).at_path(dir).hint(hint)
}

/// The first few names, in order, and how many more there are.
fn listed(names: impl IntoIterator<Item = String>) -> String {
    let mut names: Vec<String> = names.into_iter().collect();
    names.sort_unstable();
    let first: Vec<String> =
        names.iter().take(SHOWN_NAMES).map(|name| format!("`{}`", shown(name))).collect();
    match names.len().saturating_sub(SHOWN_NAMES) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// A name as a message may hold it: not too long, and nothing that steers a terminal.
fn shown(name: &str) -> String {
    let cut = name.char_indices().nth(SHOWN_CHARS).map(|(at, _)| at);
    format!("{}{}", name[..cut.unwrap_or(name.len())].escape_debug(), if cut.is_some() { "..." } else { "" })
}

#[cfg(test)]
mod tests {
    use super::by_id as id;
    use super::*;
    use crate::storage::session_dir::tests::put;

    #[test]
    fn an_id_its_beginning_and_its_bare_form_find_the_session() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let one = put(root, "--p--/session-abc1/session.jsonl");
        let two = put(root, "--q--/session-abd2/session.jsonl");
        let odd = put(root, "--q--/a~002Fb/session.jsonl");
        for text in ["session-abc1", "abc1", "abc", "session-abc"] {
            assert_eq!(id(text, root).unwrap().log, one, "{text}");
        }
        assert_eq!(id("abd", root).unwrap().log, two);
        assert_eq!(id("a/b", root).unwrap().log, odd);
        assert_eq!(id("a~002Fb", root).unwrap().log, odd);
    }

    #[test]
    fn a_whole_id_wins_over_longer_ones() {
        let dir = tempfile::tempdir().unwrap();
        let whole = put(dir.path(), "--p--/ab/session.jsonl");
        put(dir.path(), "--p--/session-ab/session.jsonl");
        put(dir.path(), "--p--/abc/session.jsonl");
        assert_eq!(id("ab", dir.path()).unwrap().log, whole);
    }

    #[test]
    fn several_hits_are_named_and_none_is_an_error_with_a_hint() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for n in 0..7 {
            put(root, &format!("--p--/session-x{n}/session.jsonl"));
        }
        put(root, "--p--/twice/session.jsonl");
        put(root, "--q--/twice/session.jsonl");
        let many = id("x", root).unwrap_err();
        assert_eq!((many.kind, many.code), (ErrorKind::Usage, "ambiguous"));
        assert!(many.message.starts_with("`x` fits 7 sessions: `session-x0`"), "{many}");
        assert!(many.message.ends_with("and 2 more"), "{many}");
        assert!(id("twice", root).unwrap_err().message.contains("`--p--/twice`, `--q--/twice`"));
        let none = id("\u{1b}[2J", root).unwrap_err();
        assert_eq!(
            (none.kind, none.code, none.hint.as_deref()),
            (ErrorKind::Io, "not-found", Some("dsh-log ls"))
        );
        assert!(!none.message.contains('\u{1b}'));
    }
}
