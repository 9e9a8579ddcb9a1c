//! Commands, compactions, retries, ends of turns and workflows in words.

use super::{Part, Voice, Words, of_failure};
use crate::render::clean::{clean, clean_line};
use crate::render::number::duration;
use dsh_log::view::transcript::Row;
use dsh_log::view::transcript::rows::{Attempt, Command, Compaction, Member, Retry, TurnEnd, Workflow};

/// The row in words.
pub(super) fn of_command(command: &Command) -> Words {
    let name = command.name.as_deref().unwrap_or("?");
    let args = command.args.as_deref().unwrap_or_default();
    let line = format!("/{name}{args}");
    let outcome = match command.outcome.as_str() {
        "running" => "still running where the log ends",
        other => other,
    };
    let title = format!("command {} — {}", clean_line(line.trim_end()), clean_line(outcome));
    let said = command.text.iter().map(|text| Part::Prose(clean(text).into_owned()));
    let failed = command.compaction_error.iter();
    let failed = failed.map(|error| Part::Line(format!("compaction failed: {}", clean_line(error))));
    let voice = if command.outcome == "error" { Voice::Trouble } else { Voice::Person };
    (voice, title, said.chain(failed).collect())
}

/// The row in words.
pub(super) fn of_compaction(compaction: &Compaction) -> Words {
    if let Some(error) = &compaction.error {
        return (Voice::Trouble, format!("compaction failed: {}", clean_line(error)), Vec::new());
    }
    let by = if compaction.command.is_some() { "on command" } else { "automatically" };
    let items = compaction.items.map_or(String::new(), |n| format!(", {n} messages"));
    let tokens = compaction.tokens.map_or(String::new(), |n| format!(", {n} tokens"));
    let title =
        format!("compacted {by}: from here on the model has a summary of what is above{items}{tokens}");
    let text = compaction.summary.as_deref().map(|text| clean(text).into_owned());
    (Voice::Harness, title, text.map(|text| Part::Verbatim("summary".to_owned(), text)).into_iter().collect())
}

/// The row in words.
pub(super) fn of_retry(retry: &Retry) -> Words {
    let line = |attempt: &Attempt| {
        let number = attempt.retry.map_or(String::new(), |n| format!(" {n}"));
        let most = attempt.max.map_or(String::new(), |n| format!(" of {n}"));
        let wait = attempt.delay_ms.map_or(String::new(), |ms| format!(" after {}", duration(ms)));
        let failure = attempt.failure.as_ref().map_or(String::new(), |f| format!(": {}", of_failure(f)));
        Part::Line(format!("retry{number}{most}{wait}, {}{failure}", attempt.state.name()))
    };
    let parts: Vec<Part> = retry.attempts.iter().map(line).collect();
    (Voice::Trouble, "the model was asked again".to_owned(), parts)
}

/// The row in words.
pub(super) fn of_turn_end(row: &Row, end: &TurnEnd) -> Words {
    let number = row.turn.map_or(String::new(), |turn| format!(" {turn}"));
    let detail = end.detail.as_deref().map_or(String::new(), |detail| format!(" ({})", clean_line(detail)));
    let reason = end.reason.as_deref().map_or("ended".into(), clean_line);
    let mut facts = vec![format!("turn{number} {reason}{detail}")];
    facts.extend(end.duration_ms.map(duration));
    let plural = |n: u32, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    facts.push(plural(end.steps, "step"));
    if end.tools > 0 {
        facts.push(plural(end.tools, "tool call"));
    }
    if let Some(usage) = end.usage {
        let billed = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        facts.push(format!("{billed} tokens in, {} out", usage.output));
    }
    facts.extend(end.first_token_ms.map(|ms| format!("first token after {}", duration(ms))));
    facts.extend(end.tokens_per_second.map(|rate| format!("{rate:.0} tokens/s")));
    (Voice::Harness, facts.join(", "), Vec::new())
}

/// The row in words.
pub(super) fn of_workflow(run: &Workflow) -> Words {
    let name = run.name.as_deref().map_or("unnamed".into(), clean_line);
    let title = format!("workflow {name} — {}", clean_line(&run.status));
    let member = |member: &Member| {
        let phase = member.phase.as_deref().map_or(String::new(), |phase| format!("{phase}: "));
        let label = member.label.as_deref().unwrap_or("?");
        Part::Line(clean_line(&format!("{phase}{label} — {}", member.outcome)).into_owned())
    };
    (Voice::Tool, title, run.members.iter().map(member).collect())
}
