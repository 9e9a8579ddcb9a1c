//! Tool calls in words: a line for each, or all of it.

use super::{Part, Voice, Words};
use crate::render::Tools;
use crate::render::arguments::in_short;
use crate::render::clean::{clean, clean_line};
use crate::render::number::{duration, size};
use crate::render::wrap::cut;
use dsh_log::json::Raw;
use dsh_log::view::transcript::Block;
use dsh_log::view::transcript::rows::{Call, Tool, ToolStatus};
use std::borrow::Cow;

/// How many lines of a result stand below a brief call.
const BRIEF_LINES: usize = 3;
/// How much of a call's arguments stands on its line.
const BRIEF_ARGUMENTS: usize = 60;

/// A tool row in words; none when tools are not shown.
pub(super) fn of_tool(tool: &Tool, tools: Tools) -> Option<Words> {
    if tools == Tools::None {
        return None;
    }
    let full = tools == Tools::Full;
    let mut parts = call_parts(&tool.call, full);
    for child in &tool.children {
        let indent = "  ".repeat(usize::from(child.depth.min(16) - 1));
        parts.push(Part::Line(format!("{indent}└ {}", call_title(&child.call, full))));
        if full {
            parts.extend(call_parts(&child.call, true));
        }
    }
    let sound = matches!(tool.call.status, ToolStatus::Done | ToolStatus::Running);
    let voice = if sound { Voice::Tool } else { Voice::Trouble };
    Some((voice, call_title(&tool.call, full), parts))
}

/// Name, short arguments, outcome, duration and size of the result, on one line.
fn call_title(call: &Call, full: bool) -> String {
    let name = call.name.as_deref().map_or("unknown tool".into(), clean_line);
    let brief = if full { String::new() } else { brief_arguments(call) };
    let gap = if brief.is_empty() { "" } else { " " };
    let mut facts = vec![outcome(call)];
    facts.extend(call.duration_ms.map(duration));
    if call.content.is_some() {
        facts.push(size(result_text(call).len() as u64));
    }
    format!("{name}{gap}{brief} — {}", facts.join(", "))
}

fn outcome(call: &Call) -> String {
    let code = call.error_code.as_deref().or(call.error_name.as_deref());
    match (call.status, code) {
        (ToolStatus::Done, _) => "ok".to_owned(),
        (ToolStatus::Error, Some(code)) => format!("error {}", clean_line(code)),
        (ToolStatus::Error, None) => "error".to_owned(),
        (ToolStatus::Running, _) => "no result in what can be read".to_owned(),
        (ToolStatus::Interrupted, _) => "interrupted, no result".to_owned(),
        (ToolStatus::NotStarted, _) => "never started".to_owned(),
        (ToolStatus::OutcomeUnknown, _) => "started, outcome unknown".to_owned(),
    }
}

/// The result's blocks, one below the other.
fn result_text(call: &Call) -> Cow<'_, str> {
    if let [Block::Text(text)] = &call.blocks[..] {
        return Cow::Borrowed(text);
    }
    let texts = call.blocks.iter().map(|block| match block {
        Block::Text(text) | Block::Reasoning(text) => Cow::Borrowed(text.as_str()),
        Block::Attachment(what) => Cow::Owned(format!("[{what}]")),
        Block::Call(name) => Cow::Owned(format!("[call of {name}]")),
        Block::Other(kind) => Cow::Owned(format!("[block of type {kind}]")),
    });
    Cow::Owned(texts.collect::<Vec<_>>().join("\n"))
}

/// The lines that are not blank.
fn filled_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    let lines = std::iter::from_fn(move || {
        let text = rest?;
        let end = memchr::memchr(b'\n', text.as_bytes());
        rest = end.map(|end| &text[end + 1..]);
        let line = end.map_or(text, |end| &text[..end]);
        Some(line.strip_suffix('\r').unwrap_or(line))
    });
    // Most lines begin with a letter: no need to look for one in them.
    lines.filter(|line| line.starts_with(|c: char| c.is_ascii_graphic()) || !line.trim().is_empty())
}

fn call_parts(call: &Call, full: bool) -> Vec<Part> {
    let output = result_text(call);
    let mut parts = Vec::new();
    if full {
        let arguments = arguments_text(call);
        if !arguments.is_empty() {
            parts.push(Part::Verbatim("arguments".to_owned(), clean(&arguments).into_owned()));
        }
        if !output.is_empty() {
            parts.push(Part::Verbatim(
                format!("result, {}", size(output.len() as u64)),
                clean(&output).into_owned(),
            ));
        }
        return parts;
    }
    let mut lines = filled_lines(&output);
    parts.extend(lines.by_ref().take(BRIEF_LINES).map(|line| Part::Line(cut(&clean_line(line), 200))));
    match lines.count() {
        0 => {}
        1 => parts.push(Part::Line("… 1 more line".to_owned())),
        more => parts.push(Part::Line(format!("… {more} more lines"))),
    }
    parts
}

/// The arguments: the model's text, or of a nested call the JSON.
fn arguments_text(call: &Call) -> String {
    let Some(stored) = &call.arguments else { return String::new() };
    let text = Raw::parse(stored).ok().and_then(Raw::display_text);
    text.unwrap_or_else(|| String::from_utf8_lossy(stored).into_owned())
}

/// The arguments in a few words.
fn brief_arguments(call: &Call) -> String {
    cut(&in_short(&arguments_text(call)), BRIEF_ARGUMENTS)
}
