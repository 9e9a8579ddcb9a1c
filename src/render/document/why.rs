//! The JSON document of `why`.

use dsh_log::evidence::children::Link;
use dsh_log::evidence::strength::{Evidence, SharedSpan};
use dsh_log::evidence::why::Why;
use dsh_log::json::write::{Object, array, ints};
use dsh_log::log::Log;
use std::path::{Path, PathBuf};

/// What a subagent's session holds of the conclusion.
pub(crate) struct Delegated {
    /// The child's id.
    pub(crate) id: String,
    /// Its log.
    pub(crate) path: PathBuf,
    /// The events of the parent that name it.
    pub(crate) links: Vec<Link>,
    /// Its results that share telling text.
    pub(crate) evidence: Vec<Evidence>,
}

/// The document: target, request, evidence, whether anything supports the target.
pub(crate) fn document(log: &Log, why: &Why, parent: Option<&Path>, delegated: &[Delegated]) -> Vec<u8> {
    let target = &why.target;
    let focus = target.focus.as_ref().map(|f| ints([f.start as u64, f.end as u64]));
    let inner = Object::new()
        .int("seq", target.seq.0)
        .text("type", target.kind.name().as_bytes())
        .text("text", target.text.as_bytes())
        .raw_if("focus", focus.as_deref())
        .end();
    let from = log.header().and_then(|h| h.parent_session.as_deref()).map(|id| {
        let path = parent.map(|p| p.to_string_lossy().into_owned().into_bytes());
        Object::new()
            .text("parentSession", id)
            .text_if("path", path.as_deref())
            .int("events", log.inherited())
            .end()
    });
    Object::new()
        .text("schema", b"dsh-log/why@1")
        .raw("target", &inner)
        .text_if("request", target.request.map(|r| r.to_string().into_bytes()).as_deref())
        .int_if("upto", target.upto.map(|seq| seq.0))
        .list("evidence", why.evidence.iter().map(evidence))
        .bool("supported", why.supported)
        .raw("alsoSaidIn", &ints(why.also_said_in.iter().copied()))
        .raw_if("inherited", from.as_deref())
        .list("delegated", delegated.iter().map(child))
        .end()
}

fn child(child: &Delegated) -> Vec<u8> {
    let link =
        |link: &Link| Object::new().int("seq", link.seq).text("type", link.kind.name().as_bytes()).end();
    Object::new()
        .text("session", child.id.as_bytes())
        .text("path", child.path.display().to_string().as_bytes())
        .list("links", child.links.iter().map(link))
        .list("evidence", child.evidence.iter().map(evidence))
        .end()
}

fn evidence(e: &Evidence) -> Vec<u8> {
    let via = (!e.via.is_empty()).then(|| ints(e.via.iter().copied()));
    let object = Object::new()
        .int("seq", e.seq)
        .text_if("callId", e.call_id.as_deref().map(str::as_bytes))
        .text_if("tool", e.tool.as_deref().map(str::as_bytes))
        .text("strength", e.strength.name().as_bytes())
        .raw("score", number(e.score).as_bytes())
        .raw("spans", &array(e.spans.iter().map(span)))
        .raw_if("via", via.as_deref())
        .bool("supports", e.supports);
    if e.inherited { object.bool("inherited", true).end() } else { object.end() }
}

fn span(s: &SharedSpan) -> Vec<u8> {
    let object = Object::new()
        .text("quote", s.quote.as_bytes())
        .int("targetOffset", s.target_offset as u64)
        .int("sourceOffset", s.source_offset as u64)
        .raw("weight", number(s.weight).as_bytes())
        .int_if("alsoIn", s.also_in);
    match s.survives {
        Some(kept) => object.bool("survives", kept).end(),
        None => object.end(),
    }
}

/// Two places are all that a measure of this kind has.
fn number(n: f64) -> String {
    format!("{n:.2}")
}
