//! `dsh-log verify`: every rule of the format and of the turn life.

use super::env::Env;
use super::exit::{Exit, Failure};
use super::input::open_log;
use super::options::after;
use super::{Outcome, examples};
use crate::render::document::verify as document;
use crate::render::table::{Fit, Table};
use crate::render::verify_text;
use dsh_log::check::{self, rules};
use dsh_log::error::{Error, ErrorKind};
use dsh_log::fault::Code;
use dsh_log::finding::Findings;
use dsh_log::format::dialect::Dialect;
use dsh_log::log::Log;
use dsh_log::storage::discover::{self, Skipped};
use dsh_log::storage::source::Source;
use dsh_log::view::moment::Moment;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Check every rule of the format and of the turn life
///
/// Each finding has a code and a severity by what the harness does: refuses (the log does not open),
/// cuts (it opens, a tail goes), warns (it opens; a rule is broken all the same), notes. All findings
/// are named, not only the first. Exit code 1 when there is more than notes.
#[derive(clap::Args)]
#[command(after_help = examples::VERIFY)]
pub(crate) struct Args {
    /// A log file, a session directory, a session id or its beginning, `@latest`, or `-`
    #[arg(required_unless_present_any = ["rules", "all"], conflicts_with_all = ["rules", "all"])]
    session: Option<OsString>,
    /// Explain every rule: its code, what it means, where it stands on the format pages
    #[arg(long, conflicts_with = "all")]
    rules: bool,
    /// Check all sessions under the root, one line each
    #[arg(long)]
    all: bool,
    /// Only what holds for the events up to that one
    #[arg(long, value_name = "SEQ", conflicts_with_all = ["rules", "all"])]
    at: Option<u64>,
    /// Add what the upgrade to that generation would refuse
    #[arg(long, value_name = "GENERATION", value_parser = parse_generation)]
    target: Option<u32>,
}

/// A generation: `v4` or `4`.
fn parse_generation(text: &str) -> Result<u32, String> {
    let number = text.strip_prefix('v').unwrap_or(text).parse().ok();
    number
        .filter(|n| Dialect::of(*n).is_some())
        .ok_or_else(|| format!("`{text}` is no generation, expected v0 to v{}", Dialect::newest().version))
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    if args.rules {
        explain(env)?;
        return Ok(Exit::Done);
    }
    let Some(session) = &args.session else { return all(args, env) };
    let log = open_log(session, env)?;
    let moment = args.at.map_or(Ok(Moment::Stored), |seq| after(&log, seq))?;
    let findings = check::verify(&log, args.target, moment.upto(), &env.reading.limits)?;
    let mut out = env.out();
    if env.json {
        out.write_all(&document::document(&log, &findings))?;
        out.write_all(b"\n")?;
    } else {
        verify_text::write(&log, moment, &findings, env.style, env.width, &mut *out)?;
    }
    Ok(exit_of(&findings))
}

fn exit_of(findings: &Findings) -> Exit {
    if check::is_loud(findings) { Exit::Found } else { Exit::Done }
}

fn explain(env: &Env) -> Result<(), Failure> {
    if env.json {
        let mut out = env.out();
        out.write_all(&document::rules())?;
        out.write_all(b"\n")?;
        return Ok(());
    }
    let mut table =
        Table::new(&[("code", Fit::Whole), ("format page", Fit::Whole), ("what it means", Fit::Gives)]);
    for code in Code::ALL {
        table.row([code.name().to_owned(), rules::section(*code).to_owned(), code.meaning().to_owned()]);
    }
    table.write(env.table_width, env.style, &mut *env.out())?;
    Ok(())
}

/// What came of one session.
struct Checked {
    path: PathBuf,
    found: Result<(Log, Findings), Error>,
}

