//! `dsh-log header`: model, settings, system prompt and tools in force.

use super::damage::judge_view;
use super::env::Env;
use super::exit::{Exit, Failure};
use super::input::{open_log, open_source};
use super::options::LogArgs;
use super::request_name::moment_of;
use super::{Outcome, examples};
use crate::render::clean::clean;
use crate::render::document::header as document;
use crate::render::header_text;
use dsh_log::json::Raw;
use dsh_log::log::Log;
use dsh_log::view::header;
use dsh_log::view::moment::Moment;
use dsh_log::view::requests::RequestName;
use std::io::Write;

/// Show the model, settings, system prompt and tools in force
///
/// The header of the last request, or of the request or moment that is asked for. With --history each
/// header that was logged, with its reason and what it changed.
#[derive(clap::Args)]
#[command(after_help = examples::HEADER)]
pub(crate) struct Args {
    #[command(flatten)]
    log: LogArgs,
    /// Of one request: TURN.STEP, or TURN.STEP#ATTEMPT
    #[arg(long, value_name = "REQUEST", conflicts_with_all = ["at", "stored"])]
    request: Option<RequestName>,
    /// Every header with its reason and what changed
    #[arg(long, conflicts_with_all = ["system", "tools", "context", "first"])]
    history: bool,
    /// The first header of the log
    #[arg(long, conflicts_with_all = ["at", "request"])]
    first: bool,
    /// Only the system prompt, as text
    #[arg(long, conflicts_with_all = ["tools", "context"])]
    system: bool,
    /// Only the tools
    #[arg(long, conflicts_with = "context")]
    tools: bool,
    /// Only the context: the model and its window
    #[arg(long)]
    context: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    if args.first
        && let Some(exit) = only_first(args, env)?
    {
        return Ok(exit);
    }
    let log = open_log(&args.log.session, env)?;
    let moment = match args.request {
        Some(name) => moment_of(&log, name, env)?,
        None => args.log.moment(&log)?,
    };
    let exit = judge_view(&log, env)?;
    if args.history {
        history(&log, moment, env)?;
    } else {
        current(args, &log, moment, env)?;
    }
    Ok(exit)
}

/// The first header, read no further than that. `None` where only a whole reading can tell, and from
/// standard input, which cannot be read twice.
fn only_first(args: &Args, env: &Env) -> Result<Option<Exit>, Failure> {
    let plain = !(args.system || args.tools || args.context || env.strict) && args.log.session != "-";
    if !plain {
        return Ok(None);
    }
    let (source, _) = open_source(&args.log.session, env)?;
    let Some(first) = header::first(&source, &env.reading.limits)? else { return Ok(None) };
    let prompt = Raw::parse(&first.header).ok().and_then(|h| h.get("system")?.display_text());
    let mut out = env.out();
    if env.json {
        out.write_all(&document::document(Some(&first), None, prompt.as_deref()))?;
        out.write_all(b"\n")?;
    } else {
        header_text::current(&first, None, prompt.as_deref(), env.style, &env.zone, &mut *out)?;
    }
    Ok(Some(Exit::Done))
}

fn history(log: &Log, moment: Moment, env: &Env) -> Result<(), Failure> {
    let list = header::history(log, moment)?;
    let mut out = env.out();
    if env.json {
        out.write_all(&document::history(&list))?;
        out.write_all(b"\n")?;
        return Ok(());
    }
    if list.is_empty() {
        writeln!(out, "no request header was logged")?;
    }
    header_text::history(&list, env.style, &env.zone, &mut *out)?;
    Ok(())
}

fn current(args: &Args, log: &Log, moment: Moment, env: &Env) -> Result<(), Failure> {
    let snapshot = if args.first { header::first_of(log)? } else { header::in_force(log, moment)? };
    let moment = match &snapshot {
        Some(first) if args.first => Moment::After(first.seq),
        _ => moment,
    };
    let context = header::context(log, moment)?;
    let prompt = header::system_prompt(log, moment)?;
    let mut out = env.out();
    if env.json {
        let text = document::document(snapshot.as_ref(), context.as_ref(), prompt.as_deref());
        out.write_all(&text)?;
        out.write_all(b"\n")?;
        return Ok(());
    }
    if args.system {
        let Some(prompt) = prompt else {
            env.note("no system prompt was logged");
            return Ok(());
        };
        // Off a terminal the prompt goes on as it is.
        let shown = if env.terminal { clean(&prompt) } else { prompt.as_str().into() };
        writeln!(out, "{shown}")?;
        return Ok(());
    }
    let Some(snapshot) = snapshot else {
        writeln!(out, "no request header was logged")?;
        return Ok(());
    };
    if args.context {
        match &context {
            Some((seq, context)) => header_text::context(*seq, context, &mut *out)?,
            None => writeln!(out, "no request context was logged")?,
        }
    } else if args.tools {
        if let Ok(header) = Raw::parse(&snapshot.header) {
            header_text::tools(header, env.style, &mut *out)?;
        }
    } else {
        header_text::current(
            &snapshot,
            context.as_ref(),
            prompt.as_deref(),
            env.style,
            &env.zone,
            &mut *out,
        )?;
    }
    Ok(())
}
