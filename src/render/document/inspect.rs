//! The document of `inspect`.

use dsh_log::format::dialect::Inherited;
use dsh_log::format::kind::Kind;
use dsh_log::json::number;
use dsh_log::json::write::{Object, array};
use dsh_log::log::Log;
use dsh_log::log::visit::Bodies;
use dsh_log::storage::container::Container;
use dsh_log::view::moment::Moment;
use dsh_log::view::summary::{OpenTurn, Said, Summary};
use std::ops::ControlFlow;

/// The whole document. With `events`, the balanced event table is a part of it.
pub(crate) fn document(log: &Log, summary: &Summary, events: bool) -> dsh_log::error::Result<Vec<u8>> {
    let closers = array(log.closers().iter().map(|closer| &closer.text));
    let findings = array(log.findings().list().iter().map(dsh_log::finding::Finding::to_json));
    let open_turn = summary.open_turn.as_ref().map_or_else(|| b"null".to_vec(), open_turn);
    let range = log.sums().time_range;
    let gaps = summary
        .gaps
        .iter()
        .map(|gap| Object::new().int("millis", gap.millis).int("beforeSeq", gap.before.0).end());
    let mut out = Object::new()
        .text("schema", b"dsh-log/inspect@1")
        .text("path", log.source().path().to_string_lossy().as_bytes())
        .raw("session", &session(log, summary))
        .raw("container", &container(log))
        .raw("events", &counts(log))
        .int("turns", log.sums().turns.turns)
        .int("steps", log.sums().turns.steps)
        .int_if("firstTime", range.map(|r| r.0))
        .int_if("lastTime", range.map(|r| r.1))
        .list("idleGaps", gaps)
        .raw("verdict", &log.verdict().to_json())
        .raw("openTurn", &open_turn)
        .raw("closers", &closers)
        .raw("findings", &findings)
        .raw("surface", &surface(log))
        .int("messages", summary.messages)
        .int("requests", summary.requests)
        .int("compactions", summary.compactions);
    if let Some(usage) = &summary.usage {
        let usage = Object::new().int("seq", usage.seq.0).int("contextTokens", usage.context_tokens);
        out = out.raw("usage", &usage.end());
    }
    out = out.int_if("contextWindow", summary.context_window);
    out = out.raw_if("lastPrompt", summary.last_prompt.as_ref().map(said).as_deref());
    out = out.raw_if("lastWords", summary.last_words.as_ref().map(said).as_deref());
    out = out.raw_if("recordsBehind", islands(log).as_deref());
    if events {
        out = out.raw("eventList", &event_list(log)?);
    }
    Ok(out.end())
}

fn said(said: &Said) -> Vec<u8> {
    Object::new().int("seq", said.seq.0).text("text", said.text.as_bytes()).end()
}

fn session(log: &Log, summary: &Summary) -> Vec<u8> {
    let title = summary.title.as_deref().map(str::as_bytes);
    let Some(header) = log.header() else {
        return Object::new().int("format", log.dialect().version).text_if("title", title).end();
    };
    let text = |value: &Option<String>| value.clone().map(String::into_bytes);
    let out = Object::new()
        .text("id", &header.id)
        .raw("format", number::stringify(header.version).as_bytes())
        .int_if("createdAt", header.created_at)
        .text_if("cwd", header.cwd.as_deref())
        .text_if("parentSession", header.parent_session.as_deref());
    let out = match log.dialect().inherited {
        Inherited::SeedLength => out.int_if("seedLength", header.seed_length),
        Inherited::TaggedEndSeed => match header.is_seeded {
            Some(seeded) => out.bool("isSeeded", seeded),
            None => out,
        },
    };
    out.text_if("origin", text(&header.origin).as_deref())
        .int_if("delegationDepth", header.delegation_depth)
        .text_if("agentPreset", text(&header.agent_preset).as_deref())
        .text_if("title", title)
        .end()
}

fn container(log: &Log) -> Vec<u8> {
    let zstd = log.container() == Container::Zstd;
    let cut = log.verdict().cut;
    let out = Object::new()
        .text("kind", log.container().name().as_bytes())
        .int_if("frames", zstd.then(|| log.frames()))
        .int("lines", log.lines())
        .int("bytesStored", log.source().bytes())
        .int("bytesDecoded", log.text_bytes())
        .int("tornBytes", cut.map_or(0, |cut| cut.bytes));
    match cut {
        Some(cut) => {
            let torn = Object::new()
                .int("from", cut.from)
                .int("bytes", cut.bytes)
                .int("recovered", cut.recovered)
                .int("lostRecords", cut.lost_records);
            out.raw("torn", &torn.end()).end()
        }
        None => out.end(),
    }
}

