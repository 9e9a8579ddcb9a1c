//! `dsh-log surface`: what is the model's reading list now?

use super::damage::judge_view;
use super::env::Env;
use super::exit::Failure;
use super::input::open_log;
use super::options::LogArgs;
use super::{Outcome, examples};
use crate::render::document::surface as document;
use crate::render::inspect_text::plural;
use crate::render::number::{count, size};
use crate::render::table::{Fit, Table};
use dsh_log::log::Log;
use dsh_log::view::moment::Moment;
use dsh_log::view::nodes::{self, Described, Replaced};
use std::collections::HashMap;
use std::io::Write;

/// List what the model reads now, in order
///
/// One row for each event on the surface: who speaks, from which tool or source, how much, the first
/// words. What a compaction or a pruning replaced is counted, and with --history shown as a tree down
/// to the first originals.
#[derive(clap::Args)]
#[command(after_help = examples::SURFACE)]
pub(crate) struct Args {
    #[command(flatten)]
    log: LogArgs,
    /// Show every replacement: what it removed, why, and what that had replaced in turn
    #[arg(long)]
    history: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let log = open_log(&args.log.session, env)?;
    let moment = args.log.moment(&log)?;
    let exit = judge_view(&log, env)?;
    if env.json {
        let nodes = nodes::current(&log, moment)?;
        let history = nodes::history(&log, moment)?;
        let mut out = env.out();
        out.write_all(&document::document(&log, moment, &nodes, &history))?;
        out.write_all(b"\n")?;
    } else if args.history {
        tree(&log, moment, env)?;
    } else {
        list(&log, moment, env)?;
    }
    Ok(exit)
}

fn place(node: &Described) -> String {
    let part = |n: Option<u32>| n.map_or(String::new(), |n| n.to_string());
    match node.location.step {
        Some(_) => format!("{}.{}", part(node.location.turn), part(node.location.step)),
        None => part(node.location.turn),
    }
}

fn speaker(node: &Described) -> String {
    match &node.tool {
        Some(tool) => format!("tool {tool}"),
        None if node.source.is_empty() => node.role.clone(),
        None if node.source == node.role => node.role.clone(),
        None => format!("{} ({})", node.role, node.source),
    }
}

fn list(log: &Log, moment: Moment, env: &Env) -> Result<(), Failure> {
    let nodes = nodes::current(log, moment)?;
    let mut table = Table::new(&[
        ("seq", Fit::Number),
        ("type", Fit::Whole),
        ("turn", Fit::Whole),
        ("who", Fit::Gives),
        ("size", Fit::Number),
        ("first words", Fit::Gives),
    ]);
    for node in &nodes {
        let kind = node.kind.map_or("unknown", |k| k.name());
        let marked = match (node.synthetic, node.replaces) {
            (true, _) => format!("{kind} (not stored)"),
            (_, true) => format!("{kind} (replaces)"),
            _ => kind.to_owned(),
        };
        let words: String = node.words.trim().chars().take(120).collect();
        table.row([node.seq.to_string(), marked, place(node), speaker(node), size(node.bytes), words]);
    }
    table.write(env.table_width, env.style, &mut *env.out())?;
    let surface = moment.surface(log);
    let (current, shadowed) = (surface.current_count(), surface.shadowed_count());
    let only = moment.events(log).saturating_sub(current + shadowed);
    let mut out = env.out();
    writeln!(out)?;
    writeln!(
        out,
        "{} current, {} shadowed by {}, {} only in the log",
        count(current),
        count(shadowed),
        plural(surface.generation(), "replacement"),
        count(only)
    )?;
    Ok(())
}

/// How deep the tree of replacements is drawn; deeper ones are counted.
const DEPTH: usize = 64;

fn tree(log: &Log, moment: Moment, env: &Env) -> Result<(), Failure> {
    let history = nodes::history(log, moment)?;
    let by_seq: HashMap<u64, &Replaced> = history.iter().map(|r| (r.replacement.seq, r)).collect();
    let surface = moment.surface(log);
    let roots: Vec<u64> = surface.nodes().map(|n| n.seq).filter(|seq| by_seq.contains_key(seq)).collect();
    let everyone: Vec<u64> = history
        .iter()
        .flat_map(|r| r.replacement.shadowed.iter().copied().chain([r.replacement.seq]))
        .collect();
    let described: HashMap<u64, Described> =
        nodes::describe(log, &everyone)?.into_iter().map(|node| (node.seq.0, node)).collect();
    let mut out = env.out();
    if roots.is_empty() {
        writeln!(out, "nothing was replaced")?;
    }
    // Drawn from a stack of its own: a chain of replacements may be as long as the log.
    let mut stack: Vec<(u64, usize)> = roots.into_iter().rev().map(|seq| (seq, 0)).collect();
    while let Some((seq, depth)) = stack.pop() {
        let indent = "  ".repeat(depth.min(DEPTH));
        let line = described
            .get(&seq)
            .map_or_else(|| seq.to_string(), |node| line_of(node, by_seq.get(&seq).copied()));
        let room = env.width.saturating_sub(indent.len()).max(30);
        writeln!(
            out,
            "{indent}{}",
            crate::render::wrap::cut(&crate::render::clean::clean_line(&line), room)
        )?;
        if let Some(replaced) = by_seq.get(&seq) {
            stack.extend(replaced.replacement.shadowed.iter().rev().map(|seq| (*seq, depth + 1)));
        }
    }
    Ok(())
}

fn line_of(node: &Described, replaced: Option<&Replaced>) -> String {
    let kind = node.kind.map_or("unknown", |k| k.name());
    let mut line = format!("{} {kind} {}", node.seq, speaker(node));
    if let Some(replaced) = replaced {
        let removed = replaced.replacement.shadowed.len() as u64;
        line += &format!(", in place of {}", plural(removed, "event"));
        if let Some((cause, seq)) = replaced.cause {
            line += &format!(" by {cause} {seq}");
        }
        match (replaced.tokens_before, replaced.tokens_after) {
            (Some(before), Some(after)) => line += &format!(", {} tokens to {}", count(before), count(after)),
            (Some(before), None) => line += &format!(", {} tokens", count(before)),
            _ => {}
        }
    }
    let words: String = node.words.trim().chars().take(120).collect();
    if words.is_empty() { line } else { format!("{line}: {words}") }
}
