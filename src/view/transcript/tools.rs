//! Tool rows: a call paired with its result by id, and what was asked for and never answered
//! (format v0, section 16.4).

use super::content;
use super::dispatch::Dispatches;
use super::rows::{Body, Call, Row, Tool, ToolStatus};
use super::shelf::{Anchor, Place, Shelf};
use crate::format::dialect::{Dialect, ToolResultShape};
use crate::format::event::Event;
use crate::json::Raw;
use std::collections::HashMap;

/// The text that a call is known by.
type CallId = Vec<u8>;

/// A call whose result has not come.
#[derive(Debug)]
struct Open {
    place: Place,
    row: Row,
    call: Call,
    dispatches: Dispatches,
}

/// A call that the model asked for and that has not started.
#[derive(Debug)]
struct Asked {
    order: usize,
    row: Row,
    call: Call,
}

/// The calls of the open turn.
#[derive(Debug, Default)]
pub(super) struct Tools {
    open: HashMap<CallId, Open>,
    /// Calls whose id was called again before they had a result.
    overtaken: Vec<Open>,
    asked: HashMap<CallId, Asked>,
    /// How many calls were asked for, to keep their order.
    made: usize,
}

impl Tools {
    /// Takes note of the calls that a message asks for.
    pub(super) fn ask(&mut self, event: &Event<'_>) {
        let content = event.message().and_then(|message| message.get("content"));
        for block in content.into_iter().flat_map(Raw::elements) {
            let [kind, id, name, arguments] = block.get_all(["type", "id", "name", "arguments"]);
            let (Some(kind), Some(key)) = (kind, id.and_then(Raw::text)) else { continue };
            if !kind.is("tool-call") {
                continue;
            }
            self.made += 1;
            let call = Call {
                id: content::text(id),
                name: content::text(name),
                arguments: content::copy(arguments),
                ..Call::default()
            };
            let row = Row::begun(event);
            self.asked.insert(key.into_owned(), Asked { order: self.made, row, call });
        }
    }

    /// Takes a call; one with an id that is open already opens a second row.
    pub(super) fn call(&mut self, event: &Event<'_>, shelf: &mut Shelf) {
        let [id, name, arguments] = event.data.get_all(["callId", "name", "arguments"]);
        let key = id.and_then(Raw::text).unwrap_or_default().into_owned();
        self.asked.remove(&key);
        let call = Call {
            id: content::text(id),
            name: content::text(name),
            arguments: content::copy(arguments),
            ..Call::default()
        };
        let open = Open {
            place: shelf.hold(Anchor::at(event.seq)),
            row: Row::begun(event),
            call,
            dispatches: Dispatches::default(),
        };
        self.overtaken.extend(self.open.insert(key, open));
    }

    /// Takes a nested call that begins or settles.
    pub(super) fn dispatch(&mut self, event: &Event<'_>, settles: bool) {
        let root = event.data.get("rootCallId").and_then(Raw::text);
        if let Some(open) = root.and_then(|root| self.open.get_mut(&*root)) {
            open.dispatches.take(event, settles);
        }
    }

    /// Takes an appended result: it ends the row of its call, or has a row of its own.
    pub(super) fn result(&mut self, event: &Event<'_>, dialect: &Dialect, shelf: &mut Shelf) {
        let message = event.message();
        let id = message.and_then(|message| message.path(&["source", "callId"]));
        let key = id.and_then(Raw::text).unwrap_or_default();
        let (place, mut row, mut call, dispatches) = match self.open.remove(&*key) {
            Some(open) => {
                let waited = event.time.saturating_sub(open.row.time);
                let duration_ms = Some(u64::try_from(waited).unwrap_or(0));
                (open.place, open.row, Call { duration_ms, ..open.call }, open.dispatches)
            }
            None => {
                let known = self.asked.remove(&*key).map(|asked| asked.call);
                let call = known.unwrap_or_else(|| Call { id: content::text(id), ..Call::default() });
                let row = Row::begun(event);
                (shelf.hold(Anchor::at(event.seq)), row, call, Dispatches::default())
            }
        };
        answer(&mut call, event, dialect);
        row.synthetic |= event.synthetic;
        let children = dispatches.settle(ToolStatus::Interrupted);
        row.body = Body::Tool(Tool { call, result_seq: Some(event.seq), children });
        shelf.fill(place, row);
    }

