//! Where a session lies under a root, and how its logs are named (format v0, sections 2.1 to 2.3;
//! generations, section 1.1).

use crate::json::text;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The project directory of sessions whose header has no `cwd`.
pub const NO_CWD: &str = "_no-cwd";

/// The longest slug of a project key, in characters; with its wrapping it fits a file name.
const SLUG_CHARS: usize = 251;

/// The directory name of a session id, given in WTF-8; `None` for the empty id, which names nothing.
///
/// Every UTF-16 code unit outside `A-Za-z0-9._-` becomes `~` and four digits, so that all strings map
/// to names of their own (format v0, section 2.2).
#[must_use]
pub fn encode_segment(id: &[u8]) -> Option<String> {
    match id {
        b"" => None,
        b"." => Some("~002E".to_owned()),
        b".." => Some("~002E~002E".to_owned()),
        _ => {
            let mut name = String::with_capacity(id.len());
            text::utf16(id).for_each(|unit| push_unit(&mut name, unit));
            Some(name)
        }
    }
}

/// The session id, in WTF-8, of a directory name that [`encode_segment`] gives; `None` for others.
#[must_use]
pub fn decode_segment(name: &str) -> Option<Vec<u8>> {
    if !name.bytes().all(|byte| is_safe(u16::from(byte)) || byte == b'~') {
        return None;
    }
    // The escapes differ from those of JSON in their first character only.
    let id = text::decode(name.replace('~', "\\u").as_bytes()).into_owned();
    // Encoding again sorts out escapes that are cut short, in lower case, or not needed.
    (encode_segment(&id).as_deref() == Some(name)).then_some(id)
}

/// The directory name of a project, by the `cwd` of its sessions; `None` for the empty one.
///
/// Distinct directories may share a key (format v0, section 2.3).
#[must_use]
pub fn project_key(cwd: &[u8]) -> Option<String> {
    if cwd.is_empty() {
        return None;
    }
    let mut slug = String::with_capacity(cwd.len());
    let mut in_run = false;
    for unit in text::utf16(cwd) {
        let separator = matches!(u8::try_from(unit), Ok(b'/' | b'\\' | b':'));
        match (separator, in_run) {
            (true, true) => {}
            (true, false) => slug.push('-'),
            (false, _) => push_unit(&mut slug, unit),
        }
        in_run = separator;
    }
    let slug = match slug.trim_start_matches('-') {
        "" => "root",
        slug => &slug[..slug.len().min(SLUG_CHARS)],
    };
    Some(format!("--{slug}--"))
}

/// The directory of a session under a root; `None` where id or `cwd` is empty.
#[must_use]
pub fn session_dir(root: &Path, cwd: Option<&[u8]>, id: &[u8]) -> Option<PathBuf> {
    let project = match cwd {
        None => NO_CWD.to_owned(),
        Some(cwd) => project_key(cwd)?,
    };
    Some(root.join(project).join(encode_segment(id)?))
}

fn is_safe(unit: u16) -> bool {
    u8::try_from(unit).is_ok_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

/// Appends a code unit, escaped where it is not safe; the result is ASCII.
fn push_unit(name: &mut String, unit: u16) {
    match u8::try_from(unit) {
        Ok(byte) if is_safe(unit) => name.push(char::from(byte)),
        // Writing to a string cannot fail.
        _ => _ = write!(name, "~{unit:04X}"),
    }
}

/// The canonical file name of a log; ordered by generation, raw before zstd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogName {
    /// The generation of the format, 0 where the name states none.
    pub generation: u32,
    /// Whether it is named as a zstd container.
    pub zstd: bool,
}

impl LogName {
    /// Reads a file name; `None` for all that is not a log, such as locks, stages and `v0` or `v04`
    /// (generations, section 1.1).
    #[must_use]
    pub fn parse(file_name: &str) -> Option<LogName> {
        let rest = file_name.strip_prefix("session")?;
        let (rest, zstd) = match rest.strip_suffix(".zstd") {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let generation = match rest.strip_suffix(".jsonl")? {
            "" => 0,
            version => {
                let digits = version.strip_prefix(".v")?;
                // `parse` alone would take a sign and leading zeros.
                if digits.starts_with('0') || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    return None;
                }
                digits.parse().ok()?
            }
        };
        Some(LogName { generation, zstd })
    }

