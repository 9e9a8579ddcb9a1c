//! Repair over every damaged and every open log: it opens afterwards, nothing kept has changed, and a
//! second repair has nothing to do.

mod shared;

use dsh_log::error::ErrorKind;
use dsh_log::json::write::Object;
use dsh_log::json::{Raw, canonical};
use dsh_log::log::verdict::Outcome;
use dsh_log::log::{Log, ReadOptions};
use dsh_log::repair::apply::Target;
use dsh_log::repair::plan::Mended;
use dsh_log::repair::{Applied, Change, Diagnosis, Plan, Undo, WrittenPlan};
use dsh_log::storage::encode;
use dsh_log::storage::source::Source;
use shared::{int_of, str_of};
use std::path::Path;

fn read(path: &Path) -> Log {
    Log::read(Source::open(path).unwrap(), &ReadOptions::default()).unwrap()
}

fn plan(path: &Path) -> dsh_log::error::Result<Plan> {
    Plan::make(Diagnosis::of(&read(path)).unwrap(), true)
}

fn apply(plan: Plan) -> Applied {
    plan.apply(&Target { now: 1, ..Target::default() }, &ReadOptions::default()).unwrap()
}

#[test]
fn every_damaged_file_is_mended_as_the_harness_mends_it_or_refused() {
    let Some(root) = shared::folder("repairs") else { return };
    let expected = shared::text(&root.join("damage/expected.json"));
    let dir = tempfile::tempdir().unwrap();
    let mut sizes = (0, 0);
    for case in Raw::parse(&expected).unwrap().elements() {
        let file = str_of(case, "file").unwrap();
        let original = root.join("damage").join(&file);
        let before = std::fs::read(&original).unwrap();
        let path = dir.path().join(original.file_name().unwrap());
        std::fs::write(&path, &before).unwrap();
        let log = read(&path);
        let padded = file.contains("trailing-zeros-4");
        if !log.verdict().outcome.opens() && !padded {
            let kind = plan(&path).unwrap_err().kind;
            assert!(matches!(kind, ErrorKind::Corrupt | ErrorKind::Unsupported), "{file}");
            assert_eq!(std::fs::read(&path).unwrap(), before, "{file}: a refused log was touched");
            continue;
        }
        let made = plan(&path).unwrap();
        let balanced = made.events;
        let kept = made.cut.map_or(before.len() as u64, |cut| cut.from);
        let sidecar = apply(made).sidecar;
        let after = std::fs::read(&path).unwrap();
        let log = read(&path);
        assert_eq!(log.verdict().outcome, Outcome::Opens, "{file}");
        assert_eq!(log.index().events(), balanced, "{file}");
        assert_eq!(after[..kept as usize], before[..kept as usize], "{file}: kept bytes changed");
        assert_eq!(plan(&path).unwrap().change, Change::Nothing, "{file}: a second repair would write");
        if let Some(sidecar) = sidecar {
            Undo::plan(&sidecar, None, &ReadOptions::default()).unwrap().apply().unwrap();
            assert!(
                std::fs::read(&path).unwrap() == before,
                "{file}: not what it was, after the repair was undone"
            );
        }
        let recorded = case.get("afterRepair").and_then(|r| int_of(r, "bytesAfter"));
        if recorded.is_some() {
            sizes.1 += 1;
            sizes.0 += usize::from(recorded == Some(after.len() as u64));
        }
    }
    // Rows of a torn frame are kept as they were written, where the harness packs them again.
    assert!(
        sizes.0 * 100 >= sizes.1 * 95,
        "{} of {} have the size that the harness leaves",
        sizes.0,
        sizes.1
    );
}

#[test]
fn what_is_cut_is_kept_in_a_file_beside() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jsonl");
    let text = "{\"type\":\"session\",\"version\":0,\"id\":\"a\",\"createdAt\":1,\"delegationDepth\":0}\n{\"type\":\"todo";
    std::fs::write(&path, text).unwrap();
    let applied = apply(plan(&path).unwrap());
    assert_eq!(std::fs::read(applied.sidecar.unwrap()).unwrap(), b"{\"type\":\"todo");
    assert!(std::fs::read_to_string(&path).unwrap().ends_with("}\n"));
}

#[test]
fn whole_records_are_not_cut_without_leave() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jsonl");
    let header = "{\"type\":\"session\",\"version\":0,\"id\":\"a\",\"createdAt\":1,\"delegationDepth\":0}\n";
    let event =
        |seq| format!("{{\"type\":\"plan/mode\",\"seq\":{seq},\"time\":1,\"data\":{{\"active\":true}}}}\n");
    std::fs::write(&path, format!("{header}{}{}{}", event(0), event(0), event(1))).unwrap();
    let refused = Plan::make(Diagnosis::of(&read(&path)).unwrap(), false).unwrap_err();
    assert_eq!((refused.kind, refused.code), (ErrorKind::Refused, "would-lose-records"));
    assert_eq!(plan(&path).unwrap().cut.unwrap().lost_records, 2);
}

