//! `dsh-log convert`: the same events in another container or in other rows.

use super::env::Env;
use super::exit::Exit;
use super::fork::container_of;
use super::input::open_log;
use super::{Outcome, examples};
use crate::render::clean::clean_line;
use crate::render::inspect_text::plural;
use clap::ValueEnum;
use dsh_log::convert::{BATCH, Conversion, Rows};
use dsh_log::json::write::Object;
use dsh_log::storage::container::Container;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

/// Write a log in another container, or with its chunk rows packed or expanded
///
/// The events stay what they are, byte for byte; the copy is read back beside the log before it counts.
/// A zstd frame is one durable batch and stays one. Raw text, and a log that lies in one frame, is cut
/// into batches of 12 stored lines. The log itself is never touched.
#[derive(clap::Args)]
#[command(after_help = examples::CONVERT)]
pub(crate) struct Args {
    /// A log file, a session directory, a session id or its beginning, `@latest`, or `-`
    session: OsString,
    /// The new file
    #[arg(short, long, value_name = "FILE", required_unless_present = "dry_run")]
    output: Option<PathBuf>,
    /// The container; without it as the new file's name says
    #[arg(long, value_name = "CONTAINER")]
    to: Option<To>,
    /// Write chunk rows packed or expanded; without it as they are
    #[arg(long, value_name = "ROWS")]
    rows: Option<RowForm>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum To {
    /// Zstd frames, one for each batch
    Zstd,
    /// The text itself
    Raw,
}

#[derive(Clone, Copy, ValueEnum)]
enum RowForm {
    /// Runs of three and more chunk events of a batch in one line
    Packed,
    /// One line for each chunk event
    Expanded,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let log = open_log(&args.session, env)?;
    let container = match (args.to, &args.output) {
        (Some(To::Zstd), _) => Container::Zstd,
        (Some(To::Raw), _) => Container::Raw,
        (None, Some(output)) => container_of(output, log.container()),
        (None, None) => log.container(),
    };
    let rows = match args.rows {
        Some(RowForm::Packed) => Rows::Packed,
        Some(RowForm::Expanded) => Rows::Expanded,
        None => Rows::Stored,
    };
    let plan = Conversion::plan(&log, container, rows)?;
    let output = args.output.as_ref().filter(|_| !args.dry_run);
    if let Some(output) = output {
        plan.write(output, &env.reading)?;
    }
    let mut out = env.out();
    let events = log.index().events();
    if env.json {
        let document = Object::new()
            .text("schema", b"dsh-log/convert@1")
            .text("path", log.source().path().to_string_lossy().as_bytes())
            .bool("applied", output.is_some())
            .text("container", container.name().as_bytes())
            .int("events", events)
            .int("batches", plan.batches)
            .bool("keepsBatches", plan.keeps_batches)
            .text_if("output", output.map(|p| p.to_string_lossy().into_owned().into_bytes()).as_deref());
        out.write_all(&document.end())?;
        out.write_all(b"\n")?;
        return Ok(Exit::Done);
    }
    let shown = args.output.as_ref().unwrap_or(&PathBuf::from("-")).display().to_string();
    let word = if output.is_some() { "written and read back" } else { "would be written" };
    let batches = match (container, plan.keeps_batches) {
        (Container::Raw, _) => String::new(),
        (Container::Zstd, true) => format!(" in {}, as they are", plural(plan.batches, "frame")),
        (Container::Zstd, false) => format!(" in {} of up to {BATCH} lines", plural(plan.batches, "frame")),
    };
    writeln!(out, "{}: {word}", clean_line(&shown))?;
    writeln!(out, "  {}, {}{batches}", container.name(), plural(events, "event"))?;
    Ok(Exit::Done)
}
