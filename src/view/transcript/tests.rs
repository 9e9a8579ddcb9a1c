//! Each kind of row, and the traps of sections 16.3 and 16.4, over small literal logs.

mod calls;
mod life;
mod words;

use super::rows::{AssistantState, Tool, ToolStatus};
use super::*;
use crate::format::event::Location;
use crate::json::Raw;

/// Reads one line as an event; where it stands follows from the events before it (section 16.1).
fn event<'a>(line: &'a str, dialect: &Dialect, here: &mut Location) -> Event<'a> {
    let raw = Raw::parse(line.as_bytes()).unwrap();
    let data = raw.get("data").unwrap();
    let kind = Kind::of(&raw.get("type").unwrap().text().unwrap());
    let number = |name| data.get(name).and_then(Raw::count).map(|n| n as u32);
    if let Some(turn) = number("turn") {
        let step = number("step").or(here.step.filter(|_| here.turn == Some(turn)));
        *here = Location { turn: Some(turn), step: step.filter(|_| kind != Kind::TurnStart) };
    }
    let location = *here;
    match kind {
        Kind::StepEnd => here.step = None,
        Kind::TurnEnd => *here = Location::default(),
        _ => {}
    }
    Event {
        seq: Seq(raw.get("seq").unwrap().count().unwrap()),
        time: raw.get("time").and_then(Raw::safe_int).unwrap_or(0),
        kind,
        location,
        op: SurfaceOp::parse(raw.get("surfaceOp"), dialect),
        data,
        sources: raw.get("sourceEventSeqs"),
        text: line.as_bytes(),
        synthetic: raw.get("synthetic").is_some_and(Raw::is_true),
    }
}

fn rows_from(version: u32, own_from: u64, lines: &[String]) -> Vec<Row> {
    let dialect = Dialect::of(version).unwrap();
    let (mut rows, mut here) = (Vec::new(), Location::default());
    let mut transcript = Transcript::new(dialect, own_from);
    for line in lines {
        transcript.event(&event(line, dialect, &mut here), &mut |row| rows.push(row));
    }
    transcript.finish(&mut |row| rows.push(row));
    assert!(rows.is_sorted_by_key(|row| row.anchor));
    assert!(rows.iter().all(|row| Raw::parse(&row.to_json()).is_ok()));
    rows
}

/// Numbers the events `[type, data, rest]`, a second apart.
fn log(events: &[(&str, &str, &str)]) -> Vec<String> {
    let line = |(seq, (kind, data, rest)): (usize, &(&str, &str, &str))| {
        format!(r#"{{"type":"{kind}","seq":{seq},"time":{},"data":{data}{rest}}}"#, seq * 1000)
    };
    events.iter().enumerate().map(line).collect()
}

fn rows(version: u32, events: &[(&str, &str, &str)]) -> Vec<Row> {
    rows_from(version, 0, &log(events))
}

fn kinds(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| row.body.kind()).collect()
}

fn anchors(rows: &[Row]) -> Vec<String> {
    rows.iter().map(|row| row.anchor.number()).collect()
}

fn tool(row: &Row) -> &Tool {
    match &row.body {
        Body::Tool(tool) => tool,
        other => panic!("{other:?}"),
    }
}

const APPEND: &str = r#","surfaceOp":"append""#;
const TURN: (&str, &str, &str) = ("turn/start", r#"{"turn":1}"#, "");
const STEP: (&str, &str, &str) = ("step/start", r#"{"turn":1,"step":1}"#, "");
const STEP_END: (&str, &str, &str) = ("step/end", r#"{"turn":1,"step":1}"#, "");
const DONE: (&str, &str, &str) = ("turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#, "");
const HELLO: (&str, &str, &str) = (
    "assistant/message",
    r#"{"turn":1,"step":1,"message":{"id":"a","role":"assistant","source":{"kind":"model","provider":"p",
        "model":"m"},
    "content":[{"type":"text","text":"hello"},{"type":"tool-call","id":"c1","name":"t","arguments":"{}"}]},
    "stream":[{"type":"text-chunks","time0":3500,"index":0,"dt":[],"texts":["hello"]}],
    "usage":{"inputTokens":3,"outputTokens":2}}"#,
    APPEND,
);
const CALL: (&str, &str, &str) =
    ("tool/call", r#"{"turn":1,"step":1,"callId":"c1","name":"t","arguments":"{\"a\":1}"}"#, "");
const RESULT: (&str, &str, &str) = (
    "tool/result",
    r#"{"turn":1,"step":1,"message":{"id":"r","role":"tool","toolCallId":"c1","isError":false,
    "source":{"kind":"tool","callId":"c1"},"content":[{"type":"text","text":"out"}]}}"#,
    APPEND,
);

fn user(id: &str, source: &str) -> String {
    format!(
        r#"{{"id":"{id}","role":"user","source":{source},"content":[{{"type":"text","text":"hi {id}"}}]}}"#
    )
}

fn chunk(text: &str) -> String {
    format!(r#"{{"turn":1,"step":1,"chunk":{{"type":"text-delta","index":0,"text":"{text}"}}}}"#)
}
