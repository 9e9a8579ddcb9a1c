//! The fold over lines, in file order: which are accepted, what is wrong with them, what they add up
//! to (v0 section 3.4, generations 1.8, v4 section 2.2).
//!
//! Two readings go on at once. The strict one is the harness's: it ends at the first defect, and the
//! verdict is about it. The tolerant one goes on behind a defect as long as nothing is missing, for
//! views of logs that the harness refuses. Should the strict reading prove right after all (the
//! defect is only a torn tail), everything since is taken back to the checkpoint.

use super::index::{Entry, Flags, Index};
use super::scan::Line;
use super::surface::Surface;
use super::turns::Turns;
use crate::fault::{Code, Severity};
use crate::finding::{Finding, Findings};
use crate::format::detail::{Detail, ResultKey};
use crate::format::dialect::{Dialect, EnvelopeCheck};
use crate::format::kind::Kind;
use crate::format::parts::RowFault;
use crate::format::relations::{RelEvent, RelHeader, Relations};
use crate::format::row::{Form, Row, RowContext};
use crate::format::surface_op::SurfaceOp;
use crate::json::Raw;
use crate::limits::{GLUED_TRIES, ISLANDS, Limits};
use crate::position::{LineNo, Place, TextOffset};
use crate::seq::{MAX_SAFE, Seq};

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
    relations: Option<Relations>,
    findings: Findings,
    finding_texts: Vec<Option<u64>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strictness {
    /// Every line so far is accepted.
    Sound,
    /// A defect was met that may turn out to be a torn tail.
    Issue,
    /// The log is refused.
    Refused,
}

/// The fold.
pub struct Reader {
    dialect: &'static Dialect,
    session_id: Vec<u8>,
    known: bool,
    limits: Limits,
    sums: Sums,
    checkpoint: Option<Box<Sums>>,
    strictness: Strictness,
    issue: Option<usize>,
    /// Whether the tolerant reading may still continue the log.
    chain_is_open: bool,
    lines: u64,
    accepted_end: u64,
    torn_from: Option<u64>,
    recovered: u64,
    islands: Vec<Island>,
    doubled: bool,
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

