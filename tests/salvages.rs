//! Salvage over every damaged and every sound log, and over damage made here: the account adds up, and
//! the new session opens.

mod shared;

use dsh_log::error::{Error, ErrorKind};
use dsh_log::json::Raw;
use dsh_log::log::{Log, ReadOptions};
use dsh_log::salvage::{Fate, Given, Keep, Salvage, Why};
use dsh_log::storage::container::Container;
use dsh_log::storage::encode::frame;
use dsh_log::storage::source::Source;
use shared::{int_of, str_of};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const HEADER: &str = "{\"type\":\"session\",\"version\":0,\"id\":\"a\",\"createdAt\":1,\"cwd\":\"/w\",\"delegationDepth\":0}\n";

fn options() -> ReadOptions {
    ReadOptions::default()
}

fn read(path: &Path) -> Log {
    Log::read(Source::open(path).unwrap(), &options()).unwrap()
}

fn event(seq: u64) -> String {
    let kind = if seq.is_multiple_of(2) { "turn/start" } else { "turn/end" };
    let reason = if seq.is_multiple_of(2) { "" } else { ",\"reason\":{\"kind\":\"completed\"}" };
    format!(
        "{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{seq},\"data\":{{\"turn\":{}{reason}}}}}\n",
        seq / 2 + 1
    )
}

fn events(seqs: std::ops::Range<u64>) -> String {
    seqs.map(event).collect()
}

fn salvage(name: &str, bytes: &[u8], keep: Option<&Keep>) -> Result<Salvage, Error> {
    Salvage::plan(Source::memory(name, bytes.to_vec()), keep, &Given::default(), &options())
}

/// Writes it, reads it back, and gives both files.
fn written(salvage: &Salvage, container: Container) -> (Vec<u8>, String) {
    let dir = tempfile::tempdir().unwrap();
    let done = salvage.write(&dir.path().join("new"), container, &options()).unwrap();
    let log = read(&done.output);
    assert!(log.verdict().outcome.opens() && log.verdict().cut.is_none());
    assert_eq!(log.index().events(), salvage.account().events);
    assert!(salvage.account().adds_up(), "{:?}", salvage.account());
    (std::fs::read(done.output).unwrap(), std::fs::read_to_string(done.sidecar).unwrap())
}

fn frames(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| frame(text.as_bytes()).unwrap()).collect()
}

#[test]
fn every_damaged_file_is_accounted_for_and_gives_a_session_that_opens() {
    let Some(root) = shared::folder("salvages") else { return };
    let expected = shared::text(&root.join("damage/expected.json"));
    let dir = tempfile::tempdir().unwrap();
    let mut groups: BTreeMap<String, [u64; 4]> = BTreeMap::new();
    for (n, case) in Raw::parse(&expected).unwrap().elements().enumerate() {
        let file = str_of(case, "file").unwrap();
        let path = root.join("damage").join(&file);
        let before = std::fs::read(&path).unwrap();
        let log = read(&path);
        let mut given = Given::default();
        let mut keep = None;
        let made = loop {
            match Salvage::plan(Source::open(&path).unwrap(), keep.as_ref(), &given, &options()) {
                Err(e) if e.code == "header-gone" && given.id.is_none() => {
                    given = Given { id: Some("rescued".into()), cwd: Some("/rescued".into()), format: None };
                }
                Err(e) if e.code == "two-histories" && keep.is_none() => keep = Some(Keep::First),
                other => break other,
            }
        };
        let made = match made {
            Ok(made) => made,
            Err(e) => {
                assert_eq!(e.kind, ErrorKind::Unsupported, "{file}: {e}");
                assert!(!log.is_known_format() || e.code == "unsupported-format", "{file}: {e}");
                continue;
            }
        };
        let account = made.account();
        assert!(account.adds_up(), "{file}: {account:?}");
        let output = dir.path().join(n.to_string());
        let done =
            made.write(&output, made.container(), &options()).unwrap_or_else(|e| panic!("{file}: {e}"));
        let log_after = read(&done.output);
        assert!(log_after.verdict().outcome.opens() && log_after.verdict().cut.is_none(), "{file}");
        assert_eq!(log_after.index().events(), account.events, "{file}");
        assert_eq!(std::fs::read(&path).unwrap(), before, "{file}: the damaged log was touched");
        for line in std::fs::read(&done.sidecar).unwrap().split(|b| *b == b'\n').filter(|l| !l.is_empty()) {
            assert!(Raw::parse(line).is_ok(), "{file}: {}", String::from_utf8_lossy(line));
        }
        if log.verdict().outcome.opens() {
            assert!(account.events >= log.index().events(), "{file}: less than the harness reads");
        }
        let group = groups.entry(str_of(case, "group").unwrap_or_default()).or_default();
        group[0] += 1;
        group[1] += int_of(case, "storedEvents").unwrap_or(0);
        group[2] += account.events;
        group[3] += made.scan().records.iter().map(|record| record.members).sum::<u64>();
    }
    shared::say("group      files  harness reads  salvage keeps  events found whole");
    for (group, [files, harness, kept, found]) in groups {
        shared::say(&format!("{group:10} {files:5}  {harness:13}  {kept:13}  {found:18}"));
    }
}

