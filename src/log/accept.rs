//! Taking a record into the log: its entry, what is wrong with it, and what it adds up to.

use super::index::{Entry, Flags};
use super::reader::Reader;
use super::scan::Line;
use crate::fault::{Code, Severity};
use crate::finding::Finding;
use crate::format::detail::{Detail, ResultKey};
use crate::format::kind::Kind;
use crate::format::parts::RowFault;
use crate::format::relations::RelEvent;
use crate::format::row::{Form, Row};
use crate::format::surface_op::SurfaceOp;
use crate::json::Raw;
use crate::position::{Place, TextOffset};
use crate::seq::Seq;

impl Reader {
    /// Takes a record into the log.
    pub(super) fn accept(&mut self, at: u64, line: &Line) {
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
        if let Some(gleaned) = &row.gleaned {
            self.gleaned.push((Seq(seq), gleaned.clone()));
        }
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

    /// Names what breaks the rules between events.
    pub(super) fn report_relations(&mut self) {
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
