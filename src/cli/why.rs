//! `dsh-log why`: which tool results stand behind a conclusion?

use super::damage::judge_view;
use super::env::Env;
use super::exit::Failure;
use super::input::open_to_ask;
use super::options::{PastArgs, no_such_event, parse_words};
use super::{Outcome, children, examples};
use crate::render::document::why as document;
use crate::render::document::why::Delegated;
use crate::render::{why_graph, why_text};
use dsh_log::evidence;
use dsh_log::evidence::target::Asked;
use dsh_log::evidence::why::{Question, Why};
use dsh_log::log::Log;
use dsh_log::seq::Seq;
use dsh_log::storage::layout;
use dsh_log::storage::locate::{self, Target as Place};
use dsh_log::storage::source::Source;
use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;

/// Tell which tool results stand behind a conclusion, and what the model had seen of each
///
/// A conclusion is an assistant message, a tool call or a summary: by its seq, or the last message
/// that holds a text. Each tool result is labelled: recorded (the log itself names it as a source),
/// shared text (the model had it, and both hold text that is rare in the session), shadowed (only a
/// summary or a cut of it was in context), in context (the model had it), never in context. Text that
/// stood in a prompt or an earlier answer is discounted. It is a measure, not a proof; where nothing
/// supports the conclusion, that is said. Sessions of subagents, where they are at hand, are looked
/// through too: what they found and only reported on is listed apart.
#[derive(clap::Args)]
#[command(after_help = examples::WHY)]
pub(crate) struct Args {
    #[command(flatten)]
    log: PastArgs,
    /// The conclusion's event
    #[arg(required_unless_present = "text", conflicts_with = "text")]
    seq: Option<u64>,
    /// The last message that holds that text; the lines that hold it are asked about
    #[arg(long, value_name = "WORDS", value_parser = parse_words)]
    text: Option<String>,
    /// Print a graph instead
    #[arg(long, value_name = "FORMAT")]
    graph: Option<Graph>,
    /// List every tool result up to the request, also those that share nothing
    #[arg(long)]
    all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Graph {
    /// The language of Graphviz
    Dot,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let asked = match &args.text {
        Some(text) => Asked::Text(text.clone(), args.log.upto()),
        None => Asked::Seq(Seq(args.seq.unwrap_or_default())),
    };
    let aimed = open_to_ask(&args.log.session, asked, env)?;
    let log = aimed.log();
    let moment = args.log.moment(log)?;
    if let Some(seq) = args.seq.map(Seq).filter(|seq| *seq > moment.upto()) {
        return Err(no_such_event(log, seq, moment));
    }
    let target = aimed.target()?;
    let exit = judge_view(log, env)?;
    let (why, mut question) = aimed.ask(target)?;
    let parent = parent(log, &why, env);
    let delegated = delegated(log, &why, &mut question, env)?;
    let mut out = env.out();
    if env.json {
        out.write_all(&document::document(log, &why, parent.as_deref(), &delegated))?;
        out.write_all(b"\n")?;
    } else if args.graph.is_some() {
        why_graph::dot(&why, &mut *out)?;
    } else {
        let screen = why_text::Screen { style: env.style, width: env.width, all: args.all };
        screen.write(log, &why, parent.as_deref(), &mut *out)?;
        screen.delegated(&delegated, &mut *out)?;
    }
    Ok(exit)
}

/// What the sessions of subagents found that the conclusion shares: its model had only their reports.
fn delegated(log: &Log, why: &Why, question: &mut Question, env: &Env) -> Result<Vec<Delegated>, Failure> {
    let Some(header) = log.header().filter(|header| !header.id.is_empty()) else { return Ok(Vec::new()) };
    let mut all = children::beside(log.source().path());
    for root in roots(log, env) {
        all.extend(children::under(&root).unwrap_or_default());
    }
    let mut met = HashSet::new();
    all.retain(|child| {
        let path = std::fs::canonicalize(&child.path).unwrap_or_else(|_| child.path.clone());
        child.header.origin.as_deref() == Some("subagent") && met.insert(path)
    });
    let children = children::descendants(all, &header.id);
    if children.is_empty() {
        return Ok(Vec::new());
    }
    let links = evidence::children::links(log, why.target.upto)?;
    let until = log.index().record_of(why.target.seq).map(|n| log.index().entries()[n].time);
    let mut out = Vec::new();
    for child in children {
        let read = Log::read(Source::open(&child.path)?, &env.reading)?;
        let found = evidence::children::evidence(question, &read, until.unwrap_or(i64::MAX))?;
        if !found.is_empty() {
            let links = links.get(&child.header.id).cloned().unwrap_or_default();
            out.push(Delegated { id: child.header.shown_id(), path: child.path, links, evidence: found });
        }
    }
    Ok(out)
}

/// Where relatives of the session lie: under the root, and where the log itself lies in one.
fn roots(log: &Log, env: &Env) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = env.root.iter().cloned().chain(own_root(log)).collect();
    roots.dedup();
    roots
}

/// The root that the log lies in, when it lies where its header places it: of any other file the
/// directories above it are nobody's sessions.
fn own_root(log: &Log) -> Option<PathBuf> {
    let header = log.header()?;
    let dir = log.source().path().parent()?.canonicalize().ok()?;
    let root = dir.parent()?.parent()?;
    let wanted = layout::session_dir(root, header.cwd.as_deref(), &header.id)?;
    (wanted == dir).then(|| root.to_owned())
}

/// The file of the parent session, where inherited evidence lies too: under the root, or beside.
fn parent(log: &Log, why: &Why, env: &Env) -> Option<PathBuf> {
    if !why.evidence.iter().any(|e| e.inherited) {
        return None;
    }
    let id = log.header()?.shown_parent()?;
    roots(log, env).iter().find_map(|root| {
        let located = locate::locate(&Place::Id(id.clone()), Some(root)).ok()?;
        Some(located.path)
    })
}
