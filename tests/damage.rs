//! Every damaged file: the verdict, what is stored and what would be appended, as the harness has it.

mod shared;

use dsh_log::json::Raw;
use dsh_log::log::{Log, ReadOptions};
use dsh_log::storage::source::Source;
use shared::{int_of, ints, str_of, strings};
use std::path::Path;

/// Where we differ from the harness on purpose: the case, and why.
const ON_PURPOSE: &[(&str, &str)] = &[
    ("zstd--plaintext-in-zstd-name.jsonl.zstd", "the container is told by content, whatever the name"),
    ("plain--zstd-bytes-in-plain-name.jsonl", "the container is told by content, whatever the name"),
    ("header--version-1.jsonl", "the harness of generation 0 knows no format 1; we read it"),
    ("header--version-1.jsonl.zstd", "the harness of generation 0 knows no format 1; we read it"),
    (
        "header--version-1-and-not-session-type.jsonl",
        "the harness of generation 0 knows no format 1; we read it",
    ),
    (
        "header--version-1-and-not-session-type.jsonl.zstd",
        "the harness of generation 0 knows no format 1; we read it",
    ),
];

fn closer_name(closer: &dsh_log::log::closers::Closer) -> String {
    match &closer.answers {
        Some((_, outcome)) => format!("{}:{}", closer.kind, outcome.code()),
        None => closer.kind.to_string(),
    }
}

fn compare(case: Raw<'_>, log: &Log) -> Vec<String> {
    let mut differences = Vec::new();
    let mut differ = |what: &str, wanted: String, found: String| {
        if wanted != found {
            differences.push(format!("{what}: wanted {wanted}, found {found}"));
        }
    };
    let verdict = log.verdict();
    differ("verdict", str_of(case, "verdict").unwrap_or_default(), verdict.outcome.name().into());
    differ("class", str_of(case, "class").unwrap_or_default(), verdict.class.unwrap_or_default().into());
    if !verdict.outcome.opens() {
        return differences;
    }
    let stored = int_of(case, "storedEvents").unwrap_or_default();
    differ("stored events", stored.to_string(), log.index().events().to_string());
    let closers: Vec<String> = log.closers().iter().map(closer_name).collect();
    differ("closers", format!("{:?}", strings(case.get("closers"))), format!("{closers:?}"));
    if let Some(surface) = case.get("surface") {
        let nodes = balanced_nodes(log);
        differ("surface", format!("{:?}", ints(surface.get("nodes"))), format!("{nodes:?}"));
        let wanted: Vec<Vec<u64>> = surface
            .get("replacements")
            .into_iter()
            .flat_map(Raw::elements)
            .map(|r| ints(r.get("shadowedSeqs")))
            .collect();
        let found: Vec<Vec<u64>> = log.surface().replacements().into_iter().map(|r| r.shadowed).collect();
        differ("replacements", format!("{wanted:?}"), format!("{found:?}"));
    }
    differences
}

fn balanced_nodes(log: &Log) -> Vec<u64> {
    let mut nodes: Vec<u64> = log.surface().nodes().map(|n| n.seq).collect();
    nodes.extend(log.closers().iter().filter(|c| c.answers.is_some()).map(|c| c.seq));
    nodes
}

#[test]
fn every_damaged_file_gets_the_verdict_of_the_harness() {
    let Some(root) = shared::folder("damage") else { return };
    let expected = shared::text(&root.join("damage/expected.json"));
    let mut failed = Vec::new();
    let mut count = 0;
    for case in Raw::parse(&expected).unwrap().elements() {
        let file = str_of(case, "file").unwrap();
        let name = file.trim_start_matches("files/").to_owned();
        if ON_PURPOSE.iter().any(|(case, _)| *case == name) {
            continue;
        }
        let source = Source::open(&root.join("damage").join(&file)).unwrap();
        let log = Log::read(source, &ReadOptions::default()).unwrap();
        let differences = compare(case, &log);
        if !differences.is_empty() {
            failed.push(format!("{name}\n    {}", differences.join("\n    ")));
        }
        count += 1;
    }
    assert!(failed.is_empty(), "{} of {count} differ:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn every_prefix_of_a_small_log_is_read_without_a_panic_and_in_order() {
    for name in ["sound.jsonl", "sound.jsonl.zstd"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let whole = Log::read(Source::memory(name, bytes.clone()), &ReadOptions::default()).unwrap();
        let mut events = 0;
        for cut in 0..bytes.len() {
            let log =
                Log::read(Source::memory(name, bytes[..cut].to_vec()), &ReadOptions::default()).unwrap();
            assert!(log.index().events() >= events, "{name} cut at {cut} lost events");
            events = log.index().events();
            assert!(events <= whole.index().events());
        }
    }
}
