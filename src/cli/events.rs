//! `dsh-log events`: events chosen and printed, as stored.

use super::damage::judge_view;
use super::env::Env;
use super::exit::Failure;
use super::input::open_log;
use super::ls::glob::Pattern;
use super::options::PastArgs;
use super::{Outcome, examples};
use crate::render::clean::clean_line;
use crate::render::wrap::cut;
use dsh_log::json::Raw;
use dsh_log::view::events::{self, Filter, Found};
use std::io::Write;
use std::ops::RangeInclusive;

/// Print the events that fit, in the order of the log
///
/// Off a terminal, and with --ndjson, each comes as its stored line, byte for byte. All conditions
/// must hold; of several types one. A packed row stands for many events and stays one line unless it
/// is expanded.
#[derive(clap::Args)]
#[command(after_help = examples::EVENTS)]
pub(crate) struct Args {
    #[command(flatten)]
    log: PastArgs,
    /// Only events of that type, or of types that fit that pattern of `*` and `?`; may be repeated
    #[arg(long = "type", value_name = "GLOB")]
    types: Vec<String>,
    /// Only these turns: 3, 3..5, 3.. or ..5
    #[arg(long, value_name = "A..B", value_parser = super::transcript::parse_turns)]
    turn: Option<RangeInclusive<u32>>,
    /// Only these events: 30, 30..50, 30.. or ..50
    #[arg(long, value_name = "A..B", value_parser = parse_seqs)]
    seq: Option<RangeInclusive<u64>>,
    /// Only from that time on: epoch milliseconds, RFC 3339, a day, or a day and a time
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only up to that time, which is included
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only events with that text in them, as stored or with escapes resolved
    #[arg(long, value_name = "TEXT")]
    grep: Option<String>,
    /// Take the text of --grep as a regular expression
    #[arg(long, requires = "grep")]
    regex: bool,
    /// Only events of that tool call
    #[arg(long, value_name = "ID")]
    call: Option<String>,
    /// Packed rows as single events
    #[arg(long)]
    expand: bool,
    /// One stored line an event; the default off a terminal
    #[arg(long, conflicts_with = "json")]
    ndjson: bool,
    /// A table, also off a terminal
    #[arg(long, conflicts_with_all = ["ndjson", "json"])]
    table: bool,
    /// Also the events that repair would append to close an open turn
    #[arg(long, conflicts_with = "at")]
    closers: bool,
}

fn parse_seqs(text: &str) -> Result<RangeInclusive<u64>, String> {
    let number = |text: &str, absent: u64| match text {
        "" => Ok(absent),
        _ => text.parse().map_err(|_| format!("`{text}` is no seq")),
    };
    let seqs = match text.split_once("..") {
        Some((from, to)) => number(from, 0)?..=number(to, u64::MAX)?,
        None => {
            let seq = text.parse().map_err(|_| format!("`{text}` is no seq"))?;
            seq..=seq
        }
    };
    if seqs.is_empty() { Err(format!("`{text}` holds no seq")) } else { Ok(seqs) }
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let log_of = |text: &Option<String>, open: i64| -> Result<i64, Failure> {
        let Some(text) = text else { return Ok(open) };
        env.zone.parse(text).ok_or_else(|| usage(format!("`{text}` is no time")))
    };
    let times = log_of(&args.since, i64::MIN)?..=log_of(&args.until, i64::MAX)?;
    let matcher = args.grep.as_deref().map(|text| matcher(text, args.regex)).transpose()?;
    let patterns: Vec<Pattern> = args.types.iter().map(|text| Pattern::whole(text)).collect();
    let kind = |name: &[u8]| {
        let name = String::from_utf8_lossy(name);
        patterns.iter().any(|pattern| pattern.fits(&name))
    };
    let log = open_log(&args.log.session, env)?;
    let upto = args.log.moment(&log)?.upto().0;
    let seqs = args.seq.clone().unwrap_or(0..=u64::MAX);
    let exit = judge_view(&log, env)?;
    let filter = Filter {
        kind: (!patterns.is_empty()).then_some(&kind),
        turns: args.turn.clone(),
        seqs: *seqs.start()..=upto.min(*seqs.end()),
        times,
        call: args.call.clone(),
        text: matcher.as_deref(),
        expand: args.expand,
        closers: args.closers,
    };
    if env.json {
        let mut before = "\n";
        write!(env.out(), r#"{{"schema":"dsh-log/events@1","events":["#)?;
        events::each(&log, &filter, |found| -> Result<(), Failure> {
            let mut out = env.out();
            out.write_all(std::mem::replace(&mut before, ",\n").as_bytes())?;
            // Bytes that are not UTF-8 would spoil the document.
            Ok(out.write_all(&dsh_log::json::text::stored(found.text))?)
        })?;
        writeln!(env.out(), "{}]}}", if before == "\n" { "" } else { "\n" })?;
    } else if args.ndjson || !(env.terminal || args.table) {
        events::each(&log, &filter, |found| -> Result<(), Failure> {
            let mut out = env.out();
            out.write_all(found.text)?;
            Ok(out.write_all(b"\n")?)
        })?;
    } else {
        events::each(&log, &filter, |found| Ok::<(), Failure>(writeln!(env.out(), "{}", line(found, env))?))?;
    }
    Ok(exit)
}

fn usage(message: String) -> Failure {
    dsh_log::error::Error::new(dsh_log::error::ErrorKind::Usage, "usage", message).into()
}

type Matcher = Box<dyn Fn(&[u8]) -> bool>;

fn matcher(text: &str, is_pattern: bool) -> Result<Matcher, Failure> {
    if !is_pattern {
        let text = text.as_bytes().to_vec();
        return Ok(Box::new(move |line| memchr::memmem::find(line, &text).is_some()));
    }
    let regex = regex::bytes::Regex::new(text).map_err(|e| {
        // The last line says what is wrong, those before it draw where.
        let why = e.to_string();
        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        usage(format!("`{text}` is no pattern: {why}"))
    })?;
    Ok(Box::new(move |line| regex.is_match(line)))
}

/// One event on one line. Rows are not held, so columns have widths that fit what is usual.
fn line(found: &Found<'_>, env: &Env) -> String {
    let part = |n: Option<u32>| n.map_or(String::new(), |n| n.to_string());
    let place = match found.location.step {
        Some(_) => format!("{}.{}", part(found.location.turn), part(found.location.step)),
        None => part(found.location.turn),
    };
    let seqs = match found.members {
        1 => found.seq.to_string(),
        n => format!("{}+{}", found.seq, n - 1),
    };
    let mark = if found.synthetic { " (not stored)" } else { "" };
    let data = Raw::parse(found.text).ok().and_then(|event| event.get("data"));
    let data = data.map_or_else(String::new, |d| {
        String::from_utf8_lossy(&d.bytes()[..d.bytes().len().min(2000)]).into_owned()
    });
    let text = format!(
        "{seqs:>9}  {}  {place:<6}  {:<22}{mark}  {data}",
        env.zone.clock(found.time),
        found.type_text
    );
    cut(&clean_line(&text), env.width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seqs_are_read_as_ranges_that_include_both_ends() {
        for (text, seqs) in [("3", 3..=3), ("3..5", 3..=5), ("3..", 3..=u64::MAX), ("..5", 0..=5)] {
            assert_eq!(parse_seqs(text), Ok(seqs), "{text}");
        }
        assert!(["", "x", "5..3", "-1"].iter().all(|text| parse_seqs(text).is_err()));
    }
}
