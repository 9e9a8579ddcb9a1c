//! `dsh-log exposure`: which requests, forks and summaries carried a text or an event?

use super::damage::judge_view;
use super::env::Env;
use super::exit::{Exit, Failure};
use super::input::open_log;
use super::options::{PastArgs, no_such_event, parse_words};
use super::{Outcome, children, examples};
use crate::render::document::exposure as document;
use crate::render::table::{Fit, Table};
use dsh_log::error::{Error, ErrorKind};
use dsh_log::evidence::exposure::{self, Carrier, Query};
use dsh_log::format::kind::Kind;
use dsh_log::log::Log;
use dsh_log::seq::Seq;
use dsh_log::storage::source::Source;
use dsh_log::view::moment::Moment;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Tell which requests, forks and summaries carried a text or an event to the model
///
/// For each copy (the original, a summary that holds it, a cut result): from which request to which
/// one, and what took it off the surface. With --forks also the sessions under the root that were
/// forked from this one, and theirs. Exit code 1 when no request had it.
#[derive(clap::Args)]
#[command(after_help = examples::EXPOSURE)]
pub(crate) struct Args {
    #[command(flatten)]
    log: PastArgs,
    /// The event
    #[arg(required_unless_present = "text", conflicts_with = "text")]
    seq: Option<u64>,
    /// The text, exactly as it stands in the words of messages
    #[arg(long, value_name = "WORDS", value_parser = parse_words)]
    text: Option<String>,
    /// Follow it into forks under the root
    #[arg(long, conflicts_with = "at")]
    forks: bool,
}

/// What one session carried.
struct Exposed {
    id: String,
    path: PathBuf,
    carriers: Vec<Carrier>,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let log = open_log(&args.log.session, env)?;
    let moment = args.log.moment(&log)?;
    let query = match (&args.text, args.seq) {
        (Some(text), _) => Query::Text(text.clone()),
        (None, seq) => Query::Event(Seq(seq.unwrap_or_default())),
    };
    if let Query::Event(seq) = query
        && (log.index().record_of(seq).is_none() || seq > moment.upto())
    {
        return Err(no_such_event(&log, seq, moment));
    }
    if let Query::Event(seq) = query {
        refuse_unsent(&log, seq)?;
    }
    let exit = judge_view(&log, env)?;
    let mut all = vec![exposed(&log, &query, moment)?];
    if args.forks
        && let Some(root) = env.root.as_deref()
    {
        forks(&log, root, &query, &mut all, env)?;
    }
    if env.json {
        let sessions: Vec<Vec<u8>> =
            all.iter().map(|e| document::session(&e.id, &e.path, &e.carriers)).collect();
        let mut out = env.out();
        out.write_all(&document::document(&sessions))?;
        out.write_all(b"\n")?;
    } else {
        table(&all, env)?;
    }
    let carried = all.iter().flat_map(|e| &e.carriers).any(|carrier| carrier.requests > 0);
    Ok(if carried || exit != Exit::Done { exit } else { Exit::Found })
}

/// An event that is only in the log is sent by no request; what became of it is.
fn refuse_unsent(log: &Log, seq: Seq) -> Result<(), Failure> {
    let entry = log.index().record_of(seq).map(|n| log.index().entries()[n]);
    let sent = |kind| kind == Kind::RequestHeader || log.dialect().is_surface(kind);
    let Some(entry) = entry.filter(|entry| !sent(entry.kind)) else { return Ok(()) };
    let path = log.source().path();
    let message = format!("event {seq} is a {}, which only the log has: no request carries it", entry.kind);
    let error = Error::new(ErrorKind::Usage, "only-in-log", message).at_path(path);
    Err(error.hint("name the message that it became, or give its words with --text").into())
}

fn exposed(log: &Log, query: &Query, moment: Moment) -> Result<Exposed, Failure> {
    let id = log.header().map(|h| h.shown_id()).unwrap_or_default();
    let carriers = exposure::carriers(log, query, moment)?;
    Ok(Exposed { id, path: log.source().path().to_owned(), carriers })
}

/// The sessions that were forked from it, and those forked from them. An event keeps its seq in the
/// part that a fork inherits.
fn forks(log: &Log, root: &Path, query: &Query, all: &mut Vec<Exposed>, env: &Env) -> Result<(), Failure> {
    let id = log.header().map(|h| h.id.clone()).unwrap_or_default();
    for child in children::descendants(children::under(root)?, &id) {
        let child = Log::read(Source::open(&child.path)?, &env.reading)?;
        let reaches = match query {
            Query::Text(_) => true,
            Query::Event(seq) => seq.0 < child.inherited(),
        };
        if reaches {
            all.push(exposed(&child, query, Moment::Stored)?);
        }
    }
    Ok(())
}

fn table(all: &[Exposed], env: &Env) -> Result<(), Failure> {
    if all.iter().all(|e| e.carriers.is_empty()) {
        writeln!(env.out(), "no message and no header carried it to the model")?;
        return Ok(());
    }
    let mut table = Table::new(&[
        ("session", Fit::Gives),
        ("seq", Fit::Number),
        ("type", Fit::Whole),
        ("copy", Fit::Whole),
        ("requests", Fit::Number),
        ("first", Fit::Whole),
        ("last", Fit::Whole),
        ("until", Fit::Whole),
    ]);
    for session in all {
        for c in &session.carriers {
            let copy =
                if c.inherited { format!("{}, inherited", c.copy.name()) } else { c.copy.name().into() };
            table.row([
                session.id.clone(),
                c.seq.to_string(),
                c.kind.name().to_owned(),
                copy,
                c.requests.to_string(),
                c.first.map_or(String::new(), |r| r.to_string()),
                c.last.map_or(String::new(), |r| r.to_string()),
                c.until.map_or("now".to_owned(), |seq| format!("event {seq}")),
            ]);
        }
    }
    table.write(env.table_width, env.style, &mut *env.out())?;
    Ok(())
}
