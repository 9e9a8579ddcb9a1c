//! The transcript as Markdown that GitHub renders: a heading for each turn, words as quotations,
//! and what tools gave back in sections that open on a click.
//!
//! Words of a log are Markdown as a rule and stay so, but they cannot break out of their quotation:
//! a fence or list that is left open ends with it, and outside of fences no tag is let through.

use super::transcript_entry::{Entry, Part, Voice, entry};
use super::{Clock, Shown};
use dsh_log::view::transcript::Row;
use std::io::{self, Write};

/// Writes rows as Markdown.
pub(crate) struct Markdown<'a> {
    shown: &'a Shown,
    clock: Clock<'a>,
    turn: Option<u32>,
}

impl<'a> Markdown<'a> {
    /// A writer with its options and the clock that makes local time of a time.
    pub(crate) fn new(shown: &'a Shown, clock: Clock<'a>) -> Markdown<'a> {
        Markdown { shown, clock, turn: None }
    }

    /// Writes the heading of the document.
    pub(crate) fn start(&mut self, title: &str, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "# {}\n", escape(&super::clean::clean_line(title)))
    }

    /// Writes one row.
    pub(crate) fn row(&mut self, row: &Row, out: &mut dyn Write) -> io::Result<()> {
        let Some(entry) = entry(row, self.shown) else { return Ok(()) };
        if row.turn.is_some() && row.turn != self.turn {
            self.turn = row.turn;
            writeln!(out, "## Turn {}\n", row.turn.unwrap_or(0))?;
        }
        let when = format!("<sub>{} · #{}</sub>", escape(&(self.clock)(row.time)), row.seq);
        writeln!(out, "{} {when}\n", title(&entry))?;
        parts(&entry.parts, out)
    }
}

fn title(entry: &Entry) -> String {
    let remarks: String = entry.remarks.iter().map(|remark| format!(" _({})_", escape(remark))).collect();
    let text = escape(&entry.title);
    match entry.voice {
        Voice::Person | Voice::Model => format!("**{text}**{remarks}"),
        Voice::Tool => format!("🔧 {text}{remarks}"),
        Voice::Trouble => format!("⚠️ {text}{remarks}"),
        Voice::Harness => format!("_{text}_{remarks}"),
    }
}

fn parts(parts: &[Part], out: &mut dyn Write) -> io::Result<()> {
    let mut at = 0;
    while at < parts.len() {
        match &parts[at] {
            Part::Prose(text) => quote(&tags_escaped(text), out)?,
            Part::Reasoning(text) => {
                writeln!(out, "<details><summary>reasoning</summary>\n")?;
                quote(&tags_escaped(text), out)?;
                writeln!(out, "</details>\n")?;
            }
            Part::Verbatim(name, text) => {
                writeln!(out, "<details><summary>{}</summary>\n", escape_html(name))?;
                fenced(text, out)?;
                writeln!(out, "</details>\n")?;
            }
            Part::Line(_) => {
                let run = parts[at..].iter().map_while(|part| match part {
                    Part::Line(text) => Some(text.as_str()),
                    _ => None,
                });
                let lines: Vec<&str> = run.collect();
                fenced(&lines.join("\n"), out)?;
                at += lines.len() - 1;
            }
        }
        at += 1;
    }
    Ok(())
}

fn quote(text: &str, out: &mut dyn Write) -> io::Result<()> {
    for line in text.trim_end().lines() {
        writeln!(out, "{}", format!("> {line}").trim_end())?;
    }
    writeln!(out)
}

/// Writes a code block whose fence is longer than any run of backticks inside.
fn fenced(text: &str, out: &mut dyn Write) -> io::Result<()> {
    let fence = fence(text);
    writeln!(out, "{fence}text")?;
    text.trim_end_matches('\n').lines().try_for_each(|line| writeln!(out, "{line}"))?;
    writeln!(out, "{fence}\n")
}

fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat((longest + 1).max(3))
}

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The text of one line so that Markdown shows it as it is.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '!' | '$' | '@' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// Markdown with its tags escaped outside of fenced blocks and of code within a line.
fn tags_escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut open: Option<(char, usize)> = None;
    for line in text.lines() {
        let (found, bare) = fence_of(line);
        match (open, found) {
            (Some((mark, length)), Some((c, n))) if c == mark && n >= length && bare => {
                open = None;
                out.push_str(line);
            }
            (Some(_), _) => out.push_str(line),
            (None, Some(fence)) => {
                open = Some(fence);
                out.push_str(&line.replace('<', "&lt;"));
            }
            (None, None) => outside_code(line, &mut out),
        }
        out.push('\n');
    }
    out
}

/// The fence a line is, and whether nothing follows it.
fn fence_of(line: &str) -> (Option<(char, usize)>, bool) {
    let text = line.trim_start_matches(' ');
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'));
    let Some(mark) = mark.filter(|_| line.len() - text.len() <= 3) else { return (None, false) };
    let rest = text.trim_start_matches(mark);
    let length = text.len() - rest.len();
    let is_fence = length >= 3 && !(mark == '`' && rest.contains('`'));
    (is_fence.then_some((mark, length)), rest.trim().is_empty())
}

fn outside_code(line: &str, out: &mut String) {
    let mut pieces: Vec<&str> = line.split('`').collect();
    // An odd backtick opens nothing: then nothing of the line counts as code.
    if pieces.len().is_multiple_of(2) {
        pieces = vec![line];
    }
    for (n, piece) in pieces.iter().enumerate() {
        if n > 0 {
            out.push('`');
        }
        if n % 2 == 0 { out.push_str(&piece.replace('<', "&lt;")) } else { out.push_str(piece) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_run_of_backticks_inside() {
        assert_eq!(fence("no ticks"), "```");
        assert_eq!(fence("a ``` b ````` c"), "``````");
        let mut out = Vec::new();
        fenced("```\n</details>\n", &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "````text\n```\n</details>\n````\n\n");
    }

    #[test]
    fn tags_are_let_through_in_code_only() {
        let text = "a <b> `<c>` <!--\n```\n<d>\n```\nodd ` <e>";
        let expected = "a &lt;b> `<c>` &lt;!--\n```\n<d>\n```\nodd ` &lt;e>\n";
        assert_eq!(tags_escaped(text), expected);
    }

    #[test]
    fn a_title_shows_its_text_as_it_is() {
        assert_eq!(escape("*a* <b> `c`"), r"\*a\* &lt;b&gt; \`c\`");
    }

    #[test]
    fn a_result_cannot_close_its_section() {
        use super::super::transcript_entry::tests::{hostile, shown};
        let (shown, mut out) = (shown(super::super::Tools::Full), Vec::new());
        Markdown::new(&shown, &|_| "noon".to_owned()).row(&hostile(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("## Turn 2\n\n⚠️ &lt;b&gt;␛\\[2J"), "{text}");
        assert!(text.contains("````text\none\n```\n</details><script>\n"), "{text}");
    }
}
