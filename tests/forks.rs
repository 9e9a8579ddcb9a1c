//! Forks against those of the harness: same events, same header, same refusals.

mod shared;

use dsh_log::fork::{Boundary, Child, ForkPlan};
use dsh_log::json::{Raw, canonical};
use dsh_log::log::verdict::Outcome;
use dsh_log::log::{Log, ReadOptions};
use dsh_log::storage::container::Container;
use dsh_log::storage::source::Source;
use shared::{int_of, str_of};
use std::path::Path;

fn read(path: &Path) -> Log {
    Log::read(Source::open(path).unwrap(), &ReadOptions::default()).unwrap()
}

fn child() -> Child {
    Child { id: "child".into(), created_at: 5 }
}

#[test]
fn every_recorded_fork_and_refusal_is_met() {
    let Some(root) = shared::folder("forks") else { return };
    let cases = shared::text(&root.join("damage/forks.json"));
    for case in Raw::parse(&cases).unwrap().elements() {
        let file = str_of(case, "file").unwrap();
        let log = read(&root.join("damage").join(&file));
        let text = str_of(case, "boundary");
        let what = format!("{file} at {text:?}");
        let boundary = text.clone().map_or(Boundary::LastClosed, Boundary::After);
        let plan = ForkPlan::make(&log, &boundary, &child());
        if !case.get("ok").unwrap().is_true() {
            assert_eq!(plan.err().unwrap().code, str_of(case, "code").unwrap(), "{what}");
            continue;
        }
        // A live restore adds an end-seed to the source first; forking the file does not.
        let restored = int_of(case, "sourceLengthWithEndSeed").unwrap();
        let balanced = log.index().events() + log.closers().len() as u64;
        if text.as_deref().and_then(|t| t.parse::<u64>().ok()) == Some(restored - 1) && balanced < restored {
            assert_eq!(plan.err().unwrap().code, "INVALID_BOUNDARY", "{what}");
            continue;
        }
        let plan = plan.unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(plan.events, int_of(case, "childEvents").unwrap(), "{what}");
        let header = Raw::parse(&plan.header).unwrap();
        let wanted = case.get("childHeader").unwrap();
        assert_eq!(str_of(header, "parentSession"), str_of(wanted, "parentSession"), "{what}");
        let seed = int_of(wanted, "seedLength").unwrap() - u64::from(text.is_none() && balanced < restored);
        assert_eq!(int_of(header, "seedLength"), Some(seed), "{what}");
    }
}

#[test]
fn v4_forks_append_the_recorded_marker_and_closers_and_open() {
    let Some(root) = shared::folder("forks") else { return };
    let cases = shared::text(&root.join("corpus/v4-forks.json"));
    let dir = tempfile::tempdir().unwrap();
    for (n, case) in Raw::parse(&cases).unwrap().elements().enumerate() {
        let name = str_of(case, "log").unwrap();
        let log = read(&root.join("corpus").join(&name).join("session.v4.jsonl"));
        let at = int_of(case, "boundary").unwrap();
        let plan = ForkPlan::make(&log, &Boundary::After(at.to_string()), &child()).unwrap();
        let found: Vec<Vec<u8>> =
            plan.own.iter().map(|e| canonical::stringify(Raw::parse(e).unwrap())).collect();
        let wanted: Vec<Vec<u8>> =
            case.get("appended").unwrap().elements().map(canonical::stringify).collect();
        assert_eq!(found, wanted, "{name} at {at}");
        for (container, kind) in [(Container::Raw, "raw"), (Container::Zstd, "zstd")] {
            let path = dir.path().join(format!("{n}-{kind}"));
            plan.write(&path, container, &ReadOptions::default())
                .unwrap_or_else(|e| panic!("{name} at {at}: {e}"));
            assert_eq!(read(&path).inherited(), at + 1);
        }
    }
}

#[test]
fn every_closed_place_of_every_log_can_be_forked_and_the_child_opens() {
    let Some(root) = shared::folder("forks") else { return };
    let index = shared::text(&root.join("corpus/index.json"));
    let dir = tempfile::tempdir().unwrap();
    let mut n = 0;
    for entry in Raw::parse(&index).unwrap().elements() {
        let folder = root.join("corpus").join(str_of(entry, "log").unwrap());
        let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
        let log = read(&file);
        if log.text_bytes() > 1 << 20 {
            continue;
        }
        let places =
            dsh_log::fork::closed_places(&log).into_iter().map(|p| Boundary::After(p.seq.to_string()));
        for boundary in places.chain([Boundary::LastClosed]) {
            n += 1;
            let path = dir.path().join(n.to_string());
            let plan = ForkPlan::make(&log, &boundary, &child())
                .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            plan.write(&path, log.container(), &ReadOptions::default())
                .unwrap_or_else(|e| panic!("{} {boundary:?}: {e}", file.display()));
            assert_eq!(read(&path).verdict().outcome, Outcome::Opens);
        }
    }
    assert!(n > 300);
}

#[test]
fn an_existing_file_is_never_replaced_by_a_fork() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("source.jsonl");
    let header = "{\"type\":\"session\",\"version\":0,\"id\":\"a\",\"createdAt\":1,\"delegationDepth\":0}\n";
    std::fs::write(&source, header).unwrap();
    let path = dir.path().join("child.jsonl");
    std::fs::write(&path, "mine").unwrap();
    let log = read(&source);
    let plan = ForkPlan::make(&log, &Boundary::LastClosed, &child()).unwrap();
    assert_eq!(
        plan.write(&path, Container::Raw, &ReadOptions::default()).unwrap_err().code,
        "already-exists"
    );
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
}
