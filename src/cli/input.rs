//! From a SESSION argument to a log that has been read.

use super::env::Env;
use super::exit::Failure;
use super::place;
use dsh_log::format::glean::Glean;
use dsh_log::log::Log;
use dsh_log::storage::locate::{self, Target};
use dsh_log::storage::source::Source;
use dsh_log::view::figures::Gleaner;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Finds and reads the log; what is odd about the choice of file is said on standard error.
///
/// Errors when there is no such session, or its file cannot be read. Damage is no error here.
pub(crate) fn open_log(session: &OsStr, env: &Env) -> Result<Log, Failure> {
    open_gleaning(session, None, env)
}

/// As [`open_log`], for a command that tells figures: what they need is taken while the log is read.
pub(crate) fn open_for_figures(session: &OsStr, env: &Env) -> Result<Log, Failure> {
    open_gleaning(session, Some(&Gleaner), env)
}

fn open_gleaning(session: &OsStr, glean: Option<&dyn Glean>, env: &Env) -> Result<Log, Failure> {
    let (source, session_dir) = open_source(session, env)?;
    let path = source.path().display().to_string();
    let log = env.progress("reading", source.bytes(), |done| {
        Ok(Log::read_gleaning(source, &env.reading, done, glean)?)
    })?;
    for oddity in place::judge(&log, session_dir.as_deref(), env.root.as_deref()) {
        env.warn(&format!("{path}: {oddity}"));
    }
    Ok(log)
}

/// Finds and opens the file without reading it; with it the session directory it lies in.
pub(crate) fn open_source(session: &OsStr, env: &Env) -> Result<(Source, Option<PathBuf>), Failure> {
    let target = Target::parse(session);
    let located = locate::locate(&target, env.root.as_deref())?;
    for warning in &located.warnings {
        env.warn(&format!("{}: {warning}", located.path.display()));
    }
    let source = match target {
        Target::Stdin => Source::spool(Path::new("-"), std::io::stdin().lock())?,
        _ => Source::open(&located.path)?,
    };
    Ok((source, located.session_dir))
}
