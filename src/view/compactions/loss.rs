//! What was asked for again after a compaction had taken it from the model.

use crate::log::surface::Surface;
use crate::seq::Seq;
use crate::view::tools::{Call, What};
use std::collections::HashMap;

/// In which way a later call asked for the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// The same tool with the same arguments.
    Call,
    /// The same tool on the same file.
    File,
    /// Another call that gave the same text, byte for byte.
    Text,
}

impl Again {
    /// The word used in text and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Again::Call => "same-call",
            Again::File => "same-file",
            Again::Text => "same-text",
        }
    }
}

/// A result that the model no longer had when it asked for it again.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The result that was taken away.
    pub result: Seq,
    /// The call that had given it.
    pub call: Seq,
    /// The first call that asked again.
    pub again: Seq,
    /// In which way.
    pub how: Again,
    /// The tool that asked again.
    pub name: String,
    /// The first of its arguments.
    pub arguments: String,
    /// The size of what was taken away, in bytes as stored.
    pub bytes: u64,
}

/// Results shorter than that are the same by chance.
const SAME_TEXT: u64 = 64;

/// The calls of a log, to be asked.
pub(super) struct Ledger<'a> {
    calls: &'a [Call],
    surface: &'a Surface,
    by_result: HashMap<u64, usize>,
    same_call: HashMap<u64, Vec<usize>>,
    same_file: HashMap<(&'a str, &'a str), Vec<usize>>,
    same_text: HashMap<u64, Vec<usize>>,
}

impl<'a> Ledger<'a> {
    pub(super) fn new(calls: &'a [Call], surface: &'a Surface) -> Ledger<'a> {
        let mut ledger = Ledger {
            calls,
            surface,
            by_result: HashMap::new(),
            same_call: HashMap::new(),
            same_file: HashMap::new(),
            same_text: HashMap::new(),
        };
        for (at, call) in calls.iter().enumerate().filter(|(_, c)| c.what == What::Call) {
            if let Some(result) = call.result_seq {
                ledger.by_result.insert(result.0, at);
            }
            if call.call_seq.is_none() {
                continue;
            }
            ledger.same_call.entry(call.text_key).or_default().push(at);
            if let Some(file) = &call.file {
                ledger.same_file.entry((&call.name, file)).or_default().push(at);
            }
            if let Some(key) = call.result_key.filter(|_| call.result_bytes >= Some(SAME_TEXT)) {
                ledger.same_text.entry(key).or_default().push(at);
            }
        }
        ledger
    }

    /// What was asked for again behind the event `after` that took those events away.
    pub(super) fn after(&self, after: Seq, shadowed: &[u64]) -> Vec<Loss> {
        let mut found: Vec<Loss> = Vec::new();
        for loss in shadowed.iter().filter_map(|seq| self.one(after, *seq)) {
            // Of several results of one call the last is the one that was missed.
            match found.iter_mut().find(|known| known.again == loss.again && known.how == loss.how) {
                Some(known) => *known = loss,
                None => found.push(loss),
            }
        }
        found
    }

    fn one(&self, after: Seq, seq: u64) -> Option<Loss> {
        let lost = &self.calls[*self.by_result.get(&self.original(seq))?];
        let later = |list: Option<&Vec<usize>>| {
            list?.iter().map(|at| &self.calls[*at]).find(|call| call.call_seq > Some(after))
        };
        let found = [
            (Again::Call, later(self.same_call.get(&lost.text_key))),
            (Again::File, lost.file.as_ref().and_then(|f| later(self.same_file.get(&(&*lost.name, &**f))))),
            (Again::Text, lost.result_key.and_then(|key| later(self.same_text.get(&key)))),
        ];
        let (how, again) = found.into_iter().find_map(|(how, call)| Some((how, call?)))?;
        Some(Loss {
            result: Seq(seq),
            call: lost.seq(),
            again: again.seq(),
            how,
            name: again.name.to_string(),
            arguments: again.arguments.to_string(),
            bytes: lost.result_bytes.unwrap_or(0),
        })
    }

    /// The first form of a result: a shortened one stands for what it replaced.
    fn original(&self, seq: u64) -> u64 {
        let mut at = seq;
        while !self.by_result.contains_key(&at) {
            let op =
                self.surface.all().binary_search_by_key(&at, |n| n.seq).map(|n| self.surface.all()[n].op);
            match op {
                Ok(crate::format::surface_op::SurfaceOp::Replace { start, .. }) if start < at => at = start,
                _ => return seq,
            }
        }
        at
    }
}
