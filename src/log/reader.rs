//! The fold over lines, in file order: which are accepted, what is wrong with them, what they add up
//! to (v0 section 3.4, generations 1.8, v4 section 2.2).
//!
//! Two readings go on at once. The strict one is the harness's: it ends at the first defect, and the
//! verdict is about it. The tolerant one goes on behind a defect as long as nothing is missing, for
//! views of logs that the harness refuses. Should the strict reading prove right after all (the
//! defect is only a torn tail), everything since is taken back to the checkpoint.

use super::index::Index;
use super::scan::Line;
use super::surface::Surface;
use super::turns::Turns;
use crate::fault::{Code, Severity};
use crate::finding::{Finding, Findings};
use crate::format::dialect::{Dialect, EnvelopeCheck};
use crate::format::glean::Gleaned;
use crate::format::kind::Kind;
use crate::format::relations::{RelHeader, Relations};
use crate::format::row::{Form, RowContext};
use crate::limits::Limits;
use crate::position::{LineNo, Place, TextOffset};
use crate::seq::Seq;

/// Readable records behind damage, with consecutive seqs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Island {
    /// Where the first stands in the text.
    pub text: TextOffset,
    /// The first seq.
    pub first: u64,
    /// The last seq.
    pub last: u64,
    /// How many records.
    pub records: u64,
    /// The time of the first.
    pub time: i64,
    /// The type of the first.
    pub kind: Kind,
}

/// What accepted events add up to.
#[derive(Clone, Debug)]
pub struct Sums {
    /// One entry for each record.
    pub index: Index,
    /// The surface.
    pub surface: Surface,
    /// The open turn.
    pub turns: Turns,
    /// The last `session/end-seed` with `inherited: true`.
    pub tagged_seed: Option<u64>,
    /// The `image/offload` events.
    pub offloads: Vec<u64>,
    /// The time of the first event.
    pub first_time: Option<i64>,
    /// The time of the last event.
    pub last_time: i64,
    /// The earliest and the latest time of any event.
    pub time_range: Option<(i64, i64)>,
    /// How many events of each kind, by the kind's number.
    pub kinds: Vec<u64>,
    pub(super) relations: Option<Relations>,
    pub(super) findings: Findings,
    pub(super) finding_texts: Vec<Option<u64>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strictness {
    /// Every line so far is accepted.
    Sound,
    /// A defect was met that may turn out to be a torn tail.
    Issue,
    /// The log is refused.
    Refused,
}

/// The fold.
pub struct Reader {
    pub(super) dialect: &'static Dialect,
    pub(super) session_id: Vec<u8>,
    pub(super) known: bool,
    pub(super) limits: Limits,
    pub(super) sums: Sums,
    pub(super) checkpoint: Option<Box<Sums>>,
    pub(super) strictness: Strictness,
    pub(super) issue: Option<usize>,
    /// Whether the tolerant reading may still continue the log.
    pub(super) chain_is_open: bool,
    pub(super) lines: u64,
    pub(super) accepted_end: u64,
    pub(super) torn_from: Option<u64>,
    pub(super) recovered: u64,
    pub(super) islands: Vec<Island>,
    pub(super) doubled: bool,
    /// What a view took from accepted events, ascending.
    pub(super) gleaned: Vec<(Seq, Gleaned)>,
    /// Whether the issue lies in complete frames with no `turn/end` behind it.
    pub torn_record: bool,
}

impl Reader {
    /// A fold that has met nothing but the header line.
    #[must_use]
    pub fn new(context: &RowContext<'_>, limits: Limits, has_parent: bool) -> Reader {
        let dialect = context.dialect;
        let header = RelHeader { id: context.session_id.to_vec(), has_parent };
        let relations = (dialect.relations && context.known).then(|| Relations::new(&header));
        Reader {
            dialect,
            session_id: context.session_id.to_vec(),
            known: context.known,
            limits,
            sums: Sums {
                index: Index::default(),
                surface: Surface::new(dialect),
                turns: Turns::new(dialect),
                tagged_seed: None,
                offloads: Vec::new(),
                first_time: None,
                last_time: 0,
                time_range: None,
                kinds: vec![0; Kind::Unknown as usize + 1],
                relations,
                findings: Findings::default(),
                finding_texts: Vec::new(),
            },
            checkpoint: None,
            strictness: Strictness::Sound,
            issue: None,
            chain_is_open: true,
            lines: 1,
            accepted_end: 0,
            torn_from: None,
            recovered: 0,
            islands: Vec::new(),
            doubled: false,
            gleaned: Vec::new(),
            torn_record: false,
        }
    }

    /// Says that the header line is missing: lines are counted from 1 and events from the first seq.
    pub fn without_header(&mut self, first_seq: u64) {
        self.lines = 0;
        self.sums.index.start_at(first_seq);
    }

    /// The text offset just after the header line.
    pub fn header_ends(&mut self, text: u64) {
        self.accepted_end = text;
    }

    /// From here on lines come from the frame that a crash cut short.
    pub fn torn_frame(&mut self) {
        self.torn_from = Some(self.sums.index.next_seq().0);
    }

