//! Tool calls and the tools a developer message adds (v4 section 8.2, N13 to N17).

use super::lifecycle::Turns;
use super::{RelEvent, Rule, Verdict};
use crate::fault::Code;
use crate::format::shape::{array, canonical_decimal, filled, is, is_text, object, only, strict_count};
use crate::format::surface_op::SurfaceOp;
use crate::json::{Raw, canonical};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

const N13: Rule = Rule(Code::RelCall, "N13");
const N14: Rule = Rule(Code::RelCall, "N14");
const N15: Rule = Rule(Code::RelResult, "N15");
const N16: Rule = Rule(Code::RelResult, "N16");
const N17: Rule = Rule(Code::RelTools, "N17");

/// The text of the one repair that is compared (v4 section 9.2).
const NOT_STARTED: &[u8] = b"The tool call was interrupted before the Harness recorded it as started. \
Retry it if it is still needed.";

/// A call that an assistant message advertised and no result has answered.
#[derive(Clone, Debug)]
struct Call {
    name: Option<Vec<u8>>,
    arguments: Option<Vec<u8>>,
    started: bool,
}

/// The names of a header's tools that are declared once and in full.
type Declared = Arc<HashSet<Vec<u8>>>;

/// The open calls, and the tools of every header.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    open: HashMap<Vec<u8>, Call>,
    headers: Vec<(u64, Declared)>,
}

/// Whether a stored value and a value are equal, or both absent.
fn same(stored: Option<&Vec<u8>>, value: Option<Raw<'_>>) -> bool {
    match (stored, value) {
        (None, None) => true,
        (Some(stored), Some(value)) => {
            stored == value.bytes() || Raw::parse(stored).is_ok_and(|stored| canonical::equal(stored, value))
        }
        _ => false,
    }
}

pub(super) fn owned(value: Option<Raw<'_>>) -> Option<Vec<u8>> {
    value.map(|value| value.bytes().to_vec())
}

impl Calls {
    pub(super) fn clear(&mut self) {
        self.open.clear();
    }

    /// How many calls have no result; they are forgotten, so that they are reported once.
    pub(super) fn take_unanswered(&mut self) -> usize {
        let count = self.open.len();
        self.open.clear();
        count
    }

    /// N13: an assistant message stands in its step and advertises calls.
    pub(super) fn message(&mut self, event: &RelEvent<'_>, turns: &mut Turns) -> Verdict {
        let placed = turns.in_step(event, Rule(Code::RelPlacement, "N13"));
        let content = array(event.data.get("message").and_then(|message| message.get("content")));
        let mut advertised =
            N13.hold(content.is_some(), "content of an assistant/message, expected an array");
        // Blocks after a bad one count too: their calls have results that would be reported.
        for block in content.into_iter().flat_map(Raw::elements) {
            let verdict = self.advertise(block);
            advertised = advertised.and(verdict);
        }
        placed.and(advertised)
    }

    fn advertise(&mut self, block: Raw<'_>) -> Verdict {
        N13.hold(block.is_object(), "a content block of an assistant/message, expected an object")?;
        let [kind, id, name, arguments] = block.get_all(["type", "id", "name", "arguments"]);
        if !is(kind, "tool-call") {
            return Ok(());
        }
        let id = id.filter(|id| id.is_filled_text()).and_then(Raw::text);
        let id = id.ok_or_else(|| N13.broken("a tool-call block without an id"))?;
        let call = Call { name: owned(name), arguments: owned(arguments), started: false };
        let repeated = self.open.insert(id.into_owned(), call).is_some();
        N13.hold(!repeated, "a tool-call block with the id of a call that has no result yet")
    }

    /// N14: a call was advertised just so, and starts once.
    pub(super) fn call(&mut self, event: &RelEvent<'_>, turns: &mut Turns) -> Verdict {
        let placed = turns.in_step(event, N14);
        let [id, name, arguments] = event.data.get_all(["callId", "name", "arguments"]);
        let id = id.and_then(Raw::text).ok_or_else(|| N14.broken("tool/call without a callId"))?;
        let Some(call) = self.open.get_mut(&*id) else {
            // Believed, so that its result is not reported too.
            let call = Call { name: owned(name), arguments: owned(arguments), started: true };
            self.open.insert(id.into_owned(), call);
            return placed.and(Err(
                N14.broken("tool/call that no assistant/message advertised, or that has a result")
            ));
        };
        let again = std::mem::replace(&mut call.started, true);
        let as_advertised = same(call.name.as_ref(), name) && same(call.arguments.as_ref(), arguments);
        placed?;
        N14.hold(!again, "tool/call for a call that has started")?;
        N14.hold(as_advertised, "tool/call with another name or other arguments than advertised")
    }

