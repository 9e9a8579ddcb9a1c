//! `dsh-log fork`: a new session from a closed prefix of another.

use super::env::Env;
use super::exit::{Exit, Failure};
use super::input::open_log;
use super::repair::now;
use super::{Outcome, examples};
use crate::render::clean::clean_line;
use crate::render::document::fork as document;
use crate::render::inspect_text::plural;
use crate::render::table::{Fit, Table};
use dsh_log::error::{Error, ErrorKind};
use dsh_log::fork::{Boundary, Child, Closed, ForkPlan, closed_places};
use dsh_log::format::kind::Kind;
use dsh_log::json::Raw;
use dsh_log::log::Log;
use dsh_log::log::visit::Bodies;
use dsh_log::seq::Seq;
use dsh_log::storage::container::Container;
use dsh_log::storage::{discover, layout};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use uuid::Uuid;

/// Start a new session from a closed prefix of another
///
/// The child inherits the events up to the boundary as they are stored, gets the header and the marker
/// that its generation demands, and is published without overwriting. The source is not touched. An
/// interrupted source is seen as repair would leave it.
#[derive(clap::Args)]
#[command(after_help = examples::FORK)]
pub(crate) struct Args {
    /// A log file, a session directory, a session id or its beginning, `@latest`, or `-`
    session: OsString,
    /// The last event that is inherited; without it the last closed place
    #[arg(long, value_name = "SEQ", allow_hyphen_values = true)]
    boundary: Option<String>,
    /// List the places where a fork may be cut, with their turns and first words
    #[arg(long, conflicts_with_all = ["boundary", "output", "id", "dry_run"])]
    list: bool,
    /// Write the child to that new file instead of its place under the root
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The child's session id; without it a new one
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let log = open_log(&args.session, env)?;
    if args.list {
        list(&log, env)?;
        return Ok(Exit::Done);
    }
    let id = args.id.clone().unwrap_or_else(|| format!("session-{}", Uuid::new_v4()));
    let boundary = args.boundary.clone().map_or(Boundary::LastClosed, Boundary::After);
    let child = Child { id, created_at: now() };
    let plan = ForkPlan::make(&log, &boundary, &child)?;
    let container = match &args.output {
        Some(path) => container_of(path, log.container()),
        None => log.container(),
    };
    let path = match &args.output {
        Some(path) => path.clone(),
        None => place(&log, &child.id, env)?,
    };
    if !args.dry_run {
        plan.write(&path, container, &env.reading).map_err(taken)?;
    }
    let mut out = env.out();
    if env.json {
        out.write_all(&document::document(
            &plan,
            Some(&path).filter(|_| !args.dry_run).map(PathBuf::as_path),
        ))?;
        out.write_all(b"\n")?;
        return Ok(Exit::Done);
    }
    let word = if args.dry_run { "would be written" } else { "written and read back" };
    let from =
        plan.boundary.map_or("nothing inherited".to_owned(), |seq| format!("inherited up to event {seq}"));
    writeln!(out, "{}: {word}", clean_line(&path.display().to_string()))?;
    writeln!(
        out,
        "  {}, {}, {} of its own",
        clean_line(&child.id),
        from,
        plural(plan.own.len() as u64, "event")
    )?;
    Ok(Exit::Done)
}

/// A name that says its container is believed; any other gets the source's.
pub(super) fn container_of(path: &std::path::Path, source: Container) -> Container {
    let name = path.to_string_lossy();
    match () {
        () if name.ends_with(".zstd") || name.ends_with(".zst") => Container::Zstd,
        () if name.ends_with(".jsonl") => Container::Raw,
        () => source,
    }
}

/// Where the child belongs under the root. A session of that id anywhere there refuses.
fn place(log: &Log, id: &str, env: &Env) -> Result<PathBuf, Failure> {
    let Some(root) = env.root.as_deref() else {
        let error = Error::new(ErrorKind::Usage, "no-root", "no root is known to put the child under");
        return Err(error.hint("name one with --root DIR, or a file with --output FILE").into());
    };
    let cwd = log.header().and_then(|h| h.cwd.as_deref());
    let segment = layout::encode_segment(id.as_bytes());
    let dir = layout::session_dir(root, cwd, id.as_bytes());
    let (Some(segment), Some(dir)) = (segment, dir) else {
        return Err(Error::new(ErrorKind::Usage, "no-place", format!("`{id}` cannot name a session")).into());
    };
    let (dirs, _) = discover::session_dirs(root)?;
    if let Some(taken) = dirs.iter().find(|d| d.segment == segment) {
        let error = Error::new(ErrorKind::Refused, "SESSION_ALREADY_EXISTS", "a session of that id exists");
        return Err(error.at_path(&taken.dir).into());
    }
    Ok(dir.join(log.dialect().file_name(log.container() == Container::Zstd)))
}

/// An existing file is a session that exists.
fn taken(error: Error) -> Failure {
    if error.code != "already-exists" {
        return error.into();
    }
    let mut refused = Error::new(ErrorKind::Refused, "SESSION_ALREADY_EXISTS", error.message.clone());
    refused.path.clone_from(&error.path);
    refused.into()
}

fn list(log: &Log, env: &Env) -> Result<(), Failure> {
    let places = with_words(log)?;
    let mut out = env.out();
    if env.json {
        out.write_all(&document::places(&places))?;
        out.write_all(b"\n")?;
        return Ok(());
    }
    let mut table =
        Table::new(&[("boundary", Fit::Number), ("turn", Fit::Number), ("began with", Fit::Gives)]);
    for (place, words) in &places {
        let turn = place.turn.map_or(String::new(), |turn| turn.to_string());
        table.row([place.seq.to_string(), turn, words.chars().take(200).collect()]);
    }
    table.write(env.table_width, env.style, &mut *out)?;
    Ok(())
}

/// Each closed place with the first words of a person in its turn.
fn with_words(log: &Log) -> Result<Vec<(Closed, String)>, Failure> {
    let mut bodies = Bodies::new(log);
    let mut from = Seq(0);
    let mut out = Vec::new();
    let entries = log.index().entries();
    for place in closed_places(log) {
        let start = entries.partition_point(|e| e.seq < from);
        let mut words = String::new();
        for entry in entries[start..].iter().take_while(|e| e.seq <= place.seq) {
            if entry.kind != Kind::UserMessage {
                continue;
            }
            let said = bodies.with(entry.seq, |event| {
                let by_person = event.data.path(&["source", "kind"]).is_some_and(|k| k.is("user"));
                by_person.then(|| {
                    event.data.get("content").map(|c: Raw<'_>| dsh_log::format::message::words(c, 400))
                })
            })?;
            if let Some(Some(Some(said))) = said {
                words = said;
                break;
            }
        }
        from = place.seq.next();
        out.push((place, words));
    }
    Ok(out)
}
