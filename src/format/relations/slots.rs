//! The first pass: message slots, delivery markers, the subagent catalogue (v4 section 8.1).

use super::{Breach, KEPT, RelEvent, RelHeader, Rule, Verdict, Violation, Violations};
use crate::fault::Code;
use crate::format::kind::Kind;
use crate::format::shape::{array, filled, is, is_any, is_text, object, strict_count};
use crate::json::Raw;
use std::collections::HashSet;

const N2: Rule = Rule(Code::RelData, "N2");
const N3: Rule = Rule(Code::RelDelivery, "N3");
const N4: Rule = Rule(Code::RelCatalog, "N4");

/// The generation whose logs these rules judge, as a delivery marker names it.
const OWN_GENERATION: u64 = 4;

/// What the first pass remembers.
///
/// Some of its rules hold for inherited events only, or for own ones only, and which are inherited
/// is not known before the last tagged end-seed. Each such seed shows that all before it was
/// inherited, so what was found there under the rules for own events is dropped.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    header: RelHeader,
    children: HashSet<Vec<u8>>,
    if_own: Violations,
}

impl Slots {
    pub(super) fn new(header: RelHeader) -> Slots {
        Slots { header, children: HashSet::new(), if_own: Violations::default() }
    }

    /// Judges one event; what depends on the inherited count waits for [`Slots::finish`].
    pub(super) fn judge(&mut self, event: &RelEvent<'_>) -> Verdict {
        let data = event.data;
        match event.kind {
            Kind::UserMessage => slot(Some(data)),
            Kind::SystemMessage | Kind::DeveloperMessage | Kind::AssistantMessage | Kind::ToolResult => {
                slot(data.get("message"))
            }
            Kind::InboxSpliced => slot_list(data, "inserted"),
            Kind::SessionTitleLlmRequest => slot_list(data, "messages"),
            Kind::DeliveryAccepted => self.delivery(event),
            Kind::SubagentCatalog => {
                if let Err(breach) = self.catalog(data) {
                    self.if_own.add(event.seq, 1, breach);
                }
                Ok(())
            }
            Kind::EndSeed if data.get("inherited").is_some_and(Raw::is_true) => {
                self.children.clear();
                self.if_own = Violations::default();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn delivery(&mut self, event: &RelEvent<'_>) -> Verdict {
        N3.hold(event.data.is_object(), "data of a delivery marker, expected an object")?;
        let [version, through, session] =
            event.data.get_all(["sessionFormatVersion", "throughSeq", "sessionId"]);
        let version = version.map_or(Some(0), |version| strict_count(Some(version)));
        N3.hold(version.is_some(), "a delivery marker whose sessionFormatVersion is no count")?;
        // The seqs of an older generation are not those of this log.
        if version != Some(OWN_GENERATION) {
            return Ok(());
        }
        let earlier = strict_count(through).is_some_and(|through| through < event.seq);
        N3.hold(earlier, "a delivery marker whose throughSeq is not an earlier event")?;
        N3.hold(filled(session), "a delivery marker without a sessionId")?;
        if session.and_then(Raw::text).is_some_and(|id| *id == *self.header.id) {
            return Ok(());
        }
        let foreign = "a delivery marker of another session, expected among inherited events only";
        N3.hold(self.header.has_parent, foreign)?;
        self.if_own.add(event.seq, 1, N3.broken(foreign));
        Ok(())
    }

    fn catalog(&mut self, data: Raw<'_>) -> Result<(), Breach> {
        let [version, child, created, mode, label] =
            data.get_all(["version", "childId", "childCreatedAt", "mode", "label"]);
        let modes: &[&str] = match strict_count(version) {
            Some(0) => &["continuable", "one-shot"],
            Some(1) => &["continuable", "one-shot", "unknown"],
            Some(2) => &["external"],
            _ => return Err(N4.broken("a catalogue entry whose version is not 0, 1 or 2")),
        };
        N4.hold(is_any(mode, modes), "a catalogue entry whose mode its version does not have")?;
        N4.hold(strict_count(created).is_some(), "a catalogue entry whose childCreatedAt is no count")?;
        let labelled =
            if is(mode, "continuable") { is_text(label) } else { label.is_none() || is_text(label) };
        N4.hold(labelled, "a catalogue entry without the label it needs, or with one that is no text")?;
        let child =
            child.and_then(Raw::text).ok_or_else(|| N4.broken("a catalogue entry without a childId"))?;
        N4.hold(self.children.insert(child.into_owned()), "a catalogue entry for a child that has one")
    }

    /// What is wrong with own events.
    pub(super) fn finish(self, inherited: u64) -> impl Iterator<Item = Violation> {
        self.if_own.0.into_iter().filter(move |violation| violation.seq >= inherited).take(KEPT)
    }
}

/// N2 for one message.
fn slot(message: Option<Raw<'_>>) -> Verdict {
    let message = object(message).ok_or_else(|| N2.broken("no message where one is expected"))?;
    let kind = object(message.get("source")).and_then(|source| source.get("kind"));
    N2.hold(filled(kind), "a message whose source has no kind")?;
    N2.hold(!is(kind, "plugin"), "a message whose source is of the retired kind plugin")
}

/// N2 for a list of messages, which must be there.
fn slot_list(data: Raw<'_>, name: &str) -> Verdict {
    let list =
        array(data.get(name)).ok_or_else(|| N2.broken(format!("{name}, expected an array of messages")))?;
    list.elements().try_for_each(|message| slot(Some(message)))
}