#[test]
fn a_file_that_changed_since_the_plan_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jsonl");
    let header = "{\"type\":\"session\",\"version\":0,\"id\":\"a\",\"createdAt\":1,\"delegationDepth\":0}\n";
    let start = "{\"type\":\"turn/start\",\"seq\":0,\"time\":1,\"data\":{\"turn\":1}}\n";
    std::fs::write(&path, format!("{header}{start}")).unwrap();
    let made = plan(&path).unwrap();
    let more = format!("{header}{start}{{\"type\":\"plan/mode\",\"seq\":1,\"time\":1,\"data\":{{}}}}\n");
    std::fs::write(&path, &more).unwrap();
    let refused = made.apply(&Target::default(), &ReadOptions::default()).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Contended);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), more);
}

#[test]
fn cut_v4_logs_get_the_recorded_closers_and_open_with_them() {
    let Some(root) = shared::folder("repairs") else { return };
    let cases = shared::text(&root.join("corpus/v4-repairs.json"));
    for case in Raw::parse(&cases).unwrap().elements() {
        let name = str_of(case, "log").unwrap();
        let text = std::fs::read_to_string(root.join("corpus").join(&name).join("session.v4.jsonl")).unwrap();
        let last = int_of(case, "lastSeq").unwrap();
        let cut: String = text.split_inclusive('\n').take(last as usize + 2).collect();
        let log =
            Log::read(Source::memory("cut", cut.clone().into_bytes()), &ReadOptions::default()).unwrap();
        let marker = !case.get("opensWithClosersAlone").unwrap().is_true();
        let found: Vec<String> =
            log.closers().iter().map(|c| String::from_utf8(c.text.clone()).unwrap()).collect();
        let mut wanted: Vec<String> = case
            .get("closers")
            .unwrap()
            .elements()
            .map(|c| String::from_utf8(canonical::stringify(c)).unwrap())
            .collect();
        if marker {
            wanted.push(found.last().unwrap().clone());
            assert!(found.last().unwrap().contains("session/end-seed"), "{name} at {last}");
        }
        assert_eq!(found, wanted, "{name} at {last}");
        let mended = cut + &found.join("\n") + "\n";
        let log = Log::read(Source::memory("mended", mended.into_bytes()), &ReadOptions::default()).unwrap();
        assert_eq!(log.verdict().outcome, Outcome::Opens, "{name} at {last}: {:?}", log.verdict().reason);
    }
}

const HEADER: &str =
    "{\"type\":\"session\",\"version\":0,\"id\":\"a\",\"createdAt\":1,\"delegationDepth\":0}\n";
const OPEN_TURN: &str = "{\"type\":\"turn/start\",\"seq\":0,\"time\":1,\"data\":{\"turn\":1}}\n";

#[test]
fn zero_padding_is_cut_and_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jsonl.zstd");
    let frames =
        [encode::frame(HEADER.as_bytes()).unwrap(), encode::frame(OPEN_TURN.as_bytes()).unwrap()].concat();
    let padded = [&frames[..], &[0; 4096]].concat();
    std::fs::write(&path, &padded).unwrap();
    assert_eq!(read(&path).verdict().outcome, Outcome::Refuses);
    let made = plan(&path).unwrap();
    assert_eq!((made.mended, made.cut.unwrap().bytes, made.appended.len()), (Some(Mended::Padding), 4096, 1));
    let applied = apply(made);
    assert_eq!(applied.after.outcome, Outcome::Opens);
    let sidecar = applied.sidecar.unwrap();
    assert_eq!(std::fs::read(&sidecar).unwrap(), [0; 4096]);
    Undo::plan(&sidecar, None, &ReadOptions::default()).unwrap().apply().unwrap();
    assert!(std::fs::read(&path).unwrap() == padded);
    // Anything but zeros is damage.
    std::fs::write(&path, [&frames[..], &[0, 0, 0, 0, 0, 7]].concat()).unwrap();
    assert_eq!(plan(&path).unwrap_err().code, "not-repairable");
}

#[test]
fn a_repair_is_not_undone_once_the_log_was_written_to() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jsonl");
    std::fs::write(&path, format!("{HEADER}{OPEN_TURN}{{\"type")).unwrap();
    let sidecar = apply(plan(&path).unwrap()).sidecar.unwrap();
    let repaired = std::fs::read_to_string(&path).unwrap();
    let more = format!("{repaired}{{\"type\":\"plan/mode\",\"seq\":2,\"time\":1,\"data\":{{}}}}\n");
    std::fs::write(&path, &more).unwrap();
    let refused = Undo::plan(&sidecar, None, &ReadOptions::default()).unwrap_err();
    assert_eq!((refused.kind, refused.code), (ErrorKind::Refused, "written-since"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), more);
    assert_eq!(Undo::plan(&path, None, &ReadOptions::default()).unwrap_err().code, "no-sidecar");
}

