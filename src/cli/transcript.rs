//! `dsh-log transcript`: what the people and the agent said and did.

use super::damage::judge_view;
use super::env::Env;
use super::exit::Failure;
use super::input::open_log;
use super::options::LogArgs;
use super::{Outcome, examples};
use crate::render::time::Zone;
use crate::render::transcript_html::Html;
use crate::render::transcript_markdown::Markdown;
use crate::render::transcript_text::Text;
use crate::render::{Shown, Tools};
use dsh_log::log::Log;
use dsh_log::view::moment::Moment;
use dsh_log::view::transcript::{Row, told};
use std::cell::RefCell;
use std::io::Write;
use std::ops::{ControlFlow, RangeInclusive};

/// Show what the people and the agent said and did
///
/// All of it stays in place, also what a compaction took from the model; a mark stands where that
/// happened. Calls and results are paired, what was interrupted or never answered says so, and what
/// came from a parent session is marked.
#[derive(clap::Args)]
#[command(after_help = examples::TRANSCRIPT)]
pub(crate) struct Args {
    #[command(flatten)]
    log: LogArgs,
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// One JSON row a line
    #[arg(long, conflicts_with = "format")]
    ndjson: bool,
    /// How much of tool calls to show; JSON always has all
    #[arg(long, value_name = "HOW", default_value = "brief")]
    tools: HowMuch,
    /// Show the model's reasoning; JSON always does
    #[arg(long)]
    reasoning: bool,
    /// Only these turns: 3, 3..5, 3.. or ..5
    #[arg(long, value_name = "A..B", value_parser = parse_turns)]
    turn: Option<RangeInclusive<u32>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For a terminal or a plain file
    Text,
    /// As GitHub renders it
    Markdown,
    /// One file that needs no network
    Html,
    /// One document, as with --json
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum HowMuch {
    /// Nothing
    None,
    /// A line, and the first lines of what came back
    Brief,
    /// All
    Full,
}

pub(super) fn parse_turns(text: &str) -> Result<RangeInclusive<u32>, String> {
    let number = |text: &str, absent: u32| match text {
        "" => Ok(absent),
        _ => text.parse().map_err(|_| format!("`{text}` is no turn number")),
    };
    let turns = match text.split_once("..") {
        Some((from, to)) => number(from, 0)?..=number(to, u32::MAX)?,
        None => {
            let turn = text.parse().map_err(|_| format!("`{text}` is no turn number"))?;
            turn..=turn
        }
    };
    if turns.is_empty() { Err(format!("`{text}` holds no turn")) } else { Ok(turns) }
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let log = open_log(&args.log.session, env)?;
    let moment = args.log.moment(&log)?;
    let exit = judge_view(&log, env)?;
    let rows = Rows { log: &log, moment, turns: args.turn.clone() };
    let format = if env.json { Format::Json } else { args.format };
    if args.ndjson {
        rows.each(&mut |row| {
            let mut out = env.out();
            out.write_all(&row.to_json())?;
            Ok(out.write_all(b"\n")?)
        })?;
        return Ok(exit);
    }
    let tools = match args.tools {
        HowMuch::None => Tools::None,
        HowMuch::Brief => Tools::Brief,
        HowMuch::Full => Tools::Full,
    };
    let shown = Shown { tools, reasoning: args.reasoning, turns: args.turn.clone(), width: env.width };
    match format {
        Format::Text => text(&rows, &shown, env)?,
        Format::Markdown => markdown(&rows, &shown, env)?,
        Format::Html => html(&rows, &shown, env)?,
        Format::Json => document(&rows, env)?,
    }
    Ok(exit)
}

/// The rows that are asked for.
struct Rows<'a> {
    log: &'a Log,
    moment: Moment,
    turns: Option<RangeInclusive<u32>>,
}

impl Rows<'_> {
    fn is_wanted(&self, row: &Row) -> bool {
        self.turns.as_ref().is_none_or(|turns| row.turn.is_some_and(|turn| turns.contains(&turn)))
    }

    /// Hands on each row as soon as it is settled.
    fn each(&self, each: &mut dyn FnMut(&Row) -> Result<(), Failure>) -> Result<(), Failure> {
        let mut failed = None;
        told::of_log(self.log, self.moment, |row| {
            if !self.is_wanted(&row) {
                return ControlFlow::Continue(());
            }
            match each(&row) {
                Ok(()) => ControlFlow::Continue(()),
                Err(e) => {
                    failed = Some(e);
                    ControlFlow::Break(())
                }
            }
        })?;
        failed.map_or(Ok(()), Err)
    }

    fn title(&self) -> String {
        let id = self.log.header().map(|header| header.shown_id()).filter(|id| !id.is_empty());
        format!("Session {}", id.unwrap_or_else(|| "without an id".to_owned()))
    }
}

fn text(rows: &Rows<'_>, shown: &Shown, env: &Env) -> Result<(), Failure> {
    let today = RefCell::new(String::new());
    let clock = |ms| brief_clock(&env.zone, &today, ms);
    let mut text = Text::new(shown, &clock);
    rows.each(&mut |row| Ok(text.row(row, &mut *env.out())?))
}

/// The time of the day; with day and zone where the day is another than before.
fn brief_clock(zone: &Zone, today: &RefCell<String>, ms: i64) -> String {
    let day = zone.day(ms);
    if *today.borrow() == day {
        return zone.clock(ms);
    }
    today.replace(day);
    zone.second(ms)
}

fn markdown(rows: &Rows<'_>, shown: &Shown, env: &Env) -> Result<(), Failure> {
    let clock = |ms| env.zone.second(ms);
    let mut markdown = Markdown::new(shown, &clock);
    markdown.start(&rows.title(), &mut *env.out())?;
    rows.each(&mut |row| Ok(markdown.row(row, &mut *env.out())?))
}

fn html(rows: &Rows<'_>, shown: &Shown, env: &Env) -> Result<(), Failure> {
    let clock = |ms| env.zone.second(ms);
    let mut html = Html::new(shown, &clock);
    html.start(&rows.title(), &mut *env.out())?;
    rows.each(&mut |row| Ok(html.row(row, &mut *env.out())?))?;
    Ok(html.finish(&mut *env.out())?)
}

fn document(rows: &Rows<'_>, env: &Env) -> Result<(), Failure> {
    let mut before = "\n";
    write!(env.out(), r#"{{"schema":"dsh-log/transcript@1","rows":["#)?;
    rows.each(&mut |row| {
        let mut out = env.out();
        out.write_all(std::mem::replace(&mut before, ",\n").as_bytes())?;
        Ok(out.write_all(&row.to_json())?)
    })?;
    Ok(writeln!(env.out(), "{}]}}", if before == "\n" { "" } else { "\n" })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_read_as_ranges_that_include_both_ends() {
        for (text, turns) in [("3", 3..=3), ("3..5", 3..=5), ("3..", 3..=u32::MAX), ("..5", 0..=5)] {
            assert_eq!(parse_turns(text), Ok(turns), "{text}");
        }
        for text in ["", "x", "5..3", "1..x", "-1"] {
            assert!(parse_turns(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_day_is_shown_where_it_changes() {
        let (zone, today) = (Zone::utc(), RefCell::new(String::new()));
        let times = [0, 1_000, 86_400_000].map(|ms| brief_clock(&zone, &today, ms));
        assert_eq!(times, ["1970-01-01 00:00:00 UTC", "00:00:01", "1970-01-02 00:00:00 UTC"]);
    }
}