#[test]
fn a_sound_log_is_salvaged_as_the_same_file() {
    let Some(root) = shared::folder("salvages") else { return };
    let is_log = |path: &Path| {
        let name = path.to_string_lossy();
        name.ends_with(".jsonl") || name.ends_with(".zstd")
    };
    let files: Vec<PathBuf> = shared::files(&root.join("corpus"), is_log);
    let mut same = 0;
    for path in &files {
        let log = read(path);
        if log.verdict().cut.is_some() || !log.verdict().outcome.opens() || log.text_bytes() > 512 << 10 {
            continue;
        }
        let made = Salvage::plan(Source::open(path).unwrap(), None, &Given::default(), &options())
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let (bytes, aside) = written(&made, made.container());
        assert!(aside.is_empty(), "{}: {aside}", path.display());
        // The header frame is made anew; every batch is the stored one.
        assert!(
            bytes == std::fs::read(path).unwrap() || log.container() == Container::Zstd,
            "{}",
            path.display()
        );
        same += usize::from(bytes == std::fs::read(path).unwrap());
    }
    assert!(same > 100, "{same} of {} came out byte for byte", files.len());
}

#[test]
fn records_behind_a_bad_frame_are_found_and_put_aside() {
    let mut parts = frames(&[HEADER, &events(0..4), &events(4..8), &events(8..12)]);
    let at = parts[2].len() - 2;
    parts[2][at] ^= 1;
    let made = salvage("session.jsonl.zstd", &parts.concat(), None).unwrap();
    let account = made.account().clone();
    assert_eq!((account.events, account.missing.as_slice()), (4, [(4, 7)].as_slice()));
    assert_eq!((made.count(Fate::Apart), made.scan().runs[0].why), (4, Why::Undecodable));
    let (bytes, aside) = written(&made, Container::Zstd);
    assert_eq!(bytes, [&parts[0][..], &parts[1]].concat(), "kept frames are the stored ones");
    assert_eq!(aside.lines().count(), 5);
    assert!(aside.lines().next().unwrap().contains("\"reason\":\"undecodable-frame\""), "{aside}");
}

#[test]
fn frames_are_found_behind_foreign_bytes_and_zeros() {
    let parts = frames(&[HEADER, &events(0..4), &events(4..8)]);
    for (filler, why) in [(vec![0; 5000], Why::Zeros), (b"foreign".repeat(900), Why::Foreign)] {
        let bytes = [&parts[0][..], &parts[1], &filler, &parts[2], &filler].concat();
        let made = salvage("session.jsonl.zstd", &bytes, None).unwrap();
        assert_eq!((made.account().events, made.account().lost.records), (8, 2), "{why:?}");
        assert!(made.scan().runs.iter().all(|run| run.why == why && run.bytes == filler.len() as u64));
        let (out, _) = written(&made, Container::Zstd);
        assert_eq!(out, parts.concat());
    }
}

#[test]
fn glued_records_and_stubs_are_taken_apart() {
    let glued =
        format!("{HEADER}{}{}{{\"type\":\"turn/sta{}{}", event(0), event(1).trim_end(), event(2), event(3));
    let made = salvage("session.jsonl", glued.as_bytes(), None).unwrap();
    assert_eq!((made.account().events, made.account().lost.bytes), (4, 17));
    let two = format!("{HEADER}{}{}{}", event(0).trim_end(), event(1), event(2));
    let made = salvage("session.jsonl", two.as_bytes(), None).unwrap();
    assert_eq!((made.account().events, made.account().lost.records), (3, 0));
    let (out, _) = written(&made, Container::Raw);
    assert_eq!(String::from_utf8(out).unwrap(), format!("{HEADER}{}", events(0..3)));
}

#[test]
fn a_record_that_a_newline_cuts_in_two_is_joined() {
    let second = event(1);
    let (a, b) = second.split_at(20);
    let made = salvage("session.jsonl", format!("{HEADER}{}{a}\n{b}{}", event(0), event(2)).as_bytes(), None)
        .unwrap();
    assert_eq!((made.account().events, made.account().lost.records), (3, 0));
    let (out, _) = written(&made, Container::Raw);
    assert_eq!(String::from_utf8(out).unwrap(), format!("{HEADER}{}", events(0..3)));
}

#[test]
fn a_log_in_one_frame_is_cut_into_batches() {
    let bytes = frame(format!("{HEADER}{}", events(0..30)).as_bytes()).unwrap();
    let made = salvage("session.jsonl.zstd", &bytes, None).unwrap();
    let (out, _) = written(&made, Container::Zstd);
    let log = Log::read(Source::memory("new", out), &options()).unwrap();
    assert_eq!((log.index().events(), log.frames()), (30, 4));
}