    /// The turn is closed: what has no result never gets one.
    pub(super) fn close(&mut self, event: &Event<'_>, shelf: &mut Shelf) {
        let status = (ToolStatus::Interrupted, ToolStatus::NotStarted);
        self.leave(Anchor::at(event.seq).minus(80), status, shelf);
    }

    /// The log ends with the turn open, or cannot be read any further.
    pub(super) fn finish(&mut self, end: Anchor, whole: bool, shelf: &mut Shelf) {
        // Whether a call was started may stand behind what can be read.
        let never = if whole { ToolStatus::NotStarted } else { ToolStatus::Running };
        self.leave(end, (ToolStatus::Running, never), shelf);
    }

    /// Lets go of what was begun, and of what was only asked for.
    fn leave(&mut self, boundary: Anchor, (status, never): (ToolStatus, ToolStatus), shelf: &mut Shelf) {
        let open = std::mem::take(&mut self.open).into_values();
        for Open { place, mut row, mut call, dispatches } in open.chain(self.overtaken.drain(..)) {
            call.status = status;
            if status == ToolStatus::Interrupted {
                call.is_error = true;
                call.error_name = Some("Interrupted".to_owned());
                call.error_code = Some("interrupted".to_owned());
            }
            row.body = Body::Tool(Tool { call, result_seq: None, children: dispatches.settle(status) });
            shelf.fill(place, row);
        }
        let mut asked: Vec<Asked> = std::mem::take(&mut self.asked).into_values().collect();
        asked.sort_by_key(|asked| asked.order);
        for Asked { mut row, mut call, .. } in asked {
            call.status = never;
            row.body = Body::Tool(Tool { call, ..Tool::default() });
            shelf.put(boundary, row);
        }
    }
}

/// Fills in what a result says.
fn answer(call: &mut Call, event: &Event<'_>, dialect: &Dialect) {
    let message = event.message();
    let wrapped = match dialect.tool_result {
        ToolResultShape::Wrapped => message.and_then(|message| message.get("content")?.elements().next()),
        ToolResultShape::Bare => message,
    };
    let [content, is_error] = wrapped.map_or([None; 2], |result| result.get_all(["content", "isError"]));
    call.ended = Some(event.time);
    finish(call, content, is_error, event.data.get("error"));
    // A closer is written long after the fact: its time says nothing of the call's.
    if matches!(call.status, ToolStatus::NotStarted | ToolStatus::OutcomeUnknown) {
        (call.duration_ms, call.ended) = (None, None);
    }
}

/// Fills in an outcome, of a call or of a nested one.
pub(super) fn finish(
    call: &mut Call,
    content: Option<Raw<'_>>,
    is_error: Option<Raw<'_>>,
    error: Option<Raw<'_>>,
) {
    let [name, code] = error.map_or([None; 2], |error| error.get_all(["name", "code"]));
    call.is_error = is_error.is_some_and(Raw::is_true);
    call.error_name = content::text(name);
    call.error_code = content::text(code);
    call.blocks = content::blocks(content);
    call.content = content::copy(content);
    call.status = match call.error_code.as_deref() {
        Some("TOOL_NOT_STARTED") => ToolStatus::NotStarted,
        Some("TOOL_OUTCOME_UNKNOWN") => ToolStatus::OutcomeUnknown,
        _ if call.is_error => ToolStatus::Error,
        _ => ToolStatus::Done,
    };
}
