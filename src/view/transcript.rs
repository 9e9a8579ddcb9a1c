//! The transcript: what people and the model said and did, compaction notwithstanding (format v0,
//! section 16).
//!
//! Rows come from append-origin events and from events of the log's life, never from the surface: a
//! replacement removes no row, and the only one that makes a row is a compaction's checkpoint. Rows
//! leave in the order of their anchors, as soon as nothing before them can still change.

mod assistant;
mod commands;
pub mod content;
mod dispatch;
mod draft;
mod json;
mod people;
pub mod rows;
mod series;
pub mod shelf;
#[cfg(test)]
mod tests;
pub mod told;
mod tools;
mod turns;

pub use content::{Block, Failure};
pub use rows::{Body, Row};
pub use shelf::Anchor;

use crate::format::dialect::Dialect;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::surface_op::SurfaceOp;
use crate::seq::Seq;
use rows::{Context, Seed, Unknown};
use shelf::Shelf;

/// The fold: events in, rows out.
#[derive(Debug)]
pub struct Transcript {
    dialect: &'static Dialect,
    own_from: u64,
    shelf: Shelf,
    people: people::People,
    step: assistant::Step,
    turn: turns::Turn,
    tools: tools::Tools,
    commands: commands::Commands,
    retries: series::Retries,
    workflows: series::Workflows,
    last: Seq,
    /// Whether the log ends where the events do.
    whole: bool,
}

impl Transcript {
    /// A transcript of a log of that generation; events below `own_from` are inherited.
    #[must_use]
    pub fn new(dialect: &'static Dialect, own_from: u64) -> Transcript {
        Transcript {
            dialect,
            own_from,
            shelf: Shelf::new(own_from),
            people: people::People::default(),
            step: assistant::Step::default(),
            turn: turns::Turn::default(),
            tools: tools::Tools::default(),
            commands: commands::Commands::default(),
            retries: series::Retries::default(),
            workflows: series::Workflows::default(),
            last: Seq(0),
            whole: true,
        }
    }

    /// Of a log that cannot be read to its end: what became of open calls may stand behind.
    #[must_use]
    pub fn unread_behind(self) -> Transcript {
        Transcript { whole: false, ..self }
    }

    /// Takes the next event, in ascending order; packed rows come expanded. Rows that are settled
    /// leave through `out`.
    pub fn event(&mut self, event: &Event<'_>, out: &mut dyn FnMut(Row)) {
        // Messages that the parent had waiting are not this session's.
        if self.last.0 < self.own_from && event.seq.0 >= self.own_from {
            self.people.forget_pending();
        }
        self.last = event.seq;
        self.people.next(Some(event), &mut self.shelf);
        match event.op {
            SurfaceOp::Append => self.appended(event),
            SurfaceOp::Replace { .. } if event.kind == Kind::UserMessage => {
                self.commands.replacement(event, &mut self.shelf);
            }
            SurfaceOp::Replace { .. } | SurfaceOp::Malformed => {}
            SurfaceOp::Absent => self.lived(event),
        }
        self.shelf.flush(out);
    }

    /// Whether the first token of the open step has come.
    pub(super) fn has_first_token(&self) -> bool {
        self.step.has_first_token()
    }

    /// The log ends; what is open is shown as running.
    pub fn finish(mut self, out: &mut dyn FnMut(Row)) {
        let shelf = &mut self.shelf;
        self.people.next(None, shelf);
        self.step.finish(shelf);
        self.retries.close(false, shelf);
        self.tools.finish(Anchor::at(self.last).plus(20), self.whole, shelf);
        self.workflows.close("running", shelf);
        self.commands.leave("running", shelf);
        self.turn.leave(shelf);
        shelf.flush_all(out);
    }

    /// Messages that were put at the end of the surface.
    fn appended(&mut self, event: &Event<'_>) {
        let shelf = &mut self.shelf;
        match event.kind {
            Kind::UserMessage => self.people.said(event, shelf),
            Kind::AssistantMessage => {
                let spoken = self.step.message(event, shelf);
                self.turn.spoke(event, &spoken, shelf);
                self.tools.ask(event);
            }
            Kind::ToolResult => {
                self.turn.busy();
                self.tools.result(event, self.dialect, shelf);
            }
            Kind::SystemMessage => instructed(event, "system", shelf),
            Kind::DeveloperMessage => instructed(event, "developer", shelf),
            _ => {
                let data = event.data.bytes().to_vec();
                let body = Body::Unknown(Unknown { type_name: event.type_text(), data });
                shelf.put(Anchor::at(event.seq), Row::new(event, body));
            }
        }
    }

