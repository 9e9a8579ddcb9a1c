//! The transcript over the raw logs of the corpus: rows in order, and no words lost.

mod shared;

use dsh_log::format::kind::Kind;
use dsh_log::format::surface_op::SurfaceOp;
use dsh_log::json::Raw;
use dsh_log::log::{Log, ReadOptions};
use dsh_log::storage::source::Source;
use dsh_log::view::moment::Moment;
use dsh_log::view::transcript::{Row, told};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

fn corpus() -> Option<PathBuf> {
    Some(shared::folder("transcripts")?.join("corpus"))
}

/// Every raw log of the corpus.
fn logs(corpus: &Path) -> Vec<PathBuf> {
    shared::files(corpus, |path| path.extension().is_some_and(|ext| ext == "jsonl"))
}

/// The words of every message a person or the model wrote.
fn words(log: &Log) -> Vec<String> {
    let mut texts = Vec::new();
    log.walk(
        Moment::Stored.span(log),
        |entry| matches!(entry.kind, Kind::UserMessage | Kind::AssistantMessage),
        |event| {
            if event.op == SurfaceOp::Append {
                let blocks = event.message().and_then(|message| message.get("content")).into_iter();
                let found = blocks.flat_map(Raw::elements).filter_map(|b| b.get("text")?.display_text());
                texts.extend(found.filter(|text| !text.trim().is_empty()));
            }
            ControlFlow::Continue(())
        },
    )
    .unwrap();
    texts
}

fn check(path: &Path) -> usize {
    let log = Log::read(Source::open(path).unwrap(), &ReadOptions::default()).unwrap();
    let mut rows: Vec<Row> = Vec::new();
    told::of_log(&log, Moment::Stored, |row| {
        rows.push(row);
        ControlFlow::Continue(())
    })
    .unwrap();
    let texts = words(&log);
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
