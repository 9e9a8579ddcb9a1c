//! The requests of a log: one for each attempt at a model call (v0 sections 10 and 17, generations
//! 2.6 and 2.7).

use crate::format::kind::Kind;
use crate::log::Log;
use crate::log::index::{Entry, Flags};
use crate::seq::Seq;
use std::fmt;

/// How an attempt ended, as far as the index tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With an assistant message.
    Message,
    /// Without one: it failed, or was cancelled before a word was visible.
    Failed,
    /// The log ends while it runs.
    Open,
}

impl Ending {
    /// The word used in tables and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Ending::Message => "message",
            Ending::Failed => "failed",
            Ending::Open => "open",
        }
    }
}

/// One attempt at a model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The turn; `None` where the log gives none.
    pub turn: Option<u32>,
    /// The step within the turn.
    pub step: Option<u32>,
    /// The attempt within the step, from 1.
    pub attempt: u32,
    /// The last event before the attempt: what the model had is the state right after it. `None`
    /// when the attempt begins the log.
    pub upto: Option<Seq>,
    /// The first event of the attempt.
    pub first: Seq,
    /// The last event of the attempt.
    pub last: Seq,
    /// The event that settles it: the assistant message, or the attempt's record.
    pub settled: Option<Seq>,
    /// How it ended.
    pub ending: Ending,
    /// Whether the step has more than one attempt.
    pub one_of_many: bool,
}

impl fmt::Display for Request {
    /// `TURN.STEP`, or `TURN.STEP#ATTEMPT` where a step tried more than once.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |n: Option<u32>| n.map_or("?".to_owned(), |n| n.to_string());
        write!(f, "{}.{}", part(self.turn), part(self.step))?;
        if self.one_of_many {
            write!(f, "#{}", self.attempt)?;
        }
        Ok(())
    }
}

/// The fold over the index.
struct Fold {
    list: Vec<Request>,
    /// The first request of the current step.
    step_from: usize,
    attempt: u32,
    running: bool,
    finished: bool,
}

impl Fold {
    fn begin(&mut self, entry: &Entry) {
        self.attempt += 1;
        let location = entry.location();
        self.list.push(Request {
            turn: location.turn,
            step: location.step,
            attempt: self.attempt,
            upto: entry.seq.0.checked_sub(1).map(Seq),
            first: entry.seq,
            last: entry.seq,
            settled: None,
            ending: Ending::Open,
            one_of_many: false,
        });
        self.running = true;
        self.finished = false;
    }

    fn settle(&mut self, ending: Ending, settled: Option<Seq>) {
        if let Some(request) = self.list.last_mut().filter(|_| self.running) {
            request.ending = ending;
            request.settled = settled;
            request.last = settled.unwrap_or(request.last);
        }
        self.running = false;
    }

    /// A step begins or ends: attempts are counted anew. Two steps of one number stay two.
    fn step_edge(&mut self) {
        self.settle(Ending::Failed, None);
        if self.attempt > 1 {
            for request in &mut self.list[self.step_from..] {
                request.one_of_many = true;
            }
        }
        self.step_from = self.list.len();
        self.attempt = 0;
    }

    /// Takes a record that stands for the events up to `last`.
    fn take(&mut self, entry: &Entry, last: Seq) {
        match entry.kind {
            Kind::StepStart | Kind::StepEnd | Kind::TurnStart | Kind::TurnEnd => self.step_edge(),
            Kind::AssistantChunk => {
                if self.running && self.finished {
                    self.settle(Ending::Failed, None);
                }
                if !self.running {
                    self.begin(entry);
                }
                if let Some(request) = self.list.last_mut() {
                    request.last = last;
                }
                self.finished |= entry.flags.has(Flags::ENDS_ATTEMPT);
            }
            Kind::AssistantMessage if !entry.flags.has(Flags::REPLACES) => {
                if !self.running {
                    self.begin(entry);
                }
                self.settle(Ending::Message, Some(entry.seq));
            }
            Kind::AssistantAttempt => {
                self.begin(entry);
                self.settle(Ending::Failed, Some(entry.seq));
            }
            // A retry, and a compaction inside a step, end the attempt before them.
            Kind::LlmRetry | Kind::CompactionStart => self.settle(Ending::Failed, None),
            _ => {}
        }
    }
}

/// All requests of the stored log, in order.
#[must_use]
pub fn list(log: &Log) -> Vec<Request> {
    list_upto(log, Seq(u64::MAX))
}

/// The requests that begin at or before `upto`, as they stood right after it.
#[must_use]
pub fn list_upto(log: &Log, upto: Seq) -> Vec<Request> {
    let mut fold = Fold { list: Vec::new(), step_from: 0, attempt: 0, running: false, finished: false };
    let index = log.index();
    for (n, entry) in index.entries().iter().enumerate().take_while(|(_, entry)| entry.seq <= upto) {
        let last = Seq(entry.seq.0 + (index.members(n).max(1) - 1));
        fold.take(entry, last.min(upto));
    }
    let open = fold.running;
    fold.step_edge();
    if open && let Some(last) = fold.list.last_mut() {
        last.ending = Ending::Open;
    }
    fold.list
}

