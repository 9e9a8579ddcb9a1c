//! The fold that pairs what was asked for, begun and answered.

use super::{Call, Outcome, What};
use crate::format::dialect::Dialect;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::message::{result_content, result_is_error};
use crate::json::{Raw, canonical};
use crate::log::Log;
use crate::seq::Seq;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How much of the arguments is kept, in bytes.
const SHORT: usize = 300;
/// Deeper dispatches are hung below the deepest one that is shown.
const DEPTH: u16 = 256;

/// The types that the fold looks at.
pub(super) fn takes(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::AssistantMessage
            | Kind::ToolCall
            | Kind::ToolResult
            | Kind::CodeDispatchStart
            | Kind::CodeDispatch
            | Kind::PtcDispatchStart
            | Kind::PtcDispatch
            | Kind::SubagentCatalog
            | Kind::WorkflowAgentStart
            | Kind::WorkflowAgentEnd
            | Kind::StepEnd
            | Kind::TurnEnd
            | Kind::TurnStart
    )
}

/// A call that a message asked for.
struct Asked {
    order: u64,
    call: Call,
}

/// A row and the row it hangs below.
struct Row {
    call: Call,
    /// The event that made the row.
    at: u64,
    parent: Option<usize>,
}

pub(super) struct Fold {
    dialect: &'static Dialect,
    inherited: u64,
    rows: Vec<Row>,
    asked: HashMap<Vec<u8>, Asked>,
    /// Calls that were begun and not answered, by id; and their order.
    open: HashMap<Vec<u8>, usize>,
    /// Rows by the id that dispatches name as their parent.
    by_id: HashMap<Vec<u8>, usize>,
    agents: HashMap<(Vec<u8>, u64), usize>,
    last_of_text: HashMap<u64, Seq>,
    asks: u64,
}

fn hash(parts: &[&[u8]]) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// An id as one text, whatever JSON value it is.
fn key(value: Option<Raw<'_>>) -> Vec<u8> {
    value.map_or_else(|| b"undefined".to_vec(), canonical::stringify)
}

fn shown(value: Option<Raw<'_>>) -> String {
    match value {
        Some(value) => value.display_text().unwrap_or_else(|| String::from_utf8_lossy(value.bytes()).into()),
        None => String::new(),
    }
}

