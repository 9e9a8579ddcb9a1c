//! Titles and the messages they were made from (v4 section 8.2, N22 and N23).

use super::{RelEvent, Rule, Verdict};
use crate::fault::Code;
use crate::format::shape::{array, is, object, only, strict_count};
use crate::json::Raw;
use std::collections::HashSet;

const N22: Rule = Rule(Code::RelTitle, "N22");
const N23: Rule = Rule(Code::RelTitle, "N23");

/// Which events are messages of the user, ascending.
#[derive(Clone, Debug, Default)]
pub(super) struct Titles {
    user: Vec<u64>,
}

impl Titles {
    pub(super) fn user(&mut self, event: &RelEvent<'_>) {
        let source = event.data.get("source");
        if source.is_some_and(|source| is(source.get("kind"), "user")) {
            self.user.push(event.seq);
        }
    }

    /// How many messages a title names, each a different earlier one of the user.
    fn members(&self, list: Option<Raw<'_>>, rule: Rule) -> Result<usize, super::Breach> {
        let list = array(list).ok_or_else(|| rule.broken("messageSeqs, expected an array"))?;
        let mut met = HashSet::new();
        for member in list.elements() {
            let seq = strict_count(Some(member)).filter(|seq| self.user.binary_search(seq).is_ok());
            let seq =
                seq.ok_or_else(|| rule.broken("messageSeqs names what is no earlier message of the user"))?;
            rule.hold(met.insert(seq), "messageSeqs names one message twice")?;
        }
        Ok(met.len())
    }

    /// N22: a title of the user names no messages, any other at least one.
    pub(super) fn title(&self, event: &RelEvent<'_>) -> Verdict {
        let [list, source] = event.data.get_all(["messageSeqs", "source"]);
        let count = self.members(list, N22)?;
        let source = object(source).ok_or_else(|| N22.broken("session/title without a source"))?;
        let by_user = is(source.get("kind"), "user");
        N22.hold(by_user == (count == 0), "messageSeqs is empty exactly when the user set the title")
    }

    /// N23: a request for a title sends one text.
    pub(super) fn request(&self, event: &RelEvent<'_>) -> Verdict {
        let [list, messages] = event.data.get_all(["messageSeqs", "messages"]);
        N23.hold(self.members(list, N23)? > 0, "messageSeqs is empty")?;
        let message = only(messages).ok_or_else(|| N23.broken("messages, expected exactly one"))?;
        let [role, source, content] = message.get_all(["role", "source", "content"]);
        let of_title = source.is_some_and(|source| is(source.get("kind"), "dsh-session-title-llm"));
        N23.hold(is(role, "user") && of_title, "the message of a title request has another role or source")?;
        let text = only(content).is_some_and(|block| is(block.get("type"), "text"));
        N23.hold(text, "the message of a title request, expected exactly one text block")
    }
}
