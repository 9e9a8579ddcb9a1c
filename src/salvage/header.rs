//! The header of the new session: the stored one, mended where the harness refuses it, or one that was
//! made up and says so.

use crate::error::{Error, ErrorKind, Result, shell_word};
use crate::format::dialect::{Dialect, Inherited};
use crate::format::header::{self, Header};
use crate::json::write::Object;
use std::path::Path;

/// What is given in the place of a header that is gone.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The session id.
    pub id: Option<String>,
    /// The project's directory.
    pub cwd: Option<String>,
    /// The format version.
    pub format: Option<u32>,
}

/// A header line for the new session.
#[derive(Clone, Debug)]
pub(super) struct Made {
    /// Its text, without newline.
    pub(super) line: Vec<u8>,
    /// Whether it is the stored one, byte for byte.
    pub(super) stored: bool,
    /// The members that are no stored ones.
    pub(super) invented: Vec<&'static str>,
}

/// The stored line as it is.
pub(super) fn stored(line: &[u8]) -> Made {
    Made { line: line.to_vec(), stored: true, invented: Vec::new() }
}

/// A header from what is left of the stored one and what is given.
///
/// Errors: `header-gone` when neither tells the id or the directory.
pub(super) fn rebuilt(
    path: &Path,
    stored: Option<&Header>,
    given: &Given,
    dialect: &Dialect,
    created_at: i64,
) -> Result<Made> {
    let none = Header::default();
    let has_header = stored.is_some();
    let stored = stored.unwrap_or(&none);
    let mut invented = Vec::new();
    let id = match (&given.id, &stored.id) {
        (Some(id), _) => {
            invented.push("id");
            id.as_bytes().to_vec()
        }
        (None, id) if !id.is_empty() => id.clone(),
        _ => return Err(gone(path)),
    };
    let is_absolute = |cwd: &&Vec<u8>| cwd.starts_with(b"/") || cwd.get(1..3) == Some(b":\\");
    let cwd = match (&given.cwd, stored.cwd.as_ref().filter(is_absolute)) {
        (Some(cwd), _) => {
            invented.push("cwd");
            Some(cwd.as_bytes().to_vec())
        }
        (None, Some(cwd)) => Some(cwd.clone()),
        (None, None) if has_header => None,
        (None, None) => return Err(gone(path)),
    };
    let mut number = |name, stored: Option<i128>, otherwise: i128| {
        if stored.is_none() {
            invented.push(name);
        }
        stored.unwrap_or(otherwise)
    };
    let created =
        number("createdAt", stored.created_at.filter(|at| *at >= 0).map(i128::from), i128::from(created_at));
    let depth = number("delegationDepth", stored.delegation_depth.map(i128::from), 0);
    let out = Object::new()
        .text("type", b"session")
        .int("version", dialect.version)
        .text("id", &id)
        .int("createdAt", created)
        .text_if("cwd", cwd.as_deref())
        .text_if("parentSession", stored.parent_session.as_deref());
    let out = match dialect.inherited {
        Inherited::SeedLength => out.int_if("seedLength", stored.seed_length),
        Inherited::TaggedEndSeed => {
            if stored.is_seeded.is_none() {
                invented.push("isSeeded");
            }
            out.bool("isSeeded", stored.is_seeded.unwrap_or(false))
        }
    };
    let origin = stored.origin.as_deref().filter(|origin| *origin == "subagent");
    let line = out
        .text_if("origin", origin.map(str::as_bytes))
        .int("delegationDepth", depth)
        .text_if("agentPreset", stored.agent_preset.as_deref().map(str::as_bytes))
        .end();
    Ok(Made { line, stored: false, invented })
}

/// The header with another `isSeeded`.
pub(super) fn seeded(made: &Made, is_seeded: bool) -> Option<Made> {
    let header = header::read(&made.line).header?;
    let dialect = header::read(&made.line).dialect;
    let changed = Header { is_seeded: Some(is_seeded), ..header };
    let created = changed.created_at.unwrap_or(0);
    let mut again = rebuilt(Path::new(""), Some(&changed), &Given::default(), dialect, created).ok()?;
    again.invented = made.invented.clone();
    again.invented.push("isSeeded");
    Some(again)
}

fn gone(path: &Path) -> Error {
    let message = "the header is gone: the session's id and directory must be given";
    let shown = shell_word(path);
    Error::new(ErrorKind::Refused, "header-gone", message)
        .at_path(path)
        .hint(format!("dsh-log salvage {shown} --id ID --cwd DIR -o rescued"))
}
