//! `dsh-log salvage`: a new session from a log that the harness refuses.

use super::env::Env;
use super::exit::{Exit, Failure};
use super::fork::container_of;
use super::{Outcome, examples};
use crate::render::clean::clean_line;
use crate::render::document::salvage as document;
use crate::render::salvage_text;
use dsh_log::error::{Error, ErrorKind};
use dsh_log::format::kind::Kind;
use dsh_log::log::Log;
use dsh_log::log::verdict::Outcome as Verdict;
use dsh_log::salvage::{Fate, Given, Keep, Record, Salvage};
use dsh_log::storage::container::Container;
use dsh_log::storage::locate::{self, Target};
use dsh_log::storage::source::Source;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Rescue what can be read of a log that the harness refuses
///
/// Reads on behind damage and writes a new session that opens: the longest run of records from the
/// first on that can stand. Everything else goes into OUTPUT.aside.ndjson with its place: records that
/// did not fit, and bytes that give no record. The account adds up: read = kept + aside + lost. The log
/// itself is never touched. Where two processes wrote the same events, both histories are shown and
/// one must be chosen with --keep.
#[derive(clap::Args)]
#[command(after_help = examples::SALVAGE)]
pub(crate) struct Args {
    /// A log file, a session directory, a session id or its beginning, or `@latest`
    session: OsString,
    /// The new log: a file that is not there yet, or a directory to put it into
    #[arg(short, long, value_name = "PATH", required_unless_present = "dry_run")]
    output: Option<PathBuf>,
    /// Which of several histories is kept: first, last, or its letter
    #[arg(long, value_name = "WHICH")]
    keep: Option<String>,
    /// The session id, where the header is gone
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// The project's directory, where the header is gone
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// The format version, where the header is gone and the file's name does not tell
    #[arg(long, value_name = "N")]
    format: Option<u32>,
    /// Show what would be rescued, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let target = Target::parse(&args.session);
    if target == Target::Stdin {
        let error = Error::new(ErrorKind::Usage, "no-file", "standard input cannot be salvaged, only a file");
        return Err(error.into());
    }
    let path = locate::locate(&target, env.root.as_deref())?.path;
    let given = Given { id: args.id.clone(), cwd: args.cwd.clone(), format: args.format };
    let keep = args.keep.as_deref().map(|word| match word {
        "first" => Keep::First,
        "last" => Keep::Last,
        name => Keep::Named(name.to_owned()),
    });
    say_when_sound(&path, env)?;
    let salvage = match Salvage::plan(Source::open(&path)?, keep.as_ref(), &given, &env.reading) {
        Ok(salvage) => salvage,
        Err(error) => {
            if error.code == "two-histories" {
                show_histories(&path, &given, env)?;
            }
            return Err(error.into());
        }
    };
    let written = match &args.output {
        Some(output) if !args.dry_run => {
            let (file, container) = place(output, &salvage);
            Some(salvage.write(&file, container, &env.reading)?)
        }
        _ => None,
    };
    if !salvage.invented().is_empty() {
        env.warn(&format!("invented in the header: {}", salvage.invented().join(", ")));
    }
    if contradicts(&salvage) {
        env.warn(
            "what is kept ends in an open turn, and what was put aside tells of tool calls: \
             repair and the harness will not know of these",
        );
    }
    let mut out = env.out();
    if env.json {
        out.write_all(&document::document(&path, &salvage, written.as_ref()))?;
        out.write_all(b"\n")?;
        return Ok(Exit::Done);
    }
    salvage_text::report(&path, &salvage, written.as_ref(), env.style, &mut *out)?;
    Ok(Exit::Done)
}

/// Whether the new session ends in an open turn and a start or a result of a call lies behind its end.
fn contradicts(salvage: &Salvage) -> bool {
    let records = &salvage.scan().records;
    let kept = |kind: Kind| records.iter().rev().find(|r| r.fate == Fate::Kept && r.kind == kind);
    let Some(start) = kept(Kind::TurnStart) else { return false };
    let open = kept(Kind::TurnEnd).is_none_or(|end| end.seq < start.seq);
    let tells = |r: &&Record| {
        matches!(r.fate, Fate::Apart | Fate::CannotStand)
            && matches!(r.kind, Kind::ToolCall | Kind::ToolResult)
    };
    open && records.iter().filter(tells).any(|r| r.seq > start.seq)
}

/// A log that opens and loses nothing by it needs no salvage; it is done all the same.
fn say_when_sound(path: &Path, env: &Env) -> Result<(), Failure> {
    let log = Log::read(Source::open(path)?, &env.reading)?;
    if log.verdict().outcome == Verdict::Unsupported {
        env.warn(&format!(
            "{}: not damaged, only newer than is known here: a newer harness may open it whole, \
             and what is put aside here is no loss there",
            path.display()
        ));
    }
    let loses = log.verdict().cut.is_some_and(|cut| cut.lost_records > 0);
    if log.verdict().outcome.opens() && !loses {
        env.note(&format!("{}: the harness opens this log; repair is enough", path.display()));
    }
    Ok(())
}

/// The file that an output names, and its container: in a directory the name that a session's log has.
fn place(output: &Path, salvage: &Salvage) -> (PathBuf, Container) {
    let is_dir = output.is_dir() || output.as_os_str().to_string_lossy().ends_with(['/', '\\']);
    let names_a_file = output.extension().is_some();
    if is_dir || !names_a_file {
        let zstd = salvage.container() == Container::Zstd;
        return (output.join(salvage.dialect().file_name(zstd)), salvage.container());
    }
    (output.to_owned(), container_of(output, salvage.container()))
}

fn show_histories(path: &Path, given: &Given, env: &Env) -> Result<(), Failure> {
    let (scan, branches) = Salvage::branches_of(&Source::open(path)?, given, &env.reading)?;
    let mut out = env.out();
    if env.json {
        out.write_all(&document::undecided(path, &branches, &scan))?;
        out.write_all(b"\n")?;
        return Ok(());
    }
    writeln!(out, "{}: {} histories", clean_line(&path.display().to_string()), branches.len())?;
    salvage_text::histories(&branches, &scan, &env.zone, env.table_width, env.style, &mut *out)?;
    Ok(())
}
