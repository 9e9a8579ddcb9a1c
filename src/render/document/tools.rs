//! The document of `tools`.

use dsh_log::json::write::Object;
use dsh_log::view::tools::{self, Call, Outcome, Seen, ToolTotals};

/// The ledger and the totals of each tool.
pub(crate) fn document(calls: &[Call], only_totals: bool) -> Vec<u8> {
    let totals = tools::totals(calls);
    let out = Object::new().text("schema", b"dsh-log/tools@1");
    let out = if only_totals { out } else { out.list("calls", calls.iter().map(call)) };
    out.list("totals", totals.iter().map(|(name, totals)| total(name, totals).end())).end()
}

/// The totals of one tool.
pub(crate) fn total(name: &str, totals: &ToolTotals) -> Object {
    Object::new()
        .text("name", name.as_bytes())
        .int("calls", totals.calls)
        .int("failures", totals.failures)
        .int("unknown", totals.unknown)
        .int("notStarted", totals.not_started)
        .int("millis", totals.millis())
        .int_if("p50Millis", totals.percentile(50))
        .int_if("p95Millis", totals.percentile(95))
        .int("resultBytes", totals.result_bytes)
}

fn call(call: &Call) -> Vec<u8> {
    let out = Object::new()
        .int("seq", call.seq().0)
        .text("kind", call.what.name().as_bytes())
        .int("depth", call.depth)
        .text("callId", call.call_id.as_bytes())
        .text("name", call.name.as_bytes())
        .text("arguments", call.arguments.as_bytes())
        .text_if("askedArguments", call.asked.as_deref().map(str::as_bytes))
        .int_if("turn", call.location.turn)
        .int_if("step", call.location.step)
        .bool("inherited", call.inherited)
        .int_if("messageSeq", call.message_seq.map(|s| s.0))
        .int_if("callSeq", call.call_seq.map(|s| s.0))
        .int_if("resultSeq", call.result_seq.map(|s| s.0))
        .text("outcome", call.outcome.name().as_bytes());
    let out = match &call.outcome {
        Outcome::Error { name, code } => out
            .text_if("errorName", name.as_deref().map(str::as_bytes))
            .text_if("errorCode", code.as_deref().map(str::as_bytes)),
        _ => out,
    };
    let by = match call.seen {
        Seen::Shortened(by) | Seen::Summary(by) => Some(by.0),
        _ => None,
    };
    out.bool("synthetic", call.synthetic)
        .int("startedAt", call.started)
        .int_if("millis", call.millis)
        .int_if("resultBytes", call.result_bytes)
        .text("modelSees", call.seen.name().as_bytes())
        .int_if("modelSeesSeq", by)
        .int_if("sameAs", call.same_as.map(|s| s.0))
        .end()
}
