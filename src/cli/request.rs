//! `dsh-log request`: what exactly was sent, and what a prompt cache could reuse.

use super::damage::judge_view;
use super::env::Env;
use super::exit::Failure;
use super::input::{open_for_figures, open_log};
use super::options::LogArgs;
use super::request_name::{find, nothing_before};
use super::{Outcome, examples};
use crate::render::document::request as document;
use crate::render::number::{count, duration};
use crate::render::request_text::{self, Compared};
use crate::render::table::{Fit, Table};
use dsh_log::error::{Error, ErrorKind};
use dsh_log::log::Log;
use dsh_log::view::header_change;
use dsh_log::view::request::{self, Listed, Whole};
use dsh_log::view::requests::{self, Request, RequestName};
use dsh_log::view::{messages, nodes};
use std::io::Write;

/// Show what exactly was sent to the model, and what is new since the request before
///
/// Config, system prompt, tools and context window in force, and the messages right before the
/// attempt. Then from which byte on the request differs from the one before, and which event made it
/// so: what a prompt cache lost, beside the cache figures that the provider reports. The bytes are
/// those of the model's name, system prompt, tools and messages in that order.
#[derive(clap::Args)]
#[command(after_help = examples::REQUEST)]
pub(crate) struct Args {
    #[command(flatten)]
    log: LogArgs,
    /// Which one: TURN.STEP, or TURN.STEP#ATTEMPT; without it the last one
    #[arg(value_name = "REQUEST", conflicts_with_all = ["at", "list"])]
    request: Option<RequestName>,
    /// All requests: model, messages, tokens, duration, outcome
    #[arg(long)]
    list: bool,
    /// Compare with that request instead of the one before
    #[arg(long, value_name = "REQUEST", conflicts_with = "list")]
    diff: Option<RequestName>,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let open = if args.list { open_for_figures } else { open_log };
    let log = open(&args.log.session, env)?;
    let moment = args.log.moment(&log)?;
    let exit = judge_view(&log, env)?;
    if args.list {
        list(&log, args, env)?;
        return Ok(exit);
    }
    let all = requests::list_upto(&log, moment.upto());
    let wanted = match args.request {
        Some(name) => find(&log, &all, name, env)?,
        None => *all.last().ok_or_else(|| {
            Error::new(ErrorKind::Usage, "no-such-request", "the log holds no request")
                .at_path(log.source().path())
        })?,
    };
    let whole = request::whole(&log, &wanted)?.ok_or_else(|| nothing_before(&log, &wanted))?;
    let other = match args.diff {
        Some(name) => Some(find(&log, &all, name, env)?),
        None => request::before(&all, &wanted),
    };
    let compared = match other {
        Some(other) => compared(&log, &wanted, other)?,
        None => None,
    };
    if env.json {
        json(&log, &whole, compared.as_ref(), env)?;
    } else {
        text(&log, &whole, compared.as_ref(), env)?;
    }
    Ok(exit)
}

fn compared(log: &Log, wanted: &Request, other: Request) -> Result<Option<Compared>, Failure> {
    let (earlier, later) = if other.first < wanted.first { (&other, wanted) } else { (wanted, &other) };
    let Some(prefix) = request::compare(log, earlier, later)? else { return Ok(None) };
    let header = |request: &Request| -> Result<Option<Vec<u8>>, Failure> {
        Ok(request::whole(log, request)?.and_then(|whole| whole.header).map(|h| h.header))
    };
    let (old, new) = (header(earlier)?, header(later)?);
    let parse = |header: &Option<Vec<u8>>| header.clone().unwrap_or_else(|| b"{}".to_vec());
    let (old, new) = (parse(&old), parse(&new));
    let changes = match (dsh_log::json::Raw::parse(&old), dsh_log::json::Raw::parse(&new)) {
        (Ok(old), Ok(new)) => header_change::between(old, new),
        _ => Vec::new(),
    };
    Ok(Some(Compared { other, prefix, changes }))
}

