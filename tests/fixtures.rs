//! The files of `fixtures/` are what `logs` writes, and the reader takes them for what they are
//! meant to be. `BLESS=1` writes them anew.

mod logs;

use dsh_log::fault::{Code, Severity};
use dsh_log::log::verdict::Outcome;
use dsh_log::log::{Log, ReadOptions};
use dsh_log::storage::source::Source;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn read(name: &str) -> Log {
    Log::read(Source::open(&folder().join(name)).unwrap(), &ReadOptions::default()).unwrap()
}

#[test]
fn the_files_are_what_is_written_down() {
    let files = [
        ("sound.jsonl", logs::sound().text()),
        ("sound.jsonl.zstd", logs::sound().frames(10)),
        ("crashed.jsonl.zstd", logs::crashed().frames(4)),
        ("torn.jsonl.zstd", logs::torn()),
        ("changed.jsonl", logs::changed().text()),
        ("compacted.v4.jsonl", logs::compacted().text()),
        ("forked.jsonl", logs::forked().text()),
        ("delegating.jsonl", logs::delegating().text()),
        ("scout.jsonl", logs::scout().text()),
        ("searched.jsonl", logs::searched().text()),
        ("rewound.jsonl", logs::rewound().text()),
        ("damaged.jsonl", logs::damaged()),
        ("two-writers.jsonl", logs::two_writers().text()),
        ("newer.jsonl", logs::newer()),
    ];
    let readme = std::fs::read_to_string(folder().join("README.md")).unwrap_or_default();
    for (name, bytes) in files {
        let path = folder().join(name);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &bytes).unwrap();
        }
        // Compressed bytes may differ between releases of the encoder; the text must not.
        let written = Log::read(Source::memory(name, bytes), &ReadOptions::default()).unwrap();
        let stored = read(name);
        assert_eq!(text(&stored), text(&written), "{name}");
        assert_eq!(stored.frames(), written.frames(), "{name}");
        assert!(readme.contains(&format!("| `{name}` |")), "{name} has no row in fixtures/README.md");
    }
}

/// All events as text.
fn text(log: &Log) -> Vec<String> {
    let mut lines = Vec::new();
    log.walk(
        log.whole(),
        |_| true,
        |event| {
            lines.push(String::from_utf8_lossy(event.text).into_owned());
            std::ops::ControlFlow::Continue(())
        },
    )
    .unwrap();
    lines
}

#[test]
fn each_log_has_the_verdict_it_is_made_for() {
    for (name, outcome, events, closers) in [
        ("sound.jsonl", Outcome::Opens, 26, 0),
        ("sound.jsonl.zstd", Outcome::Opens, 26, 0),
        ("crashed.jsonl.zstd", Outcome::OpensAfterRepair, 9, 4),
        ("torn.jsonl.zstd", Outcome::OpensAfterRepair, 9, 4),
        ("changed.jsonl", Outcome::Opens, 14, 0),
        ("compacted.v4.jsonl", Outcome::Opens, 17, 0),
        ("searched.jsonl", Outcome::Opens, 23, 0),
        ("rewound.jsonl", Outcome::Opens, 19, 0),
    ] {
        let log = read(name);
        let said: Vec<String> = log.findings().list().iter().map(ToString::to_string).collect();
        assert_eq!(log.verdict().outcome, outcome, "{name}: {said:?}");
        assert_eq!((log.index().events(), log.closers().len()), (events, closers), "{name}");
        let torn = name.starts_with("torn");
        let worst = if torn { Severity::Cuts } else { Severity::Notes };
        assert!(log.findings().list().iter().all(|f| f.severity >= worst), "{name}: {said:?}");
    }
}

#[test]
fn each_spoiled_log_has_the_fault_it_is_made_for() {
    for (name, outcome, code) in [
        ("damaged.jsonl", Outcome::Refuses, Code::LineSeq),
        ("two-writers.jsonl", Outcome::OpensAfterRepair, Code::TwoWriters),
        ("newer.jsonl", Outcome::Unsupported, Code::FormatNewer),
    ] {
        let log = read(name);
        let said: Vec<String> = log.findings().list().iter().map(ToString::to_string).collect();
        assert_eq!(log.verdict().outcome, outcome, "{name}: {said:?}");
        assert!(log.findings().list().iter().any(|f| f.code == code), "{name}: {said:?}");
    }
}
