//! Conversions: there and back gives the same events, whatever the container and the rows.

mod shared;

use dsh_log::convert::{Conversion, Rows};
use dsh_log::error::ErrorKind;
use dsh_log::log::{Log, ReadOptions};
use dsh_log::storage::container::Container;
use dsh_log::storage::encode::frame;
use dsh_log::storage::source::Source;
use std::path::Path;

const HEADER: &str =
    "{\"type\":\"session\",\"version\":0,\"id\":\"a\",\"createdAt\":1,\"delegationDepth\":0}\n";

fn read(path: &Path) -> Log {
    Log::read(Source::open(path).unwrap(), &ReadOptions::default()).unwrap()
}

fn memory(bytes: Vec<u8>) -> Log {
    Log::read(Source::memory("log", bytes), &ReadOptions::default()).unwrap()
}

#[test]
fn every_log_comes_back_from_the_other_container_and_from_other_rows() {
    let Some(root) = shared::folder("conversions") else { return };
    let is_log = |path: &Path| {
        let name = path.to_string_lossy();
        name.ends_with(".jsonl") || name.ends_with(".zstd")
    };
    let dir = tempfile::tempdir().unwrap();
    let (mut n, mut shorter, mut longer) = (0, 0, 0);
    for path in shared::files(&root.join("corpus"), is_log) {
        let log = read(&path);
        if log.verdict().cut.is_some() || !log.verdict().outcome.opens() || log.text_bytes() > 64 << 10 {
            continue;
        }
        for container in [Container::Raw, Container::Zstd] {
            for rows in [Rows::Stored, Rows::Expanded, Rows::Packed] {
                if rows == Rows::Packed && !log.dialect().chunk_rows {
                    let refused = Conversion::plan(&log, container, rows).err().unwrap();
                    assert_eq!(refused.code, "no-chunk-rows");
                    continue;
                }
                n += 1;
                let to = dir.path().join(n.to_string());
                let plan = Conversion::plan(&log, container, rows).unwrap();
                plan.write(&to, &ReadOptions::default())
                    .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                let copy = read(&to);
                assert_eq!(copy.container(), container);
                shorter += usize::from(copy.text_bytes() < log.text_bytes());
                longer += usize::from(copy.text_bytes() > log.text_bytes());
                std::fs::remove_file(to).unwrap();
            }
        }
    }
    shared::say(&format!("{n} conversions, {shorter} with less text, {longer} with more"));
    assert!(n > 500 && longer > 10, "{n} {longer}");
}

#[test]
fn a_log_in_one_frame_gets_a_header_frame_and_batches() {
    let event = |seq: u64| {
        format!("{{\"type\":\"plan/mode\",\"seq\":{seq},\"time\":1,\"data\":{{\"active\":true}}}}\n")
    };
    let text = format!("{HEADER}{}", (0..25).map(event).collect::<String>());
    let log = memory(frame(text.as_bytes()).unwrap());
    assert!(!log.verdict().outcome.opens());
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("log.jsonl.zstd");
    let plan = Conversion::plan(&log, Container::Zstd, Rows::Stored).unwrap();
    plan.write(&to, &ReadOptions::default()).unwrap();
    let copy = read(&to);
    assert!(copy.verdict().outcome.opens());
    assert_eq!((copy.index().events(), copy.frames()), (25, 4));
    assert_eq!(plan.write(&to, &ReadOptions::default()).unwrap_err().code, "already-exists");
}

#[test]
fn a_torn_log_is_repaired_first_and_a_damaged_one_salvaged() {
    let torn = memory(format!("{HEADER}{{\"type\"").into_bytes());
    let refused = Conversion::plan(&torn, Container::Zstd, Rows::Stored).err().unwrap();
    assert_eq!((refused.kind, refused.code), (ErrorKind::Refused, "torn"));
    let damaged = memory(b"{}\n".to_vec());
    let refused = Conversion::plan(&damaged, Container::Zstd, Rows::Stored).err().unwrap();
    assert_eq!((refused.kind, refused.code), (ErrorKind::Corrupt, "not-convertible"));
}
