//! `verify` for people.

use super::clean::clean_line;
use super::inspect_text::plural;
use super::number::count;
use super::style::Style;
use super::wrap::wrap;
use dsh_log::fault::Severity;
use dsh_log::finding::Findings;
use dsh_log::log::Log;
use dsh_log::view::moment::Moment;
use std::io::{self, Write};

/// Writes the verdict, then every finding, the worst first.
pub(crate) fn write(
    log: &Log,
    moment: Moment,
    findings: &Findings,
    style: Style,
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let verdict = log.verdict();
    let words = verdict.outcome.name().replace('-', " ");
    let (all, seen) = (log.index().events(), moment.events(log));
    let seen_all = seen == all;
    let seen =
        if seen_all { plural(all, "event") } else { format!("{} of {}", count(seen), plural(all, "event")) };
    let whole = if seen_all { "" } else { "the whole log: " };
    writeln!(out, "{whole}{}, {seen} looked at", style.strong(&words))?;
    for severity in [Severity::Refuses, Severity::Cuts, Severity::Warns, Severity::Notes] {
        for finding in findings.list().iter().filter(|f| f.severity == severity) {
            let label = format!("{:<8}", severity.name());
            let label = match severity {
                Severity::Refuses => style.bad(&label),
                Severity::Cuts | Severity::Warns => style.warn(&label),
                Severity::Notes => style.dim(&label),
            };
            let text = format!("{}: {finding}", finding.code.name());
            let text = clean_line(&text);
            for (n, piece) in wrap(&text, width.saturating_sub(8).max(30)).into_iter().enumerate() {
                writeln!(out, "{}{piece}", if n == 0 { label.as_str() } else { "        " })?;
            }
        }
    }
    let kept = findings.list().len() as u64;
    let met: u64 = findings.counts().values().sum();
    if met > kept {
        writeln!(out, "{} more of the same codes", met - kept)?;
    }
    if met == 0 {
        writeln!(out, "nothing found")?;
    }
    Ok(())
}
