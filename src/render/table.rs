//! Tables: aligned columns without borders, fitted to a width.

use super::clean::clean_line;
use super::style::Style;
use super::wrap::{cut, width};
use comfy_table::{Cell, CellAlignment, ContentArrangement, presets};
use std::borrow::Cow;
use std::io::{self, Write};

/// The least columns that a cell which gives way keeps.
const LEAST: usize = 8;

/// The blanks between two columns.
const GAP: usize = 2;

/// How a column is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// To the left, always whole.
    Whole,
    /// To the left, cut where the table is too wide.
    Gives,
    /// To the right, for numbers.
    Number,
}

/// A table that is being filled.
pub(crate) struct Table {
    columns: Vec<(&'static str, Fit)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with named columns.
    pub(crate) fn new(columns: &[(&'static str, Fit)]) -> Table {
        Table { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; its texts are made safe to show.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let clean = |cell: String| match clean_line(&cell) {
            Cow::Borrowed(_) => cell,
            Cow::Owned(clean) => clean,
        };
        self.rows.push(cells.into_iter().map(clean).collect());
    }

    /// Writes the table; fitted when there is a width.
    pub(crate) fn write(mut self, fit: Option<usize>, style: Style, out: &mut dyn Write) -> io::Result<()> {
        if let Some(room) = fit {
            self.narrow(room);
        }
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(self.columns.iter().map(|(name, _)| *name));
        for row in self.rows {
            table.add_row(row.into_iter().map(Cell::new_owned));
        }
        let last = self.columns.len().saturating_sub(1);
        for (at, (_, fit)) in self.columns.iter().enumerate() {
            let Some(column) = table.column_mut(at) else { continue };
            column.set_padding((0, if at == last { 0 } else { GAP as u16 }));
            if *fit == Fit::Number {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        for (at, line) in table.lines().enumerate() {
            let line = line.trim_end();
            if at == 0 { writeln!(out, "{}", style.heading(line))? } else { writeln!(out, "{line}")? }
        }
        Ok(())
    }

    /// Cuts the columns that give way until the table fits, as far as that is possible.
    fn narrow(&mut self, room: usize) {
        let natural: Vec<usize> = (0..self.columns.len())
            .map(|at| {
                let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| width(cell));
                cells.chain([width(self.columns[at].0)]).max().unwrap_or(0)
            })
            .collect();
        let total = natural.iter().sum::<usize>() + GAP * natural.len().saturating_sub(1);
        let mut over = total.saturating_sub(room);
        for (at, (_, fit)) in self.columns.iter().enumerate() {
            if *fit != Fit::Gives || over == 0 {
                continue;
            }
            let most = natural[at].saturating_sub(over).max(LEAST.min(natural[at]));
            over -= natural[at] - most;
            for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(at)) {
                *cell = cut(cell, most);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(fit: Option<usize>) -> String {
        let mut table = Table::new(&[("id", Fit::Whole), ("project", Fit::Gives), ("size", Fit::Number)]);
        table.row(["one".into(), "~/a/long/directory".into(), "7 B".into()]);
        table.row(["three".into(), "\u{1b}[2J".into(), "75 kB".into()]);
        let mut out = Vec::new();
        table.write(fit, Style::new(false), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_are_aligned_and_clean() {
        let expected = "\
id     project              size
one    ~/a/long/directory    7 B
three  ␛[2J                75 kB
";
        assert_eq!(table(None), expected);
    }

    #[test]
    fn a_table_gives_way_where_it_may() {
        let expected = "\
id     project     size
one    ~/a/long…    7 B
three  ␛[2J       75 kB
";
        assert_eq!(table(Some(23)), expected);
        assert_eq!(table(Some(1)).lines().nth(1), Some("one    ~/a/lon…    7 B"));
    }
}