fn short(mut text: String) -> String {
    if text.len() > SHORT {
        let end = (0..=SHORT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

/// The file that arguments name: the first filled member of a usual name.
fn file_of(arguments: &[u8]) -> Option<String> {
    let object = Raw::parse(arguments).ok().filter(|a| a.is_object())?;
    let names = ["path", "file_path", "filePath", "file", "filename"];
    let found = object.get_all(names).into_iter().flatten().find(|value| value.is_filled_text())?;
    found.display_text().filter(|path| path.len() <= 4096)
}

impl Call {
    /// Takes name and arguments of a call: a text for calls of the model, any JSON for others.
    fn describe(&mut self, name: Option<Raw<'_>>, arguments: Option<Raw<'_>>) {
        self.name = shown(name);
        let text = arguments
            .map_or_else(Vec::new, |a| a.text().map_or_else(|| a.bytes().to_vec(), |text| text.into_owned()));
        self.text_key = hash(&[self.name.as_bytes(), &text]);
        self.file = file_of(&text);
        self.arguments = short(String::from_utf8_lossy(&text).into_owned());
    }
}

impl Fold {
    pub(super) fn new(log: &Log) -> Fold {
        Fold {
            dialect: log.dialect(),
            inherited: log.inherited(),
            rows: Vec::new(),
            asked: HashMap::new(),
            open: HashMap::new(),
            by_id: HashMap::new(),
            agents: HashMap::new(),
            last_of_text: HashMap::new(),
            asks: 0,
        }
    }

    pub(super) fn event(&mut self, event: &Event<'_>) {
        match event.kind {
            Kind::AssistantMessage if !event.op.is_replace() => self.ask(event),
            Kind::ToolCall => self.begin(event),
            Kind::ToolResult if !event.op.is_replace() => self.answer(event),
            Kind::CodeDispatchStart | Kind::PtcDispatchStart => self.dispatch(event, false),
            Kind::CodeDispatch | Kind::PtcDispatch => self.dispatch(event, true),
            Kind::SubagentCatalog => self.agent(event, b"catalog".to_vec()),
            Kind::WorkflowAgentStart => self.agent(event, key(event.data.get("runId"))),
            Kind::WorkflowAgentEnd => self.agent_end(event),
            Kind::StepEnd | Kind::TurnEnd | Kind::TurnStart => self.close(event),
            _ => {}
        }
    }

    fn row(&self, event: &Event<'_>) -> Call {
        Call {
            location: event.location,
            inherited: event.seq.0 < self.inherited,
            started: event.time,
            ..Call::default()
        }
    }

    fn push(&mut self, at: Seq, call: Call, parent: Option<usize>) -> usize {
        self.rows.push(Row { call, at: at.0, parent });
        self.rows.len() - 1
    }

    fn ask(&mut self, event: &Event<'_>) {
        let content = event.message().and_then(|m| m.get("content"));
        for block in content.into_iter().flat_map(Raw::elements) {
            let [kind, id, name, arguments] = block.get_all(["type", "id", "name", "arguments"]);
            if !kind.is_some_and(|k| k.is("tool-call")) {
                continue;
            }
            let mut call = self.row(event);
            call.call_id = shown(id);
            call.message_seq = Some(event.seq);
            call.describe(name, arguments);
            self.asks += 1;
            self.asked.insert(key(id), Asked { order: self.asks, call });
        }
    }

    fn begin(&mut self, event: &Event<'_>) {
        let [id, name, arguments] = event.data.get_all(["callId", "name", "arguments"]);
        let id_key = key(id);
        let asked = self.asked.remove(&id_key).map(|asked| asked.call);
        let mut call = self.row(event);
        call.call_id = shown(id);
        call.call_seq = Some(event.seq);
        call.describe(name, arguments);
        if let Some(asked) = asked {
            call.message_seq = asked.message_seq;
            if asked.text_key != call.text_key {
                let text = asked.arguments;
                call.asked =
                    Some(if asked.name == call.name { text } else { format!("{} {text}", asked.name) });
            }
        }
        call.same_as = self.last_of_text.insert(call.text_key, event.seq);
        let at = self.push(event.seq, call, None);
        self.by_id.insert(id_key.clone(), at);
        // A second call of one id: what came before gets no answer any more.
        if let Some(before) = self.open.insert(id_key, at) {
            self.rows[before].call.outcome = Outcome::Unknown;
        }
    }

    fn answer(&mut self, event: &Event<'_>) {
        let Some(message) = event.message() else { return };
        let id = message.path(&["source", "callId"]);
        let id_key = key(id);
        let at = match self.open.remove(&id_key) {
            Some(at) => at,
            None => {
                let asked = self.asked.remove(&id_key).map(|asked| asked.call);
                let call = asked.unwrap_or_else(|| Call { call_id: shown(id), ..self.row(event) });
                self.push(event.seq, call, None)
            }
        };
        let content = result_content(message, self.dialect);
        let is_error = result_is_error(message, self.dialect);
        let call = &mut self.rows[at].call;
        call.result_seq = Some(event.seq);
        call.synthetic = event.synthetic;
        finish(call, event, content, is_error);
    }

    /// The row that a dispatch hangs below.
    fn parent(&self, data: Raw<'_>) -> Option<usize> {
        let [parent, root] = data.get_all(["parentCallId", "rootCallId"]);
        self.by_id.get(&key(parent)).or_else(|| self.by_id.get(&key(root))).copied()
    }

    fn dispatch(&mut self, event: &Event<'_>, settles: bool) {
        let [id, name, arguments, content, is_error] =
            event.data.get_all(["subCallId", "name", "arguments", "content", "isError"]);
        let id_key = key(id);
        let at = match self.by_id.get(&id_key) {
            Some(at) if self.rows[*at].call.what == What::Dispatch => *at,
            Some(_) => return,
            None => {
                let parent = self.parent(event.data);
                let depth = parent.map_or(1, |at| self.rows[at].call.depth.saturating_add(1));
                let mut call = Call { what: What::Dispatch, depth: depth.min(DEPTH), ..self.row(event) };
                call.call_id = shown(id);
                call.call_seq = Some(event.seq);
                call.describe(name, arguments);
                let at = self.push(event.seq, call, parent);
                self.by_id.insert(id_key, at);
                at
            }
        };
        let call = &mut self.rows[at].call;
        if settles && call.outcome == Outcome::Running {
            finish(call, event, content, is_error.is_some_and(Raw::is_true));
        }
    }

    /// An agent that a tool started; it hangs below the call that runs, where just one does.
    fn agent(&mut self, event: &Event<'_>, run: Vec<u8>) {
        let [label, child, number] = event.data.get_all(["label", "childId", "seq"]);
        let parent = if self.open.len() == 1 { self.open.values().next().copied() } else { None };
        let mut call = Call { what: What::Agent, depth: u16::from(parent.is_some()), ..self.row(event) };
        call.name = shown(label);
        call.call_id = shown(child);
        call.call_seq = Some(event.seq);
        // The catalogue only says that there is such a child.
        call.outcome = if event.kind == Kind::SubagentCatalog { Outcome::Ok } else { Outcome::Running };
        let at = self.push(event.seq, call, parent);
        self.agents.insert((run, number.and_then(Raw::count).unwrap_or(0)), at);
    }

    fn agent_end(&mut self, event: &Event<'_>) {
        let [run, number, outcome] = event.data.get_all(["runId", "seq", "outcome"]);
        let Some(at) = self.agents.remove(&(key(run), number.and_then(Raw::count).unwrap_or(0))) else {
            return;
        };
        let call = &mut self.rows[at].call;
        call.millis = Some(u64::try_from(event.time.saturating_sub(call.started)).unwrap_or(0));
        call.outcome = match outcome {
            Some(o) if o.is("completed") => Outcome::Ok,
            other => Outcome::Error { name: None, code: other.and_then(Raw::display_text) },
        };
    }

    /// A step or a turn is closed: what has no result gets none any more.
    fn close(&mut self, event: &Event<'_>) {
        for at in std::mem::take(&mut self.open).into_values() {
            self.rows[at].call.outcome = Outcome::Unknown;
        }
        if event.kind != Kind::StepEnd {
            self.leave_asked(event.seq);
        }
    }

    /// What was asked for and never begun stands where that is certain.
    fn leave_asked(&mut self, at: Seq) {
        let mut asked: Vec<Asked> = std::mem::take(&mut self.asked).into_values().collect();
        asked.sort_by_key(|asked| asked.order);
        for Asked { call, .. } in asked {
            self.push(at, Call { outcome: Outcome::NotStarted, ..call }, None);
        }
    }

    /// All rows in order, each before those below it.
    pub(super) fn finish(mut self) -> Vec<Call> {
        self.leave_asked(Seq(u64::MAX));
        let rows = self.rows;
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
        let mut top = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            match row.parent {
                Some(parent) => below[parent].push(at),
                None => top.push(at),
            }
        }
        top.sort_by_key(|at| rows[*at].at);
        let mut order = Vec::with_capacity(rows.len());
        let mut stack: Vec<usize> = top.into_iter().rev().collect();
        while let Some(at) = stack.pop() {
            order.push(at);
            stack.extend(below[at].iter().rev());
        }
        let mut rows: Vec<Option<Row>> = rows.into_iter().map(Some).collect();
        order.into_iter().filter_map(|at| rows[at].take()).map(|row| row.call).collect()
    }
}

/// Fills in what a result says.
fn finish(call: &mut Call, event: &Event<'_>, content: Option<Raw<'_>>, is_error: bool) {
    let [name, code] = event.data.get("error").map_or([None; 2], |e| e.get_all(["name", "code"]));
    let (name, code) = (name.and_then(Raw::display_text), code.and_then(Raw::display_text));
    call.result_bytes = content.map(|c| c.bytes().len() as u64);
    call.result_key = content.map(|c| hash(&[c.bytes()]));
    let millis = u64::try_from(event.time.saturating_sub(call.started)).unwrap_or(0);
    let begun = call.call_seq.is_some();
    call.millis = begun.then_some(millis);
    call.outcome = match code.as_deref() {
        Some("TOOL_NOT_STARTED") => Outcome::NotStarted,
        Some("TOOL_OUTCOME_UNKNOWN") => Outcome::Unknown,
        _ if is_error => Outcome::Error { name, code },
        _ => Outcome::Ok,
    };
    // A closer is written long after the fact: its time says nothing of the call's.
    if matches!(call.outcome, Outcome::NotStarted | Outcome::Unknown) {
        call.millis = None;
    }
}