    /// N15 and N16: a result answers an open call; a replacing one needs a turn only.
    pub(super) fn result(&mut self, event: &RelEvent<'_>, turns: &mut Turns) -> Verdict {
        if event.op != SurfaceOp::Append {
            return N16.hold(turns.turn.is_some(), "a replacing tool/result outside of any turn");
        }
        let placed = turns.in_step(event, N15);
        let message = object(event.data.get("message"));
        let id = message.and_then(|message| message.get("toolCallId")).and_then(Raw::text);
        let call = id.as_deref().and_then(|id| self.open.remove(id));
        placed?;
        let call = call
            .ok_or_else(|| N15.broken("tool/result for no advertised call, or for one that has a result"))?;
        let sound = call.started || id.is_some_and(|id| is_not_started_repair(event, message, &id));
        N15.hold(sound, "tool/result for a call not started, and not the exact repair of one")
    }

    /// Keeps which tools a header declares; equal lists are kept once.
    pub(super) fn header(&mut self, event: &RelEvent<'_>) {
        let tools = event.data.get("header").and_then(|header| header.get("tools"));
        let declared = declared(tools);
        let shared = match self.headers.last() {
            Some((_, last)) if **last == declared => Arc::clone(last),
            _ => Arc::new(declared),
        };
        self.headers.push((event.seq, shared));
    }

    /// N17: the header a developer message names has each tool that it adds.
    pub(super) fn developer(&self, event: &RelEvent<'_>) -> Verdict {
        let Some(header_seq) = event.data.get("headerSeq") else { return Ok(()) };
        let header = strict_count(Some(header_seq)).and_then(|seq| {
            let at = self.headers.binary_search_by_key(&seq, |header| header.0).ok()?;
            self.headers.get(at)
        });
        let (seq, tools) = header.ok_or_else(|| N17.broken("headerSeq names no earlier request/header"))?;
        let content = event.data.get("message").and_then(|message| array(message.get("content")));
        for block in content.into_iter().flat_map(Raw::elements) {
            let [kind, name] = block.get_all(["type", "toolName"]);
            let known = name.and_then(Raw::text).is_some_and(|name| tools.contains(&*name));
            if is(kind, "tool-addition") && !known {
                return Err(
                    N17.broken(format!("a tool is added that the request/header {seq} does not define once"))
                );
            }
        }
        Ok(())
    }
}

fn declared(tools: Option<Raw<'_>>) -> HashSet<Vec<u8>> {
    let (mut once, mut met) = (HashSet::new(), HashSet::new());
    for tool in array(tools).into_iter().flat_map(Raw::elements) {
        let [name, description, parameters, deferred] =
            tool.get_all(["name", "description", "parameters", "deferLoading"]);
        let Some(name) = name.and_then(Raw::text) else { continue };
        let whole = is_text(description) && object(parameters).is_some() && deferred.is_none_or(Raw::is_true);
        if met.insert(name.clone().into_owned()) && whole {
            once.insert(name.into_owned());
        } else {
            once.remove(&*name);
        }
    }
    once
}

/// N15: the exact result that repair appends for a call that never started.
fn is_not_started_repair(event: &RelEvent<'_>, message: Option<Raw<'_>>, call: &[u8]) -> bool {
    let (Some(message), Some(error)) = (message, object(event.data.get("error"))) else { return false };
    let [name, code] = error.get_all(["name", "code"]);
    let [id, failed, content] = message.get_all(["id", "isError", "content"]);
    let marked = is(name, "ToolNotStartedError") && is(code, "TOOL_NOT_STARTED");
    if !marked || !failed.is_some_and(Raw::is_true) || event.has_sources || !filled(id) {
        return false;
    }
    let id = id.and_then(Raw::text).unwrap_or_default();
    let suffix = |cause: &[u8]| id.strip_prefix(cause)?.strip_prefix(call)?.strip_prefix(b"-");
    // A fork's was compared when its row was admitted.
    if suffix(b"forked-tool-result-").is_some() {
        return true;
    }
    let fixed_text = only(content).is_some_and(|block| {
        let [kind, text] = block.get_all(["type", "text"]);
        is(kind, "text") && text.and_then(Raw::text).is_some_and(|text| *text == *NOT_STARTED)
    });
    fixed_text && suffix(b"interrupted-tool-result-").and_then(canonical_decimal).is_some()
}
