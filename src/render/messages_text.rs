//! Messages for people: a line that says whose it is, and its blocks below.

use super::clean::{clean, clean_line};
use super::number::size;
use super::style::Style;
use super::wrap::wrap;
use dsh_log::json::Raw;
use dsh_log::seq::Seq;
use std::io::{self, Write};

/// How deep results inside results are shown.
const NESTED: usize = 8;

/// Writes one message.
pub(crate) fn write(
    seq: Seq,
    message: &[u8],
    width: usize,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Ok(message) = Raw::parse(message) else { return Ok(()) };
    let [role, source, content, failed] = message.get_all(["role", "source", "content", "isError"]);
    let text = |value: Option<Raw<'_>>| value.and_then(Raw::display_text).unwrap_or_default();
    let role = text(role);
    let mut head = style.strong(&clean_line(&role));
    let origin = text(source.and_then(|source| source.get("model").or(source.get("kind"))));
    if !origin.is_empty() && origin != role {
        head.push_str(&format!(" ({})", clean_line(&origin)));
    }
    if failed.is_some_and(Raw::is_true) {
        head.push_str(&format!(" {}", style.bad("error")));
    }
    writeln!(out, "{head} {}", style.dim(&format!("#{seq}")))?;
    match content {
        Some(content) if content.is_array() => blocks(content, width, NESTED, out)?,
        Some(content) => lines(&text(Some(content)), "  ", width, out)?,
        None => {}
    }
    writeln!(out)
}

fn blocks(content: Raw<'_>, width: usize, depth: usize, out: &mut dyn Write) -> io::Result<()> {
    for block in content.elements() {
        let [kind, text, inner] = block.get_all(["type", "text", "content"]);
        let kind = kind.and_then(Raw::display_text).unwrap_or_default();
        match (kind.as_str(), text.and_then(Raw::display_text)) {
            ("text", Some(text)) => lines(&text, "  ", width, out)?,
            ("reasoning", Some(text)) => lines(&text, "  ┊ ", width, out)?,
            ("tool-call", _) => call(block, width, out)?,
            ("tool-result", _) if depth > 0 && inner.is_some() => {
                inner.map_or(Ok(()), |inner| blocks(inner, width, depth - 1, out))?;
            }
            ("tool-addition" | "tool-removal", _) => {
                let name = block.get("toolName").and_then(Raw::display_text).unwrap_or_default();
                let sign = if kind == "tool-addition" { '+' } else { '-' };
                lines(&format!("{sign} tool {}", clean_line(&name)), "  ", width, out)?;
            }
            _ => {
                let bytes = size(block.bytes().len() as u64);
                lines(&format!("[block of type {}, {bytes}]", clean_line(&kind)), "  ", width, out)?;
            }
        }
    }
    Ok(())
}

fn call(block: Raw<'_>, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let [id, name, arguments] =
        block.get_all(["id", "name", "arguments"]).map(|value| value.and_then(Raw::display_text));
    let (id, name) = (id.unwrap_or_default(), name.unwrap_or_default());
    let arguments = arguments.unwrap_or_default();
    lines(
        &format!("⚙ {} {} {}", clean_line(&name), clean_line(&id), clean_line(&arguments)),
        "  ",
        width,
        out,
    )
}

fn lines(text: &str, indent: &str, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let room = width.saturating_sub(indent.chars().count());
    for line in clean(text).trim_end().lines() {
        for piece in wrap(line, room) {
            writeln!(out, "{}", format!("{indent}{piece}").trim_end())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_shown_by_their_kind_and_nothing_acts() {
        let message = br#"{"role":"assistant","source":{"kind":"model","model":"m\u001b"},"content":[
            {"type":"reasoning","text":"hm"},{"type":"text","text":"one\u0007\ntwo"},
            {"type":"tool-call","id":"c1","name":"bash","arguments":"{\"a\":1}"},{"type":"image"}]}"#;
        let mut out = Vec::new();
        write(Seq(7), message, 40, Style::new(false), &mut out).unwrap();
        let expected = "assistant (m␛) #7\n  ┊ hm\n  one␇\n  two\n\
            \x20 ⚙ bash c1 {\"a\":1}\n  [block of type image, 16 B]\n\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
