//! From a SESSION argument to a log that has been read.

use super::env::Env;
use super::exit::Failure;
use super::place;
use dsh_log::evidence::aimed::Aimed;
use dsh_log::evidence::target::Asked;
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

/// As [`open_log`], for a question about a conclusion: it is looked into while the log is read.
pub(crate) fn open_to_ask(session: &OsStr, asked: Asked, env: &Env) -> Result<Aimed, Failure> {
    let (source, session_dir) = open_source(session, env)?;
    let aimed =
        env.progress("reading", source.bytes(), |done| Ok(Aimed::read(source, asked, &env.reading, done)?))?;
    warn_of_place(aimed.log(), session_dir, env);
    Ok(aimed)
}

fn open_gleaning(session: &OsStr, glean: Option<&dyn Glean>, env: &Env) -> Result<Log, Failure> {
    let (source, session_dir) = open_source(session, env)?;
    let log = env.progress("reading", source.bytes(), |done| {
        Ok(Log::read_gleaning(source, &env.reading, done, glean)?)
    })?;
    warn_of_place(&log, session_dir, env);
    Ok(log)
}

fn warn_of_place(log: &Log, session_dir: Option<PathBuf>, env: &Env) {
    let path = log.source().path().display();
    for oddity in place::judge(log, session_dir.as_deref(), env.root.as_deref()) {
        env.warn(&format!("{path}: {oddity}"));
    }
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
