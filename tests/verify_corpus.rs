//! Every log of the corpus keeps the rules between events, but for those that are listed.

mod shared;

use dsh_log::check;
use dsh_log::fault::{Code, Severity};
use dsh_log::finding::Finding;
use dsh_log::limits::Limits;
use dsh_log::log::{Log, ReadOptions};
use dsh_log::seq::Seq;
use dsh_log::storage::source::Source;
use std::collections::{BTreeMap, BTreeSet};

/// Logs that do break a rule: the end of the path, the codes, and why that is true.
const TRUE_FINDINGS: &[(&str, &[&str], &str)] = &[
    (
        "v0-snapshots/acp-agent-instructions/",
        &["inv-compaction"],
        "the snapshot holds a checkpoint without the compaction around it",
    ),
    (
        "v0-snapshots/web-minimal-preset/",
        &["inv-placement"],
        "the snapshot begins with chunks, without turn or step",
    ),
    (
        "v0-snapshots/web-web-search-round/",
        &["inv-placement"],
        "the snapshot begins with chunks, without turn or step",
    ),
];

/// The logs of a folder that the harness's own upgrade took, and whether we say that it would.
fn compare_upgrades(from: &str, to: &str, target: u32) -> Vec<String> {
    let Some(root) = shared::folder("verify --target") else { return Vec::new() };
    let mut wrong = Vec::new();
    for folder in std::fs::read_dir(root.join("corpus").join(from)).unwrap() {
        let folder = folder.unwrap();
        let Some(path) = shared::files(&folder.path(), |p| p.to_string_lossy().ends_with(".zstd")).pop()
        else {
            continue;
        };
        let log = Log::read(Source::open(&path).unwrap(), &ReadOptions::default()).unwrap();
        let findings = check::verify(&log, Some(target), Seq(u64::MAX), &Limits::default()).unwrap();
        // The corpus was upgraded with the version of its descriptors put to 3 first.
        let refused =
            |f: &&Finding| f.code == Code::UpgradeRefused && !f.message.contains("subagent/descriptor");
        let refusals: Vec<String> = findings.list().iter().filter(refused).map(ToString::to_string).collect();
        let name = folder.file_name().to_string_lossy().into_owned();
        let taken = root.join("corpus").join(to).join(&name).exists();
        if taken != refusals.is_empty() {
            wrong.push(format!("{from}/{name}: taken {taken}, {:?}", refusals.first()));
        }
    }
    wrong
}

#[test]
fn an_upgrade_is_said_to_be_refused_where_the_harness_refused_it() {
    let mut wrong = compare_upgrades("v0-snapshots", "v2-upgraded", 2);
    wrong.extend(compare_upgrades("v2-upgraded", "v3-upgraded", 3));
    wrong.extend(compare_upgrades("v3-upgraded", "v4-upgraded", 4));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn nothing_is_found_in_the_corpus_but_what_is_there() {
    let Some(root) = shared::folder("verify") else { return };
    let is_log = |p: &std::path::Path| {
        p.to_string_lossy().ends_with(".jsonl") || p.to_string_lossy().ends_with(".zstd")
    };
    let (mut met, mut notes) = (BTreeSet::new(), BTreeMap::<&str, u64>::new());
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in shared::files(&root.join("corpus"), is_log) {
        let log = Log::read(Source::open(&path).unwrap(), &ReadOptions::default()).unwrap();
        let findings = check::verify(&log, None, Seq(u64::MAX), &Limits::default()).unwrap();
        for f in findings.list().iter().filter(|f| f.severity == Severity::Notes) {
            *notes.entry(f.code.name()).or_default() += 1;
        }
        let shown = path.strip_prefix(&root).unwrap().display().to_string();
        let known = TRUE_FINDINGS.iter().find(|(log, ..)| shown.contains(log)).map_or(&[][..], |row| row.1);
        for f in
            findings.list().iter().filter(|f| f.severity != Severity::Notes && f.severity != Severity::Cuts)
        {
            if known.contains(&f.code.name()) {
                met.extend(TRUE_FINDINGS.iter().map(|row| row.0).filter(|log| shown.contains(log)));
            } else {
                wrong
                    .entry(format!("{} {}", f.code.name(), f.message))
                    .or_default()
                    .push(format!("{shown} {}", f.place));
            }
        }
    }
    let unused: Vec<&str> =
        TRUE_FINDINGS.iter().filter(|(log, ..)| !met.contains(log)).map(|row| row.0).collect();
    assert!(unused.is_empty(), "listed and not found: {unused:?}");
    shared::say(&format!("notes over the corpus: {notes:?}"));
    let few: Vec<String> = wrong
        .iter()
        .map(|(what, at)| format!("{what}: {} times, {:?}", at.len(), &at[..at.len().min(3)]))
        .collect();
    assert!(wrong.is_empty(), "{few:#?}");
}
