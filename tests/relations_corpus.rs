//! Every real log of generation 4 passes admission and the rules between events.

mod shared;

use dsh_log::format::admission::{hard_fault, late_fault};
use dsh_log::format::dialect::Dialect;
use dsh_log::format::parts::Parts;
use dsh_log::format::relations::{RelEvent, RelHeader, Relations, takes_part};
use dsh_log::format::slim::slim;
use dsh_log::format::sources::Sources;
use dsh_log::format::surface_op::SurfaceOp;
use dsh_log::json::Raw;
use std::path::{Path, PathBuf};

fn logs(corpus: &Path, folder: &str, name: &str) -> Vec<PathBuf> {
    let below = |path: &Path| {
        let inner = path.strip_prefix(corpus).ok().and_then(|p| p.components().next());
        inner.is_some_and(|c| c.as_os_str().to_string_lossy().starts_with(folder))
    };
    shared::files(corpus, |path| below(path) && path.file_name().is_some_and(|file| file == name))
}

fn corpus() -> Option<PathBuf> {
    Some(shared::folder("relations")?.join("corpus"))
}

fn parts(row: Raw<'_>) -> Parts<'_> {
    let [type_name, seq, time, data, ignorable, op, sources] =
        row.get_all(["type", "seq", "time", "data", "ignorable", "surfaceOp", "sourceEventSeqs"]);
    Parts { type_name, seq, time, data, ignorable, op, sources, ..Parts::default() }
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect()
}

fn header(line: &[u8]) -> RelHeader {
    let header = Raw::parse(line).unwrap();
    let id = header.get("id").and_then(Raw::text).unwrap().into_owned();
    RelHeader { id, has_parent: header.get("parentSession").is_some() }
}

fn check(header: &RelHeader, rows: &[&[u8]], slimmed: bool) -> Vec<String> {
    let dialect = Dialect::of(4).unwrap();
    let mut relations = Relations::new(header);
    let mut faults = Vec::new();
    let mut inherited = 0;
    for row in rows {
        let parts = parts(Raw::parse(row).unwrap());
        let (kind, seq, data) = (parts.kind(), parts.seq.and_then(Raw::count).unwrap(), parts.data.unwrap());
        faults.extend(hard_fault(&parts, kind, dialect).map(|fault| format!("{seq}: {}", fault.message)));
        if data.get("inherited").is_some_and(Raw::is_true) && kind.name() == "session/end-seed" {
            inherited = seq;
        }
        if !dialect.knows(kind) || !takes_part(kind) {
            continue;
        }
        let sources = parts.sources.map(|list| Sources::parse(list, seq, true).unwrap());
        let small = slim(kind, data);
        let data = if slimmed { Raw::parse(&small).unwrap() } else { data };
        let op = SurfaceOp::parse(parts.op, dialect);
        relations.event(&RelEvent {
            seq,
            kind,
            data,
            op,
            sources: sources.as_ref(),
            has_sources: sources.is_some(),
        });
    }
    let violations = relations.finish(inherited).into_iter();
    faults.extend(violations.map(|found| format!("{}: {} {}", found.seq, found.rule, found.message)));
    faults
}

#[test]
fn every_real_log_of_generation_4_breaks_no_rule() {
    let Some(corpus) = corpus() else { return };
    let logs = logs(&corpus, "v4-", "session.v4.jsonl");
    assert!(!logs.is_empty());
    for log in logs {
        let text = std::fs::read(&log).unwrap();
        for slimmed in [false, true] {
            let lines = lines(&text);
            let faults = check(&header(lines[0]), &lines[1..], slimmed);
            assert!(faults.is_empty(), "{} slim {slimmed}: {faults:?}", log.display());
        }
    }
}

#[test]
fn every_real_row_of_generation_3_has_no_fault_of_its_own() {
    let Some(corpus) = corpus() else { return };
    let dialect = Dialect::of(3).unwrap();
    for log in logs(&corpus, "v3-", "session.v3.jsonl") {
        let text = std::fs::read(&log).unwrap();
        for line in text.split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty()) {
            let parts = parts(Raw::parse(line).unwrap());
            let fault = hard_fault(&parts, parts.kind(), dialect)
                .or_else(|| late_fault(&parts, parts.kind(), dialect));
            assert_eq!(fault, None, "{} {}", log.display(), String::from_utf8_lossy(line));
        }
    }
}

/// The rows of a log up to `last`, and its header.
fn prefix(corpus: &Path, case: Raw<'_>, last: &str) -> (Vec<u8>, usize) {
    let log = case.get("log").and_then(Raw::display_text).unwrap();
    let last = case.get(last).and_then(Raw::count).unwrap() as usize;
    (std::fs::read(corpus.join(log).join("session.v4.jsonl")).unwrap(), last)
}

#[test]
fn a_repaired_prefix_opens_where_the_harness_says_so() {
    let Some(corpus) = corpus() else { return };
    let Ok(cases) = std::fs::read(corpus.join("v4-repairs.json")) else { return };
    for case in Raw::parse(&cases).unwrap().elements() {
        let (text, last) = prefix(&corpus, case, "lastSeq");
        let lines = lines(&text);
        let closers: Vec<&[u8]> = case.get("closers").unwrap().elements().map(Raw::bytes).collect();
        let mut rows = [&lines[1..=last + 1], &closers].concat();
        let alone = check(&header(lines[0]), &rows, true);
        let seed = format!(r#"{{"type":"session/end-seed","seq":{},"time":0,"data":{{}}}}"#, rows.len());
        rows.push(seed.as_bytes());
        let seeded = check(&header(lines[0]), &rows, true);
        let expected =
            ["opensWithClosersAlone", "opensWithEndSeed"].map(|key| case.get(key).is_some_and(Raw::is_true));
        assert_eq!([alone.is_empty(), seeded.is_empty()], expected, "{case:?} {alone:?} {seeded:?}");
    }
}

#[test]
fn a_fork_at_any_boundary_opens() {
    let Some(corpus) = corpus() else { return };
    let Ok(cases) = std::fs::read(corpus.join("v4-forks.json")) else { return };
    for case in Raw::parse(&cases).unwrap().elements() {
        let (text, last) = prefix(&corpus, case, "boundary");
        let appended: Vec<&[u8]> = case.get("appended").unwrap().elements().map(Raw::bytes).collect();
        let rows = [&lines(&text)[1..=last + 1], &appended].concat();
        let faults = check(&RelHeader { id: b"child".to_vec(), has_parent: true }, &rows, true);
        assert!(faults.is_empty(), "{case:?} {faults:?}");
    }
}
