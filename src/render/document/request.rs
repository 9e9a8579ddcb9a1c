//! The documents of `request`.

use crate::render::request_text::Compared;
use dsh_log::json::write::{Object, ints};
use dsh_log::view::attempt::Attempt;
use dsh_log::view::request::{Listed, Whole};
use dsh_log::view::requests::Request;

fn name(request: &Request) -> String {
    let part = |n: Option<u32>| n.map_or("?".to_owned(), |n| n.to_string());
    format!("{}.{}#{}", part(request.turn), part(request.step), request.attempt)
}

/// One line of the list.
pub(crate) fn listed(listed: &Listed) -> Vec<u8> {
    let out = place(Object::new(), &listed.request);
    attempt(out, &listed.attempt).int("messages", listed.messages).bool("inherited", listed.inherited).end()
}

fn place(out: Object, request: &Request) -> Object {
    out.text("request", name(request).as_bytes())
        .int_if("turn", request.turn)
        .int_if("step", request.step)
        .int("attempt", request.attempt)
        .int_if("afterSeq", request.upto.map(|s| s.0))
        .int("firstSeq", request.first.0)
        .int_if("settledSeq", request.settled.map(|s| s.0))
}

fn attempt(out: Object, attempt: &Attempt) -> Object {
    let (provider, model) = attempt.model.as_ref().map_or((None, None), |(p, m)| (Some(p), Some(m)));
    let usage = attempt.usage.map(|usage| usage.describe(Object::new()).end());
    out.text_if("provider", provider.map(|p| p.as_bytes()))
        .text_if("model", model.map(|m| m.as_bytes()))
        .text("outcome", attempt.outcome.name().as_bytes())
        .text_if("failure", attempt.failure.as_deref().map(str::as_bytes))
        .raw_if("usage", usage.as_deref())
        .int("sentAt", attempt.sent)
        .int("millis", attempt.millis())
        .int_if("firstTokenMillis", attempt.first_token_millis())
}

/// The document up to its messages.
pub(crate) fn head(whole: &Whole) -> Vec<u8> {
    let out = place(Object::new().text("schema", b"dsh-log/request@1"), &whole.request);
    let out = attempt(out, &whole.attempt);
    let null = b"null".as_slice();
    let mut text = out
        .raw("header", whole.header.as_ref().map_or(null, |h| &h.header))
        .int_if("headerSeq", whole.header.as_ref().map(|h| h.seq.0))
        .raw("context", whole.context.as_ref().map_or(null, |c| &c.1))
        .int_if("contextSeq", whole.context.as_ref().map(|c| c.0.0))
        .text_if("systemPrompt", whole.system.as_deref().map(str::as_bytes))
        .end();
    text.pop();
    text.extend_from_slice(br#","messages":["#);
    text
}

/// The document behind its messages.
pub(crate) fn tail(whole: &Whole, seqs: Vec<u64>, compared: Option<&Compared>) -> Vec<u8> {
    let mut out = Object::new().raw("seqs", &ints(seqs));
    if let Some(compared) = compared {
        let earlier = compared.other.first < whole.request.first;
        out = out.raw(if earlier { "previous" } else { "later" }, &difference(compared));
    }
    [b"],".as_slice(), &out.end()[1..]].concat()
}

fn difference(compared: &Compared) -> Vec<u8> {
    let prefix = &compared.prefix;
    let cause = prefix.cause.map(|cause| {
        let kind = Object::new().text("kind", cause.why.name().as_bytes());
        kind.int_if("seq", cause.seq.map(|s| s.0)).end()
    });
    Object::new()
        .text("request", name(&compared.other).as_bytes())
        .int("prefixBytes", prefix.bytes)
        .int("bytesBefore", prefix.before)
        .int("bytesAfter", prefix.after)
        .raw_if("cause", cause.as_deref())
        .raw("new", &ints(prefix.new.iter().copied()))
        .raw("gone", &ints(prefix.gone.iter().copied()))
        .list("headerChanges", compared.changes.iter().map(super::header::change))
        .end()
}
