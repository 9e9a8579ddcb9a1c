//! How each tool result stands to a conclusion, once all that the model had is known.

use super::context::{Candidate, Context};
use super::needle::{Match, Needle};
use super::score::{Known, SUPPORTS, Scored, Shared, Weighted, score};
use super::strength::{Evidence, SharedSpan, Strength};
use super::target::Target;
use crate::error::Result;
use crate::format::kind::Kind;
use crate::log::{Log, pipeline};
use std::ops::ControlFlow;

/// How many results are judged at a time.
const RESULTS: usize = 256;

/// What results are judged by.
pub(super) struct Judge<'a> {
    pub(super) log: &'a Log,
    pub(super) target: &'a Target,
    pub(super) needle: &'a Needle,
    /// What the model had from elsewhere.
    pub(super) known: &'a Known,
    pub(super) read: &'a Context,
}

impl Judge<'_> {
    /// Judges all of them, on several threads; in the order of the log.
    pub(super) fn all(&self) -> Result<Vec<Evidence>> {
        let mut jobs = self.read.candidates.chunks(RESULTS);
        let mut all = Vec::new();
        pipeline::run(
            pipeline::threads(self.log.threads()),
            || Ok(jobs.next()),
            || (),
            |(), job, give| {
                give(job.iter().filter_map(|candidate| self.one(candidate)).collect::<Vec<_>>());
            },
            |judged| {
                all.extend(judged);
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(all)
    }

    /// Judges one; `None` for a nested one that tells nothing.
    fn one(&self, candidate: &Candidate) -> Option<Evidence> {
        let shadowed = !candidate.via.is_empty();
        let (matches, via) = (&candidate.looked.found.matches[..], &candidate.via[..]);
        let scored = Scored { seq: candidate.seq, matches, via };
        // The model never had a nested one: what it knew takes nothing away from it.
        let nothing = Known::default();
        let known = if candidate.nested { &nothing } else { self.known };
        let Shared { score, runs } = score(scored, known, self.needle);
        let tells = score >= SUPPORTS;
        if candidate.nested && !tells {
            return None;
        }
        let holder = via.last().map(|seq| self.read.holders.get(seq).map_or(&[][..], Vec::as_slice));
        let spans: Vec<SharedSpan> = runs.iter().map(|run| span(run, self.needle, holder)).collect();
        let survives: f64 = spans.iter().filter(|s| s.survives == Some(true)).map(|s| s.weight).sum();
        let target = self.target;
        let recorded = target.recorded.contains(candidate.seq) && target.kind != Kind::ToolCall;
        let gone = via.last().is_some_and(|holder| self.read.empty.contains(holder));
        let strength = match () {
            () if recorded => Strength::Recorded,
            () if candidate.nested || gone => Strength::NeverInContext,
            () if shadowed => Strength::Shadowed,
            () if tells => Strength::SharedText,
            () => Strength::InContext,
        };
        let supports = match strength {
            Strength::Recorded | Strength::SharedText => true,
            Strength::Shadowed => tells && survives >= SUPPORTS / 2.0,
            Strength::InContext | Strength::NeverInContext => false,
        };
        Some(Evidence {
            seq: candidate.seq,
            call_id: candidate.looked.call_id.clone(),
            tool: self.read.tool(candidate).cloned(),
            strength,
            score,
            spans: if score > 0.0 { spans } else { Vec::new() },
            via: candidate.via.clone(),
            inherited: candidate.seq < self.log.inherited(),
            supports,
        })
    }
}

/// A shared run in words.
pub(super) fn span(run: &Weighted, needle: &Needle, holder: Option<&[Match]>) -> SharedSpan {
    let bytes = needle.bytes(run.run.from, run.run.length);
    let whole = &needle.text()[bytes.clone()];
    let quote = whole.trim();
    let lead = whole.len() - whole.trim_start().len();
    let survives = holder.map(|matches| {
        let has = |token: usize| matches.iter().any(|m| m.from <= token && token < m.from + m.length);
        let weights = needle.weights(&run.run);
        let all: f64 = weights.iter().sum();
        let kept: f64 =
            weights.iter().enumerate().filter(|(n, _)| has(run.run.from + n)).map(|(_, w)| w).sum();
        kept >= 0.5 * all
    });
    SharedSpan {
        quote: quote.to_owned(),
        target_offset: bytes.start + lead,
        source_offset: run.run.source + lead,
        weight: run.weight,
        also_in: run.also_in,
        survives,
    }
}
