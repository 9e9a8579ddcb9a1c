//! `dsh-log show`: one event, where it lies and what it has to do with others.

use super::damage::judge_view;
use super::env::Env;
use super::input::open_log;
use super::options::{LogArgs, no_such_event};
use super::{Outcome, examples};
use crate::render::clean::clean;
use crate::render::document::record as document;
use crate::render::number::{count, size};
use dsh_log::error::{Error, ErrorKind};
use dsh_log::format::sources::Run;
use dsh_log::json::indent::indent;
use dsh_log::position::{FrameNo, LineNo, TextOffset};
use dsh_log::seq::Seq;
use dsh_log::view::record::{self, Place, Record};
use std::io::Write;

/// Show one event: where it lies, what it cites and what cites it, what took its place
///
/// The event is laid out for reading; names, numbers and strings stay as stored. A member of a packed
/// row is shown unpacked, an old shape as the harness upgrades it; --raw prints the stored line.
#[derive(clap::Args)]
#[command(after_help = examples::SHOW)]
pub(crate) struct Args {
    #[command(flatten)]
    log: LogArgs,
    /// Which event
    seq: u64,
    /// Only the stored line, byte for byte
    #[arg(long, conflicts_with = "json")]
    raw: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let log = open_log(&args.log.session, env)?;
    let moment = args.log.moment(&log)?;
    let exit = judge_view(&log, env)?;
    let Some(record) = record::read(&log, Seq(args.seq), moment)? else {
        if Seq(args.seq) <= moment.upto() && log.index().record_of(Seq(args.seq)).is_some() {
            let message =
                format!("event {} is longer than the limit on records, or cannot be read", args.seq);
            let error = Error::new(ErrorKind::Corrupt, "record-too-long", message);
            let error = error.at(log.place_of(Seq(args.seq))).at_path(log.source().path());
            return Err(error.hint("raise the limit with --max-record").into());
        }
        return Err(no_such_event(&log, Seq(args.seq), moment));
    };
    let mut out = env.out();
    if args.raw {
        // A closer has no line; its text is what repair would write.
        out.write_all(if record.place.is_some() { &record.stored } else { &record.event })?;
        out.write_all(b"\n")?;
    } else if env.json {
        out.write_all(&document::document(&record))?;
        out.write_all(b"\n")?;
    } else {
        for (name, value) in lines(&record, env) {
            writeln!(out, "{name:<12} {}", clean(&value))?;
        }
        writeln!(out)?;
        writeln!(out, "{}", clean(&String::from_utf8_lossy(&indent(&record.event))))?;
    }
    Ok(exit)
}

fn lines(record: &Record, env: &Env) -> Vec<(&'static str, String)> {
    let part = |n: Option<u32>| n.map_or("?".to_owned(), |n| n.to_string());
    let mut lines = vec![
        ("event", format!("{} {}", record.seq, record.type_text)),
        ("time", env.zone.second(record.time)),
    ];
    match (record.location.turn, record.location.step) {
        (None, _) => lines.push(("turn", "outside of turns".to_owned())),
        (turn, Some(step)) => lines.push(("turn", format!("{}.{step}", part(turn)))),
        (turn, None) => lines.push(("turn", part(turn))),
    }
    match &record.place {
        Some(place) => lines.push(("lies", lies(place))),
        None => lines.push(("lies", "nowhere: repair would append it".to_owned())),
    }
    if record.inherited {
        lines.push(("from", "the parent session".to_owned()));
    }
    lines.push(("surface", record.surface.name().to_owned()));
    for citation in &record.cites {
        lines.push(("cites", format!("{} ({})", runs(&citation.runs), citation.member)));
    }
    for by in record.cited_by.iter().take(NAMED) {
        lines.push(("cited by", format!("{} {} ({})", by.seq, by.kind, by.member)));
    }
    if record.cited_by.len() > NAMED {
        lines.push(("", format!("and {} more", count((record.cited_by.len() - NAMED) as u64))));
    }
    let list = |seqs: &[u64]| runs(&seqs.iter().map(|n| Run { first: *n, last: *n }).collect::<Vec<_>>());
    if !record.replaced.is_empty() {
        lines.push(("replaced", list(&record.replaced)));
    }
    if !record.chain.is_empty() {
        let chain: Vec<String> = record.chain.iter().map(u64::to_string).collect();
        lines.push(("replaced by", chain.join(", then ")));
    }
    lines
}

/// How many are named.
const NAMED: usize = 20;

fn lies(place: &Place) -> String {
    let Place { byte, byte_end, text: TextOffset(text), line: LineNo(line), .. } = place;
    let file = match place.frame {
        Some(FrameNo(frame)) => format!("frame {frame}, file bytes {byte} to {byte_end}"),
        None => format!("file bytes {byte} to {byte_end}"),
    };
    let member =
        place.member.map_or(String::new(), |(n, of)| format!(", member {} of {of} of a packed row", n + 1));
    format!("{file}; line {line} at text byte {text}, {}{member}", size(place.text_bytes))
}

fn runs(runs: &[Run]) -> String {
    let one = |run: &Run| match run.last - run.first {
        0 => run.first.to_string(),
        _ => format!("{} to {}", run.first, run.last),
    };
    let shown: Vec<String> = runs.iter().take(NAMED).map(one).collect();
    let more = if runs.len() > NAMED { format!(" and {} more", runs.len() - NAMED) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