    fn place(&self, seq: Option<u64>) -> Place {
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
                format!("seq jumps: {} events are missing", crate::json::number::stringify(missing))
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

    fn refuse_with(&mut self, at: u64, code: Code, message: &str) {
        let finding = Finding::new(code, Severity::Refuses, self.place(None), message);
        self.add(finding, Some(at));
        self.strictness = Strictness::Refused;
    }

    /// The reading behind a defect, for people: goes on while nothing is missing.
    fn tolerant(&mut self, at: u64, line: Line) {
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
        let context = RowContext { dialect: self.dialect, session_id: &id, known: self.known };
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

    /// Takes a record into the log.
    fn accept(&mut self, at: u64, line: &Line) {
        let row = &line.row;
        let seq = self.sums.index.next_seq().0;
        let detail = row.detail.as_deref();
        if let Some(detail) = detail {
            self.row_findings(at, seq, row, detail);
            if self.known {
                self.surface(at, seq, row.kind, detail);
                self.relate(seq, row.kind, detail);
            }
            if row.kind == Kind::EndSeed {
                self.end_seed(at, seq, detail);
            }
        }
        if row.kind == Kind::ImageOffload && self.dialect.knows(row.kind) {
            self.sums.offloads.push(seq);
            self.sums.surface.project();
        }
        let location = self.sums.turns.apply(seq, row.kind, detail);
        let has = |test: fn(&Detail) -> bool| detail.is_some_and(test);
        let flags = Flags::default()
            .with(Flags::PACKED, matches!(row.form, Form::Packed(_)))
            .with(Flags::ENDS_ATTEMPT, row.ends_attempt)
            .with(Flags::LEGACY, has(|d| d.legacy))
            .with(Flags::REPLACES, has(|d| d.op.is_replace()))
            .with(Flags::INHERITED_SEED, has(|d| d.inherited_seed))
            .with(Flags::TORN, self.torn_from.is_some());
        let entry = Entry::new(TextOffset(at), Seq(seq), row.time, location, row.kind, flags);
        self.sums.index.push(entry, row.members());
        self.sums.kinds[row.kind as usize] += row.members();
        self.sums.first_time.get_or_insert(row.time);
        self.sums.last_time = row.last_time;
        let (low, high) = self.sums.time_range.unwrap_or((row.time, row.time));
        let latest = row.time.max(row.last_time);
        self.sums.time_range = Some((low.min(row.time).min(row.last_time), high.max(latest)));
        if self.torn_from.is_some() {
            self.recovered += row.members();
        }
    }

    fn row_findings(&mut self, at: u64, seq: u64, row: &Row, detail: &Detail) {
        if detail.invalid_utf8 {
            let message = "bytes that are not UTF-8; the harness reads them as U+FFFD";
            let finding = Finding::new(Code::InvalidUtf8, Severity::Warns, self.place(Some(seq)), message);
            self.add(finding, Some(at));
        }
        let range = match (detail.op, self.dialect.range_before_sources) {
            (SurfaceOp::Replace { start, end }, true) => self.sums.surface.has_run(start, end).err(),
            _ => None,
        };
        for fault in &detail.faults {
            if fault.code == Code::SurfaceProvenance
                && let Some(range) = &range
            {
                self.event_fault(at, seq, range);
            }
            self.event_fault(at, seq, fault);
        }
        if row.kind == Kind::ToolResult && detail.call_id.as_deref().is_some_and(|id| id == b"\"\"") {
            let message = "a tool result whose source names no call: its callId is empty";
            let finding = Finding::new(Code::EmptyCallId, Severity::Warns, self.place(Some(seq)), message);
            self.add(finding, Some(at));
        }
    }

    fn event_fault(&mut self, at: u64, seq: u64, fault: &RowFault) {
        let finding =
            Finding::new(fault.code, Severity::Refuses, self.place(Some(seq)), fault.message.clone());
        self.add(finding, Some(at));
    }

    fn surface(&mut self, at: u64, seq: u64, kind: Kind, detail: &Detail) {
        if !self.dialect.is_surface(kind) || matches!(detail.op, SurfaceOp::Absent | SurfaceOp::Malformed) {
            return;
        }
        let key = self.result_key(at, seq, kind, detail);
        let sound_sources = !detail.faults.iter().any(|f| f.code == Code::SurfaceProvenance);
        match self.sums.surface.apply(seq, kind, detail.op, detail.sources.as_ref(), key) {
            Ok(()) => {}
            // One fault is enough where the list itself was named already.
            Err(fault) if fault.code == Code::SurfaceProvenance && !sound_sources => {}
            Err(fault) => self.event_fault(at, seq, &fault),
        }
    }

    /// Hands the event to the rules between events.
    fn relate(&mut self, seq: u64, kind: Kind, detail: &Detail) {
        let (Some(relations), Some(data)) = (&mut self.sums.relations, &detail.relation) else { return };
        let Ok(data) = Raw::parse(data) else { return };
        let sources = detail.sources.as_ref();
        let has_sources =
            sources.is_some() || detail.faults.iter().any(|f| f.code == Code::SurfaceProvenance);
        relations.event(&RelEvent { seq, kind, data, op: detail.op, sources, has_sources });
    }

    /// The key of a tool result; an old shape takes over the id of the event it replaces.
    fn result_key(&mut self, at: u64, seq: u64, kind: Kind, detail: &Detail) -> Option<ResultKey> {
        let key = detail.result_key?;
        let Some(from) = detail.inherits_id_from else { return Some(key) };
        match self.sums.surface.result_key(from) {
            Some(standing) => Some(ResultKey { id: standing.id, ..key }),
            None if self.sums.surface.has_message(from) => Some(key),
            None => {
                let fault = RowFault::new(Code::MessageShape, format!("{kind} lacks an identified message"));
                self.event_fault(at, seq, &fault);
                Some(key)
            }
        }
    }

    fn end_seed(&mut self, at: u64, seq: u64, detail: &Detail) {
        if let Some(fault) = detail.faults.iter().find(|f| f.code == Code::EndSeedShape) {
            self.refuse_with(at, Code::EndSeedShape, &fault.message.clone());
        }
        if detail.inherited_seed {
            self.sums.tagged_seed = Some(seq);
        }
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
            let found: Vec<Finding> = self.sums.findings.list().to_vec();
            if let Some(checkpoint) = self.checkpoint.take() {
                self.sums = *checkpoint;
            }
            let kept = self.sums.index.entries().len();
            dropped = (behind - kept) as u64 + self.islands.iter().map(|i| i.records).sum::<u64>();
            if let Some(finding) = self.issue.and_then(|n| found.get(n).cloned()) {
                self.add(finding, Some(self.accepted_end));
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
        }
    }
}

impl Reader {
    fn report_relations(&mut self) {
        let Some(relations) = self.sums.relations.take() else { return };
        for violation in relations.finish(self.sums.tagged_seed.unwrap_or(0)) {
            let at =
                self.sums.index.record_of(Seq(violation.seq)).map(|n| self.sums.index.entries()[n].text.0);
            let message = format!("{} ({})", violation.message, violation.rule);
            let place = Place::at_seq(Seq(violation.seq));
            self.add(Finding::new(violation.code, Severity::Refuses, place, message), at);
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