fn counts(log: &Log) -> Vec<u8> {
    let stored = log.index().events();
    Object::new()
        .int("stored", stored)
        .int("balanced", Moment::Balanced.events(log))
        .int("inherited", log.inherited())
        .int("own", stored - log.inherited())
        .end()
}

fn surface(log: &Log) -> Vec<u8> {
    let surface = Moment::Balanced.surface(log);
    let (current, shadowed) = (surface.current_count(), surface.shadowed_count());
    Object::new()
        .int("current", current)
        .int("shadowed", shadowed)
        .int("logOnly", Moment::Balanced.events(log).saturating_sub(current + shadowed))
        .end()
}

fn open_turn(open: &OpenTurn) -> Vec<u8> {
    let calls = open.calls.iter().map(|call| {
        Object::new()
            .text("callId", call.call_id.as_bytes())
            .text("name", call.name.as_bytes())
            .text("arguments", call.arguments.as_bytes())
            .text_if("askedArguments", call.asked.as_deref().map(str::as_bytes))
            .int("seq", call.seq.0)
            .text("class", call.outcome.class().as_bytes())
            .int_if("runningMs", call.running_ms)
            .end()
    });
    Object::new()
        .raw_if("turn", open.turn.as_deref().map(str::as_bytes))
        .raw_if("step", open.step.as_deref().map(str::as_bytes))
        .int("seq", open.seq.0)
        .list("calls", calls)
        .end()
}

fn islands(log: &Log) -> Option<Vec<u8>> {
    if log.islands().is_empty() {
        return None;
    }
    let list = log.islands().iter().map(|island| {
        Object::new()
            .int("first", island.first)
            .int("last", island.last)
            .int("records", island.records)
            .int("time", island.time)
            .text("type", island.kind.name().as_bytes())
            .end()
    });
    Some(array(list))
}

/// Every event of the balanced log: seq, time, type, place, standing on the surface.
fn event_list(log: &Log) -> dsh_log::error::Result<Vec<u8>> {
    let mut rows = Vec::new();
    each_event(log, |row| rows.push(row))?;
    Ok(array(rows.iter().map(|row| {
        Object::new()
            .int("seq", row.seq)
            .int("time", row.time)
            .text("type", row.type_text.as_bytes())
            .int_if("turn", row.turn)
            .int_if("step", row.step)
            .text_if("surface", row.standing.map(str::as_bytes))
            .raw_if("synthetic", row.synthetic.then_some(b"true".as_slice()))
            .end()
    })))
}

/// One row of the event table.
pub(crate) struct EventRow {
    /// The seq.
    pub(crate) seq: u64,
    /// Epoch milliseconds.
    pub(crate) time: i64,
    /// The type as written.
    pub(crate) type_text: String,
    /// Where it stands.
    pub(crate) turn: Option<u32>,
    /// See [`EventRow::turn`].
    pub(crate) step: Option<u32>,
    /// `current` or `shadowed`, for surface events.
    pub(crate) standing: Option<&'static str>,
    /// Whether it is a closer.
    pub(crate) synthetic: bool,
}

/// Hands on the rows of the event table; members of packed rows one by one.
pub(crate) fn each_event(log: &Log, mut each: impl FnMut(EventRow)) -> dsh_log::error::Result<()> {
    let surface = Moment::Balanced.surface(log);
    let mut unknown = Bodies::new(log);
    let standing = |seq: u64, kind: Kind| {
        let on = log.dialect().is_surface(kind);
        on.then(|| if surface.current(seq).is_some() { "current" } else { "shadowed" })
    };
    for (record, entry) in log.index().entries().iter().enumerate() {
        let mut type_text = entry.kind.name().to_owned();
        if entry.kind == Kind::Unknown {
            let _ = unknown.record(record, |event| {
                type_text = event.type_text();
                ControlFlow::Break(())
            })?;
        }
        let location = entry.location();
        for n in 0..log.index().members(record) {
            let seq = entry.seq.0 + n;
            each(EventRow {
                seq,
                time: entry.time,
                type_text: type_text.clone(),
                turn: location.turn,
                step: location.step,
                standing: standing(seq, entry.kind),
                synthetic: false,
            });
        }
    }
    for closer in log.closers() {
        each(EventRow {
            seq: closer.seq,
            time: closer.time,
            type_text: closer.kind.name().to_owned(),
            turn: None,
            step: None,
            standing: standing(closer.seq, closer.kind),
            synthetic: true,
        });
    }
    Ok(())
}
