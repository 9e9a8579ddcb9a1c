//! Calls that a program made inside a tool call (v4 section 8.2, N19).

use super::calls::owned;
use super::lifecycle::Turns;
use super::{RelEvent, Rule, Verdict};
use crate::fault::Code;
use crate::format::kind::Kind;
use crate::json::{Raw, canonical};
use std::collections::HashMap;

const N19: Rule = Rule(Code::RelDispatch, "N19");

/// A nested call that is known by its id.
#[derive(Clone, Debug)]
struct Dispatch {
    root: Vec<u8>,
    unsettled: Option<Begun>,
}

/// How a nested call that has not settled began.
#[derive(Clone, Debug)]
struct Begun {
    parent: Vec<u8>,
    /// Name and arguments, as stored.
    asked: [Option<Vec<u8>>; 2],
}

/// The nested calls of the whole log.
#[derive(Clone, Debug, Default)]
pub(super) struct Dispatches {
    known: HashMap<Vec<u8>, Dispatch>,
}

impl Dispatches {
    pub(super) fn event(&mut self, event: &RelEvent<'_>, turns: &Turns) -> Verdict {
        let in_turn = N19.hold(turns.turn.is_some(), "a nested dispatch outside of any turn");
        let [id, root, parent, name, arguments] =
            event.data.get_all(["subCallId", "rootCallId", "parentCallId", "name", "arguments"]);
        let text = |value: Option<Raw<'_>>| {
            let value = value.filter(|value| value.is_filled_text()).and_then(Raw::text);
            value
                .map(|text| text.into_owned())
                .ok_or_else(|| N19.broken("a nested dispatch without its three ids"))
        };
        let (id, root, parent) = (text(id)?, text(root)?, text(parent)?);
        let kept_root = self.known.get(&id).is_none_or(|known| known.root == root);
        let known_parent = parent == root || self.known.get(&parent).is_some_and(|known| known.root == root);
        let own = match event.kind {
            Kind::PtcDispatchStart => self.start(id, root, parent, [owned(name), owned(arguments)]),
            _ => self.settle(id, root, &parent, [name, arguments]),
        };
        in_turn?;
        N19.hold(kept_root, "a nested dispatch under another rootCallId than before")?;
        N19.hold(
            known_parent,
            "a nested dispatch whose parentCallId is neither its root nor a call under it",
        )?;
        own
    }

    fn start(&mut self, id: Vec<u8>, root: Vec<u8>, parent: Vec<u8>, asked: [Option<Vec<u8>>; 2]) -> Verdict {
        let begun = Dispatch { root, unsettled: Some(Begun { parent, asked }) };
        let repeated = self.known.insert(id, begun).is_some();
        N19.hold(!repeated, "a nested dispatch starts twice")
    }

    fn settle(&mut self, id: Vec<u8>, root: Vec<u8>, parent: &[u8], asked: [Option<Raw<'_>>; 2]) -> Verdict {
        // One without a start is believed, so that what it called is not reported too.
        let known = self.known.entry(id).or_insert(Dispatch { root, unsettled: None });
        let begun = known.unsettled.take();
        let begun = begun.ok_or_else(|| N19.broken("a nested dispatch settles without a start"))?;
        let same = |(stored, value): (&Option<Vec<u8>>, Option<Raw<'_>>)| match (stored, value) {
            (None, None) => true,
            (Some(stored), Some(value)) => {
                Raw::parse(stored).is_ok_and(|stored| canonical::equal(stored, value))
            }
            _ => false,
        };
        let equal = begun.parent == parent && begun.asked.iter().zip(asked).all(same);
        N19.hold(
            equal,
            "a nested dispatch settles with another parent, name or other arguments than it started with",
        )
    }
}