#[test]
fn a_written_plan_is_carried_out_as_it_is_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jsonl");
    std::fs::write(&path, format!("{HEADER}{OPEN_TURN}{{\"type")).unwrap();
    let made = plan(&path).unwrap();
    let document = |plan: &Plan| {
        Object::new()
            .text("schema", b"dsh-log/repair@1")
            .text("path", plan.path.to_string_lossy().as_bytes())
            .int("recovered", plan.recovered)
            .list("appended", &plan.appended)
            .raw("plan", &WrittenPlan::of(plan, 7).to_json())
            .end()
    };
    let written = WrittenPlan::parse(&document(&made)).unwrap();
    assert_eq!(written, WrittenPlan { identity: written.identity, ..WrittenPlan::of(&made, 7) });
    written.check(&made).unwrap();
    let other = WrittenPlan { keep: written.keep - 1, ..written.clone() };
    assert_eq!(other.check(&made).unwrap_err().code, "changed");
    std::fs::write(&path, format!("{HEADER}{OPEN_TURN}{{\"typo")).unwrap();
    let refused = written.check(&plan(&path).unwrap()).unwrap_err();
    assert_eq!((refused.kind, refused.code), (ErrorKind::Contended, "changed"));
    assert_eq!(WrittenPlan::parse(b"{}").unwrap_err().code, "no-plan");
}

#[test]
fn a_resume_killed_before_its_end_seed_is_mended_by_that_one_event() {
    let Some(root) = shared::folder("repairs") else { return };
    let cases = shared::text(&root.join("corpus/v4-repairs.json"));
    let dir = tempfile::tempdir().unwrap();
    let mut mended = 0;
    for case in Raw::parse(&cases).unwrap().elements() {
        if case.get("opensWithClosersAlone").unwrap().is_true() {
            continue;
        }
        let name = str_of(case, "log").unwrap();
        let last = int_of(case, "lastSeq").unwrap();
        let text = std::fs::read_to_string(root.join("corpus").join(&name).join("session.v4.jsonl")).unwrap();
        let cut: String = text.split_inclusive('\n').take(last as usize + 2).collect();
        let log =
            Log::read(Source::memory("cut", cut.clone().into_bytes()), &ReadOptions::default()).unwrap();
        let mut closers: Vec<String> =
            log.closers().iter().map(|c| String::from_utf8(c.text.clone()).unwrap()).collect();
        closers.pop();
        let half = cut + &closers.join("\n") + "\n";
        let path = dir.path().join(format!("{mended}.jsonl"));
        std::fs::write(&path, &half).unwrap();
        assert_eq!(read(&path).verdict().outcome, Outcome::Refuses, "{name} at {last}");
        let made = plan(&path).unwrap_or_else(|e| panic!("{name} at {last}: {e}"));
        assert_eq!((made.mended, made.appended.len()), (Some(Mended::EndSeed), 1));
        assert_eq!(apply(made).after.outcome, Outcome::Opens);
        let after = std::fs::read_to_string(&path).unwrap();
        assert!(
            after.starts_with(&half) && after[half.len()..].starts_with("{\"type\":\"session/end-seed\"")
        );
        mended += 1;
    }
    assert!(mended > 0);
}

#[test]
fn every_corpus_log_is_repaired_once_and_not_twice_and_comes_back() {
    let Some(root) = shared::folder("repairs") else { return };
    let is_log =
        |path: &Path| path.to_string_lossy().ends_with(".jsonl") || path.to_string_lossy().ends_with(".zstd");
    let dir = tempfile::tempdir().unwrap();
    let mut written = 0;
    for (n, original) in shared::files(&root.join("corpus"), is_log).iter().enumerate().step_by(3) {
        let before = std::fs::read(original).unwrap();
        if before.len() > 256 << 10 || !read(original).verdict().outcome.opens() {
            continue;
        }
        // A log cut anywhere is what a crash leaves.
        for cut in [before.len(), before.len() - 1, before.len() * 2 / 3] {
            let folder = dir.path().join(format!("{n}-{cut}"));
            std::fs::create_dir(&folder).unwrap();
            let path = folder.join(original.file_name().unwrap());
            std::fs::write(&path, &before[..cut]).unwrap();
            let Ok(made) = plan(&path) else { continue };
            let changes = made.change != Change::Nothing;
            let applied = apply(made);
            assert_eq!(applied.after.outcome, Outcome::Opens, "{} cut at {cut}", original.display());
            assert_eq!(plan(&path).unwrap().change, Change::Nothing, "{} cut at {cut}", original.display());
            written += usize::from(changes);
            if let Some(sidecar) = applied.sidecar {
                Undo::plan(&sidecar, None, &ReadOptions::default()).unwrap().apply().unwrap();
                assert!(
                    std::fs::read(&path).unwrap() == before[..cut],
                    "{} cut at {cut}",
                    original.display()
                );
            }
            std::fs::remove_dir_all(&folder).unwrap();
        }
    }
    shared::say(&format!("repairs: {written} corpus logs and beginnings of them"));
    assert!(written > 300, "{written}");
}
