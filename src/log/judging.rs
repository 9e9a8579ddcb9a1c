//! From what was read to what the harness would do with it.

use super::closers::{self, Cause};
use super::read::Log;
use super::reader::Finished;
use super::verdict::{self, Cut, Outcome};
use super::{projection, rewrites};
use crate::error::Result;
use crate::fault::{Code, Severity};
use crate::finding::Finding;
use crate::format::dialect::Inherited;
use crate::limits::Limits;
use crate::position::{FileOffset, Place};
use crate::storage::container::Container;

impl Log {
    /// From what was read to what the harness would do with it.
    pub(super) fn judge(&mut self, finished: &Finished, limits: &Limits) -> Result<()> {
        self.check_seed_markers(limits);
        for (seq, fault) in projection::check(self)?.into_iter().chain(rewrites::check(self)?) {
            self.add_event_fault(seq, fault, limits);
        }
        self.report_islands(limits);
        let opens = !self.has_refusal();
        if opens && let Some((code, message)) = closers::fault(&self.sums.turns, self.dialect) {
            let place = Place::at_seq(self.sums.index.next_seq());
            self.findings.push(Finding::new(code, Severity::Refuses, place, message), limits);
        }
        self.closers = closers::closers(
            &self.sums.turns,
            self.sums.index.next_seq().0,
            self.sums.last_time,
            Cause::Interrupted,
            self.dialect,
        );
        // Nothing is appended to a log that does not open, so nothing is shown as appended.
        if !self.known || self.has_refusal() {
            self.closers.clear();
        }
        self.note_the_tail(finished, limits);
        self.decide(finished);
        Ok(())
    }

    fn has_refusal(&self) -> bool {
        self.findings.list().iter().any(|f| f.severity == Severity::Refuses)
    }

    fn add_event_fault(&mut self, seq: u64, fault: crate::format::parts::RowFault, limits: &Limits) {
        let place = self.place_of(crate::seq::Seq(seq));
        self.findings.push(Finding::new(fault.code, Severity::Refuses, place, fault.message), limits);
    }

    fn check_seed_markers(&mut self, limits: &Limits) {
        let Some(header) = self.header.as_ref().filter(|_| self.known) else { return };
        if self.dialect.inherited != Inherited::TaggedEndSeed {
            return;
        }
        let (code, message) = match (header.is_seeded, self.sums.tagged_seed) {
            (Some(true), None) => {
                let message =
                    "the header says that the log begins with inherited events, and no end of them is marked";
                (Code::SeedMarkerMissing, message)
            }
            (Some(false), Some(_)) => {
                let message =
                    "the header says that nothing is inherited, and an end of inherited events is marked";
                (Code::SeedMarkerUnexpected, message)
            }
            _ => return,
        };
        let place = self.sums.tagged_seed.map_or(Place::default(), |seq| Place::at_seq(crate::seq::Seq(seq)));
        self.findings.push(Finding::new(code, Severity::Refuses, place, message), limits);
    }

    fn report_islands(&mut self, limits: &Limits) {
        if !self.known {
            return;
        }
        for island in self.islands.clone() {
            let place = Place {
                seq: Some(crate::seq::Seq(island.first)),
                frame: self.map.frame_of(island.text),
                byte: Some(FileOffset(self.map.file_byte(island.text))),
                line: None,
            };
            let message = match (island.records, island.first == island.last) {
                (1, true) => format!("a readable record behind the damage: {}", island.kind),
                (records, _) => format!(
                    "{records} readable records behind the damage, events {} to {}, beginning with {}",
                    island.first, island.last, island.kind
                ),
            };
            self.findings.push(Finding::new(Code::RecordsBehind, Severity::Warns, place, message), limits);
        }
    }

    fn note_the_tail(&mut self, finished: &Finished, limits: &Limits) {
        if !self.has_refusal() {
            let cut = self.cut(finished);
            if let Some(cut) = cut {
                let lost = match cut.lost_records {
                    0 => String::new(),
                    n => format!(", {n} whole records in them do not continue the log"),
                };
                let message = format!(
                    "{} bytes of a torn tail; {} events in them are whole and kept{lost}",
                    cut.bytes, cut.recovered
                );
                let place = Place::at_byte(cut.from);
                self.findings.push(Finding::new(Code::TornTail, Severity::Cuts, place, message), limits);
            }
            self.verdict.cut = cut;
        }
        if let Some((turn, start)) = self.sums.turns.open_turn() {
            let number = turn.json().map(|t| String::from_utf8_lossy(&t).into_owned()).unwrap_or_default();
            let calls = self.sums.turns.pending().count();
            let message =
                format!("turn {number} was still open when the log ends, with {calls} unanswered calls");
            let place = self.place_of(crate::seq::Seq(start));
            self.findings.push(Finding::new(Code::OpenTurn, Severity::Notes, place, message), limits);
        }
    }

    /// What repair would cut: from the torn frame on, or from the first byte not accepted.
    fn cut(&self, finished: &Finished) -> Option<Cut> {
        let from = match self.container {
            Container::Zstd => self.torn_from?,
            Container::Raw => finished.accepted_end,
        };
        let bytes = self.source.bytes().saturating_sub(from);
        (bytes > 0).then_some(Cut {
            from,
            bytes,
            recovered: finished.recovered,
            lost_records: finished.lost_records,
        })
    }

    fn decide(&mut self, finished: &Finished) {
        let reason = verdict::deciding(self.findings.list(), self.dialect).cloned();
        let Some(reason) = reason else {
            let repair = self.verdict.cut.is_some() || !self.closers.is_empty();
            self.verdict.outcome = if repair { Outcome::OpensAfterRepair } else { Outcome::Opens };
            return;
        };
        let unsupported = verdict::is_unsupported(reason.code);
        self.verdict.outcome = if unsupported { Outcome::Unsupported } else { Outcome::Refuses };
        let by_line = reason.code.class().starts_with("lines:") && reason.code != Code::LineNull;
        self.verdict.class = match finished.issue_class {
            Some(class) if by_line => Some(class),
            _ => Some(reason.code.class()),
        };
        self.verdict.cut = None;
        self.verdict.reason = Some(reason);
    }
}
