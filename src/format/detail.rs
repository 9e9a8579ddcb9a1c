//! What folds and checks need of one record, gathered where the record is read, so that its text
//! can be let go.

use super::parts::RowFault;
use super::sources::Sources;
use super::surface_op::SurfaceOp;
use crate::json::{Raw, canonical};

/// A member that is usually a number, kept as it must be written again.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Slot {
    /// No such member.
    #[default]
    Absent,
    /// `null`.
    Null,
    /// A number.
    Number(f64),
    /// Any other value, as canonical JSON text.
    Other(Box<[u8]>),
}

impl Slot {
    pub(super) fn of(value: Option<Raw<'_>>) -> Slot {
        match value {
            None => Slot::Absent,
            Some(v) if v.is_null() => Slot::Null,
            Some(v) => match v.number() {
                Some(n) => Slot::Number(n),
                None => Slot::Other(canonical::stringify(v).into()),
            },
        }
    }

    /// The value as JSON text; `None` when the member is absent.
    #[must_use]
    pub fn json(&self) -> Option<Vec<u8>> {
        match self {
            Slot::Absent => None,
            Slot::Null => Some(b"null".to_vec()),
            Slot::Number(n) => Some(crate::json::number::stringify(*n).into_bytes()),
            Slot::Other(text) => Some(text.to_vec()),
        }
    }

    /// The value as a turn or step number.
    #[must_use]
    pub fn number(&self) -> Option<u32> {
        match self {
            Slot::Number(n) if *n >= 0.0 && n.fract() == 0.0 && *n <= f64::from(u32::MAX) => Some(*n as u32),
            _ => None,
        }
    }
}

/// The id of a call as canonical JSON text, so that ids that are no strings stay apart too.
pub type CallId = Box<[u8]>;

/// What makes a tool result the same result with other content (v0 section 9.4), as written: two
/// results with one key are the same, with two keys they may be all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultKey {
    /// Over the stored text of everything but the content and the message id.
    pub rest: u64,
    /// Over the message id.
    pub id: u64,
}

/// What one record says, beyond its envelope.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    /// What is wrong with the record alone, in the order in which the harness looks.
    pub faults: Vec<RowFault>,
    /// Its surface marker.
    pub op: SurfaceOp,
    /// Its sources, when they are sound.
    pub sources: Option<Sources>,
    /// Its `turn`.
    pub turn: Slot,
    /// Its `step`.
    pub step: Slot,
    /// The calls that an assistant message advertises, in order.
    pub calls: Vec<CallId>,
    /// The call that a `tool/call` records or a `tool/result` answers.
    pub call_id: Option<CallId>,
    /// The key of a tool result.
    pub result_key: Option<ResultKey>,
    /// Whether `data.inherited` of an end-seed is exactly `true`.
    pub inherited_seed: bool,
    /// Whether views must upgrade the record from an old shape.
    pub legacy: bool,
    /// The event whose message id an old tool result takes over.
    pub inherits_id_from: Option<u64>,
    /// Bytes that are no UTF-8 stand in it.
    pub invalid_utf8: bool,
    /// What rules between events need of the data, in generations that enforce them.
    pub relation: Option<Box<[u8]>>,
}