    /// Events that are not on the surface.
    fn lived(&mut self, event: &Event<'_>) {
        let shelf = &mut self.shelf;
        match event.kind {
            Kind::TurnStart => self.turn_start(event),
            Kind::TurnEnd => self.turn_end(event),
            Kind::StepStart => {
                self.step.start(event, shelf);
                self.turn.step(event);
            }
            Kind::StepEnd => self.step_end(event),
            Kind::AssistantChunk => self.step.chunk(event, shelf),
            Kind::AssistantAttempt => self.step.attempt(event, shelf),
            Kind::LlmRetry => {
                self.step.retry(shelf);
                self.turn.busy();
                self.retries.schedule(event, shelf);
            }
            Kind::LlmRetryStarted => self.retries.started(event.data),
            Kind::ToolCall => {
                self.turn.tool();
                self.tools.call(event, shelf);
            }
            Kind::CodeDispatchStart | Kind::PtcDispatchStart => self.tools.dispatch(event, false),
            Kind::CodeDispatch | Kind::PtcDispatch => self.tools.dispatch(event, true),
            Kind::CommandRun => self.commands.run(event, shelf),
            Kind::CommandDone => self.commands.done(event, shelf),
            Kind::CompactionSummary => self.commands.summary(event.data),
            Kind::CompactionEnd => self.commands.end(event, shelf),
            Kind::WorkflowRunStart => self.workflows.start(event, shelf),
            Kind::WorkflowAgentStart => self.workflows.agent(event.data),
            Kind::WorkflowAgentEnd => self.workflows.agent_done(event.data),
            Kind::WorkflowRunEnd => self.workflows.end(event.data, shelf),
            Kind::InboxSpliced => self.people.splice(event.data),
            Kind::EndSeed => self.end_seed(event),
            _ => {}
        }
    }

    /// A turn begins. When the one before was never closed, nothing of it runs any more.
    fn turn_start(&mut self, event: &Event<'_>) {
        if self.turn.open {
            self.settle(event);
        }
        self.turn.start(event, &mut self.shelf);
    }

    fn turn_end(&mut self, event: &Event<'_>) {
        self.settle(event);
        self.turn.end(event, &mut self.shelf);
        self.people.turn_ended();
    }

    /// Everything of the turn that is still open ends here.
    fn settle(&mut self, event: &Event<'_>) {
        self.step_end(event);
        self.tools.close(event, &mut self.shelf);
        self.workflows.close("interrupted", &mut self.shelf);
    }

    fn step_end(&mut self, event: &Event<'_>) {
        let cut_words = self.step.close(event, &mut self.shelf);
        self.retries.close(true, &mut self.shelf);
        if cut_words {
            let at = Anchor::at(event.seq);
            self.turn.words(at.minus(85), &mut self.shelf);
        }
    }

    /// A fork's boundary or a pick-up: the process that ran the commands above is gone.
    fn end_seed(&mut self, event: &Event<'_>) {
        self.commands.leave("interrupted", &mut self.shelf);
        let tagged = event.data.get("inherited").is_some_and(crate::json::Raw::is_true);
        let at_boundary = self.own_from > 0 && event.seq.0.abs_diff(self.own_from) <= 1;
        let seed = if tagged || at_boundary { Seed::Fork } else { Seed::Resumed };
        self.shelf.put(Anchor::at(event.seq), Row::new(event, Body::EndSeed(seed)));
    }
}

/// A message that tells the model its rules; an empty one takes nothing back and says nothing.
fn instructed(event: &Event<'_>, role: &'static str, shelf: &mut Shelf) {
    let Some(message) = event.message() else { return };
    let said = people::said(message);
    if said.blocks.is_empty() {
        return;
    }
    let source = message.get("source");
    let body = Body::Context(Context {
        role,
        label: content::label(source),
        form: content::form(source),
        said,
        source: content::copy(source),
    });
    shelf.put(Anchor::at(event.seq), Row::new(event, body));
}