    /// Adds a finding; `text` is where it stands in the text, to be resolved to file and frame.
    pub fn add(&mut self, finding: Finding, text: Option<u64>) -> usize {
        let before = self.sums.findings.list().len();
        self.sums.findings.push(finding, &self.limits);
        if self.sums.findings.list().len() > before {
            self.sums.finding_texts.push(text);
        }
        before.min(self.sums.findings.list().len().saturating_sub(1))
    }

    pub(super) fn place(&self, seq: Option<u64>) -> Place {
        Place { line: Some(LineNo(self.lines)), seq: seq.map(Seq), ..Place::default() }
    }

    /// Takes one line that starts at `at` in the text.
    pub fn line(&mut self, at: u64, line: Line) {
        self.lines += 1;
        let strict = match self.strictness {
            Strictness::Sound => self.strict(at, &line),
            Strictness::Issue => self.behind_issue(at, &line),
            Strictness::Refused => false,
        };
        if strict {
            self.accept(at, &line);
            self.accepted_end = at + line.bytes + 1;
        } else {
            self.tolerant(at, line);
        }
    }

    /// The harness's own rules for a line with no defect before it; whether the line is accepted.
    fn strict(&mut self, at: u64, line: &Line) -> bool {
        let row = &line.row;
        let expected = self.sums.index.next_seq().0;
        if !self.known {
            // Of a newer log no line can be called wrong.
            return row.is_record() && row.seq == Some(expected as f64);
        }
        let fault = |code| row.fault(code).map(|f| f.message.clone());
        if row.form == Form::Null && self.dialect.crashes_on_null {
            self.refuse_with(at, Code::LineNull, "the line is `null`, on which this harness crashes");
            return false;
        }
        for code in [Code::RowRetiredType, Code::RowHard] {
            if let Some(message) = fault(code) {
                self.refuse_with(at, code, &message);
                return false;
            }
        }
        if row.form == Form::TooLong {
            self.refuse_with(at, Code::RecordTooLarge, &fault(Code::LineUnparsable).unwrap_or_default());
            return false;
        }
        let not_a_record = match row.form {
            Form::NotAnObject | Form::Null => Some(self.dialect.envelope == EnvelopeCheck::WithRows),
            Form::Unparsable => Some(true),
            _ => None,
        };
        if let Some(decode) = not_a_record {
            let code = if decode { Code::LineUnparsable } else { Code::LineSeq };
            self.issue_at(at, code, &fault(Code::LineUnparsable).unwrap_or_default(), None);
            return false;
        }
        if let Some(message) = fault(Code::RowEnvelope) {
            self.issue_at(at, Code::RowEnvelope, &message, None);
            return false;
        }
        let late = fault(Code::RowLate);
        let in_sequence = row.seq == Some(expected as f64);
        if in_sequence && late.is_none() {
            return true;
        }
        match late {
            Some(message) if in_sequence => self.issue_at(at, Code::RowLate, &message, None),
            _ => {
                let found = row.seq.map_or("none".to_owned(), crate::json::number::stringify);
                let message = self.seq_message(row.seq, expected);
                self.issue_at(at, Code::LineSeq, &message, Some((expected.to_string(), found)));
            }
        }
        // The defective line itself counts when it closes a turn.
        if row.kind == Kind::TurnEnd && row.form == Form::Event {
            self.refuse();
        }
        false
    }

    fn seq_message(&self, found: Option<f64>, expected: u64) -> String {
        match found {
            Some(n) if n < expected as f64 => "seq goes back".to_owned(),
            Some(n) => {
                let missing = n - expected as f64;
                let events = if missing == 1.0 { "event is" } else { "events are" };
                format!("seq jumps: {} {events} missing", crate::json::number::stringify(missing))
            }
            None => "the record has no seq".to_owned(),
        }
    }

    /// The harness's rule for a line behind a defect: a closed turn there makes the defect fatal.
    fn behind_issue(&mut self, at: u64, line: &Line) -> bool {
        let row = &line.row;
        if row.form == Form::Null && self.dialect.crashes_on_null {
            self.refuse_with(at, Code::LineNull, "the line is `null`, on which this harness crashes");
        }
        for code in [Code::RowRetiredType, Code::RowHard] {
            if let Some(fault) = row.fault(code) {
                let message = fault.message.clone();
                self.refuse_with(at, code, &message);
            }
        }
        let sound = row.form == Form::Event && row.fault(Code::RowEnvelope).is_none();
        if sound && row.kind == Kind::TurnEnd {
            self.refuse();
        }
        false
    }

    fn issue_at(&mut self, at: u64, code: Code, message: &str, versus: Option<(String, String)>) {
        self.checkpoint_now();
        let mut finding = Finding::new(code, Severity::Cuts, self.place(None), message);
        if let Some((expected, found)) = versus {
            finding = finding.versus(expected, found);
        }
        self.issue = Some(self.add(finding, Some(at)));
        self.strictness = Strictness::Issue;
    }

