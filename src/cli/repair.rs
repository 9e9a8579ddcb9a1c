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
use dsh_log::repair::plan::Mended;
use dsh_log::repair::{Applied, Change, Diagnosis, Plan, Undo, WrittenPlan};
use dsh_log::storage::alive::{self, Sign};
use dsh_log::storage::locate;
use dsh_log::storage::source::Identity;
use dsh_log::view::summary::{self, OpenCall};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Make a log resumable while losing nothing
///
/// Cuts a torn tail (the cut bytes are kept in a file beside) and appends the closers of an open turn
/// exactly as the harness would: one result for each unanswered call, saying honestly whether it never
/// started or its outcome is unknown. Where nothing is torn, stored bytes are only added to. What was
/// written is read back before it counts. See --dry-run first.
///
/// Two kinds of log that the harness refuses are mended too, since nothing in them is damaged: zero
/// bytes behind the last frame are cut, and a resume that was killed in between gets the end-seed it
/// still owed.
#[derive(clap::Args)]
#[command(after_help = examples::REPAIR)]
pub(crate) struct Args {
    /// A log file, a session directory, a session id or its beginning, or `@latest`
    #[arg(required_unless_present_any = ["plan", "undo"])]
    session: Option<OsString>,
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
    /// Carry out exactly the plan that --dry-run --json printed, or nothing when the log has changed
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "dry_run", "undo", "cut"])]
    plan: Option<PathBuf>,
    /// Take a repair back: put the bytes of that file where they were cut, when nothing was written since
    #[arg(long, value_name = "SIDECAR", conflicts_with_all = ["check", "output", "backup", "cut"])]
    undo: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    if args.session.as_ref().is_some_and(|session| session == "-") {
        let error = Error::new(ErrorKind::Usage, "no-file", "standard input cannot be repaired, only a file");
        return Err(error.into());
    }
    if let Some(sidecar) = &args.undo {
        return undo(args, sidecar, env);
    }
    let written = args.plan.as_deref().map(read_plan).transpose()?;
    let session = match (&args.session, &written) {
        (Some(session), _) => session.clone(),
        (None, Some(written)) => written.path.clone().into_os_string(),
        (None, None) => return Err(Error::new(ErrorKind::Usage, "no-session", "no session is named").into()),
    };
    let log = open_log(&session, env)?;
    let now = written.as_ref().map_or_else(now, |written| written.at);
    say_when_alive(log.source().path(), &log.source().identity(), env);
    let diagnosis = Diagnosis::of_with(&log, &env.reading)?;
    let needed = diagnosis.needs_repair();
    // A plan was shown with all that it cuts.
    let plan = Plan::make(diagnosis, args.cut || written.is_some());
    let plan = match (plan, &written) {
        (Ok(plan), Some(written)) => written.check(&plan).map(|()| plan)?,
        (Err(_), Some(_)) => return Err(dsh_log::storage::write::changed(log.source().path()).into()),
        (plan, None) => plan?,
    };
    let open = summary::of(&log)?.open_turn;
    let calls: Vec<OpenCall> = open.into_iter().flat_map(|open| open.calls).collect();
    // A log that repair mends has nothing behind its tail: what was not started there was not started.
    let started = |call: &&OpenCall| call.outcome == Known::Unknown && call.running_ms.is_some();
    let unknown: Vec<&OpenCall> = calls.iter().filter(started).collect();
    if args.check || args.dry_run || plan.change == Change::Nothing && args.output.is_none() {
        if env.json {
            let sidecar = plan.sidecar(now).filter(|_| args.dry_run);
            let document = Document::of(&plan, false, &unknown, sidecar.as_deref());
            let document = if args.dry_run { document.planned(&plan, now) } else { document };
            print(env, &document.end())?;
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

/// A plan that `--dry-run --json` printed; `-` is standard input.
fn read_plan(path: &Path) -> Result<WrittenPlan, Failure> {
    let read = match path.as_os_str() == "-" {
        true => {
            let mut text = Vec::new();
            std::io::stdin().lock().read_to_end(&mut text).map(|_| text)
        }
        false => std::fs::read(path),
    };
    let text = read.map_err(|e| Error::io("read", path, e))?;
    WrittenPlan::parse(&text).map_err(|error| error.at_path(path).into())
}

fn undo(args: &Args, sidecar: &Path, env: &Env) -> Outcome {
    let session = args.session.as_ref().map(|session| {
        let target = locate::Target::parse(session);
        locate::locate(&target, env.root.as_deref()).map(|located| located.path)
    });
    let undo = Undo::plan(sidecar, session.transpose()?.as_deref(), &env.reading)?;
    say_when_alive(&undo.path, &Identity::of_path(&undo.path)?, env);
    let document = crate::render::document::repair::undone(&undo, !args.dry_run);
    let path = undo.path.display().to_string();
    let line = format!(
        "  return    {} at byte {}; {} that repair wrote go",
        size(undo.returns),
        undo.keep,
        size(undo.goes)
    );
    if !args.dry_run {
        undo.apply()?;
    }
    if env.json {
        print(env, &document)?;
        return Ok(Exit::Done);
    }
    let word = if args.dry_run { "its repair would be taken back" } else { "its repair is taken back" };
    let mut out = env.out();
    writeln!(out, "{}: {word}", env.style.strong(&clean_line(&path)))?;
    writeln!(out, "{line}")?;
    Ok(Exit::Done)
}

/// Says when somebody seems to write to the log still: then there is nothing to repair yet.
fn say_when_alive(path: &Path, identity: &Identity, env: &Env) {
    for sign in alive::signs(path, identity, now()) {
        let why = match sign {
            Sign::Changed(ms) => format!("it changed {}.{} s ago", ms / 1000, ms % 1000 / 100),
            Sign::OpenIn(process) => format!("process {process} has it open"),
        };
        env.warn(&format!("{}: the log looks alive: {why}", path.display()));
    }
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
            "  cut       {}{} from byte {} on, kept in a file beside{again}",
            size(cut.bytes),
            if plan.mended == Some(Mended::Padding) { " of zero padding" } else { "" },
            cut.from
        )?;
    }
    for event in &plan.appended {
        writeln!(out, "  append    {}", clean_line(&describe(event)))?;
    }
    if plan.mended == Some(Mended::EndSeed) {
        writeln!(
            out,
            "            a resume closed the turn and was killed before its end-seed; nothing is damaged"
        )?;
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
