//! The reading behind a defect, for people: it goes on while nothing is missing, and keeps apart what
//! does not continue the log.

use super::index::{Entry, Flags};
use super::reader::{Island, Reader};
use super::scan::Line;
use crate::fault::{Code, Severity};
use crate::finding::Finding;
use crate::format::kind::Kind;
use crate::format::row::{Form, Row, RowContext};
use crate::limits::{GLUED_TRIES, ISLANDS};
use crate::position::TextOffset;
use crate::seq::{MAX_SAFE, Seq};

impl Reader {
    /// The reading behind a defect, for people: goes on while nothing is missing.
    pub(super) fn tolerant(&mut self, at: u64, line: Line) {
        let expected = self.sums.index.next_seq().0;
        match line.row.form {
            Form::TooLong if self.chain_is_open => {
                // Its place is kept, so that what follows is not lost with it.
                let location = self.sums.turns.apply(expected, Kind::Unknown, None);
                let flags = Flags::TOO_LONG;
                let time = self.sums.last_time;
                let entry = Entry::new(TextOffset(at), Seq(expected), time, location, Kind::Unknown, flags);
                self.sums.index.push(entry, 1);
            }
            Form::Event | Form::Packed(_) => {
                if self.chain_is_open && line.row.seq == Some(expected as f64) {
                    self.accept(at, &line);
                } else {
                    self.set_aside(at, &line.row, expected);
                }
            }
            _ => {
                if let Some(text) = &line.spoiled {
                    self.spoiled(at, text);
                }
            }
        }
    }

    /// A spoiled line: zero bytes, or a stub with a whole record behind it.
    fn spoiled(&mut self, at: u64, text: &[u8]) {
        let zeros = text.iter().take_while(|byte| **byte == 0).count();
        if zeros > 0 {
            let message = format!("a run of {zeros} zero bytes, as a crashed write leaves behind");
            let finding = Finding::new(Code::NulRun, Severity::Warns, self.place(None), message);
            self.add(finding, Some(at));
        }
        let expected = self.sums.index.next_seq().0;
        let id = std::mem::take(&mut self.session_id);
        let context = RowContext { dialect: self.dialect, session_id: &id, known: self.known, glean: None };
        let starts = memchr::memmem::find_iter(text, b"{\"type\":").filter(|start| *start > 0);
        for start in starts.take(GLUED_TRIES) {
            let row = crate::format::judge::parse(&text[start..], &context);
            if row.is_record() && self.chain_is_open && row.seq == Some(expected as f64) {
                if zeros < start {
                    let message = format!(
                        "a stub of {} bytes and a whole record share the line; the record is read",
                        start - zeros
                    );
                    let place = self.place(Some(expected));
                    self.add(Finding::new(Code::GluedRecord, Severity::Warns, place, message), Some(at));
                }
                let bytes = (text.len() - start) as u64;
                self.accept(at + start as u64, &Line { at, bytes, row, spoiled: None });
                break;
            }
        }
        self.session_id = id;
    }

    fn set_aside(&mut self, at: u64, row: &Row, expected: u64) {
        // A number beyond the safe ones names no event.
        let counts = |n: &f64| (0.0..=MAX_SAFE as f64).contains(n) && n.fract() == 0.0;
        let Some(seq) = row.seq.filter(counts) else { return };
        let first = seq as u64;
        // With one seq twice there are two histories, and none is chosen silently.
        self.chain_is_open &= first > expected;
        let last = first + row.members() - 1;
        if first < expected && !self.doubled {
            self.doubled = true;
            self.report_double(at, row, first);
        }
        let full = self.islands.len() >= ISLANDS;
        match self.islands.last_mut() {
            Some(island) if island.last + 1 == first || full => {
                island.last = last;
                island.records += 1;
            }
            _ => self.islands.push(Island {
                text: TextOffset(at),
                first,
                last,
                records: 1,
                time: row.time,
                kind: row.kind,
            }),
        }
    }

    fn report_double(&mut self, at: u64, row: &Row, seq: u64) {
        let standing = self.sums.index.record_of(Seq(seq)).map(|n| self.sums.index.entries()[n]);
        let first = standing.map_or_else(
            || "an event before the first one read".to_owned(),
            |entry| format!("{} at {} ms", entry.kind, entry.time),
        );
        let message = format!(
            "event {seq} stands twice: first {first}, then {} at {} ms; two writers, fork point at {seq}",
            row.kind, row.time
        );
        let place = self.place(Some(seq));
        self.add(Finding::new(Code::TwoWriters, Severity::Warns, place, message), Some(at));
    }
}
