//! The surface as far as relations need it: order, cover, the system head (v4 section 8.2, N8, N27).

use super::{Breach, RelEvent, Rule, Verdict};
use crate::fault::Code;
use crate::format::kind::Kind;
use crate::format::shape::{array, object, strict_count};
use crate::format::surface_op::SurfaceOp;
use std::collections::{BTreeMap, HashMap};

const N8: Rule = Rule(Code::RelSurface, "N8");
const N27: Rule = Rule(Code::RelCompaction, "N27");

/// The nodes in order.
///
/// Each node has a place; an appended one gets the next, a replacement that of the first node it
/// removes. So order by place is order on the surface, and no node is ever moved.
#[derive(Clone, Debug, Default)]
pub(super) struct Surface {
    by_place: BTreeMap<u64, u64>,
    places: HashMap<u64, u64>,
    next: u64,
    head: Option<u64>,
    /// A surface without a system head is reported once, not for every system message.
    headless: bool,
}

impl Surface {
    pub(super) fn event(&mut self, event: &RelEvent<'_>) -> Verdict {
        let system = match event.kind {
            Kind::SystemMessage => true,
            Kind::DeveloperMessage | Kind::UserMessage | Kind::AssistantMessage | Kind::ToolResult => false,
            _ => return Ok(()),
        };
        let misplaced = system && self.head.is_none() && !self.by_place.is_empty() && !self.headless;
        self.headless |= misplaced;
        let done = match event.op {
            SurfaceOp::Append => {
                if system && self.by_place.is_empty() {
                    self.head = Some(event.seq);
                }
                self.append(event.seq);
                Ok(())
            }
            SurfaceOp::Replace { start, end } => self.replace(event, start, end),
            SurfaceOp::Absent | SurfaceOp::Malformed => {
                self.append(event.seq);
                Err(N8.broken("surfaceOp is neither append nor a replacement of two seqs"))
            }
        };
        N8.hold(!misplaced, "a system/message on a surface that does not begin with one").and(done)
    }

    fn append(&mut self, seq: u64) {
        self.by_place.insert(self.next, seq);
        self.places.insert(seq, self.next);
        self.next += 1;
    }

    /// The places of a run's ends, in order.
    fn run(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let (first, last) = (*self.places.get(&start)?, *self.places.get(&end)?);
        (first <= last).then_some((first, last))
    }

    fn replace(&mut self, event: &RelEvent<'_>, start: u64, end: u64) -> Verdict {
        let Some((first, last)) = self.run(start, end) else {
            self.append(event.seq);
            let message =
                format!("a replacement of {start} to {end}, which are not on the surface in that order");
            return Err(N8.broken(message));
        };
        let removed: Vec<(u64, u64)> =
            self.by_place.range(first..=last).map(|(place, seq)| (*place, *seq)).collect();
        for (place, seq) in &removed {
            self.by_place.remove(place);
            self.places.remove(seq);
        }
        self.by_place.insert(first, event.seq);
        self.places.insert(event.seq, first);
        let uncovered =
            removed.iter().find(|(_, seq)| !event.sources.is_some_and(|list| list.contains(*seq)));
        let over_head = self.head.is_some_and(|head| removed.iter().any(|(_, seq)| *seq == head));
        if over_head {
            self.head = Some(event.seq);
        }
        if let Some((_, seq)) = uncovered {
            return Err(N8.broken(format!("sourceEventSeqs does not name the replaced event {seq}")));
        }
        let sound = !over_head || (event.kind == Kind::SystemMessage && removed.len() == 1);
        N8.hold(sound, "the system head is removed by something other than a system/message alone")
    }

    /// N27: a summary or a pruning names exactly the span that it shadows.
    pub(super) fn shadowed(&self, event: &RelEvent<'_>) -> Verdict {
        let [range, seqs] = event.data.get_all(["shadowedRange", "shadowedSeqs"]);
        let [start, end] = object(range).map_or([None; 2], |range| range.get_all(["start", "end"]));
        let run = match (strict_count(start), strict_count(end)) {
            (Some(start), Some(end)) => self.run(start, end),
            _ => None,
        };
        let out_of_place = || -> Breach { N27.broken("shadowedRange names no run of events on the surface") };
        let (first, last) = run.ok_or_else(out_of_place)?;
        let span = self.by_place.range(first..=last).map(|(_, seq)| Some(*seq));
        let named = array(seqs).ok_or_else(|| N27.broken("shadowedSeqs, expected an array"))?;
        let exact = span.eq(named.elements().map(|seq| strict_count(Some(seq))));
        N27.hold(exact, "shadowedSeqs is not the run of events that shadowedRange names")?;
        let place = self.head.and_then(|head| self.places.get(&head));
        let spares_head = place.is_none_or(|place| !(first..=last).contains(place));
        N27.hold(spares_head, "the shadowed run holds the system head")
    }
}
