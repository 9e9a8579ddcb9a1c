//! `dsh-log inspect`: is this log sound, where did it stop, what would happen on opening it?

use super::env::Env;
use super::exit::Failure;
use super::input::open_log;
use super::{Outcome, damage, examples};
use crate::render::document::inspect as document;
use crate::render::inspect_text::Screen;
use crate::render::table::{Fit, Table};
use dsh_log::log::Log;
use dsh_log::view::summary;
use std::ffi::OsString;
use std::io::Write;

/// Tell on one screen whether a log is sound, where it stopped, and what opening it would do
///
/// Identity and size; the verdict of the harness that wrote this generation, with its reason; what an
/// open turn leaves unanswered and what repair would append; findings; what the model has now.
/// Writes nothing.
#[derive(clap::Args)]
#[command(after_help = examples::INSPECT)]
pub(crate) struct Args {
    /// A log file, a session directory, a session id or its beginning, `@latest`, or `-`
    session: OsString,
    /// Add the table of all events, those that repair would append included
    #[arg(long)]
    events: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let log = open_log(&args.session, env)?;
    damage::refuse_strictly(&log, env)?;
    let summary = summary::of(&log)?;
    if env.json {
        let text = document::document(&log, &summary, args.events)?;
        let mut out = env.out();
        out.write_all(&text)?;
        out.write_all(b"\n")?;
    } else {
        let screen =
            Screen { style: env.style, width: env.width, zone: &env.zone, home: env.home.as_deref() };
        screen.write(&log, &summary, &mut *env.out())?;
        if args.events {
            table(&log, env)?;
        }
    }
    Ok(damage::exit_of(&log))
}

fn table(log: &Log, env: &Env) -> Result<(), Failure> {
    let mut table = Table::new(&[
        ("seq", Fit::Number),
        ("time", Fit::Whole),
        ("type", Fit::Whole),
        ("turn", Fit::Whole),
        ("surface", Fit::Whole),
    ]);
    document::each_event(log, |row| {
        let part = |n: Option<u32>| n.map_or(String::new(), |n| n.to_string());
        let place = match row.step {
            Some(_) => format!("{}.{}", part(row.turn), part(row.step)),
            None => part(row.turn),
        };
        let standing = match (row.standing, row.synthetic) {
            (Some(standing), false) => standing.to_owned(),
            (Some(standing), true) => format!("{standing}, not stored"),
            (None, true) => "not stored".to_owned(),
            (None, false) => String::new(),
        };
        table.row([row.seq.to_string(), env.zone.second(row.time), row.type_text, place, standing]);
    })?;
    writeln!(env.out())?;
    table.write(env.table_width, env.style, &mut *env.out())?;
    Ok(())
}