/// Which request is meant by `TURN.STEP` or `TURN.STEP#ATTEMPT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestName {
    /// The turn.
    pub turn: u32,
    /// The step.
    pub step: u32,
    /// The attempt; the last one when it is not given.
    pub attempt: Option<u32>,
}

impl std::str::FromStr for RequestName {
    type Err = String;

    fn from_str(text: &str) -> Result<RequestName, String> {
        let wrong = || format!("`{text}` names no request: expected TURN.STEP or TURN.STEP#ATTEMPT");
        let (place, attempt) = match text.split_once('#') {
            Some((place, attempt)) => (place, Some(attempt.parse().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let (turn, step) = place.split_once('.').ok_or_else(wrong)?;
        let number = |text: &str| text.parse().map_err(|_| wrong());
        Ok(RequestName { turn: number(turn)?, step: number(step)?, attempt })
    }
}

/// The requests that a name fits; of one step's attempts the last when none is named. More than one
/// comes back only where a log holds two steps of one number.
#[must_use]
pub fn find(list: &[Request], name: RequestName) -> Vec<Request> {
    let here = list.iter().filter(|r| r.turn == Some(name.turn) && r.step == Some(name.step));
    match name.attempt {
        Some(n) => here.filter(|r| r.attempt == n).copied().collect(),
        None => {
            let all: Vec<Request> = here.copied().collect();
            let last = |(n, _): &(usize, &Request)| all.get(n + 1).is_none_or(|next| next.attempt == 1);
            all.iter().enumerate().filter(last).map(|(_, r)| *r).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::ReadOptions;
    use crate::storage::source::Source;

    fn read(lines: &[&str]) -> Log {
        let mut text =
            r#"{"type":"session","version":0,"id":"a","createdAt":1,"delegationDepth":0}"#.to_owned();
        for (seq, line) in lines.iter().enumerate() {
            let (kind, data) = line.split_once(' ').unwrap();
            let more = if kind.ends_with("/message") { r#","surfaceOp":"append""# } else { "" };
            text += &format!("\n{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{seq},\"data\":{data}{more}}}");
        }
        text.push('\n');
        Log::read(Source::memory("log", text.into_bytes()), &ReadOptions::default()).unwrap()
    }

    const MESSAGE: &str = r#"assistant/message {"turn":1,"step":1,"message":{"id":"a","role":"assistant","source":{"kind":"model","provider":"p","model":"m"},"content":[]}}"#;
    const FINISH: &str =
        r#"assistant/chunk {"turn":1,"step":1,"chunk":{"type":"finish","reason":{"kind":"error"}}}"#;
    const TEXT: &str =
        r#"assistant/chunk {"turn":1,"step":1,"chunk":{"type":"text-delta","index":0,"text":"x"}}"#;
    const STEP: &str = r#"step/start {"turn":1,"step":1}"#;
    const TURN: &str = r#"turn/start {"turn":1}"#;

    fn names(log: &Log) -> Vec<String> {
        list(log).iter().map(|r| format!("{r} {} {}", r.first, r.ending.name())).collect()
    }

    #[test]
    fn a_second_attempt_in_a_step_is_a_request_of_its_own() {
        let retry = r#"llm/retry {"turn":1,"step":1}"#;
        let log = read(&[TURN, STEP, TEXT, FINISH, retry, TEXT, FINISH, MESSAGE]);
        assert_eq!(names(&log), ["1.1#1 2 failed", "1.1#2 5 message"]);
        let found = find(&list(&log), "1.1".parse().unwrap());
        assert_eq!((found.len(), found[0].attempt, found[0].upto), (1, 2, Some(Seq(4))));
    }

    #[test]
    fn a_finished_attempt_ends_without_a_retry_event_too() {
        let log = read(&[TURN, STEP, TEXT, FINISH, TEXT, FINISH, MESSAGE]);
        assert_eq!(names(&log), ["1.1#1 2 failed", "1.1#2 4 message"]);
    }

    #[test]
    fn two_steps_of_one_number_are_not_merged() {
        let end = r#"step/end {"turn":1,"step":1}"#;
        let log = read(&[TURN, STEP, MESSAGE, end, STEP, MESSAGE, end]);
        assert_eq!(names(&log), ["1.1 2 message", "1.1 5 message"]);
        assert_eq!(find(&list(&log), "1.1".parse().unwrap()).len(), 2);
    }

    #[test]
    fn an_attempt_that_the_log_ends_in_is_open() {
        assert_eq!(names(&read(&[TURN, STEP, TEXT])), ["1.1 2 open"]);
    }
}
