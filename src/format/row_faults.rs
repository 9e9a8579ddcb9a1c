//! What is wrong with one event without regard to others, beyond its envelope: vocabulary, shapes,
//! surface markers (v0 sections 5 and 9.3, v4 sections 3 to 7).

use super::detail::Detail;
use super::dialect::{Dialect, EnvelopeCheck, RowRules};
use super::kind::Kind;
use super::parts::{Parts, RowFault};
use super::row::Row;
use super::sources::Sources;
use super::surface_op::SurfaceOp;
use super::{legacy, message, request_header};
use crate::fault::Code;
use crate::json::Raw;

/// Rows that set the issue of the scanner whatever their type (generations 1.8).
pub(super) fn envelope(kind: Kind, parts: &Parts<'_>, dialect: &Dialect, detail: &mut Detail) {
    if dialect.envelope == EnvelopeCheck::WithEvents {
        return;
    }
    if let Some(what) = envelope_fault(parts, dialect) {
        detail.faults.push(RowFault::new(Code::RowEnvelope, what));
    }
    let Some(list) = parts.sources else { return };
    let own = parts.seq.and_then(Raw::count);
    match own.map(|own| Sources::parse(list, own, dialect.refuses_negative_zero)) {
        None => {
            detail.faults.push(RowFault::new(Code::RowEnvelope, "sourceEventSeqs on a row without a seq"))
        }
        Some(Err(e)) => {
            detail
                .faults
                .push(RowFault::new(Code::RowEnvelope, format!("sourceEventSeqs holds {}", e.meaning())));
        }
        Some(Ok(sources)) => {
            if dialect.is_surface(kind) {
                detail.sources = Some(sources);
            }
        }
    }
}

fn envelope_fault(parts: &Parts<'_>, dialect: &Dialect) -> Option<String> {
    let required =
        [("type", parts.type_name), ("seq", parts.seq), ("time", parts.time), ("data", parts.data)];
    if let Some((name, _)) = required.iter().find(|(_, value)| value.is_none()) {
        return Some(format!("the record has no {name}"));
    }
    if parts.has_foreign_key() {
        return Some("the record has a key that no event has".into());
    }
    if parts.type_name.is_some_and(|t| t.kind() != crate::json::Kind::String) {
        return Some("the record's type is no string".into());
    }
    let sound_time =
        |t: Raw<'_>| t.safe_int().is_some() && !(dialect.refuses_negative_zero && t.is_negative_zero());
    if !parts.time.is_some_and(sound_time) {
        return Some("the record's time is no integer".into());
    }
    if parts.ignorable.is_some_and(|i| !i.is_true()) {
        return Some("the record's ignorable is not true".into());
    }
    None
}

/// The retired vocabulary of generation 0.
pub(super) fn retired(kind: Kind, data: Option<Raw<'_>>, detail: &mut Detail) {
    let (code, message) = match kind {
        Kind::RequestHeaderDelta => (Code::RetiredHeaderDelta, "the retired event type request/header-delta"),
        Kind::ModeSet => (Code::RetiredModeSet, "the retired event type mode/set"),
        Kind::RequestHeader if has_fallback_reason(data) => {
            (Code::RetiredHeaderFallback, "a request/header with the retired reason fallback")
        }
        _ => return,
    };
    detail.faults.push(RowFault::new(code, message));
}

fn has_fallback_reason(data: Option<Raw<'_>>) -> bool {
    data.and_then(|d| d.get("reason")).is_some_and(|r| r.is("fallback"))
}

/// An event type that the harness of the verdict does not know.
pub(super) fn vocabulary(
    kind: Kind,
    parts: &Parts<'_>,
    data: Option<Raw<'_>>,
    dialect: &Dialect,
    detail: &mut Detail,
) {
    let retired = matches!(kind, Kind::RequestHeaderDelta | Kind::ModeSet) && dialect.legacy_shapes;
    let already = detail.faults.iter().any(|f| f.code == Code::RowRetiredType);
    if dialect.rows == RowRules::Generation4 && kind == Kind::RequestHeader && has_fallback_reason(data) {
        detail
            .faults
            .push(RowFault::new(Code::UnknownEventType, "a request/header with the retired reason fallback"));
    }
    if retired || already || dialect.knows(kind) || parts.is_ignorable() {
        return;
    }
    let name = parts.type_name.and_then(Raw::display_text).unwrap_or_default();
    let since = if dialect.knows_later(kind) { ", one that later releases of this format know" } else { "" };
    let message =
        format!("written by a newer harness: event type {name} is unknown to {}{since}", dialect.judged_by);
    detail.faults.push(RowFault::new(Code::UnknownEventType, message));
}

/// Null data on which the harness of generation 0 crashes while it looks for an open turn.
pub(super) fn crash(kind: Kind, data: Option<Raw<'_>>, dialect: &Dialect, detail: &mut Detail) {
    let Some(data) = data.filter(|_| dialect.crashes_on_null) else { return };
    let crashes = match kind {
        Kind::TurnStart | Kind::StepStart | Kind::ToolCall => data.is_null(),
        Kind::AssistantMessage => {
            data.path(&["message", "content"]).is_some_and(|c| c.elements().any(Raw::is_null))
        }
        _ => false,
    };
    if crashes {
        let message = format!("{kind} with null data, on which the harness crashes");
        detail.faults.push(RowFault::new(Code::CloserFold, message));
    }
}

