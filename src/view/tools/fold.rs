//! The fold that pairs what was asked for, begun and answered.

use super::note::{Answer, Called, Note};
use super::{Call, Outcome, What};
use crate::format::event::Location;
use crate::format::kind::Kind;
use crate::log::Log;
use crate::seq::Seq;
use foldhash::{HashMap, HashMapExt};
use std::sync::Arc;

/// Deeper dispatches are hung below the deepest one that is shown.
const DEPTH: u16 = 256;

/// Where and when an event stands.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) seq: Seq,
    pub(super) time: i64,
    pub(super) location: Location,
    pub(super) synthetic: bool,
}

/// A call that a message asked for.
struct Asked {
    order: u64,
    at: At,
    called: Arc<Called>,
}

/// A row and the row it hangs below.
struct Row {
    call: Call,
    /// The event that made the row.
    at: u64,
    parent: Option<usize>,
}

pub(super) struct Fold {
    inherited: u64,
    /// Whether the log is read to its end; of a refused one what comes behind is not known.
    whole: bool,
    rows: Vec<Row>,
    asked: HashMap<Arc<[u8]>, Asked>,
    /// Calls that were begun and not answered, by id; and their order.
    open: HashMap<Arc<[u8]>, usize>,
    /// Rows by the id that dispatches name as their parent.
    by_id: HashMap<Arc<[u8]>, usize>,
    agents: HashMap<(Vec<u8>, u64), usize>,
    last_of_text: HashMap<u64, Seq>,
    asks: u64,
}

impl Fold {
    pub(super) fn new(log: &Log) -> Fold {
        Fold {
            inherited: log.inherited(),
            whole: log.verdict().outcome.opens(),
            rows: Vec::new(),
            asked: HashMap::new(),
            open: HashMap::new(),
            by_id: HashMap::new(),
            agents: HashMap::new(),
            last_of_text: HashMap::new(),
            asks: 0,
        }
    }

    /// Takes what was noted of an event.
    pub(super) fn take(&mut self, at: &At, note: &Note) {
        match note {
            Note::Nothing => {}
            Note::Ask(called) => called.iter().for_each(|called| self.ask(at, called)),
            Note::Begin(called) => self.begin(at, called),
            Note::Answer(answer) => self.answer(at, answer),
            Note::Dispatch { called, parents, answer } => {
                self.dispatch(at, called, parents, answer.as_ref());
            }
            Note::Agent { run, number, label, child, known } => {
                self.agent(at, (run, *number), label, child, *known);
            }
            Note::AgentEnd { run, number, outcome } => self.agent_end(at, (run, *number), outcome.as_deref()),
        }
    }

    fn row(&self, at: &At) -> Call {
        Call {
            location: at.location,
            inherited: at.seq.0 < self.inherited,
            started: at.time,
            ..Call::default()
        }
    }

    fn push(&mut self, at: Seq, call: Call, parent: Option<usize>) -> usize {
        self.rows.push(Row { call, at: at.0, parent });
        self.rows.len() - 1
    }

    fn ask(&mut self, at: &At, called: &Arc<Called>) {
        self.asks += 1;
        let asked = Asked { order: self.asks, at: *at, called: called.clone() };
        self.asked.insert(called.key.clone(), asked);
    }

    /// The row of a call that was asked for and not begun.
    fn asked_row(&self, asked: &Asked) -> Call {
        let mut call = self.row(&asked.at);
        call.message_seq = Some(asked.at.seq);
        describe(&mut call, &asked.called);
        call
    }

    fn begin(&mut self, at: &At, called: &Called) {
        let asked = self.asked.remove(&called.key);
        let mut call = self.row(at);
        call.call_seq = Some(at.seq);
        describe(&mut call, called);
        if let Some(asked) = asked {
            call.message_seq = Some(asked.at.seq);
            let Called { name, arguments, text_key, .. } = &*asked.called;
            if *text_key != call.text_key {
                let same = *name == call.name;
                call.asked =
                    Some(if same { arguments.clone() } else { format!("{name} {arguments}").into() });
            }
        }
        call.same_as = self.last_of_text.insert(call.text_key, at.seq);
        let row = self.push(at.seq, call, None);
        self.by_id.insert(called.key.clone(), row);
        // A second call of one id: what came before gets no answer any more.
        if let Some(before) = self.open.insert(called.key.clone(), row) {
            self.rows[before].call.outcome = Outcome::Unknown;
        }
    }

    fn answer(&mut self, at: &At, answer: &Answer) {
        let row = match self.open.remove(&*answer.call) {
            Some(row) => row,
            None => {
                let asked = self.asked.remove(&*answer.call).map(|asked| self.asked_row(&asked));
                let call =
                    asked.unwrap_or_else(|| Call { call_id: answer.id.as_str().into(), ..self.row(at) });
                self.push(at.seq, call, None)
            }
        };
        let call = &mut self.rows[row].call;
        call.result_seq = Some(at.seq);
        call.synthetic = at.synthetic;
        finish(call, at, answer);
    }

