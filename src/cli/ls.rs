//! `dsh-log ls`: the sessions under a root, by their headers alone, so that thousands list at once.

pub(super) mod glob;
mod session;

use super::env::Env;
use super::exit::{Exit, Failure};
use super::{Outcome, examples};
use crate::render::number::size;
use crate::render::table::{Fit, Table};
use dsh_log::error::{Error, ErrorKind};
use dsh_log::json::write::{Object, array};
use dsh_log::storage::decode::Decoder;
use dsh_log::storage::discover::{self, Skipped};
use glob::Pattern;
use session::Session;
use std::cmp::Reverse;
use std::io::Write;
use std::path::Path;

/// How many files that are no sessions are named.
const NAMED: usize = 10;

/// List the sessions under a root, the one that changed last first
///
/// Only headers are read. What lies where a session should and is none is named on standard error,
/// and the last line there accounts for everything that was looked at.
#[derive(clap::Args)]
#[command(after_help = examples::LS)]
pub(crate) struct Args {
    /// Only sessions whose directory has that text in it, or fits that pattern of `*` and `?`
    #[arg(long, value_name = "PATTERN")]
    project: Option<String>,
    /// At most that many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// What to sort by: times and sizes descend, ids ascend
    #[arg(long, value_name = "KEY", default_value = "changed")]
    sort: Key,
    /// One JSON object a line
    #[arg(long)]
    ndjson: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Key {
    /// When it was created
    Started,
    /// When its log last changed
    Changed,
    /// The stored size of its log
    Size,
    /// Its id
    Id,
}

/// What was found; `scanned = sessions + skipped + left_out`.
struct Listing {
    scanned: usize,
    sessions: Vec<Session>,
    skipped: Vec<Skipped>,
    left_out: usize,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let root = root(env)?;
    let listing = list(args, root)?;
    if args.ndjson {
        let mut out = env.out();
        for session in &listing.sessions {
            out.write_all(&session.to_json())?;
            out.write_all(b"\n")?;
        }
    } else if env.json {
        document(&listing, root, env)?;
    } else {
        table(&listing, env)?;
    }
    if !env.json || args.ndjson {
        // The account comes behind the list, as on a terminal so where both streams are one.
        env.out().finish()?;
        account(&listing, root, env);
    }
    Ok(Exit::Done)
}

fn root(env: &Env) -> Result<&Path, Failure> {
    let Some(root) = env.root.as_deref() else {
        let error = Error::new(ErrorKind::Usage, "no-root", "no directory of sessions is known");
        return Err(error.hint("give it with --root").into());
    };
    // A root that is only assumed may not be there yet; one that is named must be.
    if env.root_is_given && !root.exists() {
        return Err(Error::io("open", root, std::io::ErrorKind::NotFound.into()).into());
    }
    Ok(root)
}

fn list(args: &Args, root: &Path) -> Result<Listing, Failure> {
    let walk = discover::walk(root)?;
    let scanned = walk.candidates.len() + walk.skipped.len();
    let pattern = args.project.as_deref().map(Pattern::new);
    let (mut sessions, mut skipped, mut left_out) = (Vec::new(), walk.skipped, 0);
    let mut decoder = Decoder::new();
    for candidate in walk.candidates {
        let path = candidate.log.clone();
        match Session::read(candidate, &mut decoder) {
            Ok(session) if pattern.as_ref().is_some_and(|p| !session.is_of_project(p)) => left_out += 1,
            Ok(session) => sessions.push(session),
            Err(why) => skipped.push(Skipped { path, why }),
        }
    }
    match args.sort {
        Key::Started => sessions.sort_by_key(|s| Reverse(s.started())),
        Key::Changed => sessions.sort_by_key(|s| Reverse(s.changed())),
        Key::Size => sessions.sort_by_key(|s| Reverse(s.bytes())),
        Key::Id => sessions.sort_by(|a, b| a.id().cmp(b.id())),
    }
    let kept = sessions.len().min(args.limit.unwrap_or(usize::MAX));
    left_out += sessions.len() - kept;
    sessions.truncate(kept);
    skipped.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(Listing { scanned, sessions, skipped, left_out })
}

fn table(listing: &Listing, env: &Env) -> Result<(), Failure> {
    if listing.sessions.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[
        ("id", Fit::Whole),
        ("project", Fit::Gives),
        ("started", Fit::Whole),
        ("changed", Fit::Whole),
        ("format", Fit::Whole),
        ("container", Fit::Whole),
        ("size", Fit::Number),
    ]);
    for session in &listing.sessions {
        let time = |ms: Option<i64>| ms.map_or_else(|| "-".to_owned(), |ms| env.zone.minute(ms));
        table.row([
            session.shown_id(),
            session.shown_project(env.home.as_deref()),
            time(session.started()),
            time(session.changed()),
            format!("v{}", session.format()),
            session.container().to_owned(),
            size(session.bytes()),
        ]);
    }
    Ok(table.write(env.table_width, env.style, &mut *env.out())?)
}

fn document(listing: &Listing, root: &Path, env: &Env) -> Result<(), Failure> {
    let skipped = listing.skipped.iter().map(|skipped| {
        let path = skipped.path.to_string_lossy();
        Object::new().text("path", path.as_bytes()).text("why", skipped.why.as_bytes()).end()
    });
    let counts = Object::new()
        .int("scanned", listing.scanned as u64)
        .int("listed", listing.sessions.len() as u64)
        .int("skipped", listing.skipped.len() as u64)
        .int("leftOut", listing.left_out as u64);
    let document = Object::new()
        .text("schema", b"dsh-log/ls@1")
        .text("root", root.to_string_lossy().as_bytes())
        .raw("sessions", &array(listing.sessions.iter().map(Session::to_json)))
        .list("skipped", skipped)
        .raw("counts", &counts.end());
    let mut out = env.out();
    out.write_all(&document.end())?;
    Ok(writeln!(out)?)
}

/// Names what is no session, and accounts for all that was looked at.
fn account(listing: &Listing, root: &Path, env: &Env) {
    let shown = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    for skipped in listing.skipped.iter().take(NAMED) {
        env.warn(&format!("{}: skipped: {}", shown(&skipped.path), skipped.why));
    }
    if listing.skipped.len() > NAMED {
        env.note(&format!(
            "{} more skipped: dsh-log ls --json names them all",
            listing.skipped.len() - NAMED
        ));
    }
    let (listed, skipped) = (listing.sessions.len(), listing.skipped.len());
    let left_out = match listing.left_out {
        0 => String::new(),
        n => format!(" + left out {n}"),
    };
    env.note(&format!("scanned {} = listed {listed} + skipped {skipped}{left_out}", listing.scanned));
    if listing.scanned == 0 {
        env.hint(&format!("no sessions under `{}`: give another directory with --root", root.display()));
    }
}
