//! `dsh-log timeline`: where the time went.

use super::damage::judge_view;
use super::env::Env;
use super::exit::Failure;
use super::input::open_for_figures;
use super::options::LogArgs;
use super::{Outcome, examples};
use crate::render::clean::clean_line;
use crate::render::document::timeline as document;
use crate::render::number::{count, duration};
use crate::render::table::{Fit, Table};
use crate::render::wrap::cut;
use dsh_log::view::timeline::{self, Sort, Stretch};
use std::io::Write;
use std::ops::RangeInclusive;

/// Show where the time went: model, first token, tools, approvals, retries, compactions, idle
///
/// One line a stretch, each turn on a scale of its own, parallel tools beside each other. A model
/// call counts from the event before it, since the log does not hold when it was sent.
#[derive(clap::Args)]
#[command(after_help = examples::TIMELINE)]
pub(crate) struct Args {
    #[command(flatten)]
    log: LogArgs,
    /// Only these turns: 3, 3..5, 3.. or ..5
    #[arg(long, value_name = "A..B", value_parser = super::transcript::parse_turns)]
    turn: Option<RangeInclusive<u32>>,
    /// Only the sums
    #[arg(long)]
    totals: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let log = open_for_figures(&args.log.session, env)?;
    let moment = args.log.moment(&log)?;
    let exit = judge_view(&log, env)?;
    let mut rows = timeline::of(&log, moment)?;
    if let Some(turns) = &args.turn {
        rows.retain(|row| row.turn.is_some_and(|turn| turns.contains(&turn)));
    }
    if env.json {
        let mut out = env.out();
        out.write_all(&document::document(&rows, args.totals))?;
        out.write_all(b"\n")?;
        return Ok(exit);
    }
    if !args.totals {
        bars(&rows, env)?;
    }
    sums(&rows, env)?;
    Ok(exit)
}

/// The columns that a bar takes.
const BAR: usize = 40;

fn bars(rows: &[Stretch], env: &Env) -> Result<(), Failure> {
    let mut scale = (0, 1);
    for row in rows {
        let took = duration(row.millis());
        let mut out = env.out();
        let open = if row.ended { "" } else { " (no end)" };
        match row.sort {
            Sort::Idle => {
                writeln!(out, "{}", env.style.dim(&format!("idle  {took}")))?;
                continue;
            }
            Sort::Turn => {
                scale = (row.from, row.to.saturating_sub(row.from).max(1));
                let turn = row.turn.map_or("?".to_owned(), |turn| turn.to_string());
                let line = format!("turn {turn}  {}  {took}  {}{open}", env.zone.second(row.from), row.name);
                writeln!(out, "{}", env.style.heading(&clean_line(&line)))?;
                continue;
            }
            _ => {}
        }
        let first = row.first_token.map_or(String::new(), |ms| format!(", first token {}", duration(ms)));
        let label = cut(&clean_line(&format!("{} {}", row.sort.name(), row.name)), 24);
        let pad = " ".repeat(24_usize.saturating_sub(crate::render::wrap::width(&label)));
        writeln!(out, "  {label}{pad} {} {took}{first}{open}", bar(row, scale))?;
    }
    Ok(writeln!(env.out())?)
}

/// The stretch on the scale of its turn; waiting for the first token is drawn thinner.
fn bar(row: &Stretch, (from, span): (i64, i64)) -> String {
    let at = |time: i64| {
        let part = time.saturating_sub(from).clamp(0, span) as f64 / span as f64;
        ((part * BAR as f64) as usize).min(BAR)
    };
    let start = at(row.from).min(BAR - 1);
    let end = at(row.to).max(start + 1);
    let waited =
        row.first_token.map_or(start, |ms| at(row.from.saturating_add_unsigned(ms)).clamp(start, end));
    let cells = (0..BAR).map(|n| match n {
        n if n < start || n >= end => ' ',
        n if n < waited => '░',
        _ => '█',
    });
    format!("|{}|", cells.collect::<String>())
}

fn sums(rows: &[Stretch], env: &Env) -> Result<(), Failure> {
    let sums = timeline::sums(rows);
    let mut table = Table::new(&[
        ("", Fit::Whole),
        ("count", Fit::Number),
        ("time", Fit::Number),
        ("overlap counted once", Fit::Number),
    ]);
    for sort in Sort::ALL {
        if let Some(sum) = sums.get(&sort) {
            table.row([sort.name().to_owned(), count(sum.count), duration(sum.millis), duration(sum.wall)]);
        }
    }
    Ok(table.write(env.table_width, env.style, &mut *env.out())?)
}
