//! Which turn, step and calls are open (v0 section 12.1, v4 section 9.1), and where each event
//! stands (v0 section 16.1).

use crate::format::detail::{CallId, Detail, Slot};
use crate::format::dialect::{Answering, Dialect};
use crate::format::event::Location;
use crate::format::kind::Kind;
use crate::format::surface_op::SurfaceOp;
use std::collections::{BTreeMap, HashMap};

/// A call that an assistant message advertised and no result answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Pending {
    /// Its id.
    pub id: CallId,
    /// The turn of the message that advertised it.
    pub turn: Slot,
    /// The step of that message.
    pub step: Slot,
    /// That message.
    pub message_seq: u64,
    /// The `tool/call` that recorded its start.
    pub call_seq: Option<u64>,
}

/// The state of the last turn.
#[derive(Clone, Debug)]
pub struct Turns {
    dialect: &'static Dialect,
    turn: Option<(Slot, u64)>,
    step: Option<(Slot, u64)>,
    pending: BTreeMap<u64, Pending>,
    places: HashMap<CallId, u64>,
    next_place: u64,
    open_compaction: Option<u64>,
    location: Location,
    /// How many turns were started.
    pub turns: u64,
    /// How many steps were started.
    pub steps: u64,
}

impl Turns {
    /// Nothing is open.
    #[must_use]
    pub fn new(dialect: &'static Dialect) -> Turns {
        Turns {
            dialect,
            turn: None,
            step: None,
            pending: BTreeMap::new(),
            places: HashMap::new(),
            next_place: 0,
            open_compaction: None,
            location: Location::default(),
            turns: 0,
            steps: 0,
        }
    }

    /// Takes one event; where it stands.
    pub fn apply(&mut self, seq: u64, kind: Kind, detail: Option<&Detail>) -> Location {
        let Some(detail) = detail else { return self.location };
        let here = self.locate(kind, detail);
        match kind {
            Kind::TurnStart => {
                // `null` opens nothing; a turn without a number is open all the same.
                self.turn = (detail.turn != Slot::Null).then(|| (detail.turn.clone(), seq));
                self.step = None;
                self.clear();
                self.turns += 1;
            }
            Kind::TurnEnd => {
                self.turn = None;
                self.step = None;
                self.clear();
            }
            Kind::StepStart => {
                self.step = (detail.step != Slot::Null).then(|| (detail.step.clone(), seq));
                self.steps += 1;
            }
            Kind::StepEnd => {
                self.clear();
                self.step = None;
            }
            Kind::AssistantMessage => self.advertise(seq, detail),
            Kind::ToolCall => self.start_call(seq, detail),
            Kind::ToolResult => self.answer(detail),
            Kind::CompactionStart => self.open_compaction = Some(seq),
            Kind::CompactionEnd | Kind::EndSeed => self.open_compaction = None,
            _ => {}
        }
        here
    }

    fn locate(&mut self, kind: Kind, detail: &Detail) -> Location {
        let turn = detail.turn.number();
        match kind {
            Kind::TurnStart => self.location = Location { turn, step: None },
            Kind::StepStart => self.location = Location { turn, step: detail.step.number() },
            _ => {
                if detail.turn == Slot::Null {
                    return Location::default();
                }
                if turn.is_some() && turn != self.location.turn {
                    self.location = Location { turn, step: None };
                }
                if turn.is_some() && detail.step.number().is_some() {
                    self.location.step = detail.step.number();
                }
            }
        }
        let here = self.location;
        match kind {
            Kind::StepEnd => self.location.step = None,
            Kind::TurnEnd => self.location = Location::default(),
            _ => {}
        }
        here
    }

    fn clear(&mut self) {
        self.pending.clear();
        self.places.clear();
    }

    fn advertise(&mut self, seq: u64, detail: &Detail) {
        for id in &detail.calls {
            let place = *self.places.entry(id.clone()).or_insert_with(|| {
                self.next_place += 1;
                self.next_place
            });
            // An id advertised again keeps its place and loses its recorded start.
            let pending = Pending {
                id: id.clone(),
                turn: detail.turn.clone(),
                step: detail.step.clone(),
                message_seq: seq,
                call_seq: None,
            };
            self.pending.insert(place, pending);
        }
    }

    fn start_call(&mut self, seq: u64, detail: &Detail) {
        let place = detail.call_id.as_ref().and_then(|id| self.places.get(id));
        if let Some(pending) = place.and_then(|place| self.pending.get_mut(place)) {
            pending.call_seq = Some(seq);
        }
    }

    fn answer(&mut self, detail: &Detail) {
        let Some(id) = &detail.call_id else { return };
        let Some(place) = self.places.get(id).copied() else { return };
        let answers = match self.dialect.answering {
            Answering::ById => true,
            Answering::AppendedInStep => {
                let call = self.pending.get(&place);
                detail.op == SurfaceOp::Append
                    && call.is_some_and(|c| c.turn == detail.turn && c.step == detail.step)
            }
        };
        if answers {
            self.pending.remove(&place);
            self.places.remove(id);
        }
    }

    /// The open turn's number and its start.
    #[must_use]
    pub fn open_turn(&self) -> Option<(&Slot, u64)> {
        self.turn.as_ref().map(|(slot, seq)| (slot, *seq))
    }

    /// The open step's number and its start.
    #[must_use]
    pub fn open_step(&self) -> Option<(&Slot, u64)> {
        self.step.as_ref().map(|(slot, seq)| (slot, *seq))
    }

    /// The unanswered calls of the open turn, in the order in which closers answer them.
    pub fn pending(&self) -> impl Iterator<Item = &Pending> {
        self.pending.values()
    }

    /// The start of a compaction that was never ended.
    #[must_use]
    pub fn open_compaction(&self) -> Option<u64> {
        self.open_compaction
    }
}
