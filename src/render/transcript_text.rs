//! The transcript for a terminal or a plain file: a line that says who and when, and the words
//! below it, indented and wrapped.

use super::transcript_entry::{Part, Voice, entry};
use super::wrap::wrap;
use super::{Clock, Shown};
use dsh_log::view::transcript::Row;
use std::io::{self, Write};

/// Writes rows as text.
pub(crate) struct Text<'a> {
    shown: &'a Shown,
    clock: Clock<'a>,
    turn: Option<u32>,
}

impl<'a> Text<'a> {
    /// A writer with its options and the clock that makes local time of a time.
    pub(crate) fn new(shown: &'a Shown, clock: Clock<'a>) -> Text<'a> {
        Text { shown, clock, turn: None }
    }

    /// Writes one row.
    pub(crate) fn row(&mut self, row: &Row, out: &mut dyn Write) -> io::Result<()> {
        let Some(entry) = entry(row, self.shown) else { return Ok(()) };
        if row.turn.is_some() && row.turn != self.turn {
            self.turn = row.turn;
            writeln!(out, "━━ turn {}", row.turn.unwrap_or(0))?;
            writeln!(out)?;
        }
        let remarks: String = entry.remarks.iter().map(|remark| format!(" [{remark}]")).collect();
        let head = format!("{} {}{remarks}", mark(entry.voice), entry.title);
        let when = format!("{} #{}", (self.clock)(row.time), row.seq);
        self.wrapped(&format!("{when} {head}"), "", "    ", out)?;
        for part in &entry.parts {
            match part {
                Part::Prose(text) => self.lines(text, "  ", out)?,
                Part::Reasoning(text) => self.lines(text, "  ┊ ", out)?,
                Part::Line(text) => self.wrapped(text, "  ", "    ", out)?,
                Part::Verbatim(name, text) => {
                    writeln!(out, "  {name}:")?;
                    self.lines(text, "  │ ", out)?;
                }
            }
        }
        writeln!(out)
    }

    fn lines(&self, text: &str, indent: &str, out: &mut dyn Write) -> io::Result<()> {
        text.trim_end().lines().try_for_each(|line| self.wrapped(line, indent, indent, out))
    }

    /// One line, broken into as many as the width asks for.
    fn wrapped(&self, line: &str, first: &str, later: &str, out: &mut dyn Write) -> io::Result<()> {
        let room = self.shown.width.saturating_sub(later.chars().count());
        for (n, piece) in wrap(line, room).into_iter().enumerate() {
            let whole = format!("{}{piece}", if n == 0 { first } else { later });
            writeln!(out, "{}", whole.trim_end())?;
        }
        Ok(())
    }
}

fn mark(voice: Voice) -> char {
    match voice {
        Voice::Person => '▸',
        Voice::Model => '◆',
        Voice::Tool => '⚙',
        Voice::Harness => '·',
        Voice::Trouble => '✗',
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tools;
    use super::super::transcript_entry::tests::{hostile, shown};
    use super::*;

    #[test]
    fn a_row_is_a_line_with_its_texts_below_and_no_control_of_the_log_gets_through() {
        let (shown, mut out) = (shown(Tools::Full), Vec::new());
        Text::new(&shown, &|_| "noon".to_owned()).row(&hostile(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.starts_with("━━ turn 2\n\nnoon #7 ✗ <b>␛[2J — error `E`, 1 min 1 s, 39 B\n  arguments:\n")
        );
        assert!(text.contains("  │ </details><script>\n  │ \\u{9b}four\n  │ five\n"), "{text}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'));
    }
}
