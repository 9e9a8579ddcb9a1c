//! `dsh-log repair`: make a log resumable, losing nothing.

use super::env::Env;
use super::exit::{Exit, Failure};
use super::input::open_log;
use super::{Outcome, examples};
use crate::render::arguments::in_short;
use crate::render::clean::clean_line;
use crate::render::document::repair::Document;
use crate::render::inspect_text::plural;
use crate::render::number::size;
use dsh_log::error::{Error, ErrorKind};
use dsh_log::json::Raw;
use dsh_log::log::closers::Outcome as Known;
use dsh_log::repair::apply::Target;
use dsh_log::repair::{Applied, Change, Diagnosis, Plan};
use dsh_log::view::summary::{self, OpenCall};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// Make a log resumable while losing nothing
///
/// Cuts a torn tail (the cut bytes are kept in a file beside) and appends the closers of an open turn
/// exactly as the harness would: one result for each unanswered call, saying honestly whether it never
/// started or its outcome is unknown. Where nothing is torn, stored bytes are only added to. What was
/// written is read back before it counts. See --dry-run first.
#[derive(clap::Args)]
#[command(after_help = examples::REPAIR)]
pub(crate) struct Args {
    /// A log file, a session directory, a session id or its beginning, or `@latest`
    session: OsString,
    /// Only tell whether repair is needed: exit code 0 when not, 1 when it is
    #[arg(long, conflicts_with_all = ["dry_run", "output", "backup"])]
    check: bool,
    /// Show what would be done, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Write the repaired log to a new file, and leave this one alone
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Copy the log to that new file first; without a name to FILE.backup-TIME
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, conflicts_with = "output")]
    backup: Option<Option<PathBuf>>,
    /// Cut whole records too that do not continue the log; they are kept in a file beside
    #[arg(long)]
    cut: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    if args.session == "-" {
        let error = Error::new(ErrorKind::Usage, "no-file", "standard input cannot be repaired, only a file");
        return Err(error.into());
    }
    let log = open_log(&args.session, env)?;
    let diagnosis = Diagnosis::of(&log)?;
    let needed = diagnosis.needs_repair();
    let plan = Plan::make(diagnosis, args.cut)?;
    let open = summary::of(&log)?.open_turn;
    let calls: Vec<OpenCall> = open.into_iter().flat_map(|open| open.calls).collect();
    let unknown: Vec<&OpenCall> = calls.iter().filter(|call| call.outcome == Known::Unknown).collect();
    let now = now();
    if args.check || args.dry_run || plan.change == Change::Nothing && args.output.is_none() {
        if env.json {
            let sidecar = plan.sidecar(now).filter(|_| args.dry_run);
            print(env, &Document::of(&plan, false, &unknown, sidecar.as_deref()).end())?;
        } else {
            explain(&plan, &unknown, args.check || args.dry_run, env)?;
        }
        return Ok(if args.check && needed { Exit::Found } else { Exit::Done });
    }
    let backup = args.backup.clone().map(|name| name.unwrap_or_else(|| beside(&plan, now)));
    let target = Target { output: args.output.clone(), backup: backup.clone(), now };
    let made = plan.clone();
    let applied = plan.apply(&target, &env.reading)?;
    if env.json {
        let document = Document::of(&made, applied.written, &unknown, applied.sidecar.as_deref());
        print(env, &document.applied(&applied).end())?;
    } else {
        explain(&made, &unknown, false, env)?;
        report(&applied, backup.as_deref(), env)?;
    }
    Ok(Exit::Done)
}

/// Epoch milliseconds.
pub(super) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as i64)
}

fn beside(plan: &Plan, now: i64) -> PathBuf {
    let mut name = plan.path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".backup-{now}"));
    plan.path.with_file_name(name)
}

fn print(env: &Env, text: &[u8]) -> Result<(), Failure> {
    let mut out = env.out();
    out.write_all(text)?;
    out.write_all(b"\n")?;
    Ok(())
}

/// What is cut, kept and appended; what must be verified by hand comes last.
fn explain(plan: &Plan, unknown: &[&OpenCall], only_planned: bool, env: &Env) -> Result<(), Failure> {
    let mut out = env.out();
    let path = plan.path.display().to_string();
    if plan.change == Change::Nothing {
        writeln!(out, "{}: nothing to repair", clean_line(&path))?;
        return Ok(());
    }
    let word = if only_planned { "would be repaired" } else { "repaired" };
    writeln!(out, "{}: {word}", env.style.strong(&clean_line(&path)))?;
    if let Some(cut) = plan.cut {
        let again = match plan.recovered {
            0 => String::new(),
            n => format!("; {} in them written again", plural(n, "whole event")),
        };
        writeln!(
            out,
            "  cut       {} from byte {} on, kept in a file beside{again}",
            size(cut.bytes),
            cut.from
        )?;
    }
    for event in &plan.appended {
        writeln!(out, "  append    {}", clean_line(&describe(event)))?;
    }
    if plan.appended.is_empty() {
        writeln!(out, "  append    nothing: no turn is open")?;
    }
    if !unknown.is_empty() {
        writeln!(out, "{}", env.style.warn("verify these by hand, their outcome is unknown:"))?;
    }
    for call in unknown {
        let line = format!("{}  {}  {}", call.name, call.call_id, in_short(&call.arguments));
        writeln!(
            out,
            "  {}",
            crate::render::wrap::cut(&clean_line(&line), env.width.saturating_sub(2).max(30))
        )?;
    }
    Ok(())
}

/// An appended event in a few words: seq, type, and for a result its call and code.
fn describe(event: &[u8]) -> String {
    let Ok(event) = Raw::parse(event) else { return String::new() };
    let [kind, seq, data] = event.get_all(["type", "seq", "data"]);
    let shown = |value: Option<Raw<'_>>| value.and_then(Raw::display_text).unwrap_or_default();
    let mut line = format!("{} {}", seq.and_then(Raw::count).unwrap_or(0), shown(kind));
    if let Some(data) = data {
        let code = shown(data.path(&["error", "code"]));
        let call = shown(data.path(&["message", "source", "callId"]));
        let reason = shown(data.path(&["reason", "kind"]));
        for part in [call, code, reason] {
            if !part.is_empty() {
                line += &format!("  {part}");
            }
        }
    }
    line
}

fn report(applied: &Applied, backup: Option<&std::path::Path>, env: &Env) -> Result<(), Failure> {
    let mut out = env.out();
    let path = applied.path.display().to_string();
    writeln!(out, "read back: {} {}", clean_line(&path), env.style.good(applied.after.outcome.name()))?;
    if let Some(sidecar) = &applied.sidecar {
        writeln!(out, "cut bytes: {}", clean_line(&sidecar.display().to_string()))?;
    }
    if let Some(backup) = backup {
        writeln!(out, "backup: {}", clean_line(&backup.display().to_string()))?;
    }
    Ok(())
}
