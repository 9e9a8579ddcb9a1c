//! `repair`, in a directory of its own; what depends on the time of the run stands as `NOW`.

use super::{fixture, golden, in_dir, logs, strip};
use std::fs::{self, File};
use std::path::Path;

/// A directory with one log in it.
fn dir(name: &str, bytes: &[u8]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(name), bytes).unwrap();
    dir
}

fn check(name: &str, dir: &Path, args: &[&str]) {
    golden(name, &in_dir(dir, args));
}

/// The names of the files, with `NOW` for the time of the run.
fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|e| strip(&e.unwrap().file_name().into_string().unwrap())).collect();
    names.sort();
    names
}

/// A raw log whose last line is torn.
fn torn_raw() -> Vec<u8> {
    let mut text = logs::sound().text();
    text.truncate(text.len() - 9);
    text
}

#[test]
fn a_check_answers_by_its_exit_code() {
    let sound = dir("session.jsonl", &fixture("sound.jsonl"));
    check("repair-check-sound", sound.path(), &["repair", "--check", "session.jsonl"]);
    let crashed = dir("session.jsonl.zstd", &fixture("crashed.jsonl.zstd"));
    check("repair-check-crashed", crashed.path(), &["repair", "--check", "session.jsonl.zstd"]);
    check("repair-check-json", crashed.path(), &["repair", "--check", "--json", "session.jsonl.zstd"]);
    assert_eq!(fs::read(crashed.path().join("session.jsonl.zstd")).unwrap(), fixture("crashed.jsonl.zstd"));
}

#[test]
fn a_dry_run_writes_nothing() {
    let torn = dir("session.jsonl.zstd", &fixture("torn.jsonl.zstd"));
    check("repair-dry-run", torn.path(), &["repair", "--dry-run", "session.jsonl.zstd"]);
    check("repair-dry-run-json", torn.path(), &["repair", "--dry-run", "--json", "session.jsonl.zstd"]);
    assert_eq!(names(torn.path()), ["session.jsonl.zstd"]);
    assert_eq!(fs::read(torn.path().join("session.jsonl.zstd")).unwrap(), fixture("torn.jsonl.zstd"));
}

#[test]
fn a_torn_log_is_repaired_once_and_its_cut_bytes_are_kept() {
    for (name, file, bytes) in [
        ("repair-raw", "session.jsonl", torn_raw()),
        ("repair-zstd", "session.jsonl.zstd", fixture("torn.jsonl.zstd")),
    ] {
        let dir = dir(file, &bytes);
        check(name, dir.path(), &["repair", file]);
        check(&format!("{name}-twice"), dir.path(), &["repair", file]);
        let now = names(dir.path());
        let kept = now.iter().find(|n| n.contains(".cut-")).expect("the cut bytes are in a file");
        let from: usize = kept.split('-').nth(1).unwrap().parse().unwrap();
        assert_eq!(now.len(), 2, "{now:?}");
        let cut = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().path());
        let cut = cut.into_iter().find(|p| p.to_str().unwrap().contains(".cut-")).unwrap();
        assert_eq!(fs::read(cut).unwrap(), bytes[from..]);
        assert_eq!(fs::read(dir.path().join(file)).unwrap()[..from], bytes[..from]);
    }
}

#[test]
fn what_repair_did_is_one_document() {
    let torn = dir("session.jsonl.zstd", &fixture("torn.jsonl.zstd"));
    check("repair-json", torn.path(), &["repair", "--json", "session.jsonl.zstd"]);
}

#[test]
fn a_refused_log_is_left_alone() {
    let damaged = dir("session.jsonl", &fixture("damaged.jsonl"));
    check("repair-refused", damaged.path(), &["repair", "session.jsonl"]);
    check("repair-refused-json", damaged.path(), &["repair", "session.jsonl", "--json"]);
    check("repair-refused-check", damaged.path(), &["repair", "--check", "session.jsonl"]);
    assert_eq!(fs::read(damaged.path().join("session.jsonl")).unwrap(), fixture("damaged.jsonl"));
    let newer = dir("session.jsonl", &fixture("newer.jsonl"));
    check("repair-newer", newer.path(), &["repair", "session.jsonl"]);
}

#[test]
fn whole_records_are_cut_only_with_leave() {
    let dir = dir("session.jsonl", &fixture("two-writers.jsonl"));
    check("repair-would-lose", dir.path(), &["repair", "session.jsonl"]);
    assert_eq!(names(dir.path()), ["session.jsonl"]);
    check("repair-cut", dir.path(), &["repair", "--cut", "session.jsonl"]);
    assert_eq!(fs::read(dir.path().join("session.jsonl")).unwrap(), fixture("sound.jsonl"));
}

#[test]
fn a_new_file_is_written_and_never_over_another() {
    let dir = dir("session.jsonl.zstd", &fixture("crashed.jsonl.zstd"));
    let args = ["repair", "session.jsonl.zstd", "--output", "new.jsonl.zstd"];
    check("repair-output", dir.path(), &args);
    check("repair-output-exists", dir.path(), &args);
    assert_eq!(fs::read(dir.path().join("session.jsonl.zstd")).unwrap(), fixture("crashed.jsonl.zstd"));
    check("repair-output-check", dir.path(), &["repair", "--check", "new.jsonl.zstd"]);
}

#[test]
fn a_backup_is_the_log_as_it_was() {
    let dir = dir("session.jsonl.zstd", &fixture("crashed.jsonl.zstd"));
    check("repair-backup", dir.path(), &["repair", "--backup=before.zstd", "session.jsonl.zstd"]);
    assert_eq!(fs::read(dir.path().join("before.zstd")).unwrap(), fixture("crashed.jsonl.zstd"));
    let other = self::dir("session.jsonl.zstd", &fixture("torn.jsonl.zstd"));
    check("repair-backup-beside", other.path(), &["repair", "--backup", "session.jsonl.zstd"]);
}

#[test]
fn a_session_that_another_process_holds_is_left_alone() {
    let whole = logs::compacted().text();
    let open: Vec<u8> = whole.split_inclusive(|b| *b == b'\n').take(9).flatten().copied().collect();
    let dir = dir("session.v4.jsonl", &open);
    let lock = File::create(dir.path().join("session.lock")).unwrap();
    lock.try_lock().unwrap();
    check("repair-locked", dir.path(), &["repair", "session.v4.jsonl"]);
    check("repair-locked-json", dir.path(), &["repair", "session.v4.jsonl", "--json"]);
    assert_eq!(fs::read(dir.path().join("session.v4.jsonl")).unwrap(), open);
    drop(lock);
    check("repair-v4", dir.path(), &["repair", "session.v4.jsonl"]);
}

#[test]
fn standard_input_cannot_be_repaired() {
    check("repair-stdin", Path::new("."), &["repair", "-"]);
}
