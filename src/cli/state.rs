//! `dsh-log state`: what was in force, and which event set it.

use super::damage::judge_view;
use super::env::Env;
use super::exit::Failure;
use super::input::open_log;
use super::options::LogArgs;
use super::{Outcome, examples};
use crate::render::clean::clean_line;
use crate::render::document::state as document;
use crate::render::wrap::cut;
use dsh_log::json::Raw;
use dsh_log::view::state::{self, Pending, Set, State};
use std::io::Write;

/// Show what is in force: todo list, modes, policies, goal, inbox, schedule, children
///
/// Each with the event that set it. What is not listed was never set in this log.
#[derive(clap::Args)]
#[command(after_help = examples::STATE)]
pub(crate) struct Args {
    #[command(flatten)]
    log: LogArgs,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let log = open_log(&args.log.session, env)?;
    let moment = args.log.moment(&log)?;
    let exit = judge_view(&log, env)?;
    let state = state::of(&log, moment)?;
    if env.json {
        let mut out = env.out();
        out.write_all(&document::document(&state))?;
        out.write_all(b"\n")?;
    } else {
        text(&state, env)?;
    }
    Ok(exit)
}

fn text(state: &State, env: &Env) -> Result<(), Failure> {
    let mut lines: Vec<(String, String, String)> = Vec::new();
    if let Some((seq, place)) = state.open {
        let step = place.step.map_or(String::new(), |step| format!(", step {step}"));
        let turn = place.turn.map_or("?".to_owned(), |turn| turn.to_string());
        lines.push(("open turn".into(), format!("turn {turn}{step}"), seq.to_string()));
    }
    let chosen = state.set.iter().any(|set| set.name == "agentPreset");
    if let Some(preset) = state.header_preset.as_ref().filter(|_| !chosen) {
        lines.push(("agent preset".into(), preset.clone(), "header".into()));
    }
    for set in &state.set {
        let mark = if set.inherited { format!("{} (inherited)", set.seq) } else { set.seq.to_string() };
        lines.push((name(set.name), value(set, state), mark));
        if set.name == "todo" {
            lines.extend(todos(set));
        }
    }
    for (list, what) in [(&state.inbox.next_turn, "next turn"), (&state.inbox.next_step, "next step")] {
        lines.extend(list.iter().map(|pending| (what.to_owned(), words(pending), pending.seq.to_string())));
    }
    for seq in &state.inbox.broken {
        lines.push((
            "inbox".into(),
            "a splice out of bounds: the harness does not start".into(),
            seq.to_string(),
        ));
    }
    for record in &state.schedule.active {
        let text = String::from_utf8_lossy(&record.record).into_owned();
        lines.push(("scheduled".into(), text, record.touched.to_string()));
    }
    for child in &state.children {
        let parts = [child.label.as_deref(), child.id.as_deref(), Some(&child.status)];
        let shown: Vec<&str> = parts.into_iter().flatten().filter(|t| !t.is_empty()).collect();
        lines.push(("child".into(), shown.join(", "), child.seq.to_string()));
    }
    let mut out = env.out();
    if lines.is_empty() {
        return Ok(writeln!(out, "nothing was set")?);
    }
    for (name, value, seq) in lines {
        let line = format!("{seq:>9}  {name:<16} {}", clean_line(&value));
        writeln!(out, "{}", cut(&line, env.width))?;
    }
    Ok(())
}

fn words(pending: &Pending) -> String {
    format!("{}: {}", pending.source, pending.words)
}

/// A name of JSON as words: `planMode` becomes `plan mode`.
fn name(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            out.push(' ');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

fn value(set: &Set, state: &State) -> String {
    let Ok(data) = Raw::parse(&set.data) else { return String::new() };
    let text = |names: &[&str]| data.path(names).and_then(Raw::display_text);
    let plain = || String::from_utf8_lossy(&set.data).into_owned();
    match set.name {
        "title" => text(&["title"]).unwrap_or_else(plain),
        "agentPreset" => text(&["agentPreset"]).unwrap_or_else(plain),
        "approvalPolicy" => text(&["policy"]).unwrap_or_else(plain),
        "sandboxMode" => text(&["mode"]).unwrap_or_else(plain),
        "permissionPreset" => text(&["preset"]).unwrap_or_else(plain),
        "workingDirectory" => text(&["cwd"]).unwrap_or_else(plain),
        "planMode" if data.get("active").is_some_and(Raw::is_true) => "on".to_owned(),
        "planMode" => "off".to_owned(),
        "todo" => {
            let all = data.get("todos").into_iter().flat_map(Raw::elements).count();
            let is_done = |todo: &Raw<'_>| todo.get("status").is_some_and(|s| s.is("completed"));
            let done = data.get("todos").into_iter().flat_map(Raw::elements).filter(is_done).count();
            format!("{done} of {all} done")
        }
        "goal" => match text(&["goal", "objective"]) {
            Some(objective) => {
                let phase = text(&["goal", "phase"]).unwrap_or_default();
                let rounds = state.goal_rounds.unwrap_or(0);
                format!("{phase}, {rounds} rounds begun: {objective}")
            }
            None => "cleared".to_owned(),
        },
        _ => plain(),
    }
}

fn todos(set: &Set) -> Vec<(String, String, String)> {
    let Ok(data) = Raw::parse(&set.data) else { return Vec::new() };
    let todos = data.get("todos").into_iter().flat_map(Raw::elements);
    let line = |todo: Raw<'_>| {
        let mark = match todo.get("status") {
            Some(s) if s.is("completed") => "[x]",
            Some(s) if s.is("in_progress") => "[>]",
            _ => "[ ]",
        };
        let content = todo.get("content").and_then(Raw::display_text).unwrap_or_default();
        (String::new(), format!("{mark} {content}"), String::new())
    };
    todos.map(line).collect()
}
