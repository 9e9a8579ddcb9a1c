//! Row admission: what refuses a record alone, beyond its envelope.
//!
//! A *hard* fault refuses the log wherever the row stands, even in a tail that would otherwise be
//! cut; a *late* fault is an issue like a bad envelope (generations 1.8, v4 section 2.4).

mod generation3;
mod generation4;
mod messages;

use super::dialect::{Dialect, RowRules};
use super::kind::Kind;
use super::parts::{Parts, RowFault};
use super::shape::{object, strict_count};
use super::surface_op::SurfaceOp;
use crate::fault::Code;
use crate::json::Raw;

/// What a rule on rows answers.
type Verdict = Result<(), RowFault>;

/// Fails with [`Code::RowHard`] unless the rule is kept.
fn hold(kept: bool, message: &str) -> Verdict {
    if kept { Ok(()) } else { Err(RowFault::new(Code::RowHard, message)) }
}

/// The hard fault of a row, if it has one.
///
/// Members that are missing or odd are tolerated unless a rule names them; the row need not have
/// passed the test of its envelope.
#[must_use]
pub fn hard_fault(parts: &Parts<'_>, kind: Kind, dialect: &Dialect) -> Option<RowFault> {
    let rules = match dialect.rows {
        RowRules::Envelope => return None,
        RowRules::Generation3 => generation3::check,
        RowRules::Generation4 => generation4::check,
    };
    retired_type(parts, kind).and_then(|()| rules(parts, kind)).err()
}

fn retired_type(parts: &Parts<'_>, kind: Kind) -> Verdict {
    match kind {
        Kind::CodeDispatch | Kind::CodeDispatchStart if !parts.is_ignorable() => {
            let message = format!("the event type {} was retired before this generation", kind.name());
            Err(RowFault::new(Code::RowRetiredType, message))
        }
        _ => Ok(()),
    }
}

/// A `request/header` needs `data.header`, in which `system` has no place any more; gives the header.
fn request_header<'a>(data: Option<Raw<'a>>) -> Result<Raw<'a>, RowFault> {
    let header = object(data).and_then(|data| object(data.get("header")));
    let header =
        header.ok_or_else(|| RowFault::new(Code::RowHard, "request/header without an object data.header"))?;
    hold(header.get("system").is_none(), "request/header holds the retired key system")?;
    Ok(header)
}

/// The late fault of a row, if it has one: the rules of generation 3 but for the count of rows.
#[must_use]
pub fn late_fault(parts: &Parts<'_>, kind: Kind, dialect: &Dialect) -> Option<RowFault> {
    match dialect.rows {
        RowRules::Generation3 => {}
        RowRules::Envelope | RowRules::Generation4 => return None,
    }
    let message = if parts.seq.is_some_and(Raw::is_negative_zero) {
        Some("seq is -0, expected an integer of at least 0")
    } else if dialect.is_surface(kind) {
        surface_keys(parts, kind, dialect)
    } else if dialect.knows(kind) {
        log_only_keys(parts)
    } else {
        None
    };
    let message = message.or_else(|| generation3::late_payload(parts, kind));
    message.map(|message| RowFault::new(Code::RowLate, message))
}

fn surface_keys(parts: &Parts<'_>, kind: Kind, dialect: &Dialect) -> Option<&'static str> {
    let own = strict_count(parts.seq).unwrap_or(u64::MAX);
    match SurfaceOp::parse(parts.op, dialect) {
        SurfaceOp::Absent => return Some("a surface event without surfaceOp"),
        SurfaceOp::Malformed => return Some("surfaceOp is neither append nor a replacement of two seqs"),
        SurfaceOp::Replace { start, end } if dialect.ends_below_own && start.max(end) >= own => {
            return Some("surfaceOp names an event that is not earlier");
        }
        SurfaceOp::Append | SurfaceOp::Replace { .. } => {}
    }
    let sources = parts.sources?;
    if kind == Kind::AssistantMessage && !dialect.assistant_sources {
        return Some("sourceEventSeqs on an assistant/message");
    }
    (sources.is_array() && sources.elements().next().is_none()).then_some("sourceEventSeqs is an empty list")
}

fn log_only_keys(parts: &Parts<'_>) -> Option<&'static str> {
    let has_any = parts.op.is_some() || parts.sources.is_some();
    has_any.then_some("surfaceOp or sourceEventSeqs on an event that is not of the surface")
}

#[cfg(test)]
mod tests;