    /// The file name.
    #[must_use]
    pub fn file_name(self) -> String {
        let suffix = if self.zstd { ".zstd" } else { "" };
        match self.generation {
            0 => format!("session.jsonl{suffix}"),
            n => format!("session.v{n}.jsonl{suffix}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_segments_and_segments_ids() {
        let table: [(&[u8], &str); 8] = [
            (b".", "~002E"),
            (b"..", "~002E~002E"),
            (b"...", "..."),
            (b"a/b", "a~002Fb"),
            (b"~x", "~007Ex"),
            ("\u{1F600}".as_bytes(), "~D83D~DE00"),
            (b"\xED\xA0\x80-", "~D800-"),
            (b"session-6b0c3a52_Z.9", "session-6b0c3a52_Z.9"),
        ];
        for (id, segment) in table {
            assert_eq!(encode_segment(id).as_deref(), Some(segment));
            assert_eq!(decode_segment(segment).as_deref(), Some(id), "{segment}");
        }
        assert_eq!(encode_segment(b""), None);
    }

    #[test]
    fn names_that_no_id_encodes_to_are_no_segments() {
        for name in
            ["", ".", "..", "a b", "~", "~00", "~002f", "~0041", "~002Ex", "x~", "\u{e9}", "a\\n", "~G000"]
        {
            assert_eq!(decode_segment(name), None, "{name}");
        }
    }

    #[test]
    fn directories_become_project_keys() {
        let table = [
            ("/home/ann/my repo", "--home-ann-my~0020repo--"),
            ("/a/b-c", "--a-b-c--"),
            ("/a-b/c", "--a-b-c--"),
            ("C:\\src\\app", "--C-src-app--"),
            ("/", "--root--"),
            ("/-/--", "--root--"),
            ("/x/", "--x---"),
            ("//x~y", "--x~007Ey--"),
            ("/\u{1F600}", "--~D83D~DE00--"),
        ];
        for (cwd, key) in table {
            assert_eq!(project_key(cwd.as_bytes()).as_deref(), Some(key), "{cwd}");
        }
        assert_eq!(project_key(b""), None);
        assert_eq!(project_key(&[b'x'; 4000]).map(|key| key.len()), Some(255));
    }

    #[test]
    fn a_session_lies_under_its_project_or_under_none() {
        let root = Path::new("r");
        assert_eq!(session_dir(root, None, b"a"), Some(root.join("_no-cwd").join("a")));
        assert_eq!(session_dir(root, Some(b"/p"), b"a/b"), Some(root.join("--p--").join("a~002Fb")));
        assert_eq!(session_dir(root, Some(b""), b"a"), None);
        assert_eq!(session_dir(root, None, b""), None);
    }

    #[test]
    fn canonical_log_names_are_read_and_written() {
        let table = [
            ("session.jsonl", 0, false),
            ("session.jsonl.zstd", 0, true),
            ("session.v1.jsonl", 1, false),
            ("session.v4.jsonl.zstd", 4, true),
            ("session.v10.jsonl.zstd", 10, true),
        ];
        for (text, generation, zstd) in table {
            let name = LogName { generation, zstd };
            assert_eq!(LogName::parse(text), Some(name));
            assert_eq!(name.file_name(), text);
        }
    }

    #[test]
    fn other_file_names_are_no_logs() {
        for text in [
            "session",
            "session.lock",
            "session.v0.jsonl",
            "session.v04.jsonl",
            "session.v.jsonl",
            "session.v+4.jsonl",
            "session.V4.jsonl",
            "session.v4.jsonl.zst",
            "session.v99999999999.jsonl",
            "session.v4.jsonl.zstd.0a1b2c3d4e5f.tmp",
            "session.migration.0123456789abcdef.jsonl.zstd.tmp",
            "sessions.jsonl",
        ] {
            assert_eq!(LogName::parse(text), None, "{text}");
        }
    }
}
