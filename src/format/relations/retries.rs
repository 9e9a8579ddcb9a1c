//! Retries of a request (v4 section 8.2, N20 and N21).

use super::lifecycle::{Turns, named};
use super::{RelEvent, Rule, Verdict};
use crate::fault::Code;
use crate::format::shape::{object, strict_count};
use crate::json::{Raw, canonical};
use std::collections::{HashMap, HashSet};

const N20: Rule = Rule(Code::RelRetry, "N20");
const N21: Rule = Rule(Code::RelRetry, "N21");

/// Turn and step as named, provider and policy as canonical text.
type Chain = ([Option<u64>; 2], [Option<Vec<u8>>; 2]);

/// Where a retry was announced, and whether it has started.
#[derive(Clone, Debug)]
struct Announced {
    place: [Option<u64>; 2],
    started: bool,
}

/// The retries of the whole log, and the provider of the last header.
#[derive(Clone, Debug, Default)]
pub(super) struct Retries {
    provider: Option<Vec<u8>>,
    /// The last retry of each chain: its number and its id.
    chains: HashMap<Chain, (u64, Vec<u8>)>,
    ids: HashSet<Vec<u8>>,
    announced: HashMap<(Vec<u8>, u64), Announced>,
}

/// The id and the number of a retry.
fn identity(event: &RelEvent<'_>, rule: Rule) -> Result<(Vec<u8>, u64), super::Breach> {
    let [id, retry] = event.data.get_all(["retryId", "retry"]);
    let id = id.filter(|id| id.is_filled_text()).and_then(Raw::text);
    match (id, strict_count(retry)) {
        (Some(id), Some(retry)) => Ok((id.into_owned(), retry)),
        _ => Err(rule.broken("a retry without its retryId or its number")),
    }
}

impl Retries {
    pub(super) fn header(&mut self, event: &RelEvent<'_>) {
        let config = event.data.get("header").and_then(|header| object(header.get("config")));
        self.provider = config.and_then(|config| config.get("provider")).map(canonical::stringify);
    }

    /// N20: the next retry of its chain, in the open step or right after it.
    pub(super) fn retry(&mut self, event: &RelEvent<'_>, turns: &Turns) -> Verdict {
        let (id, retry) = identity(event, N20)?;
        let place = named(event);
        let texts = event.data.get_all(["provider", "policyKey"]).map(|text| text.map(canonical::stringify));
        let expected = [turns.turn, turns.step.or(turns.next_step.checked_sub(1))];
        let in_place = turns.turn.is_some() && place == expected;
        let same_provider = texts[0] == self.provider;
        let announced = Announced { place, started: false };
        self.announced.entry((id.clone(), retry)).or_insert(announced);
        let unused = self.ids.insert(id.clone());
        let previous = self.chains.insert((place, texts), (retry, id.clone()));
        N20.hold(in_place, "llm/retry outside of the step it names")?;
        N20.hold(same_provider, "llm/retry for another provider than the last request/header names")?;
        let Some((last, last_id)) = previous else {
            N20.hold(retry == 1, "llm/retry begins a chain with a number other than 1")?;
            return N20.hold(unused, "llm/retry begins a chain with a retryId that is in use");
        };
        if retry != last.saturating_add(1) {
            return Err(N20.broken(format!("llm/retry number {retry}, expected {}", last.saturating_add(1))));
        }
        N20.hold(id == last_id, "llm/retry with another retryId than the retry before it")
    }

    /// N21: a retry starts once, after it was announced, in the same step.
    pub(super) fn started(&mut self, event: &RelEvent<'_>) -> Verdict {
        let key = identity(event, N21)?;
        let announced = self.announced.get_mut(&key);
        let announced = announced.ok_or_else(|| N21.broken("llm/retry-started without its llm/retry"))?;
        let again = std::mem::replace(&mut announced.started, true);
        N21.hold(announced.place == named(event), "llm/retry-started in another step than its llm/retry")?;
        N21.hold(!again, "llm/retry-started twice for one retry")
    }
}
