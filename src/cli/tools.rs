//! `dsh-log tools`: every tool call and what became of it.

use super::damage::judge_view;
use super::env::Env;
use super::exit::Failure;
use super::input::open_for_figures;
use super::options::LogArgs;
use super::{Outcome, examples};
use crate::render::document::tools as document;
use crate::render::number::{count, duration, size};
use crate::render::table::{Fit, Table};
use dsh_log::view::tools::{self, Call, Outcome as Ended, Seen, What};
use std::io::Write;

/// List every tool call: arguments, outcome, duration, size, whether the model still sees the result
///
/// What a tool called itself, and agents it started, are indented below it. Where a message and the
/// recorded call have different arguments both are shown: the recorded ones are those that ran. Then
/// the totals of each tool.
#[derive(clap::Args)]
#[command(after_help = examples::TOOLS)]
pub(crate) struct Args {
    #[command(flatten)]
    log: LogArgs,
    /// Only calls of tools whose name has that text in it, or fits that pattern of `*` and `?`
    #[arg(long, value_name = "PATTERN")]
    name: Option<String>,
    /// Only calls that failed, were not begun, or have no known outcome
    #[arg(long)]
    failed: bool,
    /// Only the totals
    #[arg(long)]
    totals: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let log = open_for_figures(&args.log.session, env)?;
    let moment = args.log.moment(&log)?;
    let exit = judge_view(&log, env)?;
    let mut calls = tools::ledger(&log, moment)?;
    let pattern = args.name.as_deref().map(super::ls::glob::Pattern::new);
    calls.retain(|call| {
        let failed = call.outcome.is_failure() || matches!(call.outcome, Ended::NotStarted | Ended::Unknown);
        pattern.as_ref().is_none_or(|p| p.fits(&call.name)) && (failed || !args.failed)
    });
    if env.json {
        let mut out = env.out();
        out.write_all(&document::document(&calls, args.totals))?;
        out.write_all(b"\n")?;
    } else {
        if !args.totals {
            rows(&calls, env)?;
        }
        totals(&calls, env)?;
    }
    Ok(exit)
}

fn place(call: &Call) -> String {
    let part = |n: Option<u32>| n.map_or(String::new(), |n| n.to_string());
    match call.location.step {
        Some(_) => format!("{}.{}", part(call.location.turn), part(call.location.step)),
        None => part(call.location.turn),
    }
}

/// An outcome with the error's code.
pub(super) fn outcome(outcome: &Ended) -> String {
    match outcome {
        Ended::Error { name, code } => {
            let what = code.as_ref().or(name.as_ref());
            what.map_or("error".to_owned(), |what| format!("error {what}"))
        }
        Ended::NotStarted => "not started".to_owned(),
        other => other.name().to_owned(),
    }
}

fn seen(call: &Call) -> String {
    match call.seen {
        Seen::Shortened(by) | Seen::Summary(by) => format!("{} {by}", call.seen.name()),
        Seen::Whole => "whole".to_owned(),
        Seen::Not => "-".to_owned(),
    }
}

/// The beginning of arguments.
fn start(text: &str) -> String {
    let end = text.char_indices().nth(120).map_or(text.len(), |(at, _)| at);
    text[..end].to_owned()
}

fn rows(calls: &[Call], env: &Env) -> Result<(), Failure> {
    if calls.is_empty() {
        return Ok(writeln!(env.out(), "no tool call")?);
    }
    let mut table = Table::new(&[
        ("seq", Fit::Number),
        ("turn", Fit::Whole),
        ("tool", Fit::Whole),
        ("arguments", Fit::Gives),
        ("outcome", Fit::Whole),
        ("took", Fit::Number),
        ("size", Fit::Number),
        ("model sees", Fit::Whole),
    ]);
    for call in calls {
        let name = match call.what {
            What::Agent => format!("agent {}", call.name),
            _ => call.name.to_string(),
        };
        let indent = "  ".repeat(usize::from(call.depth.min(8)));
        let again = call.same_as.map_or(String::new(), |seq| format!(" (again, as {seq})"));
        let mark = if call.inherited { " (inherited)" } else { "" };
        let shown = start(&call.arguments);
        table.row([
            call.seq().to_string(),
            place(call),
            format!("{indent}{name}"),
            if call.what == What::Agent { call.call_id.to_string() } else { shown },
            format!("{}{again}{mark}", outcome(&call.outcome)),
            call.millis.map_or("-".to_owned(), duration),
            call.result_bytes.map_or("-".to_owned(), size),
            seen(call),
        ]);
        if let Some(asked) = &call.asked {
            let asked = start(asked);
            let message = call.message_seq.map_or(String::new(), |seq| seq.to_string());
            let [took, bytes, sees] = ["", "", ""].map(str::to_owned);
            let mark = "asked for; the call above is what ran".to_owned();
            table.row([message, String::new(), format!("{indent}  asked"), asked, mark, took, bytes, sees]);
        }
    }
    table.write(env.table_width, env.style, &mut *env.out())?;
    Ok(writeln!(env.out())?)
}

fn totals(calls: &[Call], env: &Env) -> Result<(), Failure> {
    let totals = tools::totals(calls);
    if totals.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[
        ("tool", Fit::Gives),
        ("calls", Fit::Number),
        ("failed", Fit::Number),
        ("unknown", Fit::Number),
        ("not started", Fit::Number),
        ("p50", Fit::Number),
        ("p95", Fit::Number),
        ("all", Fit::Number),
        ("results", Fit::Number),
    ]);
    for (name, tool) in &totals {
        let time = |ms: Option<u64>| ms.map_or("-".to_owned(), duration);
        table.row([
            name.clone(),
            count(tool.calls),
            count(tool.failures),
            count(tool.unknown),
            count(tool.not_started),
            time(tool.percentile(50)),
            time(tool.percentile(95)),
            duration(tool.millis()),
            size(tool.result_bytes),
        ]);
    }
    Ok(table.write(env.table_width, env.style, &mut *env.out())?)
}