    fn dispatch(&mut self, at: &At, called: &Called, parents: &[Vec<u8>; 2], answer: Option<&Answer>) {
        let row = match self.by_id.get(&called.key) {
            Some(row) if self.rows[*row].call.what == What::Dispatch => *row,
            Some(_) => return,
            None => {
                // The row that it hangs below: its parent's, else its root's.
                let parent = parents.iter().find_map(|id| self.by_id.get(&**id)).copied();
                let depth = parent.map_or(1, |row| self.rows[row].call.depth.saturating_add(1));
                let mut call = Call { what: What::Dispatch, depth: depth.min(DEPTH), ..self.row(at) };
                call.call_seq = Some(at.seq);
                describe(&mut call, called);
                let row = self.push(at.seq, call, parent);
                self.by_id.insert(called.key.clone(), row);
                row
            }
        };
        let call = &mut self.rows[row].call;
        if let Some(answer) = answer.filter(|_| call.outcome == Outcome::Running) {
            finish(call, at, answer);
        }
    }

    /// An agent that a tool started; it hangs below the call that runs, where just one does. Of one that
    /// the catalogue names only that there is such a child is known.
    fn agent(&mut self, at: &At, run: (&[u8], u64), label: &str, child: &str, known: bool) {
        let parent = if self.open.len() == 1 { self.open.values().next().copied() } else { None };
        let mut call = Call { what: What::Agent, depth: u16::from(parent.is_some()), ..self.row(at) };
        call.name = label.into();
        call.call_id = child.into();
        call.call_seq = Some(at.seq);
        call.outcome = if known { Outcome::Ok } else { Outcome::Running };
        let row = self.push(at.seq, call, parent);
        self.agents.insert((run.0.to_vec(), run.1), row);
    }

    fn agent_end(&mut self, at: &At, run: (&[u8], u64), outcome: Option<&str>) {
        let Some(row) = self.agents.remove(&(run.0.to_vec(), run.1)) else { return };
        let call = &mut self.rows[row].call;
        call.millis = Some(u64::try_from(at.time.saturating_sub(call.started)).unwrap_or(0));
        call.outcome = match outcome {
            Some("completed") => Outcome::Ok,
            other => Outcome::Error { name: None, code: other.map(str::to_owned) },
        };
    }

    /// A step or a turn is closed: what has no result gets none any more.
    pub(super) fn close(&mut self, seq: Seq, kind: Kind) {
        for row in std::mem::take(&mut self.open).into_values() {
            self.rows[row].call.outcome = Outcome::Unknown;
        }
        if kind != Kind::StepEnd {
            self.leave_asked(seq, Outcome::NotStarted);
        }
    }

    /// What was asked for and not begun stands where that is certain.
    fn leave_asked(&mut self, at: Seq, outcome: Outcome) {
        let mut asked: Vec<Asked> = std::mem::take(&mut self.asked).into_values().collect();
        asked.sort_by_key(|asked| asked.order);
        for asked in asked {
            let call = self.asked_row(&asked);
            self.push(at, Call { outcome: outcome.clone(), ..call }, None);
        }
    }

    /// All rows in order, each before those below it.
    pub(super) fn finish(mut self) -> Vec<Call> {
        if !self.whole {
            for row in std::mem::take(&mut self.open).into_values() {
                self.rows[row].call.outcome = Outcome::Unknown;
            }
        }
        let outcome = if self.whole { Outcome::NotStarted } else { Outcome::Unknown };
        self.leave_asked(Seq(u64::MAX), outcome);
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
fn finish(call: &mut Call, at: &At, answer: &Answer) {
    call.result_bytes = answer.bytes;
    call.result_key = answer.key;
    let millis = u64::try_from(at.time.saturating_sub(call.started)).unwrap_or(0);
    let begun = call.call_seq.is_some();
    call.millis = begun.then_some(millis);
    call.outcome = match answer.code.as_deref() {
        Some("TOOL_NOT_STARTED") => Outcome::NotStarted,
        Some("TOOL_OUTCOME_UNKNOWN") => Outcome::Unknown,
        _ if answer.is_error => Outcome::Error { name: answer.name.clone(), code: answer.code.clone() },
        _ => Outcome::Ok,
    };
    // A closer is written long after the fact: its time says nothing of the call's.
    if matches!(call.outcome, Outcome::NotStarted | Outcome::Unknown) {
        call.millis = None;
    }
}

/// Takes what a call was described as.
fn describe(call: &mut Call, called: &Called) {
    call.call_id.clone_from(&called.id);
    call.name.clone_from(&called.name);
    call.arguments.clone_from(&called.arguments);
    call.text_key = called.text_key;
    call.file.clone_from(&called.file);
}
