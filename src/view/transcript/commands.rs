//! Commands, and the compactions that they or the harness made (format v0, sections 15.2, 16.2,
//! 17.3).

use super::content::{self, Block};
use super::rows::{Body, Command, Compaction, Row};
use super::shelf::{Anchor, Place, Shelf};
use crate::format::event::Event;
use crate::json::Raw;
use std::collections::HashMap;

#[derive(Debug)]
struct Open {
    place: Place,
    row: Row,
    command: Command,
    /// What the command compacted, once its checkpoint has landed.
    compaction: Option<Compaction>,
}

impl Open {
    fn close(self, shelf: &mut Shelf) {
        let body = match self.compaction {
            Some(compaction) => Body::Compaction(Compaction { command: Some(self.command), ..compaction }),
            None => Body::Command(self.command),
        };
        shelf.fill(self.place, Row { body, ..self.row });
    }
}

/// The commands that run and the compaction that is under way.
#[derive(Debug, Default)]
pub(super) struct Commands {
    open: HashMap<Vec<u8>, Open>,
    /// The last summary, which its checkpoint follows.
    summary: Option<(Vec<u8>, Compaction)>,
}

fn key(value: Option<Raw<'_>>) -> Vec<u8> {
    value.and_then(Raw::text).unwrap_or_default().into_owned()
}

impl Commands {
    /// A command runs. The line of a `goal` command is a row of its own before it.
    pub(super) fn run(&mut self, event: &Event<'_>, shelf: &mut Shelf) {
        let [id, name, args] = event.data.get_all(["commandId", "name", "args"]);
        let command = Command {
            id: content::text(id),
            name: content::text(name),
            args: content::text(args),
            outcome: "running".to_owned(),
            ..Command::default()
        };
        let at = Anchor::at(event.seq);
        if command.name.as_deref() == Some("goal") {
            let line = format!("/goal{}", command.args.as_deref().unwrap_or_default());
            let body = Body::CommandInput(line.trim_end().to_owned());
            shelf.put(at.minus(10), Row::new(event, body));
        }
        let row = Row::begun(event);
        let open = Open { place: shelf.hold(at), row, command, compaction: None };
        if let Some(mut before) = self.open.insert(key(id), open) {
            before.command.outcome = "interrupted".to_owned();
            before.close(shelf);
        }
    }

    /// A command is done; without its start the row stands at its end.
    pub(super) fn done(&mut self, event: &Event<'_>, shelf: &mut Shelf) {
        let [id, kind, said] = event.data.get_all(["commandId", "kind", "text"]);
        let mut open = self.open.remove(&key(id)).unwrap_or_else(|| Open {
            place: shelf.hold(Anchor::at(event.seq)),
            row: Row::begun(event),
            command: Command { id: content::text(id), ..Command::default() },
            compaction: None,
        });
        open.command.outcome = content::text(kind).unwrap_or_default();
        open.command.text = content::text(said);
        open.close(shelf);
    }

    /// The process that ran the commands is gone, or the log ends.
    pub(super) fn leave(&mut self, outcome: &str, shelf: &mut Shelf) {
        self.summary = None;
        for mut open in std::mem::take(&mut self.open).into_values() {
            open.command.outcome = outcome.to_owned();
            open.close(shelf);
        }
    }

    /// A summary was made; it shows where its checkpoint lands.
    pub(super) fn summary(&mut self, data: Raw<'_>) {
        let [id, summary, seqs, tokens, model] =
            data.get_all(["compactionId", "summary", "shadowedSeqs", "shadowedTokenCount", "model"]);
        let words: String = content::blocks(summary)
            .into_iter()
            .filter_map(|block| if let Block::Text(text) = block { Some(text) } else { None })
            .collect();
        let compaction = Compaction {
            summary: (!words.trim().is_empty()).then_some(words),
            content: content::copy(summary),
            items: seqs.filter(|seqs| seqs.is_array()).map(|seqs| seqs.elements().count() as u64),
            tokens: tokens.and_then(Raw::count),
            model: content::text(model),
            ..Compaction::default()
        };
        self.summary = Some((key(id), compaction));
    }

    /// A replacing user message: when it is a checkpoint, a compaction has landed here. Its own text
    /// is never shown.
    pub(super) fn replacement(&mut self, event: &Event<'_>, shelf: &mut Shelf) {
        let Some((id, command)) = content::checkpoint(event.data.get("source")) else { return };
        let summary = self.summary.take().filter(|(of, _)| *of == key(Some(id)));
        let compaction = summary.map(|(_, compaction)| compaction).unwrap_or_default();
        let compaction = Compaction { id: content::text(Some(id)), ..compaction };
        let at = Anchor::at(event.seq);
        let open = command.and_then(|command| self.open.get_mut(&key(Some(command))));
        match open {
            Some(open) => {
                shelf.drop(open.place);
                open.place = shelf.hold(at);
                open.row = Row::begun(event);
                open.compaction = Some(compaction);
            }
            None => shelf.put(at, Row::new(event, Body::Compaction(compaction))),
        }
    }

    /// A compaction ended; one that failed is worth a row although nothing was replaced.
    pub(super) fn end(&mut self, event: &Event<'_>, shelf: &mut Shelf) {
        let [id, command, error] = event.data.get_all(["compactionId", "sourceCommandId", "error"]);
        self.summary = None;
        let Some(error) = content::text(error) else { return };
        if let Some(open) = command.and_then(|command| self.open.get_mut(&key(Some(command)))) {
            open.command.compaction_error = Some(error);
            return;
        }
        let failed = Compaction { id: content::text(id), error: Some(error), ..Compaction::default() };
        shelf.put(Anchor::at(event.seq), Row::new(event, Body::Compaction(failed)));
    }
}
