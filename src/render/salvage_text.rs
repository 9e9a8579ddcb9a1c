//! The report of a salvage for people.

use super::clean::clean_line;
use super::document::salvage::sum;
use super::style::Style;
use super::table::{Fit, Table};
use super::time::Zone;
use dsh_log::position::{FrameNo, TextOffset};
use dsh_log::salvage::{Branch, Fate, Salvage, Salvaged, Scan};
use std::io::{self, Write};
use std::path::Path;

/// How many lost runs are listed.
const LISTED: usize = 20;

/// What is kept, put aside and lost.
pub(crate) fn report(
    path: &Path,
    salvage: &Salvage,
    written: Option<&Salvaged>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let word = if written.is_some() { "salvaged" } else { "would be salvaged" };
    writeln!(out, "{}: {word}", style.strong(&clean_line(&path.display().to_string())))?;
    let account = salvage.account();
    writeln!(out, "  {}", sum(account))?;
    writeln!(out, "  kept    {} events", account.events)?;
    for fate in [Fate::Doubled, Fate::OtherHistory, Fate::Apart, Fate::CannotStand] {
        let n = salvage.count(fate);
        if n > 0 {
            writeln!(out, "  aside   {n} records: {}", words(fate))?;
        }
    }
    let scan = salvage.scan();
    for run in scan.runs.iter().take(LISTED) {
        let seq = run.seq.map_or(String::new(), |seq| format!(", where event {seq} was due"));
        let byte = scan.file_byte(run.at);
        writeln!(out, "  lost    {} bytes at byte {byte}{seq}: {}", run.bytes, run.why.name())?;
    }
    if scan.runs.len() > LISTED {
        writeln!(out, "  lost    {} runs more; the file beside has them all", scan.runs.len() - LISTED)?;
    }
    for (from, upto) in account.missing.iter().take(LISTED) {
        match from == upto {
            true => writeln!(out, "  missing event {from}: no record has it")?,
            false => writeln!(out, "  missing events {from} to {upto}: no record has them")?,
        }
    }
    if let Some(written) = written {
        writeln!(out, "session: {}", clean_line(&written.output.display().to_string()))?;
        writeln!(out, "aside:   {}", clean_line(&written.sidecar.display().to_string()))?;
    }
    Ok(())
}

fn words(fate: Fate) -> &'static str {
    match fate {
        Fate::Kept => "kept",
        Fate::Doubled => "stored twice, byte for byte the same",
        Fate::OtherHistory => "of the history that was not chosen",
        Fate::Apart => "do not continue the session: something before them is missing",
        Fate::CannotStand => "the harness would refuse the session with the first of them",
    }
}

/// Histories side by side.
pub(crate) fn histories(
    branches: &[Branch],
    scan: &Scan,
    zone: &Zone,
    width: Option<usize>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut table = Table::new(&[
        ("keep", Fit::Whole),
        ("events", Fit::Whole),
        ("began", Fit::Whole),
        ("frame", Fit::Number),
        ("byte", Fit::Number),
        ("what it did", Fit::Gives),
    ]);
    for branch in branches {
        let at = TextOffset(branch.text);
        let frame = scan.map.frame_of(at).map_or(String::new(), |FrameNo(n)| n.to_string());
        let kinds: Vec<String> =
            branch.kinds.iter().map(|(kind, n)| format!("{n} {}", kind.name())).collect();
        let only = if branch.only_closers { "only closers: " } else { "" };
        table.row([
            branch.name.clone(),
            format!("{} to {}", branch.from, branch.upto),
            zone.second(branch.times.0),
            frame,
            scan.map.file_byte(at).to_string(),
            format!("{only}{}", kinds.join(", ")),
        ]);
    }
    table.write(width, style, out)
}
