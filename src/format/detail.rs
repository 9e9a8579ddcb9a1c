//! What folds and checks need of one record, gathered where the record is read, so that its text
//! can be let go.

use super::admission;
use super::dialect::{Dialect, EnvelopeCheck, Inherited, RowRules, ToolResultShape};
use super::kind::Kind;
use super::legacy::{self, Upgrade};
use super::relations;
use super::row::{Parts, Row, RowContext, RowFault};
use super::slim::slim;
use super::sources::Sources;
use super::surface_op::SurfaceOp;
use super::{message, request_header};
use crate::fault::Code;
use crate::json::{Raw, canonical};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

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
    fn of(value: Option<Raw<'_>>) -> Slot {
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

fn is_plain(kind: Kind) -> bool {
    kind == Kind::AssistantChunk
}

/// Fills in a row's detail and, for an old shape, its kind.
pub fn judge(row: &mut Row, parts: &Parts<'_>, invalid_utf8: bool, context: &RowContext<'_>) {
    let dialect = context.dialect;
    let mut detail = Detail::default();
    detail.faults.extend(admission::hard_fault(parts, row.kind, dialect));
    envelope_faults(row.kind, parts, dialect, &mut detail);
    detail.faults.extend(admission::late_fault(parts, row.kind, dialect));
    let mut data = parts.data;
    let upgraded;
    if dialect.legacy_shapes {
        retired_faults(row.kind, data, &mut detail);
        upgraded = upgrade(row, parts, context, &mut detail);
        if let Some(text) = &upgraded {
            data = Raw::parse(text).ok();
        }
    }
    gather(row.kind, data, dialect, &mut detail);
    if dialect.relations && dialect.knows(row.kind) && relations::takes_part(row.kind) {
        detail.relation = data.map(|data| slim(row.kind, data).into());
    }
    if row.kind == Kind::EndSeed
        && dialect.inherited == Inherited::TaggedEndSeed
        && !data.is_some_and(Raw::is_object)
    {
        detail
            .faults
            .push(RowFault::new(Code::EndSeedShape, "the data of a session/end-seed is not an object"));
    }
    if let Some(data) = data {
        row.ends_attempt = row.kind == Kind::AssistantChunk && is_finish(data);
    }
    vocabulary_fault(row.kind, parts, data, dialect, &mut detail);
    crash_fault(row.kind, data, dialect, &mut detail);
    event_faults(row, parts, data, dialect, &mut detail);
    detail.invalid_utf8 = invalid_utf8;
    if !is_plain(row.kind) || !detail.faults.is_empty() || detail.invalid_utf8 {
        row.detail = Some(Box::new(detail));
    }
}

fn is_finish(data: Raw<'_>) -> bool {
    data.path(&["chunk", "type"]).is_some_and(|t| t.is("finish"))
}

/// Rows that set the issue of the scanner whatever their type (generations 1.8).
fn envelope_faults(kind: Kind, parts: &Parts<'_>, dialect: &Dialect, detail: &mut Detail) {
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

fn retired_faults(kind: Kind, data: Option<Raw<'_>>, detail: &mut Detail) {
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

/// The data of a record of an old shape as the harness upgrades it in memory.
fn upgrade(
    row: &mut Row,
    parts: &Parts<'_>,
    context: &RowContext<'_>,
    detail: &mut Detail,
) -> Option<Vec<u8>> {
    let op = SurfaceOp::parse(parts.op, context.dialect);
    let seq = row.seq.filter(|n| *n >= 0.0).unwrap_or(0.0) as u64;
    match legacy::upgrade(row.kind, parts.data?, op, context.session_id, seq) {
        Upgrade::Current => None,
        Upgrade::Malformed(why) => {
            detail.faults.push(RowFault::new(Code::LegacyMalformed, why));
            None
        }
        Upgrade::Rewritten { kind, data, inherits_id_from } => {
            row.kind = kind;
            detail.legacy = true;
            detail.inherits_id_from = inherits_id_from;
            Some(data)
        }
    }
}

/// The parts of the data that folds need.
fn gather(kind: Kind, data: Option<Raw<'_>>, dialect: &Dialect, detail: &mut Detail) {
    let Some(data) = data else { return };
    if is_plain(kind) || kind == Kind::UserMessage {
        return;
    }
    let [turn, step, message, call_id, inherited] =
        data.get_all(["turn", "step", "message", "callId", "inherited"]);
    detail.turn = Slot::of(turn);
    detail.step = Slot::of(step);
    match kind {
        Kind::AssistantMessage => {
            detail.calls = message.map(advertised_calls).unwrap_or_default();
        }
        Kind::ToolCall => detail.call_id = Some(call_id_of(call_id)),
        Kind::ToolResult => {
            let source = message.and_then(|m| m.path(&["source", "callId"]));
            detail.call_id = Some(call_id_of(source));
            detail.result_key = message.map(|m| result_key(data, m, dialect));
        }
        Kind::EndSeed => detail.inherited_seed = inherited.is_some_and(Raw::is_true),
        _ => {}
    }
}

fn call_id_of(value: Option<Raw<'_>>) -> CallId {
    value.map_or_else(|| b"undefined".to_vec(), canonical::stringify).into()
}

fn advertised_calls(message: Raw<'_>) -> Vec<CallId> {
    let Some(content) = message.get("content") else { return Vec::new() };
    content
        .elements()
        .filter_map(|block| {
            let [kind, id] = block.get_all(["type", "id"]);
            kind.filter(|k| k.is("tool-call")).map(|_| call_id_of(id))
        })
        .collect()
}

fn result_key(data: Raw<'_>, message: Raw<'_>, dialect: &Dialect) -> ResultKey {
    let mut rest = DefaultHasher::new();
    each_kept_member(data, message, dialect, |level, key, value| {
        (level, key.bytes(), value.bytes()).hash(&mut rest);
    });
    let mut id = DefaultHasher::new();
    message.get("id").map(canonical::stringify).hash(&mut id);
    ResultKey { rest: rest.finish(), id: id.finish() }
}

/// The members of a tool result that a rewrite must keep, but for the message id: level, key, value.
fn each_kept_member<'a>(
    data: Raw<'a>,
    message: Raw<'a>,
    dialect: &Dialect,
    mut each: impl FnMut(u8, Raw<'a>, Raw<'a>),
) {
    let mut all = |level: u8, object: Raw<'a>, leave_out: &[&str]| {
        for (key, value) in object.members() {
            if !leave_out.iter().any(|name| key.is(name)) {
                each(level, key, value);
            }
        }
    };
    all(0, data, &["message"]);
    all(1, message, &["id", "content"]);
    if dialect.tool_result == ToolResultShape::Wrapped
        && let Some(block) = message.get("content").and_then(|c| c.elements().next())
    {
        all(2, block, &["content"]);
    }
}

/// Whether two tool results differ in nothing but their content: the rewrite rule by value, the order
/// of members aside.
#[must_use]
pub fn is_same_result(a: Raw<'_>, b: Raw<'_>, dialect: &Dialect) -> bool {
    let kept = |data: Raw<'_>| {
        // Of a member that stands twice the last counts.
        let mut parts: BTreeMap<(u8, Vec<u8>), Vec<u8>> = BTreeMap::new();
        let message = data.get("message")?;
        each_kept_member(data, message, dialect, |level, key, value| {
            parts.insert(
                (level, canonical::stringify(key)),
                canonical::rewrite(value, canonical::Order::Sorted),
            );
        });
        parts.insert((3, Vec::new()), message.get("id").map(canonical::stringify).unwrap_or_default());
        Some(parts)
    };
    kept(a).is_some_and(|a| kept(b) == Some(a))
}

fn vocabulary_fault(
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
fn crash_fault(kind: Kind, data: Option<Raw<'_>>, dialect: &Dialect, detail: &mut Detail) {
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
fn event_faults(row: &Row, parts: &Parts<'_>, data: Option<Raw<'_>>, dialect: &Dialect, detail: &mut Detail) {
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
