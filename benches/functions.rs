//! The functions that a whole-log pass spends its time in, each beside a peer where there is one.

#![allow(missing_docs)]

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use dsh_log::format::dialect::Dialect;
use dsh_log::format::judge;
use dsh_log::format::row::RowContext;
use dsh_log::json::jumps::Jumps;
use dsh_log::json::scan;
use dsh_log::log::{Log, ReadOptions};
use dsh_log::storage::encode;
use dsh_log::storage::source::Source;

fn main() {
    divan::main();
}

/// A tool result with source code in it, as most of a log's bytes are.
fn result_line() -> String {
    let text = "fn main() {\\n    println!(\\\"hello\\\");\\n}\\n".repeat(400);
    format!(
        r#"{{"type":"tool/result","seq":7,"time":1790000086236,"data":{{"turn":1,"step":1,"message":{{"source":{{"kind":"tool","callId":"c1"}},"content":[{{"type":"tool-result","toolCallId":"c1","content":[{{"type":"text","text":"{text}"}}]}}],"role":"user","id":"m"}}}},"sourceEventSeqs":[6],"surfaceOp":"append"}}"#
    )
}

/// A packed row, as most of a log's records are.
fn packed_line() -> String {
    let texts = vec![r#""token""#; 60].join(",");
    let steps = vec!["25"; 59].join(",");
    format!(
        r#"{{"type":"text-chunks","seq0":12,"time0":1790000080320,"data":{{"turn":1,"step":1,"index":0,"dt":[{steps}],"texts":[{texts}]}}}}"#
    )
}

#[divan::bench]
fn check_syntax(bencher: Bencher) {
    let line = result_line();
    bencher.counter(BytesCount::of_str(&line)).bench(|| scan::value_end(black_box(line.as_bytes()), 0));
}

#[divan::bench]
fn check_syntax_peer_serde_json_raw_value(bencher: Bencher) {
    let line = result_line();
    bencher.counter(BytesCount::of_str(&line)).bench(|| {
        serde_json::from_str::<&serde_json::value::RawValue>(black_box(&line)).map(|v| v.get().len())
    });
}

#[divan::bench(args = ["result", "packed"])]
fn judge_a_line(bencher: Bencher, which: &str) {
    let line = if which == "packed" { packed_line() } else { result_line() };
    let dialect = Dialect::newest();
    let dialect = Dialect::of(0).unwrap_or(dialect);
    let context = RowContext { dialect, session_id: b"s", known: true, glean: None };
    let mut jumps = Jumps::default();
    bencher
        .counter(BytesCount::of_str(&line))
        .bench_local(|| judge::parse_with(black_box(line.as_bytes()), &context, &mut jumps));
}

#[divan::bench(args = [1_000, 10_000])]
fn read_a_log(bencher: Bencher, events: usize) {
    let header = r#"{"type":"session","version":0,"id":"a","createdAt":1,"delegationDepth":0}"#;
    let mut file = encode::frame(format!("{header}\n").as_bytes()).unwrap_or_default();
    for batch in (0..events).collect::<Vec<_>>().chunks(12) {
        let text: String = batch
            .iter()
            .map(|seq| {
                format!("{{\"type\":\"plan/mode\",\"seq\":{seq},\"time\":1,\"data\":{{\"active\":true}}}}\n")
            })
            .collect();
        file.extend(encode::frame(text.as_bytes()).unwrap_or_default());
    }
    bencher
        .with_inputs(|| Source::memory("bench", file.clone()))
        .bench_values(|source| Log::read(source, &ReadOptions::default()).map(|log| log.index().events()));
}
