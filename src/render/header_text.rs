//! Request headers for people.

use super::clean::{clean, clean_line};
use super::document::header::changes;
use super::inspect_text::plural;
use super::number::count;
use super::style::Style;
use super::time::Zone;
use dsh_log::json::Raw;
use dsh_log::seq::Seq;
use dsh_log::view::header::Snapshot;
use dsh_log::view::header_change::Change;
use similar::TextDiff;
use std::io::{self, Write};

/// Writes the header in force.
pub(crate) fn current(
    snapshot: &Snapshot,
    context: Option<&(Seq, Vec<u8>)>,
    prompt: Option<&str>,
    style: Style,
    zone: &Zone,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Ok(header) = Raw::parse(&snapshot.header) else { return Ok(()) };
    let when = format!("event {}, {}, {}", snapshot.seq, snapshot.reason, zone.second(snapshot.time));
    let text = |name: &str| header.path(&["config", name]).and_then(Raw::display_text).unwrap_or_default();
    let model = format!("{} / {}", text("provider"), text("model"));
    writeln!(out, "{}   {}", style.strong(&clean_line(&model)), style.dim(&clean_line(&when)))?;
    config(header, out)?;
    if let Some((seq, context)) = context {
        self::context(*seq, context, out)?;
    }
    writeln!(out)?;
    match prompt {
        Some(prompt) => {
            let heading = format!("system prompt, {} characters", count(prompt.chars().count() as u64));
            writeln!(out, "{}", style.heading(&heading))?;
            writeln!(out, "{}", clean(prompt))?;
        }
        None => writeln!(out, "no system prompt")?,
    }
    writeln!(out)?;
    tools(header, style, out)
}

fn config(header: Raw<'_>, out: &mut dyn Write) -> io::Result<()> {
    let defaults = header.get("adapterDefaults");
    for (key, value) in header.get("config").into_iter().flat_map(Raw::members) {
        let name = key.display_text().unwrap_or_default();
        if ["provider", "model"].contains(&name.as_str()) {
            continue;
        }
        let by_adapter = defaults.and_then(|d| d.get(&name)).is_some_and(Raw::is_true);
        let note = if by_adapter { "   (filled in by the adapter)" } else { "" };
        let value =
            value.display_text().unwrap_or_else(|| String::from_utf8_lossy(value.bytes()).into_owned());
        writeln!(out, "  {}: {}{note}", clean_line(&name), clean_line(&value))?;
    }
    Ok(())
}

/// Writes the context in force.
pub(crate) fn context(seq: Seq, context: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let Ok(context) = Raw::parse(context) else { return Ok(()) };
    let window = context.get("contextWindow").and_then(Raw::count);
    let window = window.map_or("of unknown size".to_owned(), |w| format!("of {} tokens", count(w)));
    let model = context.get("model").and_then(Raw::display_text).unwrap_or_default();
    writeln!(out, "  context window {window} for {}   (event {seq})", clean_line(&model))
}

/// Writes the tools in force.
pub(crate) fn tools(header: Raw<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let list: Vec<Raw<'_>> = header.get("tools").into_iter().flat_map(Raw::elements).collect();
    writeln!(out, "{}", style.heading(&plural(list.len() as u64, "tool")))?;
    for tool in list {
        let [name, about] = tool.get_all(["name", "description"]);
        let shown = |value: Option<Raw<'_>>| value.and_then(Raw::display_text).unwrap_or_default();
        let about = shown(about);
        let first = about.lines().next().unwrap_or_default();
        writeln!(out, "  {}   {}", clean_line(&shown(name)), style.dim(&clean_line(first)))?;
    }
    Ok(())
}

/// Writes every header with what it changed.
pub(crate) fn history(list: &[Snapshot], style: Style, zone: &Zone, out: &mut dyn Write) -> io::Result<()> {
    let mut before = None;
    for snapshot in list {
        let part = |n: Option<u32>| n.map_or("?".to_owned(), |n| n.to_string());
        let place = format!("{}.{}", part(snapshot.location.turn), part(snapshot.location.step));
        let head = format!(
            "event {}   {place}   {}   {}",
            snapshot.seq,
            snapshot.reason,
            zone.second(snapshot.time)
        );
        writeln!(out, "{}", style.strong(&clean_line(&head)))?;
        let changes = changes(before, snapshot);
        if before.is_some() && changes.is_empty() {
            writeln!(out, "  nothing changed")?;
        }
        if before.is_none() {
            first(snapshot, out)?;
        }
        for change in &changes {
            one_change(change, style, out)?;
        }
        before = Some(snapshot);
    }
    Ok(())
}

fn first(snapshot: &Snapshot, out: &mut dyn Write) -> io::Result<()> {
    let Ok(header) = Raw::parse(&snapshot.header) else { return Ok(()) };
    let text = |name: &str| header.path(&["config", name]).and_then(Raw::display_text).unwrap_or_default();
    let tools = header.get("tools").into_iter().flat_map(Raw::elements).count() as u64;
    let line = format!("{} / {}, {}", text("provider"), text("model"), plural(tools, "tool"));
    writeln!(out, "  {}", clean_line(&line))
}

/// One change, on lines of its own.
pub(super) fn one_change(change: &Change, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let absent = "absent".to_owned();
    match change {
        Change::Config { field, before, after } => {
            let line = format!(
                "{field}: {} to {}",
                before.as_ref().unwrap_or(&absent),
                after.as_ref().unwrap_or(&absent)
            );
            writeln!(out, "  {}", clean_line(&line))
        }
        Change::System { before, after } => {
            writeln!(out, "  system prompt")?;
            let diff = TextDiff::from_lines(before, after);
            // A prompt seldom ends with a newline, and nobody needs to hear of it.
            let text = diff.unified_diff().context_radius(2).missing_newline_hint(false).to_string();
            for line in text.lines() {
                let line = clean_line(line).into_owned();
                let styled = match line.as_bytes().first() {
                    Some(b'+') => style.good(&line),
                    Some(b'-') => style.bad(&line),
                    _ => line,
                };
                writeln!(out, "    {styled}")?;
            }
            Ok(())
        }
        Change::ToolAdded(name) => writeln!(out, "  {} {}", style.good("+ tool"), clean_line(name)),
        Change::ToolRemoved(name) => writeln!(out, "  {} {}", style.bad("- tool"), clean_line(name)),
        Change::ToolAltered(name) => writeln!(out, "  {} {}", style.warn("~ tool"), clean_line(name)),
        Change::ToolsReordered => writeln!(out, "  the same tools in another order"),
    }
}
