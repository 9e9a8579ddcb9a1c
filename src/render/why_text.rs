//! `why` for people.

use super::clean::clean_line;
use super::document::why::Delegated;
use super::inspect_text::plural;
use super::style::Style;
use super::wrap::cut;
use dsh_log::evidence::strength::{Evidence, SharedSpan, Strength};
use dsh_log::evidence::why::Why;
use dsh_log::log::Log;
use std::io::{self, Write};
use std::path::Path;

/// How it is shown.
pub(crate) struct Screen {
    /// The style.
    pub(crate) style: Style,
    /// The width of a line.
    pub(crate) width: usize,
    /// Whether results that share nothing are listed too.
    pub(crate) all: bool,
}

/// How many results are shown, and how many quotes of each.
const RESULTS: usize = 10;
const QUOTES: usize = 4;

/// What stood in the place of a result, one after the other; of many the first two and the last.
fn chain(via: &[u64]) -> String {
    let all = |seqs: &[u64]| seqs.iter().map(u64::to_string).collect::<Vec<_>>().join(", then ");
    match via {
        [first, second, between @ .., last] if between.len() > 2 => {
            format!("{first}, then {second}, then {} more, then {last}", between.len())
        }
        _ => all(via),
    }
}

fn in_words(strength: Strength) -> &'static str {
    match strength {
        Strength::Recorded => "recorded",
        Strength::SharedText => "shared text",
        Strength::Shadowed => "shadowed",
        Strength::InContext => "in context",
        Strength::NeverInContext => "never in context",
    }
}

impl Screen {
    /// Writes the answer: what is asked about, the verdict, the evidence.
    pub(crate) fn write(
        &self,
        log: &Log,
        why: &Why,
        parent: Option<&Path>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let target = &why.target;
        let asked = target.focus.clone().and_then(|f| target.text.get(f)).unwrap_or(&target.text).trim();
        let head = format!("{} {}", target.seq, target.kind);
        let room = self.width.saturating_sub(head.len() + 2).max(30);
        writeln!(out, "{}  {}", self.style.strong(&head), cut(&clean_line(asked), room))?;
        match (&target.request, target.upto) {
            (Some(request), Some(upto)) => {
                writeln!(out, "request {request}, which saw the log up to event {upto}")?
            }
            (Some(request), None) => writeln!(out, "request {request}, which saw nothing")?,
            (None, _) => writeln!(out, "no request is logged for it; judged by what stood before it")?,
        }
        writeln!(out)?;
        self.verdict(why, out)?;
        self.list(log, why, parent, out)?;
        if !why.also_said_in.is_empty() {
            let seqs: Vec<String> = why.also_said_in.iter().take(RESULTS).map(u64::to_string).collect();
            writeln!(
                out,
                "parts of it stood in prompts or context too, and do not count: {}",
                seqs.join(", ")
            )?;
        }
        Ok(())
    }

    /// Writes what subagents found of it.
    pub(crate) fn delegated(&self, delegated: &[Delegated], out: &mut dyn Write) -> io::Result<()> {
        for child in delegated {
            let links: Vec<String> =
                child.links.iter().take(QUOTES).map(|l| format!("{} {}", l.seq, l.kind)).collect();
            let named = if links.is_empty() {
                "which no event here names".to_owned()
            } else {
                format!("named by {}", links.join(", "))
            };
            let path = clean_line(&child.path.display().to_string()).into_owned();
            writeln!(out)?;
            writeln!(
                out,
                "found by subagent {} ({path}), {named}",
                self.style.strong(&clean_line(&child.id))
            )?;
            let limit = if self.all { usize::MAX } else { RESULTS };
            for e in child.evidence.iter().take(limit) {
                self.result(e, out)?;
                writeln!(out)?;
                e.spans.iter().take(QUOTES).try_for_each(|s| self.quote(s, out))?;
            }
        }
        Ok(())
    }

    fn verdict(&self, why: &Why, out: &mut dyn Write) -> io::Result<()> {
        let supports = why.evidence.iter().filter(|e| e.supports).count() as u64;
        let results = plural(why.evidence.len() as u64, "tool result");
        if supports > 0 {
            return writeln!(out, "supported by {supports} of {results}");
        }
        let why_not =
            if why.evidence.is_empty() { "no tool result before it" } else { "no textual evidence" };
        writeln!(
            out,
            "{} {why_not}: nothing supports it ({results} looked at)",
            self.style.warn("unsupported:")
        )
    }

    fn list(&self, log: &Log, why: &Why, parent: Option<&Path>, out: &mut dyn Write) -> io::Result<()> {
        let shown = |e: &&Evidence| self.all || e.supports || (!e.spans.is_empty() && e.score >= 0.3);
        let limit = if self.all { usize::MAX } else { RESULTS };
        let listed: Vec<&Evidence> = why.evidence.iter().filter(shown).take(limit).collect();
        for e in &listed {
            self.one(log, e, parent, out)?;
        }
        let rest = why.evidence.len() - listed.len();
        if rest > 0 {
            writeln!(
                out,
                "{}",
                self.style.dim(&format!("{} more without telling text; --all lists them", rest))
            )?;
        }
        Ok(())
    }

    fn one(&self, log: &Log, e: &Evidence, parent: Option<&Path>, out: &mut dyn Write) -> io::Result<()> {
        self.result(e, out)?;
        if e.inherited {
            let id = log.header().and_then(|h| h.shown_parent()).unwrap_or_else(|| "its parent".into());
            write!(out, "  inherited from {}", clean_line(&id))?;
            if let Some(path) = parent {
                write!(out, " ({})", clean_line(&path.display().to_string()))?;
            }
        }
        writeln!(out)?;
        if !e.via.is_empty() {
            let chain = chain(&e.via);
            match e.strength {
                Strength::NeverInContext => {
                    writeln!(out, "    taken away: {chain} holds its place and is no message")?;
                }
                _ => writeln!(out, "    the model had {chain} in its place")?,
            }
        }
        for s in e.spans.iter().take(QUOTES) {
            self.quote(s, out)?;
        }
        Ok(())
    }

    /// A result, its strength and its score, without the end of the line.
    fn result(&self, e: &Evidence, out: &mut dyn Write) -> io::Result<()> {
        let label = in_words(e.strength);
        let label = if e.supports { self.style.good(label) } else { self.style.dim(label) };
        let tool = clean_line(e.tool.as_deref().unwrap_or("tool")).into_owned();
        let call = clean_line(e.call_id.as_deref().unwrap_or("?")).into_owned();
        write!(out, "  {} {tool} {call}  {label}  {:.1}", e.seq, e.score)
    }

    fn quote(&self, s: &SharedSpan, out: &mut dyn Write) -> io::Result<()> {
        let mut notes = format!("byte {} of it, byte {} of the result", s.target_offset, s.source_offset);
        if let Some(seq) = s.also_in {
            notes += &format!("; in {seq} too");
        }
        match s.survives {
            Some(true) => notes += "; kept by what replaced it",
            Some(false) => notes += "; lost in what replaced it",
            None => {}
        }
        let room = self.width.saturating_sub(notes.len() + 10).max(30);
        writeln!(out, "    \"{}\"  {}", cut(&clean_line(&s.quote), room), self.style.dim(&notes))
    }
}
