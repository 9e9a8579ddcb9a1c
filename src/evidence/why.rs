//! Which tool results stand behind a conclusion, and what the model had seen of each.

use super::context::{self, Candidate, Said};
use super::needle::{Counts, Match, Needle};
use super::score::{Known, SUPPORTS, Shared, Speaker, Weighted, score};
use super::target::Target;
use crate::error::Result;
use crate::format::kind::Kind;
use crate::log::Log;
use crate::log::surface::Surface;
use std::collections::HashMap;

/// How a tool result stands to the conclusion, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// The log itself names it as a source.
    Recorded,
    /// The model had it, and both hold text that tells.
    SharedText,
    /// The model had only what a summary or a cut kept of it.
    Shadowed,
    /// The model had it; nothing that tells is shared.
    InContext,
    /// The model never had it.
    NeverInContext,
}

impl Strength {
    /// The name used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Strength::Recorded => "recorded",
            Strength::SharedText => "shared-text",
            Strength::Shadowed => "shadowed",
            Strength::InContext => "in-context",
            Strength::NeverInContext => "never-in-context",
        }
    }
}

/// Text that stands in the conclusion and in a source.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedSpan {
    /// The text.
    pub quote: String,
    /// Its first byte in the words of the conclusion.
    pub target_offset: usize,
    /// Its first byte in the words of the source.
    pub source_offset: usize,
    /// What is left of its weight.
    pub weight: f64,
    /// An earlier message that has a part of it too, from which the model may have it.
    pub also_in: Option<u64>,
    /// Of a shadowed source: whether what stands in its place still holds the text.
    pub survives: Option<bool>,
}

/// One tool result.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The result.
    pub seq: u64,
    /// The call it answers.
    pub call_id: Option<String>,
    /// The tool.
    pub tool: Option<String>,
    /// How it stands to the conclusion.
    pub strength: Strength,
    /// How much telling text is shared, see [`score`](super::score).
    pub score: f64,
    /// The shared text, heaviest first.
    pub spans: Vec<SharedSpan>,
    /// What stands in its place, from what replaced it to what was on the surface.
    pub via: Vec<u64>,
    /// Whether it came from a parent session.
    pub inherited: bool,
    /// Whether it speaks for the conclusion.
    pub supports: bool,
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Why {
    /// The conclusion.
    pub target: Target,
    /// Every tool result that was in context or shadowed, and nested ones that share text; best first.
    pub evidence: Vec<Evidence>,
    /// Whether any of it speaks for the conclusion.
    pub supported: bool,
    /// Messages of people that hold telling text of the conclusion, ascending.
    pub also_said_in: Vec<u64>,
}

/// What was asked, ready to be asked of another session too.
pub struct Question {
    pub(super) needle: Needle,
    /// How often its words were met in the session itself.
    pub(super) counts: Counts,
    /// What people said before the conclusion.
    pub(super) prompts: Known,
}

/// Asks what stands behind a conclusion.
pub fn ask(log: &Log, target: Target) -> Result<Why> {
    ask_on(log, target).map(|(why, _)| why)
}

/// As [`ask`], and the question, to go on asking with.
///
/// The surface right before the request is folded once; bodies are read once, ascending, and only
/// those of messages in context, of shadowed results and of nested dispatches; several threads look at
/// them.
pub fn ask_on(log: &Log, target: Target) -> Result<(Why, Question)> {
    let mut needle = Needle::new(target.text.clone(), target.focus.clone());
    let surface =
        target.upto.map_or_else(|| Surface::new(log.dialect()), |upto| log.surface().as_of(upto.0, 0));
    let (read, counts) = context::read(log, &target, &surface, &needle)?;
    needle.set_counts(counts.clone());
    let (mut known, mut prompts) = (Known::default(), Known::default());
    for said in &read.said {
        known.learn(said.seq, said.speaker, &said.matches, &needle);
        if said.by_person {
            prompts.learn(said.seq, said.speaker, &said.matches, &needle);
        }
    }
    let mut evidence: Vec<Evidence> = read
        .candidates
        .iter()
        .filter_map(|c| judge(c, log, &target, &needle, &known, &read.holders, &read.tools))
        .collect();
    evidence.sort_by(|a, b| {
        let class = |e: &Evidence| {
            (e.strength != Strength::Recorded, !e.supports, e.strength == Strength::NeverInContext)
        };
        // Of equals the one that the model read last stands first.
        class(a)
            .cmp(&class(b))
            .then(b.score.total_cmp(&a.score))
            .then(a.strength.cmp(&b.strength))
            .then(b.seq.cmp(&a.seq))
    });
    let supported = evidence.iter().any(|e| e.supports);
    let also_said_in = telling(&read.said, &needle);
    Ok((Why { target, evidence, supported, also_said_in }, Question { needle, counts, prompts }))
}

fn telling(said: &[Said], needle: &Needle) -> Vec<u64> {
    let tells = |m: &Match| needle.weights(m).iter().sum::<f64>() >= SUPPORTS / 2.0;
    let people = said.iter().filter(|s| s.speaker == Speaker::People && s.matches.iter().any(tells));
    people.map(|said| said.seq).collect()
}

fn judge(
    candidate: &Candidate,
    log: &Log,
    target: &Target,
    needle: &Needle,
    known: &Known,
    holders: &HashMap<u64, Vec<Match>>,
    tools: &HashMap<u64, String>,
) -> Option<Evidence> {
    let shadowed = !candidate.via.is_empty();
    // What the summary says it has from its originals: that alone takes nothing away from them.
    let nothing_known = Known::default();
    let Shared { score, runs } = if shadowed {
        score_shadowed(candidate, known, needle)
    } else {
        score(
            candidate.seq,
            &candidate.matches,
            if candidate.nested { &nothing_known } else { known },
            needle,
        )
    };
    let holder = candidate.via.last().and_then(|seq| holders.get(seq));
    let spans: Vec<SharedSpan> = runs
        .iter()
        .map(|run| span(run, needle, shadowed.then_some(holder).map(|h| h.map_or(&[][..], Vec::as_slice))))
        .collect();
    let survives: f64 = spans.iter().filter(|s| s.survives == Some(true)).map(|s| s.weight).sum();
    let recorded = target.recorded.contains(candidate.seq) && target.kind != Kind::ToolCall;
    let tells = score >= SUPPORTS;
    let strength = match () {
        () if recorded => Strength::Recorded,
        () if candidate.nested => Strength::NeverInContext,
        () if shadowed => Strength::Shadowed,
        () if tells => Strength::SharedText,
        () => Strength::InContext,
    };
    if candidate.nested && !tells {
        return None;
    }
    let supports = match strength {
        Strength::Recorded => true,
        Strength::SharedText => true,
        Strength::Shadowed => tells && survives >= SUPPORTS / 2.0,
        Strength::InContext | Strength::NeverInContext => false,
    };
    Some(Evidence {
        seq: candidate.seq,
        call_id: candidate.call_id.clone(),
        tool: candidate.call.and_then(|call| tools.get(&call).cloned()),
        strength,
        score,
        spans: if score > 0.0 { spans } else { Vec::new() },
        via: candidate.via.clone(),
        inherited: candidate.seq < log.inherited(),
        supports,
    })
}

/// As [`score`], but what the model knows from the summaries in its place does not count against it.
fn score_shadowed(candidate: &Candidate, known: &Known, needle: &Needle) -> Shared {
    score(candidate.seq, &candidate.matches, &known.without(&candidate.via), needle)
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
