//! Which tool results stand behind a conclusion, and what the model had seen of each.

use super::context::{self, Said};
use super::judge::Judge;
use super::needle::{Counts, Match, Needle};
use super::score::{Known, SUPPORTS, Speaker};
use super::strength::{Evidence, Strength};
use super::target::Target;
use crate::error::Result;
use crate::log::Log;
use crate::log::surface::Surface;

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
    let needle = Needle::new(target.text.clone(), target.focus.clone());
    ask_with(log, target, needle, false)
}

/// As [`ask_on`], with the words made ready; nothing is read again where they were looked for
/// `while_reading`.
pub(super) fn ask_with(
    log: &Log,
    target: Target,
    mut needle: Needle,
    while_reading: bool,
) -> Result<(Why, Question)> {
    let surface =
        target.upto.map_or_else(|| Surface::new(log.dialect()), |upto| log.surface().as_of(upto.0, 0));
    let (read, counts) = context::read(log, &target, &surface, &needle, while_reading)?;
    needle.set_counts(counts.clone());
    let (mut known, mut prompts) = (Known::default(), Known::default());
    for said in &read.said {
        known.learn(said.seq, said.speaker, &said.looked.found.matches, &needle);
        if said.looked.by_person {
            prompts.learn(said.seq, said.speaker, &said.looked.found.matches, &needle);
        }
    }
    let judge = Judge { log, target: &target, needle: &needle, known: &known, read: &read };
    let mut evidence = judge.all()?;
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
    let people =
        said.iter().filter(|s| s.speaker == Speaker::People && s.looked.found.matches.iter().any(tells));
    people.map(|said| said.seq).collect()
}
