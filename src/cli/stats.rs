//! `dsh-log stats`: what a session, or many, cost.

use super::damage::{exit_of, judge_view};
use super::env::Env;
use super::exit::{Exit, Failure};
use super::input::open_for_figures;
use super::options::LogArgs;
use super::{Outcome, examples};
use crate::render::document::stats as document;
use crate::render::stats_text;
use dsh_log::error::{Error, ErrorKind};
use dsh_log::log::Log;
use dsh_log::storage::discover;
use dsh_log::view::stats::{self, Item, Stats, Totals, What};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;

/// Count tokens, requests, tools, retries and compactions
///
/// What a session did itself and what it took over from its parent are kept apart, so that the sum
/// over many sessions counts nothing twice. The tokens of an attempt count once, those of reasoning
/// are a part of the output, and what summaries took stands on a line of its own.
#[derive(clap::Args)]
#[command(after_help = examples::STATS)]
pub(crate) struct Args {
    /// Log files, session directories, ids or their beginnings, `@latest`, or `-`
    #[arg(required_unless_present = "all")]
    sessions: Vec<OsString>,
    /// All sessions under the root
    #[arg(long, conflicts_with = "sessions")]
    all: bool,
    /// As it stood right after that event
    #[arg(long, value_name = "SEQ", conflicts_with_all = ["stored", "all"])]
    at: Option<u64>,
    /// As stored, without the events that repair would append to close an open turn
    #[arg(long)]
    stored: bool,
    /// Split what the sessions did themselves
    #[arg(long, value_name = "KEY")]
    by: Option<By>,
    /// Comma-separated values, own and inherited in rows of their own
    #[arg(long)]
    csv: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum By {
    /// By turn; of each session apart
    Turn,
    /// By provider and model
    Model,
    /// By day, in the zone that times are shown in
    Day,
    /// By session
    Session,
}

/// What was added up.
struct Sum<'a> {
    by: Option<By>,
    env: &'a Env,
    stats: Stats,
    groups: BTreeMap<Key, Totals>,
    sessions: u64,
    many: bool,
}

/// What rows are ordered by: the session, then a number, then a name.
pub(super) type Key = (String, u64, String);

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let sessions = if args.all { all(env)? } else { args.sessions.clone() };
    let many = args.all || sessions.len() > 1;
    let mut sum =
        Sum { by: args.by, env, stats: Stats::default(), groups: BTreeMap::new(), sessions: 0, many };
    let mut exit = Exit::Done;
    for session in sessions {
        let log_args = LogArgs { session, at: args.at, stored: args.stored };
        match one(&log_args, &mut sum) {
            Ok(Exit::Done) => {}
            Ok(other) => exit = other,
            // One session of all that cannot be read does not keep the others from being counted.
            Err(Failure::Tool(error)) if args.all && !env.strict => env.warn(&error.to_string()),
            Err(failure) => return Err(failure),
        }
    }
    let groups: Vec<(String, Totals)> = sum
        .groups
        .into_iter()
        .map(|((session, _, name), totals)| (joined(&session, &name), totals))
        .collect();
    let mut out = env.out();
    if env.json {
        out.write_all(&document::document(&sum.stats, args.by.map(|_| &groups[..]), sum.sessions))?;
        out.write_all(b"\n")?;
    } else if args.csv {
        stats_text::csv(&sum.stats, args.by.map(|_| &groups[..]), &mut *out)?;
    } else {
        stats_text::write(&sum.stats, sum.sessions, env.table_width, env.style, &mut *out)?;
        if args.by.is_some() {
            writeln!(out)?;
            stats_text::groups(&groups, env.table_width, env.style, &mut *out)?;
        }
    }
    Ok(exit)
}

fn joined(session: &str, name: &str) -> String {
    match (session, name) {
        ("", name) => name.to_owned(),
        (session, "") => session.to_owned(),
        (session, name) => format!("{session} {name}"),
    }
}

/// The logs of all sessions under the root.
fn all(env: &Env) -> Result<Vec<OsString>, Failure> {
    let Some(root) = env.root.as_deref() else {
        let error = Error::new(ErrorKind::Usage, "no-root", "no directory of sessions is known");
        return Err(error.hint("give it with --root").into());
    };
    if env.root_is_given && !root.exists() {
        return Err(Error::io("open", root, std::io::ErrorKind::NotFound.into()).into());
    }
    let walk = discover::walk(root)?;
    for skipped in &walk.skipped {
        env.warn(&format!("{}: skipped: {}", skipped.path.display(), skipped.why));
    }
    Ok(walk.candidates.into_iter().map(|candidate| candidate.log.into_os_string()).collect())
}

fn one(args: &LogArgs, sum: &mut Sum<'_>) -> Result<Exit, Failure> {
    let log = open_for_figures(&args.session, sum.env)?;
    let moment = args.moment(&log)?;
    judge_view(&log, sum.env)?;
    let mut stats = Stats::default();
    let session = session_of(&log);
    stats::each(&log, moment, &mut |item| {
        stats.add(item);
        sum.group(item, &session);
    })?;
    sum.stats.merge(&stats);
    sum.sessions += 1;
    Ok(exit_of(&log))
}

fn session_of(log: &Log) -> String {
    let id = log.header().map(|h| h.shown_id()).filter(|id| !id.is_empty());
    id.unwrap_or_else(|| log.source().path().display().to_string())
}

impl Sum<'_> {
    /// Adds to the row that an item belongs to. Inherited things belong to the parent's.
    fn group(&mut self, item: &Item<'_>, session: &str) {
        let Some(by) = self.by.filter(|_| !item.inherited) else { return };
        // A turn begins before it is known which model it will ask.
        if by == By::Model && matches!(item.what, What::Turn | What::Step) {
            return;
        }
        let key: Key = match by {
            By::Turn => {
                let session = if self.many { session.to_owned() } else { String::new() };
                let name = item.turn.map_or("between turns".to_owned(), |turn| format!("turn {turn}"));
                (session, item.turn.map_or(0, u64::from), name)
            }
            By::Model if item.model.is_empty() => (String::new(), 0, "no model known".to_owned()),
            By::Model => (String::new(), 0, item.model.to_owned()),
            By::Day => (String::new(), 0, self.env.zone.day(item.time)),
            By::Session => (session.to_owned(), 0, String::new()),
        };
        self.groups.entry(key).or_default().add(item);
    }
}
