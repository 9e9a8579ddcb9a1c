//! The transcript of a log: walks it once and leaves out what no row would show.
//!
//! Most of a log's records are chunks whose text stands again in the message that settles their
//! step. Of those only the first few of each run are read, and the others where these bring no token.

use super::{Row, Transcript};
use crate::error::Result;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::log::Log;
use crate::log::index::{Entry, Flags};
use crate::log::visit::Bodies;
use crate::seq::Seq;
use crate::view::moment::Moment;
use std::cell::Cell;
use std::ops::ControlFlow;

/// How many records of a run of settled chunks are read at once: the first token nearly always stands
/// in them.
const FIRST: usize = 4;

/// Hands on the rows of a log as it stood at a moment, in order, as soon as each is settled.
///
/// Errors when the file cannot be read; the walk ends early when `each` breaks.
pub fn of_log(log: &Log, moment: Moment, mut each: impl FnMut(Row) -> ControlFlow<()>) -> Result<()> {
    let transcript = Transcript::new(log.dialect(), log.inherited());
    let opens = log.verdict().outcome.opens();
    let mut transcript = if opens { transcript } else { transcript.unread_behind() };
    let mut settled = Vec::new();
    let mut flow = ControlFlow::Continue(());
    let steps = SettledSteps::of(log, moment);
    let (mut stretch, mut run) = (0, 0);
    let wanted = |entry: &Entry| {
        stretch += usize::from(is_edge(entry.kind));
        run = if entry.kind == Kind::AssistantChunk { run + 1 } else { 0 };
        run <= FIRST || !steps.settle(stretch, entry.seq)
    };
    let (mut reached, has_token) = (0, Cell::new(false));
    let taken = |entry: &Entry| {
        reached += usize::from(is_edge(entry.kind));
        entry.kind != Kind::AssistantChunk || !has_token.get() || !steps.settle(reached, entry.seq)
    };
    let mut left_out = LeftOut::of(log);
    let mut failed = Ok(());
    log.walk_choosing(moment.span(log), wanted, taken, |event| {
        let tokens = left_out.before(event.seq, transcript.has_first_token(), |chunk| {
            transcript.event(chunk, &mut |row| settled.push(row));
            transcript.has_first_token()
        });
        if let Err(e) = tokens {
            failed = Err(e);
            return ControlFlow::Break(());
        }
        transcript.event(event, &mut |row| settled.push(row));
        has_token.set(transcript.has_first_token());
        flow = settled.drain(..).try_for_each(&mut each);
        flow
    })?;
    failed?;
    if flow.is_continue() {
        transcript.finish(&mut |row| settled.push(row));
        let _ = settled.drain(..).try_for_each(&mut each);
    }
    Ok(())
}

/// The chunks that a walk left out, read after all where the token did not come.
struct LeftOut<'a> {
    log: &'a Log,
    bodies: Bodies<'a>,
    /// The seq that follows what the walk has handed on.
    next: Seq,
}

impl<'a> LeftOut<'a> {
    fn of(log: &'a Log) -> LeftOut<'a> {
        LeftOut { log, bodies: Bodies::new(log), next: log.index().first_seq() }
    }

    /// Hands on the chunks that were left out before an event, until `each` tells that the token came.
    fn before(&mut self, seq: Seq, mut came: bool, mut each: impl FnMut(&Event<'_>) -> bool) -> Result<()> {
        let left = self.next;
        self.next = Seq(seq.0 + 1);
        if left >= seq || came {
            return Ok(());
        }
        let index = self.log.index();
        for record in index.record_of(left).unwrap_or(index.entries().len())..index.entries().len() {
            if came || index.entries()[record].seq >= seq {
                break;
            }
            let _ = self.bodies.record(record, |event| {
                came = came || each(event);
                if came { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
        }
        Ok(())
    }
}

fn is_edge(kind: Kind) -> bool {
    matches!(kind, Kind::TurnStart | Kind::TurnEnd | Kind::StepStart | Kind::StepEnd)
}

/// For each stretch between the edges of turns and steps, the last assistant message in it.
struct SettledSteps(Vec<Option<Seq>>);

impl SettledSteps {
    fn of(log: &Log, moment: Moment) -> SettledSteps {
        let mut stretches = vec![None];
        for entry in log.index().entries().iter().take_while(|entry| entry.seq <= moment.upto()) {
            if is_edge(entry.kind) {
                stretches.push(None);
            }
            let settles = entry.kind == Kind::AssistantMessage && !entry.flags.has(Flags::REPLACES);
            if let Some(last) = stretches.last_mut().filter(|_| settles) {
                *last = Some(entry.seq);
            }
        }
        SettledSteps(stretches)
    }

    /// Whether a message behind that event settles its stretch.
    fn settle(&self, stretch: usize, seq: Seq) -> bool {
        self.0.get(stretch).copied().flatten().is_some_and(|message| message > seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::ReadOptions;
    use crate::storage::source::Source;

    /// The rows with every event handed to the fold.
    fn all_events(log: &Log) -> Vec<Vec<u8>> {
        let mut rows = Vec::new();
        let mut fold = Transcript::new(log.dialect(), log.inherited());
        let mut take = |row: Row| rows.push(row.to_json());
        log.walk(
            log.whole(),
            |_| true,
            |event| {
                fold.event(event, &mut take);
                ControlFlow::Continue(())
            },
        )
        .unwrap();
        fold.finish(&mut take);
        rows
    }

    #[test]
    fn leaving_out_settled_chunks_changes_no_row() {
        let header = r#"{"type":"session","version":0,"id":"a","createdAt":1,"delegationDepth":0}"#;
        let chunk = |text: &str| {
            format!(
                r#"assistant/chunk {{"turn":1,"step":1,"chunk":{{"type":"text-delta","index":0,"text":"{text}"}}}}"#
            )
        };
        let message = r#"assistant/message {"turn":1,"step":1,"message":{"id":"a","role":"assistant","source":{"kind":"model","provider":"p","model":"m"},"content":[{"type":"text","text":"one two"}]}}"#;
        let lines = [
            r#"turn/start {"turn":1}"#.to_owned(),
            r#"step/start {"turn":1,"step":1}"#.into(),
            chunk(""),
            chunk(""),
            chunk(""),
            chunk(""),
            chunk(""),
            chunk("one"),
            chunk(" two"),
            message.into(),
            chunk("and more"),
            r#"step/end {"turn":1,"step":1}"#.into(),
            r#"step/start {"turn":1,"step":2}"#.into(),
            chunk("cut off").replace("\"step\":1", "\"step\":2"),
        ];
        let mut text = header.to_owned() + "\n";
        for (seq, line) in lines.iter().enumerate() {
            let (kind, data) = line.split_once(' ').unwrap();
            let op = if kind.ends_with("/message") { r#","surfaceOp":"append""# } else { "" };
            text += &format!("{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":1{seq}00,\"data\":{data}{op}}}\n");
        }
        let log = Log::read(Source::memory("log", text.into_bytes()), &ReadOptions::default()).unwrap();
        let mut rows = Vec::new();
        of_log(&log, Moment::Balanced, |row| {
            rows.push(row.to_json());
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(rows, all_events(&log));
        assert_eq!(
            rows.len(),
            4,
            "the message, what was cut off behind it, and in step 2 what was cut off, the end"
        );
    }
}
