//! A row of the transcript in words: a title, remarks, and the texts below it. The text, Markdown
//! and HTML renderings lay out the same entry, so they cannot differ in what they say.

mod calls;
mod life;
#[cfg(test)]
pub(super) mod tests;

use super::clean::{clean, clean_line};
use super::number::size;
use super::{Shown, Tools};
use dsh_log::view::transcript::rows::{Assistant, AssistantState, Context, Said, Seed};
use dsh_log::view::transcript::{Block, Body, Failure, Row};

/// Who or what an entry is of; the renderings mark them differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Voice {
    /// A person.
    Person,
    /// The model.
    Model,
    /// A tool.
    Tool,
    /// The harness: context, retries, the ends of turns.
    Harness,
    /// Something went wrong.
    Trouble,
}

/// A text below a title. All of them are clean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Words somebody wrote, Markdown as a rule.
    Prose(String),
    /// The model's reasoning.
    Reasoning(String),
    /// One line.
    Line(String),
    /// Text that is shown as it is, under a name of one line.
    Verbatim(String, String),
}

/// A row in words.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Who speaks.
    pub(crate) voice: Voice,
    /// One line.
    pub(crate) title: String,
    /// What to know about the row, each a few words.
    pub(crate) remarks: Vec<String>,
    /// The texts.
    pub(crate) parts: Vec<Part>,
}

/// The row in words; none when it is not to be shown.
pub(crate) fn entry(row: &Row, shown: &Shown) -> Option<Entry> {
    if let Some(turns) = &shown.turns
        && !row.turn.is_some_and(|turn| turns.contains(&turn))
    {
        return None;
    }
    let (voice, title, parts) = words(row, shown)?;
    let mut remarks = Vec::new();
    if row.inherited {
        remarks.push("inherited".to_owned());
    }
    if row.synthetic {
        remarks.push("not stored: what repair would add".to_owned());
    }
    Some(Entry { voice, title, remarks, parts })
}

type Words = (Voice, String, Vec<Part>);

fn words(row: &Row, shown: &Shown) -> Option<Words> {
    Some(match &row.body {
        Body::User(said) => (Voice::Person, "user".to_owned(), of_said(said)),
        Body::Steering(said) => (Voice::Person, "user, into the running turn".to_owned(), of_said(said)),
        Body::Context(context) => of_context(context, shown),
        Body::Assistant(said) => of_assistant(said, shown),
        Body::Tool(tool) => return calls::of_tool(tool, shown.tools),
        Body::Command(command) => life::of_command(command),
        Body::Compaction(compaction) => life::of_compaction(compaction),
        Body::CommandInput(line) => (Voice::Person, clean_line(line).into_owned(), Vec::new()),
        Body::Retry(retry) => life::of_retry(retry),
        Body::TurnError(error) => {
            let at = error.last_step.map_or(String::new(), |step| format!(" in step {step}"));
            (Voice::Trouble, format!("the turn failed{at}: {}", of_failure(&error.failure)), Vec::new())
        }
        Body::MaxTokens => (Voice::Trouble, "the answer met the output cap".to_owned(), Vec::new()),
        Body::TurnEnd(end) => life::of_turn_end(row, end),
        Body::Workflow(run) => life::of_workflow(run),
        Body::EndSeed(Seed::Fork) => {
            (Voice::Harness, "forked here: everything above is inherited".to_owned(), Vec::new())
        }
        Body::EndSeed(Seed::Resumed) => {
            (Voice::Harness, "the session was picked up again".to_owned(), Vec::new())
        }
        Body::Unknown(unknown) => {
            let title = format!("message of unknown type {}", clean_line(&unknown.type_name));
            let data = clean(&String::from_utf8_lossy(&unknown.data)).into_owned();
            (Voice::Harness, title, vec![Part::Verbatim("data".to_owned(), data)])
        }
    })
}

fn of_said(said: &Said) -> Vec<Part> {
    let mut parts = prose(&said.blocks, false);
    if !said.references.is_empty() {
        parts.push(Part::Line(format!("refers to {}", clean_line(&said.references.join(", ")))));
    }
    parts
}

/// The blocks as parts; calls are left out, since they have rows of their own.
fn prose(blocks: &[Block], reasoning: bool) -> Vec<Part> {
    let filled = |text: &str| !text.trim().is_empty();
    let part = |block: &Block| match block {
        Block::Text(text) => filled(text).then(|| Part::Prose(clean(text).into_owned())),
        Block::Reasoning(text) => {
            (reasoning && filled(text)).then(|| Part::Reasoning(clean(text).into_owned()))
        }
        Block::Attachment(what) => Some(Part::Line(format!("[{}]", clean_line(what)))),
        Block::Call(_) => None,
        Block::Other(kind) => Some(Part::Line(format!("[block of type {}]", clean_line(kind)))),
    };
    blocks.iter().filter_map(part).collect()
}

fn of_context(context: &Context, shown: &Shown) -> Words {
    let text = dsh_log::view::transcript::content::words(&context.said.blocks);
    let label =
        context.label.as_deref().map_or(String::new(), |label| format!(" from {}", clean_line(label)));
    let what = match context.role {
        "system" => "system prompt".to_owned(),
        "developer" => "tools changed".to_owned(),
        _ => format!("context{label}"),
    };
    let title = format!("{what}, {}", size(text.len() as u64));
    let parts = match shown.tools {
        Tools::Full => vec![Part::Verbatim("content".to_owned(), clean(&text).into_owned())],
        Tools::Brief | Tools::None => Vec::new(),
    };
    (Voice::Harness, title, if text.is_empty() { Vec::new() } else { parts })
}

fn of_assistant(said: &Assistant, shown: &Shown) -> Words {
    let mut parts = prose(&said.blocks, shown.reasoning);
    if parts.is_empty() {
        let hidden: usize = said
            .blocks
            .iter()
            .map(|block| match block {
                Block::Reasoning(text) => text.len(),
                _ => 0,
            })
            .sum();
        if hidden > 0 {
            parts.push(Part::Line(format!("(reasoning only, {})", size(hidden as u64))));
        }
    }
    let name = said.model.as_deref().map_or("assistant".into(), clean_line);
    let (voice, title) = match said.state {
        AssistantState::Done => (Voice::Model, name.into_owned()),
        AssistantState::Interrupted => (Voice::Model, format!("{name}, interrupted")),
        AssistantState::Running => (Voice::Model, format!("{name}, unfinished where the log ends")),
        AssistantState::Failed => (Voice::Trouble, format!("{name}, failed attempt")),
    };
    let title = match &said.failure {
        Some(failure) => format!("{title}: {}", of_failure(failure)),
        None => title,
    };
    (voice, title, parts)
}

fn of_failure(failure: &Failure) -> String {
    let text = match (&failure.code, &failure.message) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        (one, other) => {
            one.as_ref().or(other.as_ref()).cloned().unwrap_or_else(|| "no reason recorded".into())
        }
    };
    clean_line(&text).into_owned()
}
