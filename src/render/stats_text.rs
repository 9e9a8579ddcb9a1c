//! The figures of sessions for people and for spreadsheets.

use super::number::{count, duration};
use super::style::Style;
use super::table::{Fit, Table};
use dsh_log::view::stats::{Stats, Totals};
use dsh_log::view::tokens::Tokens;
use std::io::{self, Write};

/// The figures: one column, or three where something is inherited; then the tools.
pub(crate) fn write(
    stats: &Stats,
    sessions: u64,
    fit: Option<usize>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut both = stats.own.clone();
    both.merge(&stats.inherited);
    let inherits = stats.inherited != Totals::default();
    if sessions != 1 {
        writeln!(out, "{} sessions", count(sessions))?;
    }
    let parts: Vec<&Totals> =
        if inherits { vec![&stats.own, &stats.inherited, &both] } else { vec![&stats.own] };
    let columns: &[(&str, Fit)] = if inherits {
        &[("", Fit::Whole), ("own", Fit::Number), ("inherited", Fit::Number), ("both", Fit::Number)]
    } else {
        &[("", Fit::Whole), ("own", Fit::Number)]
    };
    let mut table = Table::new(columns);
    for (name, figure) in FIGURES {
        let cells = parts.iter().map(|totals| count(figure(totals)));
        table.row(std::iter::once((*name).to_owned()).chain(cells));
    }
    table.write(fit, style, out)?;
    if both.without_usage > 0 {
        let unknown = count(both.without_usage);
        writeln!(
            out,
            "{unknown} of {} attempts report no usage: the tokens are a lower bound",
            count(both.attempts)
        )?;
    }
    tools(&stats.own, fit, style, out)
}

type Figure = fn(&Totals) -> u64;

const FIGURES: &[(&str, Figure)] = &[
    ("input tokens", |t| t.tokens.input),
    ("  read from cache", |t| t.tokens.cache_read),
    ("  written to cache", |t| t.tokens.cache_write),
    ("output tokens", |t| t.tokens.output),
    ("  of them reasoning", |t| t.tokens.reasoning),
    ("tokens in all", |t| t.tokens.total()),
    ("  for compaction, apart", |t| t.compaction_tokens.total()),
    ("turns", |t| t.turns),
    ("steps", |t| t.steps),
    ("requests", |t| t.requests),
    ("attempts", |t| t.attempts),
    ("  without a message", |t| t.failed_attempts),
    ("retries", |t| t.retries),
    ("tool calls", |t| t.calls().0),
    ("  failed", |t| t.calls().1),
    ("compactions", |t| t.compactions),
    ("results shortened", |t| t.prunes),
];

fn tools(totals: &Totals, fit: Option<usize>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    if totals.tools.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let mut table = Table::new(&[
        ("tool", Fit::Gives),
        ("calls", Fit::Number),
        ("failed", Fit::Number),
        ("p50", Fit::Number),
        ("p95", Fit::Number),
    ]);
    for (name, tool) in &totals.tools {
        let time = |ms: Option<u64>| ms.map_or("-".to_owned(), duration);
        let (half, most) = (time(tool.percentile(50)), time(tool.percentile(95)));
        table.row([name.clone(), count(tool.calls), count(tool.failures), half, most]);
    }
    table.write(fit, style, out)
}

/// One row a group, of what the sessions did themselves.
pub(crate) fn groups(
    groups: &[(String, Totals)],
    fit: Option<usize>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut table = Table::new(&[
        ("own, by", Fit::Gives),
        ("input", Fit::Number),
        ("cached", Fit::Number),
        ("output", Fit::Number),
        ("attempts", Fit::Number),
        ("tools", Fit::Number),
        ("failed", Fit::Number),
        ("compaction", Fit::Number),
    ]);
    for (key, totals) in groups {
        let Tokens { input, output, cache_read, cache_write, .. } = totals.tokens;
        let (calls, failed) = totals.calls();
        let figures = [input, cache_read + cache_write, output, totals.attempts, calls, failed];
        let cells = figures.map(count).into_iter().chain([count(totals.compaction_tokens.total())]);
        table.row(std::iter::once(key.clone()).chain(cells));
    }
    table.write(fit, style, out)
}

/// Comma-separated values: a header line, then own and inherited, or one line a group.
pub(crate) fn csv(stats: &Stats, by: Option<&[(String, Totals)]>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "key,inputTokens,cacheReadTokens,cacheWriteTokens,outputTokens,reasoningTokens,turns,steps,requests,\
         attempts,failedAttempts,retries,toolCalls,toolFailures,compactions,prunes,compactionInputTokens,\
         compactionOutputTokens"
    )?;
    match by {
        Some(groups) => groups.iter().try_for_each(|(key, totals)| line(key, totals, out)),
        None => {
            line("own", &stats.own, out)?;
            line("inherited", &stats.inherited, out)
        }
    }
}

fn line(key: &str, t: &Totals, out: &mut dyn Write) -> io::Result<()> {
    let (calls, failed) = t.calls();
    let figures = [
        t.tokens.input,
        t.tokens.cache_read,
        t.tokens.cache_write,
        t.tokens.output,
        t.tokens.reasoning,
        t.turns,
        t.steps,
        t.requests,
        t.attempts,
        t.failed_attempts,
        t.retries,
        calls,
        failed,
        t.compactions,
        t.prunes,
        t.compaction_tokens.prompt(),
        t.compaction_tokens.output,
    ];
    let figures: Vec<String> = figures.iter().map(u64::to_string).collect();
    writeln!(out, "{},{}", field(key), figures.join(","))
}

/// A field of text; quoted where it must be, and kept from being read as a formula.
fn field(text: &str) -> String {
    let text = super::clean::clean_line(text);
    let safe = if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text.into_owned() };
    match safe.contains([',', '"', '\n']) {
        true => format!("\"{}\"", safe.replace('"', "\"\"")),
        false => safe,
    }
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn a_field_is_quoted_where_it_must_be_and_is_never_a_formula() {
        for (text, wanted) in [("a b", "a b"), ("a,\"b\"", "\"a,\"\"b\"\"\""), ("=1+1", "'=1+1")] {
            assert_eq!(field(text), wanted);
        }
    }
}
