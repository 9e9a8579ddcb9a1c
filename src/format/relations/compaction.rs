//! Compactions, one at a time and inside one turn (v4 section 8.2, N7, N26, N28 to N31).

use super::lifecycle::Turns;
use super::{RelEvent, Rule, Verdict, Violation, Violations};
use crate::fault::Code;
use crate::format::shape::{filled, is, object, strict_count};
use crate::format::surface_op::SurfaceOp;
use crate::json::{Raw, canonical};

const N7: Rule = Rule(Code::RelCompaction, "N7");
const N26: Rule = Rule(Code::RelCompaction, "N26");
const N28: Rule = Rule(Code::RelCompaction, "N28");
const N29: Rule = Rule(Code::RelCompaction, "N29");
const N30: Rule = Rule(Code::RelCompaction, "N30");

/// A compaction that has started and not ended.
#[derive(Clone, Debug)]
struct Open {
    /// Its id and the command that asked for it, as canonical text.
    ids: [Option<Vec<u8>>; 2],
    turn: Option<u64>,
    summarised: bool,
}

/// The open compaction, and the turn that crossed it.
///
/// A turn may cross a compaction that is orphaned: one whose end never comes before a later
/// end-seed. That shows only later, so the first crossing waits until it is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Compaction {
    open: Option<Open>,
    crossing: Option<Violation>,
    crossings: Violations,
}

fn ids(of: Raw<'_>) -> [Option<Vec<u8>>; 2] {
    of.get_all(["compactionId", "sourceCommandId"]).map(|id| id.map(canonical::stringify))
}

impl Compaction {
    /// N7: notes a turn's edge inside a compaction.
    pub(super) fn turn_edge(&mut self, event: &RelEvent<'_>) {
        if self.open.is_none() || self.crossing.is_some() || !event.kind.is_turn_edge() {
            return;
        }
        let breach = N7.broken(format!("{} while a compaction is open", event.kind));
        let mut list = Violations::default();
        list.add(event.seq, 2, breach);
        self.crossing = list.0.pop();
    }

    /// The compaction was no orphan: its crossing stands.
    fn keep_crossing(&mut self) {
        if let Some(violation) = self.crossing.take().filter(|_| self.crossings.0.len() < super::KEPT) {
            self.crossings.0.push(violation);
        }
    }

    /// N26: none is open, and it stands in the turn it names.
    pub(super) fn start(&mut self, event: &RelEvent<'_>, turns: &Turns) -> Verdict {
        self.keep_crossing();
        let [id, turn] = event.data.get_all(["compactionId", "turn"]);
        let started = Open { ids: ids(event.data), turn: turns.turn, summarised: false };
        let overlaps = self.open.replace(started).is_some();
        N26.hold(!overlaps, "compaction/start while a compaction is open")?;
        N26.hold(names(turn, turns.turn), "compaction/start names another turn than the open one")?;
        N26.hold(filled(id), "compaction/start without a compactionId")
    }

    fn owner(&mut self, of: Raw<'_>, rule: Rule) -> Result<&mut Open, super::Breach> {
        let open = self.open.as_mut().ok_or_else(|| rule.broken("no compaction is open"))?;
        rule.hold(open.ids == ids(of), "the open compaction has another compactionId or sourceCommandId")?;
        Ok(open)
    }

    /// N28: a summary belongs to the open compaction, once.
    pub(super) fn summary(&mut self, event: &RelEvent<'_>, turns: &Turns) -> Verdict {
        let open = self.owner(event.data, N28)?;
        let again = std::mem::replace(&mut open.summarised, true);
        N28.hold(open.turn == turns.turn, "compaction/summary in another turn than its compaction/start")?;
        N28.hold(!again, "compaction/summary twice for one compaction")
    }

    /// N29: an end belongs to the open compaction, which has its summary or failed.
    pub(super) fn end(&mut self, event: &RelEvent<'_>, turns: &Turns) -> Verdict {
        self.keep_crossing();
        let [turn, error] = event.data.get_all(["turn", "error"]);
        let owner = self.owner(event.data, N29).map(|open| (open.turn, open.summarised));
        self.open = None;
        let (start_turn, summarised) = owner?;
        N29.hold(start_turn == turns.turn, "compaction/end in another turn than its compaction/start")?;
        N29.hold(names(turn, start_turn), "compaction/end names another turn than its compaction/start")?;
        N29.hold(
            error.is_some() || summarised,
            "compaction/end without an error and without a summary before it",
        )
    }

    /// N30: a checkpoint that replaces belongs to the open compaction.
    pub(super) fn checkpoint(&mut self, event: &RelEvent<'_>) -> Verdict {
        let source =
            object(event.data.get("source")).filter(|source| is(source.get("kind"), "compact-checkpoint"));
        match source.filter(|_| event.op != SurfaceOp::Append) {
            Some(source) => self.owner(source, N30).map(|_| ()),
            None => Ok(()),
        }
    }

    /// N31: an end-seed closes any open compaction and makes it an orphan.
    pub(super) fn end_seed(&mut self) {
        self.open = None;
        self.crossing = None;
    }

    /// The crossings that stand.
    pub(super) fn finish(mut self) -> Vec<Violation> {
        self.keep_crossing();
        self.crossings.0
    }
}

/// Whether `turn` is `null` where no turn is open, and its number where one is.
fn names(turn: Option<Raw<'_>>, open: Option<u64>) -> bool {
    match open {
        Some(_) => strict_count(turn) == open,
        None => turn.is_some_and(Raw::is_null),
    }
}