/// What is met when the events are put together, in that order.
pub(super) fn events(
    row: &Row,
    parts: &Parts<'_>,
    data: Option<Raw<'_>>,
    dialect: &Dialect,
    detail: &mut Detail,
) {
    let kind = row.kind;
    let surface = dialect.is_surface(kind);
    // An id that an old result takes over is only known once its event is; all else is judged now.
    let with_id = data
        .filter(|_| detail.inherits_id_from.is_some())
        .map(|d| legacy::with_message_id(d, b"\"pending\""));
    let judged = with_id.as_deref().and_then(|text| Raw::parse(text).ok()).or(data);
    if surface
        && let Some(what) = judged.map_or(Some("has no data"), |d| message::shape_fault(kind, d, dialect))
    {
        detail.faults.push(RowFault::new(Code::MessageShape, format!("{kind} {what}")));
    }
    if dialect.rows == RowRules::Generation4
        && kind == Kind::RequestHeader
        && data.is_some_and(request_header::has_empty_member)
    {
        let message = "a request/header with an empty tools or adapterDefaults";
        detail.faults.push(RowFault::new(Code::DataRule, message));
    }
    if dialect.envelope == EnvelopeCheck::WithEvents
        && let Some(what) = envelope_fault(parts, dialect)
    {
        detail.faults.push(RowFault::new(Code::Envelope, what));
    }
    if kind == Kind::RequestHeader
        && let Some(what) = data.map_or(Some("has no data"), |d| request_header::shape_fault(d, dialect))
    {
        detail.faults.push(RowFault::new(Code::RequestHeader, format!("request/header {what}")));
    }
    if dialect.rows == RowRules::Generation4
        && matches!(kind, Kind::AssistantMessage | Kind::AssistantAttempt)
    {
        settlement_fault(kind, data, detail);
    }
    marker_faults(row, parts, dialect, surface, detail);
}

fn settlement_fault(kind: Kind, data: Option<Raw<'_>>, detail: &mut Detail) {
    let sound = data.is_some_and(|d| {
        let [turn, step, stream] = d.get_all(["turn", "step", "stream"]);
        let count = |v: Option<Raw<'_>>| v.is_some_and(|v| v.count().is_some() && !v.is_negative_zero());
        count(turn) && count(step) && stream.is_some_and(Raw::is_array)
    });
    if !sound {
        detail
            .faults
            .push(RowFault::new(Code::SettlementShape, format!("{kind} without turn, step or stream")));
    }
}

/// Surface markers and sources, S2 to S7.
fn marker_faults(row: &Row, parts: &Parts<'_>, dialect: &Dialect, surface: bool, detail: &mut Detail) {
    let kind = row.kind;
    if !surface {
        if dialect.ignorable_surface_keys && !dialect.knows(kind) && parts.is_ignorable() {
            return;
        }
        if parts.op.is_some() {
            let message = format!("{kind} stands on no surface and has a surfaceOp");
            detail.faults.push(RowFault::new(Code::SurfaceOp, message));
        }
        if parts.sources.is_some() {
            let message = format!("{kind} stands on no surface and has sourceEventSeqs");
            detail.faults.push(RowFault::new(Code::SurfaceProvenance, message));
        }
        return;
    }
    detail.op = SurfaceOp::parse(parts.op, dialect);
    let own = row.seq.filter(|n| *n >= 0.0).unwrap_or(0.0) as u64;
    match detail.op {
        SurfaceOp::Absent => {
            detail.faults.push(RowFault::new(Code::SurfaceOp, format!("{kind} without a surfaceOp")));
        }
        SurfaceOp::Malformed => {
            detail.faults.push(RowFault::new(Code::SurfaceOp, format!("{kind} with a malformed surfaceOp")));
        }
        SurfaceOp::Replace { start, end } if dialect.ends_below_own && (start >= own || end >= own) => {
            let message = format!("{kind} replaces {start} to {end}, which are not earlier events");
            detail.faults.push(RowFault::new(Code::SurfaceRange, message));
        }
        _ => {}
    }
    if let Some(list) = parts.sources {
        provenance_fault(kind, list, own, dialect, detail);
    }
}

fn provenance_fault(kind: Kind, list: Raw<'_>, own: u64, dialect: &Dialect, detail: &mut Detail) {
    let mut fault = |message: String| detail.faults.push(RowFault::new(Code::SurfaceProvenance, message));
    if kind == Kind::AssistantMessage && !dialect.assistant_sources {
        fault("an assistant/message with sourceEventSeqs, which this generation forbids".into());
        return;
    }
    match Sources::parse(list, own, dialect.refuses_negative_zero) {
        // The row check of later generations has named it already.
        Err(_) if dialect.envelope == EnvelopeCheck::WithRows => {}
        Err(e) => fault(format!("{kind}: sourceEventSeqs holds {}", e.meaning())),
        Ok(sources) => {
            if sources.count == 0 && !(kind == Kind::AssistantMessage && dialect.assistant_sources) {
                fault(format!("{kind}: sourceEventSeqs is empty"));
            } else if sources.has_ranges && !dialect.source_ranges {
                fault(format!("{kind}: sourceEventSeqs holds ranges: written by 0.1.2 or newer"));
            }
            detail.sources = Some(sources);
        }
    }
}
