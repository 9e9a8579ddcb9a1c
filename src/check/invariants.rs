//! Every rule of v0 section 15 by its id, and the code that a breach of it gives.

use crate::fault::Code;

/// How a rule is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// A breach gives this code.
    By(Code),
    /// No log can show a breach, for this reason.
    Unseen(&'static str),
}

use Held::{By, Unseen};

/// The rules in the order of the page.
pub const INVARIANTS: &[(&str, Held)] = &[
    // A record whose seq is not the next one never becomes an event.
    ("I1", By(Code::LineSeq)),
    ("I2", By(Code::InvTurn)),
    ("I3", By(Code::InvTurn)),
    ("I4", By(Code::InvStep)),
    ("I5", By(Code::InvPlacement)),
    ("I6", By(Code::InvResult)),
    ("I7", By(Code::InvPlacement)),
    ("I8", By(Code::InvPlacement)),
    ("I9", Unseen("it says that two types may stand anywhere")),
    ("I10", By(Code::UnansweredCall)),
    ("I11", By(Code::UnansweredCall)),
    ("I12", By(Code::OpenTurn)),
    ("I13", By(Code::RepeatedId)),
    ("I14", By(Code::TimeBackwards)),
    ("C1", By(Code::InvCompaction)),
    ("C2", By(Code::InvCompaction)),
    ("C3", By(Code::InvCompaction)),
    ("C4", By(Code::InvCompaction)),
    ("C5", By(Code::InvCompaction)),
    ("C6", By(Code::InvCompaction)),
    ("C7", By(Code::InvCompaction)),
    ("C8", Unseen("it says what an end-seed closes, and C4 and C6 follow it")),
    ("C9", By(Code::InvCheckpoint)),
    ("C10", By(Code::InvCheckpoint)),
    ("C11", By(Code::InvCut)),
    ("K1", By(Code::InvCommand)),
    ("K2", By(Code::InvCommand)),
    ("K3", By(Code::InvCommand)),
    ("A1", By(Code::InvApproval)),
    ("A2", By(Code::InvApproval)),
    ("A3", By(Code::InvSetting)),
    ("H1", By(Code::InvHook)),
    ("H2", By(Code::InvHook)),
    ("H3", By(Code::InvHook)),
    ("H4", By(Code::InvHook)),
    ("D1", By(Code::InvDispatch)),
    ("D2", By(Code::InvDispatch)),
    ("D3", By(Code::InvDispatch)),
    ("F1", By(Code::InvWorkflow)),
    ("F2", By(Code::InvWorkflow)),
    ("F3", By(Code::InvWorkflow)),
    ("F4", By(Code::InvWorkflow)),
    ("F5", By(Code::InvWorkflow)),
    ("R1", By(Code::InvRetry)),
    ("R2", By(Code::InvRetry)),
    ("R3", By(Code::InvRetry)),
    ("R4", By(Code::InvRetry)),
    ("T1", By(Code::InvTitle)),
    ("T2", By(Code::InvSetting)),
    ("T3", By(Code::InvSetting)),
    ("T4", By(Code::InvSetting)),
    ("T5", Unseen("the names of presets are defined by a deployment, not by the log")),
    // All of it but the text of a round's message, which the harness makes of a prompt of its own.
    ("G", By(Code::InvGoal)),
    ("SC1", By(Code::InvSchedule)),
    ("TM1", By(Code::InvTeam)),
    ("IN1", By(Code::InvInbox)),
    ("TC1", By(Code::InvTimeContext)),
    ("SG1", By(Code::StreamGrammar)),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// The ids that a meaning names in its brackets, as `(I2, I3)` or `(R1 to R4)`.
    fn named(meaning: &str) -> Vec<String> {
        let Some((_, ids)) = meaning.rsplit_once('(') else { return Vec::new() };
        let mut named = Vec::new();
        for part in ids.trim_end_matches(')').split(", ") {
            let split = |id: &str| {
                let letters = id.trim_end_matches(|c: char| c.is_ascii_digit());
                (letters.to_owned(), id[letters.len()..].parse::<u64>().unwrap_or_default())
            };
            let (first, last) = part.split_once(" to ").unwrap_or((part, part));
            let ((letters, from), (_, upto)) = (split(first), split(last));
            named.extend((from..=upto).map(|n| match n {
                0 => letters.clone(),
                n => format!("{letters}{n}"),
            }));
        }
        named
    }

    #[test]
    fn a_code_names_each_rule_that_it_stands_for_and_no_other() {
        let mut met = HashSet::new();
        for (id, held) in INVARIANTS {
            assert!(met.insert(id), "{id} stands twice");
            if let By(code) = held
                && (code.name().starts_with("inv-") || *code == Code::StreamGrammar)
            {
                let names = named(code.meaning());
                assert!(names.iter().any(|name| name == id), "{code:?} does not name {id}: {names:?}");
            }
        }
        for code in Code::ALL.iter().filter(|code| code.name().starts_with("inv-")) {
            for id in named(code.meaning()) {
                let rule = INVARIANTS.iter().find(|(name, _)| *name == id);
                assert!(rule.is_some(), "{code:?} names {id}");
            }
        }
        assert_eq!(INVARIANTS.len(), 58);
    }
}