fn list(log: &Log, args: &Args, env: &Env) -> Result<(), Failure> {
    let moment = args.log.moment(log)?;
    if env.json {
        let mut before = "\n";
        write!(env.out(), r#"{{"schema":"dsh-log/request@1","requests":["#)?;
        request::each(log, moment, |listed| -> Result<(), Failure> {
            let mut out = env.out();
            out.write_all(std::mem::replace(&mut before, ",\n").as_bytes())?;
            Ok(out.write_all(&document::listed(&listed))?)
        })?;
        return Ok(writeln!(env.out(), "{}]}}", if before == "\n" { "" } else { "\n" })?);
    }
    let mut table = Table::new(&[
        ("request", Fit::Whole),
        ("seq", Fit::Number),
        ("model", Fit::Gives),
        ("messages", Fit::Number),
        ("in", Fit::Number),
        ("cached", Fit::Number),
        ("out", Fit::Number),
        ("took", Fit::Number),
        ("outcome", Fit::Whole),
    ]);
    let (mut steps, mut attempts) = (0, 0);
    request::each(log, moment, |listed| -> Result<(), Failure> {
        steps += u64::from(listed.request.attempt == 1);
        attempts += 1;
        table.row(row(&listed));
        Ok(())
    })?;
    if attempts > 0 {
        table.write(env.table_width, env.style, &mut *env.out())?;
        writeln!(env.out())?;
    }
    let mut out = env.out();
    Ok(writeln!(out, "{} requests, {} attempts", count(steps), count(attempts))?)
}

fn row(listed: &Listed) -> [String; 9] {
    let usage = listed.attempt.usage;
    let tokens = |n: Option<u64>| n.map_or("-".to_owned(), count);
    let model = listed.attempt.model.as_ref().map(|(_, model)| model.clone());
    let mark = if listed.inherited { " (inherited)" } else { "" };
    [
        listed.request.to_string(),
        listed.request.first.to_string(),
        model.unwrap_or_else(|| "-".to_owned()),
        count(listed.messages),
        tokens(usage.map(|u| u.prompt())),
        tokens(usage.map(|u| u.cache_read)),
        tokens(usage.map(|u| u.output)),
        duration(listed.attempt.millis()),
        format!("{}{mark}", request_text::outcome(&listed.attempt)),
    ]
}

fn json(log: &Log, whole: &Whole, compared: Option<&Compared>, env: &Env) -> Result<(), Failure> {
    let mut seqs = Vec::new();
    let mut before = "\n";
    let mut out = env.out();
    // The messages are not held: what needs their seqs comes behind them.
    out.write_all(&document::head(whole))?;
    messages::each(log, whole.moment, |seq, text| -> Result<(), Failure> {
        seqs.push(seq.0);
        out.write_all(std::mem::replace(&mut before, ",\n").as_bytes())?;
        Ok(out.write_all(text)?)
    })?;
    out.write_all(&document::tail(whole, seqs, compared))?;
    Ok(writeln!(out)?)
}

fn text(log: &Log, whole: &Whole, compared: Option<&Compared>, env: &Env) -> Result<(), Failure> {
    let mut out = env.out();
    request_text::summary(whole, compared, env.style, &mut *out)?;
    let mut seqs = Vec::new();
    messages::each(log, whole.moment, |seq, _| -> Result<(), Failure> {
        seqs.push(seq.0);
        Ok(())
    })?;
    writeln!(out, "\n{}", env.style.heading(&format!("{} messages", count(seqs.len() as u64))))?;
    let fresh = |seq: u64| {
        compared.is_some_and(|c| c.other.first < whole.request.first && c.prefix.new.contains(&seq))
    };
    let nodes = nodes::describe(log, &seqs)?;
    request_text::messages(&nodes, &fresh, env.table_width, env.style, &mut *out)?;
    Ok(())
}
