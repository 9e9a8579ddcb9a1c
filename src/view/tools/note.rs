//! What the ledger needs of one event's body.

use crate::format::dialect::Dialect;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::message::{result_content, result_is_error};
use crate::json::{Raw, canonical};
use foldhash::quality::RandomState;
use std::hash::BuildHasher;
use std::sync::{Arc, LazyLock};

/// How much of the arguments is kept, in bytes.
const SHORT: usize = 300;

/// A call as it was asked for or begun.
#[derive(Debug)]
pub(in crate::view) struct Called {
    /// The id as one text, whatever JSON value it is.
    pub(super) key: Arc<[u8]>,
    /// The id for people.
    pub(super) id: Arc<str>,
    pub(super) name: Arc<str>,
    pub(super) arguments: Arc<str>,
    /// Stands for tool and arguments.
    pub(super) text_key: u64,
    pub(super) file: Option<Arc<str>>,
}

/// What a result says.
#[derive(Debug)]
pub(in crate::view) struct Answer {
    /// The id of the call that it answers, as [`Called::key`].
    pub(super) call: Vec<u8>,
    /// That id for people.
    pub(super) id: String,
    pub(super) bytes: Option<u64>,
    /// Stands for the content.
    pub(super) key: Option<u64>,
    pub(super) is_error: bool,
    pub(super) name: Option<String>,
    pub(super) code: Option<String>,
}

/// What the ledger needs of an event.
#[derive(Debug)]
pub(in crate::view) enum Note {
    /// Nothing.
    Nothing,
    /// The calls that a message asks for.
    Ask(Vec<Arc<Called>>),
    /// A call begins.
    Begin(Called),
    /// A call is answered.
    Answer(Answer),
    /// A tool calls another one, or that call is answered.
    Dispatch {
        /// The call.
        called: Called,
        /// The ids of the call it was made by, and of the model's call.
        parents: [Vec<u8>; 2],
        /// Its result, where it settles.
        answer: Option<Answer>,
    },
    /// An agent was started, or the catalogue names it.
    Agent {
        /// The run, with the number a key.
        run: Vec<u8>,
        /// The number in the run.
        number: u64,
        /// Its name.
        label: String,
        /// The child session's id.
        child: String,
        /// Whether only the catalogue tells of it.
        known: bool,
    },
    /// An agent is done.
    AgentEnd {
        /// See [`Note::Agent`].
        run: Vec<u8>,
        /// See [`Note::Agent`].
        number: u64,
        /// How.
        outcome: Option<String>,
    },
}

/// The types of events that bear a note.
pub(in crate::view) fn takes(kind: Kind) -> bool {
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
    )
}

/// The keys of all hashes of this process, so that those of two logs can be compared.
static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::default);

fn hash(parts: &[&[u8]]) -> u64 {
    KEYS.hash_one(parts)
}

fn key(value: Option<Raw<'_>>) -> Vec<u8> {
    value.map_or_else(|| b"undefined".to_vec(), canonical::stringify)
}

fn shown(value: Option<Raw<'_>>) -> String {
    match value {
        Some(value) => value.display_text().unwrap_or_else(|| String::from_utf8_lossy(value.bytes()).into()),
        None => String::new(),
    }
}

fn short(text: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(&text[..text.len().min(SHORT + 4)]).into_owned();
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

impl Called {
    /// Name and arguments of a call: a text for calls of the model, any JSON for others.
    fn of(id: Option<Raw<'_>>, name: Option<Raw<'_>>, arguments: Option<Raw<'_>>) -> Called {
        let name = shown(name);
        let text = arguments
            .map_or_else(Vec::new, |a| a.text().map_or_else(|| a.bytes().to_vec(), |text| text.into_owned()));
        Called {
            key: key(id).into(),
            id: shown(id).into(),
            text_key: hash(&[name.as_bytes(), &text]),
            name: name.into(),
            file: file_of(&text).map(Arc::from),
            arguments: short(&text).into(),
        }
    }
}

impl Answer {
    fn of(id: Option<Raw<'_>>, content: Option<Raw<'_>>, is_error: bool, error: Option<Raw<'_>>) -> Answer {
        let [name, code] = error.map_or([None; 2], |e| e.get_all(["name", "code"]));
        Answer {
            call: key(id),
            id: shown(id),
            bytes: content.map(|c| c.bytes().len() as u64),
            key: content.map(|c| hash(&[c.bytes()])),
            is_error,
            name: name.and_then(Raw::display_text),
            code: code.and_then(Raw::display_text),
        }
    }
}

impl Note {
    /// What is needed of an event.
    pub(in crate::view) fn of(event: &Event<'_>, dialect: &Dialect) -> Note {
        let data = event.data;
        match event.kind {
            Kind::AssistantMessage if !event.op.is_replace() => ask(event),
            Kind::ToolCall => {
                let [id, name, arguments] = data.get_all(["callId", "name", "arguments"]);
                Note::Begin(Called::of(id, name, arguments))
            }
            Kind::ToolResult if !event.op.is_replace() => {
                let Some(message) = event.message() else { return Note::Nothing };
                let content = result_content(message, dialect);
                let is_error = result_is_error(message, dialect);
                Note::Answer(Answer::of(
                    message.path(&["source", "callId"]),
                    content,
                    is_error,
                    data.get("error"),
                ))
            }
            Kind::CodeDispatchStart | Kind::PtcDispatchStart => dispatch(data, false),
            Kind::CodeDispatch | Kind::PtcDispatch => dispatch(data, true),
            Kind::SubagentCatalog | Kind::WorkflowAgentStart => {
                let [run, number, label, child] = data.get_all(["runId", "seq", "label", "childId"]);
                let known = event.kind == Kind::SubagentCatalog;
                let run = if known { b"catalog".to_vec() } else { key(run) };
                let number = number.and_then(Raw::count).unwrap_or(0);
                Note::Agent { run, number, label: shown(label), child: shown(child), known }
            }
            Kind::WorkflowAgentEnd => {
                let [run, number, outcome] = data.get_all(["runId", "seq", "outcome"]);
                let number = number.and_then(Raw::count).unwrap_or(0);
                Note::AgentEnd { run: key(run), number, outcome: outcome.and_then(Raw::display_text) }
            }
            _ => Note::Nothing,
        }
    }
}

fn ask(event: &Event<'_>) -> Note {
    let content = event.message().and_then(|m| m.get("content"));
    let mut called = Vec::new();
    for block in content.into_iter().flat_map(Raw::elements) {
        let [kind, id, name, arguments] = block.get_all(["type", "id", "name", "arguments"]);
        if kind.is_some_and(|k| k.is("tool-call")) {
            called.push(Arc::new(Called::of(id, name, arguments)));
        }
    }
    Note::Ask(called)
}

fn dispatch(data: Raw<'_>, settles: bool) -> Note {
    let [id, name, arguments, content, is_error, parent, root] =
        data.get_all(["subCallId", "name", "arguments", "content", "isError", "parentCallId", "rootCallId"]);
    let answer =
        settles.then(|| Answer::of(id, content, is_error.is_some_and(Raw::is_true), data.get("error")));
    Note::Dispatch { called: Called::of(id, name, arguments), parents: [key(parent), key(root)], answer }
}
