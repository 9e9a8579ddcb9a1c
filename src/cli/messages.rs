//! `dsh-log messages`: the messages that the model gets, each exactly as stored.

use super::damage::judge_view;
use super::env::Env;
use super::exit::Failure;
use super::input::open_log;
use super::options::LogArgs;
use super::request_name::moment_of;
use super::{Outcome, examples};
use crate::render::messages_text;
use dsh_log::json::write::ints;
use dsh_log::log::Log;
use dsh_log::view::messages;
use dsh_log::view::moment::Moment;
use dsh_log::view::requests::RequestName;
use std::io::Write;

/// Print the messages that the model gets, each exactly as stored
///
/// They come in the order in which the model reads them: what a compaction replaced is not among
/// them, its summary is. JSON leaves every byte of a message as it is in the log.
#[derive(clap::Args)]
#[command(after_help = examples::MESSAGES)]
pub(crate) struct Args {
    #[command(flatten)]
    log: LogArgs,
    /// As one request saw them: TURN.STEP, or TURN.STEP#ATTEMPT
    #[arg(long, value_name = "REQUEST", conflicts_with_all = ["at", "stored"])]
    request: Option<RequestName>,
    /// How to print them; default text on a terminal, json elsewhere
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One array
    Json,
    /// One message a line
    Ndjson,
    /// For people
    Text,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let log = open_log(&args.log.session, env)?;
    let moment = match args.request {
        Some(name) => moment_of(&log, name, env)?,
        None => args.log.moment(&log)?,
    };
    let exit = judge_view(&log, env)?;
    let by_place = if env.terminal { Format::Text } else { Format::Json };
    match args.format {
        None | Some(Format::Json) if env.json => document(&log, moment, env)?,
        format => match format.unwrap_or(by_place) {
            Format::Json => array(&log, moment, env)?,
            Format::Ndjson => lines(&log, moment, env)?,
            Format::Text => text(&log, moment, env)?,
        },
    }
    Ok(exit)
}

fn array(log: &Log, moment: Moment, env: &Env) -> Result<(), Failure> {
    list(log, moment, env, &mut |_| {})?;
    writeln!(env.out())?;
    Ok(())
}

/// The document of `--json`. The seqs come last, so that messages need not be held to number them.
fn document(log: &Log, moment: Moment, env: &Env) -> Result<(), Failure> {
    let mut seqs = Vec::new();
    write!(env.out(), r#"{{"schema":"dsh-log/messages@1","messages":"#)?;
    list(log, moment, env, &mut |seq| seqs.push(seq))?;
    let mut out = env.out();
    write!(out, r#","seqs":"#)?;
    out.write_all(&ints(seqs))?;
    writeln!(out, "}}")?;
    Ok(())
}

/// An array with a message on each line.
fn list(log: &Log, moment: Moment, env: &Env, met: &mut dyn FnMut(u64)) -> Result<(), Failure> {
    let mut out = env.out();
    let mut before = "[\n";
    messages::each(log, moment, |seq, text| -> Result<(), Failure> {
        met(seq.0);
        out.write_all(std::mem::replace(&mut before, ",\n").as_bytes())?;
        out.write_all(text)?;
        Ok(())
    })?;
    out.write_all(if before == ",\n" { b"\n]" } else { b"[]" })?;
    Ok(())
}

fn lines(log: &Log, moment: Moment, env: &Env) -> Result<(), Failure> {
    let mut out = env.out();
    messages::each(log, moment, |_, text| -> Result<(), Failure> {
        out.write_all(text)?;
        out.write_all(b"\n")?;
        Ok(())
    })
}

fn text(log: &Log, moment: Moment, env: &Env) -> Result<(), Failure> {
    let mut out = env.out();
    messages::each(log, moment, |seq, text| -> Result<(), Failure> {
        Ok(messages_text::write(seq, text, env.width, env.style, &mut *out)?)
    })
}