/// Every session under the root; logs are shared out among threads, and told in the order of paths.
fn all(args: &Args, env: &Env) -> Outcome {
    let Some(root) = env.root.as_deref() else {
        let error = Error::new(ErrorKind::Usage, "no-root", "no directory of sessions is known");
        return Err(error.hint("give it with --root").into());
    };
    std::fs::read_dir(root).map_err(|e| Error::io("read", root, e))?;
    let walk = discover::walk(root)?;
    let mut paths: Vec<PathBuf> = walk.candidates.into_iter().map(|candidate| candidate.log).collect();
    paths.sort();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8).min(paths.len().max(1));
    let next = AtomicUsize::new(0);
    let lines: Mutex<Vec<Option<Line>>> = Mutex::new(paths.iter().map(|_| None).collect());
    let mut reading = env.reading;
    reading.threads = 1;
    let target = args.target;
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((n, path)) = take(&next, &paths) {
                    let found = Source::open(path).and_then(|source| {
                        let log = Log::read(source, &reading)?;
                        let findings = check::verify(&log, target, Moment::Stored.upto(), &reading.limits)?;
                        Ok((log, findings))
                    });
                    let line = Line::of(&Checked { path: path.clone(), found }, root);
                    if let Ok(mut lines) = lines.lock()
                        && let Some(slot) = lines.get_mut(n)
                    {
                        *slot = Some(line);
                    }
                }
            });
        }
    });
    let lines = lines.into_inner().unwrap_or_default();
    report(lines.into_iter().flatten().collect(), &walk.skipped, env)
}

fn take<'a>(next: &AtomicUsize, paths: &'a [PathBuf]) -> Option<(usize, &'a PathBuf)> {
    let n = next.fetch_add(1, Ordering::Relaxed);
    paths.get(n).map(|path| (n, path))
}

/// One session as a line.
struct Line {
    shown: String,
    verdict: String,
    counts: [u64; 4],
    first: String,
    json: Vec<u8>,
    loud: bool,
    unread: bool,
}

impl Line {
    fn of(checked: &Checked, root: &Path) -> Line {
        let shown = checked.path.strip_prefix(root).unwrap_or(&checked.path).display().to_string();
        match &checked.found {
            Ok((log, findings)) => {
                let first = findings.list().iter().min_by_key(|f| f.severity as u8);
                Line {
                    verdict: log.verdict().outcome.name().to_owned(),
                    counts: document::by_severity(findings),
                    first: first.map(|f| format!("{}: {f}", f.code.name())).unwrap_or_default(),
                    json: document::line(&shown, log, findings),
                    loud: check::is_loud(findings),
                    unread: false,
                    shown,
                }
            }
            Err(e) => Line {
                verdict: "unread".to_owned(),
                counts: [0; 4],
                first: e.to_string(),
                json: document::unread(&shown, &e.to_string()),
                loud: true,
                unread: true,
                shown,
            },
        }
    }
}

fn report(lines: Vec<Line>, skipped: &[Skipped], env: &Env) -> Outcome {
    let mut out = env.out();
    if env.json {
        out.write_all(&document::all(lines.iter().map(|line| &line.json)))?;
        out.write_all(b"\n")?;
    } else {
        let mut table = Table::new(&[
            ("session", Fit::Whole),
            ("verdict", Fit::Whole),
            ("refuses", Fit::Number),
            ("cuts", Fit::Number),
            ("warns", Fit::Number),
            ("notes", Fit::Number),
            ("worst", Fit::Gives),
        ]);
        for line in &lines {
            let [refuses, cuts, warns, notes] = line.counts.map(|n| n.to_string());
            table.row([
                line.shown.clone(),
                line.verdict.clone(),
                refuses,
                cuts,
                warns,
                notes,
                line.first.clone(),
            ]);
        }
        table.write(env.table_width, env.style, &mut *out)?;
    }
    drop(out);
    for skipped in skipped {
        env.warn(&format!("{}: {}", skipped.path.display(), skipped.why));
    }
    let (loud, unread) = (lines.iter().filter(|l| l.loud).count(), lines.iter().filter(|l| l.unread).count());
    env.note(&format!("{} sessions, {loud} with findings, {unread} not read", lines.len()));
    Ok(if loud > 0 { Exit::Found } else { Exit::Done })
}
