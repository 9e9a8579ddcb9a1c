//! `diff` for people.

use super::arguments::in_short;
use super::clean::clean_line;
use super::header_text::one_change;
use super::inspect_text::plural;
use super::number::{count, size};
use super::style::Style;
use super::table::{Fit, Table};
use super::wrap::cut;
use dsh_log::view::diff::alignment::Pair;
use dsh_log::view::diff::divergence::Own;
use dsh_log::view::diff::lineage::Kinship;
use dsh_log::view::diff::moves::{Move, What};
use dsh_log::view::diff::{Diff, Field, Side, Since};
use std::io::{self, Write};

/// How it is shown.
pub(crate) struct Screen {
    /// The style.
    pub(crate) style: Style,
    /// The width of a line.
    pub(crate) width: usize,
    /// The width of tables, where they are fitted.
    pub(crate) table_width: Option<usize>,
    /// Whether long runs of the same moves are listed.
    pub(crate) all: bool,
}

/// How many of a run of the same moves are shown at each end of it.
const CONTEXT: usize = 2;

const NAMES: [&str; 2] = ["first", "second"];

impl Screen {
    /// Writes the comparison.
    pub(crate) fn write(&self, diff: &Diff, sides: [Side<'_>; 2], out: &mut dyn Write) -> io::Result<()> {
        for (name, side) in NAMES.iter().zip(sides) {
            let log = side.log;
            let id = log.header().map_or("no header".to_owned(), |header| header.shown_id());
            let events = plural(side.moment.events(log), "event");
            let path = log.source().path().display().to_string();
            let line = format!("{}   v{}, {events}   {path}", clean_line(&id), log.dialect().version);
            writeln!(out, "{name:<12}{}", clean_line(&line))?;
        }
        writeln!(out)?;
        if diff.is_same() {
            return writeln!(out, "{}", self.style.good("the same: header line and every event"));
        }
        writeln!(out, "related     {}", kinship(diff.kinship))?;
        self.header_line(&diff.header, out)?;
        self.events(diff, sides, out)?;
        if diff.settings.is_empty() {
            writeln!(out, "settings    the same request header in force")?;
        } else {
            writeln!(out, "settings    from the first to the second")?;
            diff.settings.iter().try_for_each(|change| one_change(change, self.style, out))?;
        }
        if diff.divergence.differs() {
            writeln!(out)?;
            self.moves(diff, out)?;
        }
        Ok(())
    }

    fn header_line(&self, fields: &[Field], out: &mut dyn Write) -> io::Result<()> {
        if fields.is_empty() {
            return writeln!(out, "header      the same");
        }
        let room = self.width.saturating_sub(12).max(30);
        let shown = |value: &Option<Vec<u8>>| {
            value
                .as_deref()
                .map_or("absent".to_owned(), |v| cut(&clean_line(&String::from_utf8_lossy(v)), 60))
        };
        for (n, field) in fields.iter().enumerate() {
            let head = if n == 0 { "header" } else { "" };
            let line =
                format!("{}: {} and {}", clean_line(&field.name), shown(&field.first), shown(&field.second));
            writeln!(out, "{head:<12}{}", cut(&line, room))?;
        }
        Ok(())
    }

    fn events(&self, diff: &Diff, sides: [Side<'_>; 2], out: &mut dyn Write) -> io::Result<()> {
        let divergence = &diff.divergence;
        match divergence.common {
            0 => writeln!(out, "in common   no event")?,
            n => {
                let last = divergence.at.0 - 1;
                let turns = plural(divergence.turns, "turn");
                writeln!(out, "in common   events {} to {last}, {turns} begun", last + 1 - n)?;
            }
        }
        for (name, side) in NAMES.iter().zip(sides) {
            let inherited = side.log.inherited();
            if inherited == 0 {
                continue;
            }
            let shared = divergence.common >= inherited;
            let what = if shared { "are all in common" } else { "are not all in common" };
            writeln!(out, "            the {} that the {name} inherits {what}", plural(inherited, "event"))?;
        }
        if !divergence.differs() {
            return writeln!(out, "            all events of both");
        }
        for (n, own) in divergence.own.iter().enumerate() {
            let head = if n == 0 { "then" } else { "" };
            let line = match own {
                Some(own) => differs(own),
                None if sides[n].log.verdict().outcome.opens() => "the log ends here".to_owned(),
                None => "what can be read of the log ends here".to_owned(),
            };
            let room = self.width.saturating_sub(20).max(30);
            writeln!(out, "{head:<12}{:<8}{}", NAMES[n], cut(&clean_line(&line), room))?;
        }
        Ok(())
    }

    fn moves(&self, diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
        for (name, since) in NAMES.iter().zip(diff.since) {
            writeln!(out, "from there  {name:<8}{}", sums(since))?;
        }
        if diff.pairs.is_empty() {
            return writeln!(out, "            nothing was said or called");
        }
        writeln!(out)?;
        let mut table = Table::new(&[
            ("", Fit::Whole),
            ("first", Fit::Number),
            ("second", Fit::Number),
            ("what", Fit::Whole),
            ("said", Fit::Gives),
            ("outcome", Fit::Gives),
        ]);
        for run in diff.pairs.chunk_by(|a, b| is_same(a) && is_same(b)) {
            if self.all || run.len() <= 2 * CONTEXT + 1 || !is_same(&run[0]) {
                run.iter().for_each(|pair| table.row(row(*pair, &diff.moves)));
                continue;
            }
            run[..CONTEXT].iter().for_each(|pair| table.row(row(*pair, &diff.moves)));
            let left = format!("… {} more, the same in both", count((run.len() - 2 * CONTEXT) as u64));
            let empty = String::new;
            table.row([empty(), empty(), empty(), empty(), left, empty()]);
            run[run.len() - CONTEXT..].iter().for_each(|pair| table.row(row(*pair, &diff.moves)));
        }
        table.write(self.table_width, self.style, out)?;
        let left = "- only the first, + only the second, ~ both, with another result";
        writeln!(out, "{}", self.style.dim(left))
    }
}

fn is_same(pair: &Pair) -> bool {
    matches!(pair, Pair::Same(..))
}

fn kinship(kinship: Kinship) -> &'static str {
    match kinship {
        Kinship::SameSession => "both have one id: copies or generations of one session",
        Kinship::SecondFromFirst => "the second names the first as its parent",
        Kinship::FirstFromSecond => "the first names the second as its parent",
        Kinship::SameParent => "both name one parent",
        Kinship::None => "not by their headers",
    }
}

fn differs(own: &Own) -> String {
    if own.kind.is_empty() {
        return format!("{}  a record that was not read", own.seq);
    }
    format!("{}  {}  {}", own.seq, own.kind, own.data)
}

fn sums(since: Since) -> String {
    let failed =
        if since.failures > 0 { format!(" ({} failed)", count(since.failures)) } else { String::new() };
    format!(
        "{}, {}, {}, {}{failed}",
        plural(since.events, "event"),
        plural(since.turns, "turn"),
        plural(since.requests, "request"),
        plural(since.calls, "call"),
    )
}

fn row(pair: Pair, moves: &[Vec<Move>; 2]) -> [String; 6] {
    let (mark, first, second) = match pair {
        Pair::Same(a, b) => ("", Some(&moves[0][a]), Some(&moves[1][b])),
        Pair::Otherwise(a, b) => ("~", Some(&moves[0][a]), Some(&moves[1][b])),
        Pair::First(a) => ("-", Some(&moves[0][a]), None),
        Pair::Second(b) => ("+", None, Some(&moves[1][b])),
    };
    let seq = |m: Option<&Move>| m.map_or(String::new(), |m| m.seq.to_string());
    let either = first.or(second);
    let (what, said) = either.map_or_else(Default::default, |m| match m.what {
        What::Call => (m.name.clone(), in_short(&m.words)),
        What::End => ("end".to_owned(), m.name.clone()),
        what => (what.name().to_owned(), m.words.clone()),
    });
    let came = match (first.map(outcome), second.map(outcome)) {
        (Some(one), Some(other)) if one != other => format!("{one} → {other}"),
        (Some(one), Some(_)) if mark == "~" => format!("{one}, other text"),
        (Some(one), _) | (None, Some(one)) => one,
        (None, None) => String::new(),
    };
    [mark.to_owned(), seq(first), seq(second), what, said, came]
}

fn outcome(m: &Move) -> String {
    let Some(outcome) = &m.outcome else { return String::new() };
    let bytes = m.result_bytes.map_or(String::new(), |bytes| format!(", {}", size(bytes)));
    format!("{}{bytes}", outcome.name())
}
