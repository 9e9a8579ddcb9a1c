//! `fork`, in a directory of its own.

use super::{check, fixture, golden, in_dir};
use std::fs;

#[test]
fn places_to_fork_at_are_listed() {
    check("fork-list", &["fork", "--list", "sound.jsonl"]);
    check("fork-list-json", &["fork", "--list", "changed.jsonl", "--json"]);
}

#[test]
fn a_child_lands_in_its_place_under_the_root_and_only_once() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("sound.jsonl"), fixture("sound.jsonl")).unwrap();
    fs::create_dir(dir.path().join("root")).unwrap();
    let args = ["fork", "sound.jsonl", "--id", "child", "--root", "root"];
    golden("fork", &in_dir(dir.path(), &args));
    golden("fork-exists", &in_dir(dir.path(), &args));
    golden("fork-surface", &in_dir(dir.path(), &["surface", "child", "--root", "root"]));
    golden("fork-exists-json", &in_dir(dir.path(), &[&args[..], &["--json"]].concat()));
    assert_eq!(fs::read(dir.path().join("sound.jsonl")).unwrap(), fixture("sound.jsonl"));
}

#[test]
fn a_boundary_says_what_is_inherited() {
    let dir = tempfile::tempdir().unwrap();
    for file in ["sound.jsonl", "compacted.v4.jsonl", "crashed.jsonl.zstd"] {
        fs::write(dir.path().join(file), fixture(file)).unwrap();
    }
    let fork = |name: &str, args: &[&str]| {
        golden(name, &in_dir(dir.path(), &[&["fork", "--id", "child"], args].concat()));
    };
    fork("fork-boundary", &["sound.jsonl", "--boundary", "19", "--output", "child.jsonl"]);
    fork("fork-output-exists", &["sound.jsonl", "--boundary", "19", "--output", "child.jsonl"]);
    fork("fork-json", &["compacted.v4.jsonl", "--boundary", "7", "--json", "--output", "child.v4.jsonl"]);
    fork("fork-crashed", &["crashed.jsonl.zstd", "--output", "crashed-child.jsonl.zstd"]);
    fork("fork-dry-run", &["sound.jsonl", "--dry-run", "--output", "never.jsonl"]);
    fork("fork-dry-run-json", &["sound.jsonl", "--dry-run", "--json", "--output", "never.jsonl"]);
    assert!(!dir.path().join("never.jsonl").exists());
}

#[test]
fn a_boundary_that_is_none_is_refused_with_the_code_of_the_harness() {
    let args = |boundary| ["fork", "sound.jsonl", "--output", "never.jsonl", "--boundary", boundary];
    check("fork-open-turn", &args("12"));
    check("fork-invalid", &args("99"));
    check("fork-invalid-word", &args("-1"));
    let json = [&args("12")[..], &["--json"]].concat();
    check("fork-open-turn-json", &json);
    check("fork-invalid-json", &[&args("99")[..], &["--json"]].concat());
    check("fork-damaged", &["fork", "damaged.jsonl", "--output", "never.jsonl"]);
}
