//! `dsh-log compactions`: what was taken from the model, at what cost, and what was done again.

use super::damage::judge_view;
use super::env::Env;
use super::exit::Failure;
use super::input::open_for_figures;
use super::options::LogArgs;
use super::{Outcome, examples};
use crate::render::clean::{clean, clean_line};
use crate::render::document::compactions as document;
use crate::render::inspect_text::plural;
use crate::render::number::{count, duration, size};
use crate::render::wrap::{cut, wrap};
use dsh_log::view::compactions::{self, Compaction, Compactions, Loss};
use std::io::Write;

/// Show each compaction: what it replaced, its summary, its cost, and what was asked for again
///
/// A loss is a result that the model no longer had, and that a later call asked for again: the same
/// call, the same tool on the same file, or another call that gave the same text. Shortened results
/// are counted in the same way.
#[derive(clap::Args)]
#[command(after_help = examples::COMPACTIONS)]
pub(crate) struct Args {
    #[command(flatten)]
    log: LogArgs,
    /// The whole of each summary
    #[arg(long)]
    summaries: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let log = open_for_figures(&args.log.session, env)?;
    let moment = args.log.moment(&log)?;
    let exit = judge_view(&log, env)?;
    let compactions = compactions::of(&log, moment)?;
    if env.json {
        let mut out = env.out();
        out.write_all(&document::document(&compactions))?;
        out.write_all(b"\n")?;
    } else {
        text(&compactions, args, env)?;
    }
    Ok(exit)
}

fn text(compactions: &Compactions, args: &Args, env: &Env) -> Result<(), Failure> {
    if compactions.list.is_empty() && compactions.pruned.is_empty() {
        return Ok(writeln!(env.out(), "nothing was compacted")?);
    }
    for (n, compaction) in compactions.list.iter().enumerate() {
        if n > 0 {
            writeln!(env.out())?;
        }
        one(compaction, args, env)?;
    }
    if compactions.pruned.is_empty() {
        return Ok(());
    }
    if !compactions.list.is_empty() {
        writeln!(env.out())?;
    }
    let tokens: u64 = compactions.pruned.iter().filter_map(|p| p.tokens_before).sum();
    let pruned = plural(compactions.pruned.len() as u64, "result");
    writeln!(env.out(), "{pruned} shortened, {} tokens before", count(tokens))?;
    compactions.pruned.iter().try_for_each(|pruned| losses(&pruned.loss, env))
}

fn one(compaction: &Compaction, args: &Args, env: &Env) -> Result<(), Failure> {
    let seq = compaction.start.or(compaction.summary).or(compaction.end).unwrap_or_default();
    let mut head = format!("{} compaction", compaction.trigger.name());
    if let Some(turn) = compaction.turn {
        head += &format!(" in turn {turn}");
    }
    let mark = if compaction.inherited { ", inherited" } else { "" };
    let mut out = env.out();
    writeln!(
        out,
        "{}   {}{mark}",
        env.style.heading(&format!("{seq}  {head}")),
        env.zone.second(compaction.time)
    )?;
    match (compaction.checkpoint, &compaction.error) {
        (Some(checkpoint), _) => {
            let range = compaction.range.map_or(String::new(), |(a, b)| format!(" from {a} to {b}"));
            let before = compaction.tokens_before.map_or(String::new(), |n| format!(", {} tokens", count(n)));
            let events = plural(compaction.shadowed.len() as u64, "event");
            writeln!(out, "  replaced     {events}{range}{before}, by event {checkpoint}")?;
        }
        (None, Some(error)) => writeln!(out, "  failed       {}", clean_line(error))?,
        (None, None) => writeln!(out, "  replaced     nothing: it was not finished")?,
    }
    let took = compaction.millis.map_or("no end".to_owned(), duration);
    match compaction.usage {
        Some(u) => {
            writeln!(out, "  cost         {} tokens in, {} out, {took}", count(u.prompt()), count(u.output))?
        }
        None => writeln!(out, "  cost         no usage reported, {took}")?,
    }
    if !compaction.words.is_empty() {
        let words = clean(&compaction.words).into_owned();
        if args.summaries {
            writeln!(out, "  summary")?;
            for line in words.lines() {
                for piece in wrap(line, env.width.saturating_sub(4).max(20)) {
                    writeln!(out, "    {piece}")?;
                }
            }
        } else {
            let room = env.width.saturating_sub(15).max(20);
            writeln!(out, "  summary      {}", cut(&clean_line(&words), room))?;
        }
    }
    drop(out);
    losses(&compaction.loss, env)
}

fn losses(losses: &[Loss], env: &Env) -> Result<(), Failure> {
    let mut out = env.out();
    for loss in losses {
        let line = format!(
            "  again        {} at {}: {} {} (result {}, {})",
            loss.how.name().replace('-', " "),
            loss.again,
            loss.name,
            clean_line(&loss.arguments).chars().take(80).collect::<String>(),
            loss.result,
            size(loss.bytes)
        );
        writeln!(out, "{}", clean_line(&line))?;
    }
    Ok(())
}