#[test]
fn a_missing_header_must_be_given_and_is_said_to_be_invented() {
    let bytes = events(0..4).into_bytes();
    assert_eq!(salvage("session.jsonl", &bytes, None).err().unwrap().code, "header-gone");
    let given = Given { id: Some("x".into()), cwd: Some("/w".into()), format: None };
    let source = Source::memory("session.jsonl", bytes);
    let made = Salvage::plan(source, None, &given, &options()).unwrap();
    assert_eq!(
        (made.account().events, made.invented()),
        (4, ["id", "cwd", "createdAt", "delegationDepth"].as_slice())
    );
    written(&made, Container::Raw);
}

#[test]
fn two_histories_are_shown_and_one_is_chosen() {
    let other = |seq: u64| event(seq).replace("\"time\":", "\"time\":10");
    let end = "{\"type\":\"session/end-seed\",\"seq\":4,\"time\":9,\"data\":{}}\n";
    // One writer goes on with two turns, the other resumes at 4, and both take turns in writing.
    let text = format!("{HEADER}{}{}{end}{}{}", events(0..4), events(4..6), events(6..8), other(8));
    let bytes = text.as_bytes();
    let error = salvage("session.jsonl", bytes, None).err().unwrap();
    assert_eq!((error.kind, error.code), (ErrorKind::Refused, "two-histories"));
    let source = Source::memory("session.jsonl", bytes.to_vec());
    let (_, branches) = Salvage::branches_of(&source, &Given::default(), &options()).unwrap();
    let shown: Vec<_> = branches.iter().map(|b| (b.name.as_str(), b.from, b.upto, b.only_closers)).collect();
    assert_eq!(shown, [("A", 4, 8, false), ("B", 4, 4, true)]);
    for (keep, kept) in [(Keep::First, 9), (Keep::Named("a".into()), 9), (Keep::Named("B".into()), 5)] {
        let made = salvage("session.jsonl", bytes, Some(&keep)).unwrap();
        assert_eq!(made.account().events, kept, "{keep:?}");
        written(&made, Container::Raw);
    }
    assert_eq!(
        salvage("session.jsonl", bytes, Some(&Keep::Named("C".into()))).err().unwrap().code,
        "two-histories"
    );
}

#[test]
fn a_doubled_frame_is_no_second_history() {
    let parts = frames(&[HEADER, &events(0..4), &events(4..6)]);
    let bytes = [&parts[0][..], &parts[1], &parts[1], &parts[2]].concat();
    let made = salvage("session.jsonl.zstd", &bytes, None).unwrap();
    assert_eq!((made.account().events, made.count(Fate::Doubled), made.branches().len()), (6, 4, 0));
    assert_eq!(written(&made, Container::Zstd).0, parts.concat());
}

#[test]
fn what_cannot_stand_goes_aside_with_all_that_follows() {
    let unknown = "{\"type\":\"future/thing\",\"seq\":4,\"time\":4,\"data\":{}}\n";
    let text = format!("{HEADER}{}{unknown}{}", events(0..4), events(5..7));
    let made = salvage("session.jsonl", text.as_bytes(), None).unwrap();
    assert_eq!((made.account().events, made.count(Fate::CannotStand)), (4, 3));
    written(&made, Container::Raw);
}

#[test]
fn every_cut_and_every_flipped_byte_is_accounted_for() {
    let parts = frames(&[HEADER, &events(0..3), &events(3..6)]);
    let whole = parts.concat();
    let given = Given { id: Some("x".into()), cwd: Some("/w".into()), format: None };
    let check = |bytes: Vec<u8>, what: String| {
        let source = Source::memory("session.jsonl.zstd", bytes);
        match Salvage::plan(source, Some(&Keep::First), &given, &options()) {
            Ok(made) => assert!(made.account().adds_up(), "{what}: {:?}", made.account()),
            Err(e) => panic!("{what}: {e}"),
        }
    };
    for cut in 0..whole.len() {
        check(whole[..cut].to_vec(), format!("cut at {cut}"));
        let mut flipped = whole.clone();
        flipped[cut] ^= 0x55;
        check(flipped, format!("flipped at {cut}"));
    }
    let raw = format!("{HEADER}{}", events(0..3)).into_bytes();
    for cut in 0..raw.len() {
        let mut flipped = raw.clone();
        flipped[cut] ^= 0x55;
        let source = Source::memory("session.jsonl", flipped);
        match Salvage::plan(source, Some(&Keep::First), &given, &options()) {
            Ok(made) => assert!(made.account().adds_up(), "raw at {cut}"),
            // A digit of the version may have become another one.
            Err(e) => assert_eq!(e.kind, ErrorKind::Unsupported, "raw at {cut}: {e}"),
        }
    }
}
