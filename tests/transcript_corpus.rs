//! The transcript over the raw logs of the corpus: rows in order, and no words lost.

mod shared;

use dsh_log::format::dialect::Dialect;
use dsh_log::format::event::{Event, Location};
use dsh_log::format::kind::Kind;
use dsh_log::format::surface_op::SurfaceOp;
use dsh_log::json::Raw;
use dsh_log::json::write::Object;
use dsh_log::seq::Seq;
use dsh_log::view::transcript::{Row, Transcript};
use std::path::{Path, PathBuf};

/// The lines of a log as single events: packed rows of the first generations expanded (6.2).
fn expanded(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines().skip(1) {
        let raw = Raw::parse(line.as_bytes()).unwrap();
        let (kind, key, member) = match raw.get("type").unwrap().display_text().unwrap().as_str() {
            "text-chunks" => ("text-delta", "texts", "text"),
            "reasoning-chunks" => ("reasoning-delta", "texts", "text"),
            "tool-call-chunks" => ("tool-call-delta", "args", "argumentsDelta"),
            _ => {
                lines.push(line.to_owned());
                continue;
            }
        };
        let data = raw.get("data").unwrap();
        let mut time = raw.get("time0").unwrap().safe_int().unwrap();
        let mut gaps = data.get("dt").unwrap().elements();
        let bytes = |name| data.get(name).map(Raw::bytes);
        for (seq, text) in
            (raw.get("seq0").unwrap().count().unwrap()..).zip(data.get(key).unwrap().elements())
        {
            let chunk = Object::new().text("type", kind.as_bytes()).raw_if("index", bytes("index"));
            let chunk =
                chunk.raw_if("id", bytes("id")).raw_if("name", bytes("name")).raw(member, text.bytes());
            let inner = Object::new().raw_if("turn", bytes("turn")).raw_if("step", bytes("step"));
            let event = Object::new().text("type", b"assistant/chunk").int("seq", seq).int("time", time);
            let event = event.raw("data", &inner.raw("chunk", &chunk.end()).end()).end();
            lines.push(String::from_utf8(event).unwrap());
            time += gaps.next().and_then(Raw::safe_int).unwrap_or(0);
        }
    }
    lines
}

fn event<'a>(line: &'a str, dialect: &Dialect, here: &mut Location) -> Event<'a> {
    let raw = Raw::parse(line.as_bytes()).unwrap();
    let [kind, seq, time, data, op] = raw.get_all(["type", "seq", "time", "data", "surfaceOp"]);
    let data = data.unwrap();
    let kind = Kind::of(&kind.unwrap().text().unwrap());
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
        seq: Seq(seq.unwrap().count().unwrap()),
        time: time.unwrap().safe_int().unwrap(),
        kind,
        location,
        op: SurfaceOp::parse(op, dialect),
        data,
        text: line.as_bytes(),
        synthetic: false,
    }
}

fn corpus() -> Option<PathBuf> {
    Some(shared::folder("transcripts")?.join("corpus"))
}

/// Every raw log of the corpus.
fn logs(corpus: &Path) -> Vec<PathBuf> {
    shared::files(corpus, |path| path.extension().is_some_and(|ext| ext == "jsonl"))
}

fn check(path: &Path) -> usize {
    let text = std::fs::read_to_string(path).unwrap();
    let header = Raw::parse(text.lines().next().unwrap().as_bytes()).unwrap();
    let version = header.get("version").and_then(Raw::count).unwrap() as u32;
    let dialect = Dialect::of(version).unwrap();
    let own_from = header.get("seedLength").and_then(Raw::count).unwrap_or(0);
    let (mut transcript, mut here) = (Transcript::new(dialect, own_from), Location::default());
    let (mut rows, mut texts): (Vec<Row>, Vec<String>) = (Vec::new(), Vec::new());
    for line in expanded(&text) {
        let event = event(&line, dialect, &mut here);
        if event.op == SurfaceOp::Append && matches!(event.kind, Kind::UserMessage | Kind::AssistantMessage) {
            let blocks = event.message().and_then(|message| message.get("content")).into_iter();
            let texts_of =
                blocks.flat_map(Raw::elements).filter_map(|block| block.get("text")?.display_text());
            texts.extend(texts_of.filter(|text| !text.trim().is_empty()));
        }
        transcript.event(&event, &mut |row| rows.push(row));
    }
    transcript.finish(&mut |row| rows.push(row));
    assert!(rows.is_sorted_by_key(|row| row.anchor), "{}", path.display());
    let all: Vec<Vec<u8>> = rows.iter().map(Row::to_json).collect();
    let mut told = std::collections::HashSet::new();
    for row in &all {
        let row = Raw::parse(row).unwrap();
        let blocks = row.get("content").into_iter().flat_map(Raw::elements);
        told.extend(blocks.filter_map(|block| block.get("text")?.display_text()));
    }
    for text in texts {
        assert!(told.contains(&text), "{}: {text:?} is in no row", path.display());
    }
    rows.len()
}

#[test]
fn rows_of_every_log_are_in_order_and_no_words_are_lost() {
    let Some(corpus) = corpus() else { return };
    let logs = logs(&corpus);
    let rows: usize = logs.iter().map(|path| check(path)).sum();
    assert!(logs.len() > 100 && rows > logs.len(), "{} logs, {rows} rows", logs.len());
}
