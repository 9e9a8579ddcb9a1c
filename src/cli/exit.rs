//! How a run ends: exit codes, and errors as text or as JSON.

use super::env::{Env, say};
use crate::render::clean::clean_line;
use dsh_log::error::{Error, ErrorKind, io_reason};
use dsh_log::json::write::Object;
use dsh_log::position::{FileOffset, FrameNo, LineNo, Place};
use dsh_log::seq::Seq;
use std::io;
use std::process::ExitCode;

/// How a command ended that did what it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// The check that was asked for found something.
    Found,
    /// What was shown is a part of a log that the harness refuses as damaged.
    Corrupt,
    /// What was shown is the part that is understood of a log of another version.
    Unsupported,
}

impl Exit {
    fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Found => 1,
            Exit::Corrupt => 3,
            Exit::Unsupported => 4,
        }
    }
}

/// What kept a command from its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The work could not be done.
    Tool(Box<Error>),
    /// The output could not be written.
    Output(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Tool(Box::new(error))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}

/// The exit code of a kind of failure.
pub(super) fn code_of(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Usage => 2,
        ErrorKind::Corrupt => 3,
        ErrorKind::Unsupported => 4,
        ErrorKind::Io => 5,
        ErrorKind::Contended => 6,
        ErrorKind::Refused => 7,
    }
}

/// Reports a failure, and gives the exit code.
pub(crate) fn conclude(outcome: Result<Exit, Failure>, env: &Env) -> ExitCode {
    let error = match outcome {
        Ok(exit) => return exit.code().into(),
        Err(Failure::Output(e)) => {
            // Whoever read us has what they wanted.
            if e.kind() == io::ErrorKind::BrokenPipe {
                return ExitCode::SUCCESS;
            }
            let message = format!("cannot write standard output: {}", io_reason(&e));
            Error::new(ErrorKind::Io, "io", message)
        }
        Err(Failure::Tool(error)) => {
            // What was shown before it comes first; a reader that is gone changes nothing.
            let _ = env.out().finish();
            *error
        }
    };
    if env.json {
        say(&String::from_utf8_lossy(&to_json(&error)));
    } else {
        say(&format!("{} {}", env.err_style.bad("error:"), clean_line(&in_words(&error))));
        for line in error.hint.iter().flat_map(|hint| hint.lines()) {
            say(&format!("{} {}", env.err_style.strong("hint:"), clean_line(line)));
        }
    }
    code_of(error.kind).into()
}

/// Path and place first, unless the message names the path itself.
fn in_words(error: &Error) -> String {
    let mut text = String::new();
    if let Some(path) = error.path.as_ref().map(|path| path.display().to_string())
        && !error.message.contains(&format!("`{path}`"))
    {
        text.push_str(&path);
        text.push_str(": ");
    }
    if error.place != Place::default() {
        text.push_str(&error.place.to_string());
        text.push_str(": ");
    }
    text + &error.message
}

/// The error envelope of the JSON contract.
pub(super) fn to_json(error: &Error) -> Vec<u8> {
    let path = error.path.as_ref().map(|path| path.to_string_lossy().into_owned());
    let inner = Object::new()
        .text("code", error.code.as_bytes())
        .text("message", error.message.as_bytes())
        .text_if("path", path.as_deref().map(str::as_bytes))
        .int_if("byte", error.place.byte.map(|FileOffset(n)| n))
        .int_if("line", error.place.line.map(|LineNo(n)| n))
        .int_if("frame", error.place.frame.map(|FrameNo(n)| n))
        .int_if("seq", error.place.seq.map(|Seq(n)| n))
        .text_if("hint", error.hint.as_deref().map(str::as_bytes))
        .bool("retryable", error.retryable());
    Object::new().raw("error", &inner.end()).end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn an_error_names_its_path_once() {
        let missing = Error::io("open", Path::new("a/b"), io::ErrorKind::NotFound.into());
        assert_eq!(in_words(&missing), "cannot open `a/b`: no such file");
        let refused = Error::new(ErrorKind::Corrupt, "x", "it is torn").at_path(Path::new("a/b"));
        assert_eq!(in_words(&refused.at(Place::at_byte(7))), "a/b: byte 7: it is torn");
    }

    #[test]
    fn the_envelope_holds_what_is_known() {
        let error =
            Error::new(ErrorKind::Contended, "locked", "no \"luck\"").hint("wait").at(Place::at_seq(Seq(3)));
        let expected =
            r#"{"error":{"code":"locked","message":"no \"luck\"","seq":3,"hint":"wait","retryable":true}}"#;
        assert_eq!(String::from_utf8(to_json(&error)).unwrap(), expected);
    }
}
