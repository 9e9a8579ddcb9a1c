//! What kept the tool from doing its work. Damage in a log is no error, see [`crate::finding`].

use crate::position::Place;
use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

/// What kind of failure it is; each has its own exit code in the binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request makes no sense as stated.
    Usage,
    /// The log is damaged, so that what was asked for cannot be trusted.
    Corrupt,
    /// The log is of a format or holds an event type that is not known here.
    Unsupported,
    /// A file could not be read or written.
    Io,
    /// Another process owns the session, or the file changed while we worked.
    Contended,
    /// Refused on purpose: it would break a rule or lose records.
    Refused,
}

/// A failure, with path and place where there is one, and what to try next.
///
/// Its parts are those of [`Failure`], kept aside so that results stay small.
#[derive(Debug)]
pub struct Error(Box<Failure>);

impl Deref for Error {
    type Target = Failure;

    fn deref(&self) -> &Failure {
        &self.0
    }
}

impl DerefMut for Error {
    fn deref_mut(&mut self) -> &mut Failure {
        &mut self.0
    }
}

/// The parts of an [`Error`].
#[derive(Debug)]
pub struct Failure {
    /// What kind.
    pub kind: ErrorKind,
    /// A stable word for scripts, such as `OPEN_TURN` or `not-found`.
    pub code: &'static str,
    /// Lower case, without path and full stop.
    pub message: String,
    /// The file it is about.
    pub path: Option<PathBuf>,
    /// The place in that file.
    pub place: Place,
    /// A command that can be run, or what to do.
    pub hint: Option<String>,
    source: Option<io::Error>,
}

/// A result whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A failure of that kind, without path, place or hint yet.
    #[must_use]
    pub fn new(kind: ErrorKind, code: &'static str, message: impl Into<String>) -> Error {
        let message = message.into();
        let place = Place::default();
        Error(Box::new(Failure { kind, code, message, path: None, place, hint: None, source: None }))
    }

    /// An I/O failure: `cannot <action> <path>: <why>`.
    #[must_use]
    pub fn io(action: &str, path: &Path, source: io::Error) -> Error {
        let why = io_reason(&source);
        let code = match source.kind() {
            io::ErrorKind::NotFound => "not-found",
            io::ErrorKind::PermissionDenied => "permission-denied",
            io::ErrorKind::AlreadyExists => "already-exists",
            _ => "io",
        };
        let message = format!("cannot {action} `{}`: {why}", path.display());
        Error(Box::new(Failure {
            kind: ErrorKind::Io,
            code,
            message,
            path: Some(path.to_owned()),
            place: Place::default(),
            hint: None,
            source: Some(source),
        }))
    }

    /// Adds the file.
    #[must_use]
    pub fn at_path(mut self, path: &Path) -> Error {
        self.path = Some(path.to_owned());
        self
    }

    /// Adds the place in the file.
    #[must_use]
    pub fn at(mut self, place: Place) -> Error {
        self.place = place;
        self
    }

    /// Adds what to try next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    /// Whether trying again later can help.
    #[must_use]
    pub fn retryable(&self) -> bool {
        self.kind == ErrorKind::Contended
    }
}

/// A path as one word of a shell, for commands that are given as hints. Blanks and quotes are quoted;
/// control characters and what is no text are written as `$'…'` has them.
#[must_use]
pub fn shell_word(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.chars().any(char::is_control));
    let Some(text) = text else {
        let escaped = bytes.iter().flat_map(|byte| match byte {
            b'\\' | b'\'' => vec!['\\', char::from(*byte)],
            b' '..=b'~' => vec![char::from(*byte)],
            _ => format!("\\x{byte:02x}").chars().collect(),
        });
        return format!("$'{}'", escaped.collect::<String>());
    };
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    // What begins with a dash would be taken for an option; a dash alone is standard input.
    let dash = if text.starts_with('-') && text.len() > 1 { "./" } else { "" };
    match !text.is_empty() && text.chars().all(plain) {
        true => format!("{dash}{text}"),
        false => format!("{dash}'{}'", text.replace('\'', r"'\''")),
    }
}

/// Why an I/O call failed, in lower case and without the system's error number.
#[must_use]
pub fn io_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::AlreadyExists => "it exists already".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        io::ErrorKind::StorageFull => "no space left on the device".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or(&text).to_lowercase()
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|e| e as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_a_hint_is_one_word_of_a_shell() {
        let cases = [
            ("a/b.jsonl", "a/b.jsonl"),
            ("-", "-"),
            ("-x", "./-x"),
            ("sp ace's", r"'sp ace'\''s'"),
            ("$HOME;rm", "'$HOME;rm'"),
            ("é漢", "é漢"),
            ("a\u{1b}[2J'", r"$'a\x1b[2J\''"),
        ];
        for (path, word) in cases {
            assert_eq!(shell_word(Path::new(path)), word);
        }
    }
}
