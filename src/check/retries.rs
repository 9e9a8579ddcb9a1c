//! Retries: numbered without a hole, inside their step, each started once (v0 section 15.4, R1 to R4).

use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::schema::Shape;
use crate::json::Raw;
use std::collections::{HashMap, HashSet};

const FAILURE: Shape = Shape::Open(
    &[("message", Shape::Filled), ("code", Shape::Filled)],
    &[
        ("status", Shape::Between(100, 599)),
        ("providerRetryAfterMs", Shape::Number(f64::MIN_POSITIVE, f64::MAX)),
        ("requestId", Shape::Filled),
    ],
);
const DELAY: Shape = Shape::Number(0.0, 2_147_483_647.0);
const COMMON: Shape = Shape::Open(
    &[
        ("retryId", Shape::Filled),
        ("provider", Shape::Filled),
        ("policyKey", Shape::Filled),
        ("retry", Shape::Positive),
        ("delayMs", DELAY),
        ("failure", FAILURE),
    ],
    &[],
);
const NORMAL: Shape = Shape::Open(&[("maxRetries", Shape::Positive)], &[]);
const ALWAYS: Shape =
    Shape::Test(|data| data.get("maxRetries").is_none(), "without maxRetries, as always is");
const MODE: Shape = Shape::By("mode", &[("normal", NORMAL), ("always", ALWAYS)], None);
const RETRY: Shape = Shape::Both(&COMMON, &MODE);

/// Turn, step, provider and policy of a chain.
type Chain = (u64, u64, Vec<u8>, Vec<u8>);

#[derive(Default)]
pub(super) struct Retries {
    place: Option<(u64, u64)>,
    provider: Option<Vec<u8>>,
    chains: HashMap<Chain, (Vec<u8>, u64)>,
    used: HashSet<Vec<u8>>,
    waiting: HashSet<(Vec<u8>, u64, u64, u64)>,
}

impl Retries {
    fn retry(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        sink.shape(Code::InvRetry, event, &RETRY, "R1");
        let [id, turn, step, provider, policy, retry, max] =
            event.data.get_all(["retryId", "turn", "step", "provider", "policyKey", "retry", "maxRetries"]);
        let text = |v: Option<Raw<'_>>| v.and_then(Raw::text).map(|t| t.into_owned()).unwrap_or_default();
        let count = |v: Option<Raw<'_>>| v.and_then(Raw::count).unwrap_or_default();
        let (id, provider, policy, number) = (text(id), text(provider), text(policy), count(retry));
        let place = (count(turn), count(step));
        if max.and_then(Raw::count).is_some_and(|max| number > max) {
            sink.warn(Code::InvRetry, event, "an llm/retry beyond its maxRetries (R1)");
        }
        if self.place != Some(place) || self.provider.as_ref() != Some(&provider) {
            sink.warn(Code::InvRetry, event, "an llm/retry outside of its step, or of another provider (R2)");
        }
        let known = self.chains.insert((place.0, place.1, provider, policy), (id.clone(), number));
        let follows = match &known {
            Some((last, n)) => *last == id && number == n + 1,
            None => number == 1 && !self.used.contains(&id),
        };
        if !follows {
            sink.warn(
                Code::InvRetry,
                event,
                format!("retry {number} does not follow the one before it (R3)"),
            );
        }
        self.used.insert(id.clone());
        self.waiting.insert((id, number, place.0, place.1));
    }

    fn started(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        let [id, turn, step, retry] = event.data.get_all(["retryId", "turn", "step", "retry"]);
        let count = |v: Option<Raw<'_>>| v.and_then(Raw::count).unwrap_or_default();
        let id = id.and_then(Raw::text).map(|t| t.into_owned()).unwrap_or_default();
        if !self.waiting.remove(&(id, count(retry), count(turn), count(step))) {
            sink.warn(Code::InvRetry, event, "a retry starts that was not scheduled, or twice (R4)");
        }
    }
}

impl Family for Retries {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        match event.kind {
            Kind::StepStart => {
                self.place = match super::life::named(event) {
                    (Some(turn), Some(step)) => Some((turn, step)),
                    _ => None,
                };
            }
            Kind::StepEnd | Kind::TurnEnd => self.place = None,
            Kind::RequestHeader => {
                let provider = event.data.path(&["header", "config", "provider"]).and_then(Raw::text);
                self.provider = provider.map(|p| p.into_owned());
            }
            Kind::LlmRetry => self.retry(event, sink),
            Kind::LlmRetryStarted => self.started(event, sink),
            _ => {}
        }
    }
}
