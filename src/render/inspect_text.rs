//! The one screen of `inspect`.

use super::arguments::in_short;
use super::clean::clean_line;
use super::number::{count, duration, size};
use super::style::Style;
use super::time::Zone;
use super::wrap::{cut, width};
use dsh_log::fault::{Code, Severity};
use dsh_log::log::Log;
use dsh_log::log::closers::Outcome as Known;
use dsh_log::log::verdict::Outcome;
use dsh_log::storage::container::Container;
use dsh_log::view::moment::Moment;
use dsh_log::view::summary::{OpenCall, Summary};
use std::io::{self, Write};
use std::path::Path;

/// What the screen needs besides the log.
pub(crate) struct Screen<'a> {
    /// How text is styled.
    pub(crate) style: Style,
    /// The columns it is fitted to.
    pub(crate) width: usize,
    /// The zone of times.
    pub(crate) zone: &'a Zone,
    /// The user's home, which paths are shortened by.
    pub(crate) home: Option<&'a Path>,
}

/// How many findings are named.
const NAMED: usize = 12;

impl Screen<'_> {
    /// Writes the screen.
    pub(crate) fn write(&self, log: &Log, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        self.identity(log, summary, out)?;
        self.amounts(log, summary, out)?;
        writeln!(out)?;
        self.verdict(log, summary, out)?;
        self.open_turn(log, summary, out)?;
        self.findings(log, out)?;
        writeln!(out)?;
        self.now(log, summary, out)
    }

    fn identity(&self, log: &Log, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        let header = log.header();
        let id = header.map(|h| h.shown_id()).filter(|id| !id.is_empty());
        let id = id.unwrap_or_else(|| format!("no id ({})", log.source().path().display()));
        let version = header.map_or_else(
            || format!("read as v{}", log.dialect().version),
            |h| format!("v{}", dsh_log::json::number::stringify(h.version)),
        );
        let mut line =
            format!("{}   {version}, {}", self.style.strong(&clean_line(&id)), log.container().name());
        if let Some(cwd) = header.and_then(|h| h.shown_cwd()) {
            line += &format!("   {}", clean_line(&self.short(&cwd)));
        }
        if let Some(title) = &summary.title {
            line += &format!("   \"{}\"", clean_line(title));
        }
        writeln!(out, "{line}")?;
        self.lineage(log, out)
    }

    fn short(&self, path: &str) -> String {
        let home = self.home.map(|h| h.to_string_lossy().into_owned()).filter(|h| h.len() > 1);
        match home.as_deref().and_then(|home| path.strip_prefix(home)) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
            _ => path.to_owned(),
        }
    }

    fn lineage(&self, log: &Log, out: &mut dyn Write) -> io::Result<()> {
        let Some(header) = log.header() else { return Ok(()) };
        let mut parts = Vec::new();
        if let Some(parent) = header.shown_parent() {
            let what = if header.origin.is_some() { "subagent of" } else { "fork of" };
            parts.push(format!("{what} {}", clean_line(&parent)));
        }
        if log.inherited() > 0 {
            parts.push(format!("{} of the events inherited", count(log.inherited())));
        }
        if let Some(preset) = &header.agent_preset {
            parts.push(format!("preset {}", clean_line(preset)));
        }
        if parts.is_empty() { Ok(()) } else { writeln!(out, "{}", parts.join(", ")) }
    }

    fn amounts(&self, log: &Log, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        let mut parts = Vec::new();
        if let Some((first, last)) = log.sums().time_range {
            let same_day = self.zone.day(first) == self.zone.day(last);
            let until = if same_day { self.zone.clock(last) } else { self.zone.second(last) };
            parts.push(format!("{} to {until}", self.zone.second(first)));
        }
        parts.push(plural(log.sums().turns.turns, "turn"));
        parts.push(plural(summary.requests, "request"));
        let frames = match log.container() {
            Container::Zstd => format!(" in {}", plural(log.frames(), "frame")),
            Container::Raw => String::new(),
        };
        let decoded = match log.container() {
            Container::Zstd => format!(", {} text", size(log.text_bytes())),
            Container::Raw => String::new(),
        };
        let events = plural(log.index().events(), "event");
        parts.push(format!("{events}{frames} ({}{decoded})", size(log.source().bytes())));
        writeln!(out, "{}", parts.join(", "))?;
        let gaps: Vec<String> = summary
            .gaps
            .iter()
            .map(|gap| format!("{} before {}", duration(gap.millis.max(0) as u64), gap.before))
            .collect();
        if gaps.is_empty() {
            Ok(())
        } else {
            writeln!(out, "{}", self.style.dim(&format!("idle: {}", gaps.join(", "))))
        }
    }

    fn verdict(&self, log: &Log, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        let verdict = log.verdict();
        let why = match verdict.outcome {
            Outcome::Opens => "complete, nothing to repair".to_owned(),
            Outcome::OpensAfterRepair => self.why_repair(log, summary),
            Outcome::Refuses | Outcome::Unsupported => {
                verdict.reason.as_ref().map_or_else(String::new, ToString::to_string)
            }
        };
        let word = match verdict.outcome {
            Outcome::Opens => self.style.good("opens"),
            Outcome::OpensAfterRepair => self.style.warn("opens after repair"),
            Outcome::Refuses => self.style.bad("refuses"),
            Outcome::Unsupported => self.style.warn("unsupported"),
        };
        writeln!(out, "{word}: {}", clean_line(&why))?;
        if !verdict.outcome.opens() && log.index().events() > 0 {
            let index = log.index();
            let last = index.next_seq().0.saturating_sub(1);
            writeln!(out, "  readable without a hole: events {} to {last}", index.first_seq())?;
        }
        Ok(())
    }

    fn why_repair(&self, log: &Log, summary: &Summary) -> String {
        let open = summary.open_turn.as_ref().map(|open| {
            let step = open.step.as_ref().map_or(String::new(), |step| format!(", step {step}"));
            format!("turn {}{step} was still open", open.turn.as_deref().unwrap_or("without a number"))
        });
        let torn = match log.verdict().cut {
            None => "nothing torn, nothing lost".to_owned(),
            Some(cut) => {
                let kept = match cut.recovered {
                    0 => String::new(),
                    n => format!(", {} in it whole and kept", plural(n, "event")),
                };
                let lost = match cut.lost_records {
                    0 => String::new(),
                    n => format!(", {} in it would be cut", plural(n, "whole record")),
                };
                format!("a torn tail of {} from byte {}{kept}{lost}", size(cut.bytes), cut.from)
            }
        };
        open.into_iter().chain([torn]).collect::<Vec<_>>().join("; ")
    }

    fn open_turn(&self, log: &Log, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        let Some(open) = &summary.open_turn else { return Ok(()) };
        // What may have run is what an on-call person must see first.
        let (unknown, waiting): (Vec<_>, Vec<_>) =
            open.calls.iter().partition(|c| c.outcome == Known::Unknown);
        for call in unknown.iter().chain(&waiting) {
            self.call(call, out)?;
        }
        let closers = log.closers();
        if let (Some(first), Some(last), true) =
            (closers.first(), closers.last(), log.verdict().outcome.opens())
        {
            let range = if first.seq == last.seq {
                first.seq.to_string()
            } else {
                format!("{} to {}", first.seq, last.seq)
            };
            let by_hand: Vec<String> = unknown.iter().map(|c| clean_line(&c.call_id).into_owned()).collect();
            let check = match by_hand.is_empty() {
                true => String::new(),
                false => format!("; verify {} by hand before going on", by_hand.join(", ")),
            };
            writeln!(out, "  repair appends {} ({range}){check}", plural(closers.len() as u64, "event"))?;
        }
        Ok(())
    }

    fn call(&self, call: &OpenCall, out: &mut dyn Write) -> io::Result<()> {
        let known = match call.outcome {
            Known::Unknown if call.running_ms.is_some() => "started, outcome unknown",
            Known::Unknown => "not known if it ran     ",
            Known::NotStarted => "not started             ",
        };
        let ran = call.running_ms.map_or(String::new(), |ms| {
            format!("   running for {} when the log ends", duration(ms.max(0) as u64))
        });
        let names = format!("   {}   {}   ", clean_line(&call.name), clean_line(&call.call_id));
        let taken = 2 + width(known) + width(&names) + width(&ran);
        let arguments = cut(&in_short(&call.arguments), self.width.saturating_sub(taken).max(20));
        let known = match call.outcome {
            Known::Unknown => self.style.bad(known),
            Known::NotStarted => known.to_owned(),
        };
        writeln!(out, "  {known}{names}{arguments}{ran}")?;
        if let Some(asked) = &call.asked {
            let asked = cut(&in_short(asked), self.width.saturating_sub(40).max(20));
            writeln!(out, "  {:24}   the message asked for {asked}; the line above is what ran", "")?;
        }
        Ok(())
    }

    fn findings(&self, log: &Log, out: &mut dyn Write) -> io::Result<()> {
        let reason = log.verdict().reason.as_ref();
        let told = |code: Code| matches!(code, Code::OpenTurn | Code::TornTail);
        let list = log.findings().list();
        let others: Vec<_> = list.iter().filter(|f| !told(f.code) && Some(*f) != reason).collect();
        for finding in others.iter().take(NAMED) {
            let word = match finding.severity {
                Severity::Refuses => self.style.bad("refuses"),
                Severity::Cuts => self.style.warn("cuts"),
                Severity::Warns => self.style.warn("warns"),
                Severity::Notes => self.style.dim("notes"),
            };
            writeln!(out, "  {word}  {}", clean_line(&finding.to_string()))?;
        }
        match others.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => writeln!(out, "  and {more} more findings; --json lists them"),
        }
    }

    fn now(&self, log: &Log, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        let surface = Moment::Balanced.surface(log);
        let mut line = format!("the model has now   {}", plural(summary.messages, "message"));
        if surface.shadowed_count() > 0 {
            line += &format!(
                " ({} more shadowed, by {})",
                count(surface.shadowed_count()),
                plural(surface.generation(), "replacement")
            );
        }
        if let Some(usage) = &summary.usage {
            let window = summary.context_window.map_or(String::new(), |w| format!(" of {}", count(w)));
            let part = |n: Option<u32>| n.map_or("?".to_owned(), |n| n.to_string());
            line += &format!(
                ", {}{window} tokens at {}.{}",
                count(usage.context_tokens),
                part(usage.turn),
                part(usage.step)
            );
        }
        writeln!(out, "{line}")?;
        for (what, said) in [("last asked", &summary.last_prompt), ("last said", &summary.last_words)] {
            if let Some(said) = said {
                let at = format!("event {}", said.seq);
                let room = self.width.saturating_sub(26 + at.len()).max(30);
                let words = cut(&clean_line(said.text.trim()), room);
                writeln!(out, "{what:<17}   \"{words}\"   {}", self.style.dim(&at))?;
            }
        }
        Ok(())
    }
}

/// A count with its noun.
pub(crate) fn plural(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}
