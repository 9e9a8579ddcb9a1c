//! One request for people.

use super::clean::clean_line;
use super::number::{count, duration, size};
use super::style::Style;
use super::table::{Fit, Table};
use super::wrap::cut;
use dsh_log::json::Raw;
use dsh_log::view::attempt::Attempt;
use dsh_log::view::header_change::Change;
use dsh_log::view::nodes::Described;
use dsh_log::view::prefix::{Prefix, Why};
use dsh_log::view::request::Whole;
use dsh_log::view::requests::Request;
use std::io::{self, Write};

/// How a request compares with another one.
pub(crate) struct Compared {
    /// The other one.
    pub(crate) other: Request,
    /// What both begin with, the earlier one first.
    pub(crate) prefix: Prefix,
    /// How the headers differ, the earlier one first.
    pub(crate) changes: Vec<Change>,
}

/// An outcome with the code of a failure.
pub(crate) fn outcome(attempt: &Attempt) -> String {
    match &attempt.failure {
        Some(code) => format!("{} {code}", attempt.outcome.name()),
        None => attempt.outcome.name().to_owned(),
    }
}

/// Everything but the messages.
pub(crate) fn summary(
    whole: &Whole,
    compared: Option<&Compared>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let attempt = &whole.attempt;
    let model = attempt.model.as_ref().map_or("no model known".into(), |(p, m)| format!("{p}/{m}"));
    let upto = whole.moment.upto();
    writeln!(out, "{}   {}", style.heading(&format!("request {}", whole.request)), clean_line(&model))?;
    let first = attempt
        .first_token_millis()
        .map_or(String::new(), |ms| format!(", first token after {}", duration(ms)));
    writeln!(
        out,
        "outcome         {}, {}{first}; sent after event {upto}",
        clean_line(&outcome(attempt)),
        duration(attempt.millis())
    )?;
    match attempt.usage {
        Some(u) => writeln!(
            out,
            "tokens          {} in ({} not cached, {} read from cache, {} written to it), {} out",
            count(u.prompt()),
            count(u.input),
            count(u.cache_read),
            count(u.cache_write),
            count(u.output)
        )?,
        None => writeln!(out, "tokens          none reported")?,
    }
    if let Some((seq, context)) = &whole.context {
        let window = Raw::parse(context).ok().and_then(|c| c.get("contextWindow")?.count());
        let window = window.map_or("not stated".to_owned(), |n| format!("{} tokens", count(n)));
        writeln!(out, "context window  {window} (event {seq})")?;
    }
    if let Some(header) = &whole.header {
        let parsed = Raw::parse(&header.header).ok();
        let config = parsed.and_then(|h| h.get("config")).map_or(String::new(), fields);
        writeln!(out, "config          {} (event {})", clean_line(&config), header.seq)?;
        let tools = parsed.and_then(|h| h.get("tools")).into_iter().flat_map(Raw::elements);
        let names: Vec<String> = tools.filter_map(|t| t.get("name")?.display_text()).collect();
        if !names.is_empty() {
            writeln!(out, "tools           {}: {}", names.len(), clean_line(&cut(&names.join(", "), 400)))?;
        }
    }
    if let Some(system) = &whole.system {
        let place = match whole.header.as_ref().and_then(|h| Raw::parse(&h.header).ok()?.get("system")) {
            Some(_) => "in front of the messages",
            None => "among the messages",
        };
        writeln!(
            out,
            "system prompt   {place}, {}: {}",
            size(system.len() as u64),
            clean_line(&cut(system.trim(), 120))
        )?;
    }
    if let Some(compared) = compared {
        difference(whole, compared, out)?;
    }
    Ok(())
}

fn fields(config: Raw<'_>) -> String {
    let list: Vec<String> = config
        .members()
        .map(|(key, value)| {
            let value = value.display_text().unwrap_or_else(|| String::from_utf8_lossy(value.bytes()).into());
            format!("{} {value}", key.display_text().unwrap_or_default())
        })
        .collect();
    list.join(", ")
}

fn difference(whole: &Whole, compared: &Compared, out: &mut dyn Write) -> io::Result<()> {
    let other = &compared.other;
    let earlier_first = other.first < whole.request.first;
    let (old, new) = if earlier_first { (other, &whole.request) } else { (&whole.request, other) };
    let prefix = &compared.prefix;
    writeln!(out)?;
    match prefix.cause {
        None => writeln!(
            out,
            "{new} begins with all {} bytes of {old}, and {} more follow",
            count(prefix.before),
            count(prefix.after.saturating_sub(prefix.bytes))
        )?,
        Some(cause) => {
            let by = cause.seq.map_or(String::new(), |seq| format!(" (event {seq})"));
            writeln!(
                out,
                "{new} differs from {old} at byte {} of {}: {}{by}",
                count(prefix.bytes),
                count(prefix.before),
                words(cause.why)
            )?;
        }
    }
    let seqs = |list: &[u64]| {
        let shown: Vec<String> = list.iter().take(24).map(u64::to_string).collect();
        let more = if list.len() > 24 { format!(" and {} more", list.len() - 24) } else { String::new() };
        format!("{}{more}", shown.join(" "))
    };
    for (list, what) in [(&prefix.new, "new"), (&prefix.gone, "gone")] {
        if !list.is_empty() {
            writeln!(out, "{what:<15} {} messages: {}", list.len(), seqs(list))?;
        }
    }
    for change in &compared.changes {
        writeln!(out, "{:<15} {}", "header", clean_line(&changed(change)))?;
    }
    Ok(())
}

fn words(why: Why) -> &'static str {
    match why {
        Why::Model => "another model is asked",
        Why::System => "another system prompt",
        Why::Tools => "other tools",
        Why::Replacement => "messages were replaced",
        Why::Projection => "images of a message were taken out",
    }
}

fn changed(change: &Change) -> String {
    match change {
        Change::Config { field, before, after } => {
            let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "absent".to_owned());
            format!("{field} from {} to {}", shown(before), shown(after))
        }
        Change::System { before, after } => {
            format!("system prompt from {} to {}", size(before.len() as u64), size(after.len() as u64))
        }
        Change::ToolAdded(name) => format!("tool {name} added"),
        Change::ToolRemoved(name) => format!("tool {name} removed"),
        Change::ToolAltered(name) => format!("tool {name} altered"),
        Change::ToolsReordered => "tools in another order".to_owned(),
    }
}

/// The messages, the new ones marked.
pub(crate) fn messages(
    nodes: &[Described],
    fresh: &dyn Fn(u64) -> bool,
    fit: Option<usize>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut table = Table::new(&[
        ("", Fit::Whole),
        ("seq", Fit::Number),
        ("role", Fit::Whole),
        ("from", Fit::Gives),
        ("size", Fit::Number),
        ("first words", Fit::Gives),
    ]);
    for node in nodes {
        let mark = if fresh(node.seq.0) { "new" } else { "" };
        let from = node.tool.clone().unwrap_or_else(|| node.source.clone());
        let words: String = node.words.trim().chars().take(120).collect();
        table.row([mark.to_owned(), node.seq.to_string(), node.role.clone(), from, size(node.bytes), words]);
    }
    table.write(fit, style, out)
}