    fn checkpoint_now(&mut self) {
        if self.checkpoint.is_none() {
            self.checkpoint = Some(Box::new(self.sums.clone()));
        }
    }

    /// The pending issue turns out to be fatal.
    fn refuse(&mut self) {
        if let Some(finding) = self.issue.and_then(|n| self.sums.findings.list_mut().get_mut(n)) {
            finding.severity = Severity::Refuses;
        }
        self.strictness = Strictness::Refused;
    }

    pub(super) fn refuse_with(&mut self, at: u64, code: Code, message: &str) {
        let finding = Finding::new(code, Severity::Refuses, self.place(None), message);
        self.add(finding, Some(at));
        self.strictness = Strictness::Refused;
    }

    /// The complete frames of a zstd file are over; `unterminated` says whether they end inside a
    /// record that starts at that place.
    pub fn complete_frames_end(&mut self, unterminated: Option<u64>) {
        match self.strictness {
            Strictness::Issue => {
                self.torn_record = true;
                self.refuse();
            }
            Strictness::Sound => {
                if let Some(at) = unterminated {
                    self.lines += 1;
                    let message = "the complete frames end inside a record";
                    self.checkpoint_now();
                    self.refuse_with(at, Code::LineUnterminated, message);
                    self.lines -= 1;
                }
            }
            Strictness::Refused => {}
        }
    }

    /// A complete frame gave no text.
    pub fn bad_frame(&mut self, finding: Finding) {
        self.checkpoint_now();
        self.add(finding, None);
        self.strictness = Strictness::Refused;
    }

    /// Ends the fold. When the log opens after all, what was read behind the defect is let go.
    #[must_use]
    pub fn finish(mut self) -> Finished {
        let mut dropped = 0;
        if self.strictness == Strictness::Issue {
            let behind = self.sums.index.entries().len();
            let found: Vec<(Finding, Option<u64>)> = {
                let texts = self.sums.finding_texts.iter().copied();
                self.sums.findings.list().iter().cloned().zip(texts).collect()
            };
            if let Some(checkpoint) = self.checkpoint.take() {
                self.sums = *checkpoint;
            }
            let kept = self.sums.index.entries().len();
            dropped = (behind - kept) as u64 + self.islands.iter().map(|i| i.records).sum::<u64>();
            let before = self.sums.findings.list().len();
            if let Some((finding, _)) = self.issue.and_then(|n| found.get(n).cloned()) {
                self.add(finding, Some(self.accepted_end));
            }
            // That two writers went on from one place says what the tail is, and whether to cut it.
            let double = found.into_iter().skip(before).filter(|(f, _)| f.code == Code::TwoWriters);
            for (finding, text) in double {
                self.add(finding, text);
            }
        }
        self.report_relations();
        let refused = self.strictness == Strictness::Refused;
        Finished {
            refused,
            accepted_end: self.accepted_end,
            recovered: self.recovered,
            lost_records: dropped,
            lines: self.lines,
            islands: self.islands,
            issue_class: self.torn_record.then_some(Code::LineUnterminated.class()),
            finding_texts: std::mem::take(&mut self.sums.finding_texts),
            findings: std::mem::take(&mut self.sums.findings),
            sums: self.sums,
            gleaned: self.gleaned,
        }
    }
}

/// What the fold leaves.
pub struct Finished {
    /// Whether the lines alone refuse the log.
    pub refused: bool,
    /// The text offset just after the last line that the harness accepts.
    pub accepted_end: u64,
    /// How many events the torn frame gave.
    pub recovered: u64,
    /// How many whole records would be dropped with the tail.
    pub lost_records: u64,
    /// How many lines were read, the header line included.
    pub lines: u64,
    /// Records behind damage that do not continue the log.
    pub islands: Vec<Island>,
    /// The class that the harness gives the issue, when it is not the line's own.
    pub issue_class: Option<&'static str>,
    /// What was found.
    pub findings: Findings,
    /// Where each finding stands in the text.
    pub finding_texts: Vec<Option<u64>>,
    /// What the accepted events add up to.
    pub sums: Sums,
    /// What a view took from events; after some were let go also theirs.
    pub gleaned: Vec<(Seq, Gleaned)>,
}

#[cfg(test)]
mod tests {
    use crate::log::{Log, ReadOptions};
    use crate::storage::source::Source;

    #[test]
    fn a_seq_beyond_all_numbers_names_no_event() {
        for seq in ["1e300", "18446744073709551615", "9007199254740992"] {
            let text = format!(
                "{{\"type\":\"session\",\"version\":0,\"id\":\"s\",\"createdAt\":1,\"delegationDepth\":0}}\n\
                 {{\"type\":\"todo/write\",\"seq\":{seq},\"time\":1,\"data\":{{}}}}\n"
            );
            let source = Source::memory("session.jsonl", text.into_bytes());
            let log = Log::read(source, &ReadOptions::default()).unwrap();
            assert!(log.verdict().outcome.opens() && log.index().events() == 0, "{seq}");
            assert!(log.islands().is_empty(), "{seq}");
        }
    }
}
