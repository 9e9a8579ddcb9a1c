//! `dsh-log diff`: where do two sessions part, and what did each do from there on?

use super::damage::judge_view;
use super::env::Env;
use super::exit::{Exit, Failure};
use super::input::open_log;
use super::options::LogArgs;
use super::{Outcome, examples};
use crate::render::diff_text::Screen;
use crate::render::document::diff as document;
use dsh_log::error::{Error, ErrorKind};
use dsh_log::view::diff::{self, Side};
use std::ffi::OsString;
use std::io::Write;

/// Compare two sessions: what they have in common, where they part, what each did from there on
///
/// Events are compared by value from the beginning, as a fork shares them with its parent. Behind the
/// first difference prompts, answers, tool calls and compactions are aligned by what they say: a call
/// that both made is the same call even where its result differs. Header lines and the request headers
/// in force are compared too. Exit code 0 when nothing differs, 1 when something does.
#[derive(clap::Args)]
#[command(after_help = examples::DIFF)]
pub(crate) struct Args {
    /// A log file, a session directory, a session id or its beginning, `@latest`, or `-`
    first: OsString,
    /// The session that it is compared with
    second: OsString,
    /// Both as they stood right after that event
    #[arg(long, value_name = "SEQ", conflicts_with = "stored")]
    at: Option<u64>,
    /// As stored, without the events that repair would append to close an open turn
    #[arg(long)]
    stored: bool,
    /// List every move, also long runs of the same ones
    #[arg(long)]
    all: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    if args.first == "-" && args.second == "-" {
        let message = "only one of two sessions can come from standard input";
        return Err(Error::new(ErrorKind::Usage, "two-inputs", message).into());
    }
    let moment_of = |session: &OsString, log: &_| {
        LogArgs { session: session.clone(), at: args.at, stored: args.stored }.moment(log)
    };
    let (one, other) = (open_log(&args.first, env)?, open_log(&args.second, env)?);
    let moments = [moment_of(&args.first, &one)?, moment_of(&args.second, &other)?];
    let damaged = worse(judge_view(&one, env)?, judge_view(&other, env)?);
    let [first, second] =
        [(&one, moments[0]), (&other, moments[1])].map(|(log, moment)| Side { log, moment });
    let diff = diff::of(first, second)?;
    print(&diff, [first, second], args, env)?;
    Ok(match (damaged, diff.is_same()) {
        (Exit::Done, false) => Exit::Found,
        (exit, _) => exit,
    })
}

/// The exit code that says more.
fn worse(one: Exit, other: Exit) -> Exit {
    if one == Exit::Done { other } else { one }
}

fn print(diff: &diff::Diff, sides: [Side<'_>; 2], args: &Args, env: &Env) -> Result<(), Failure> {
    let mut out = env.out();
    if env.json {
        out.write_all(&document::document(diff, sides))?;
        return Ok(writeln!(out)?);
    }
    let screen = Screen { style: env.style, width: env.width, table_width: env.table_width, all: args.all };
    Ok(screen.write(diff, sides, &mut *out)?)
}
