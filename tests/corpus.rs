//! Every log of the corpus: surface, messages, header, closers and counts as the harness computed
//! them.

mod shared;

use dsh_log::fault::Severity;
use dsh_log::format::kind::Kind;
use dsh_log::json::{Raw, canonical, write};
use dsh_log::log::closers::Closer;
use dsh_log::log::verdict::Outcome;
use dsh_log::log::{Log, ReadOptions};
use dsh_log::storage::source::Source;
use dsh_log::view::moment::Moment;
use dsh_log::view::{header, messages};
use sha2::{Digest, Sha256};
use shared::{int_of, ints, str_of, strings};
use std::path::Path;

fn sha256(text: &[u8]) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hash of a value as `JSON.stringify` writes it.
fn sha256_of(value: &[u8]) -> String {
    sha256(&canonical::stringify(Raw::parse(value).unwrap()))
}

struct Comparison(Vec<String>);

impl Comparison {
    fn same(&mut self, what: &str, wanted: impl std::fmt::Debug, found: impl std::fmt::Debug) {
        let (wanted, found) = (format!("{wanted:?}"), format!("{found:?}"));
        if wanted != found {
            self.0.push(format!("{what}: wanted {wanted}, found {found}"));
        }
    }
}

fn closer_name(closer: &Closer, with_code: bool) -> String {
    match &closer.answers {
        Some((_, outcome)) if with_code => format!("{}:{}", closer.kind, outcome.code()),
        _ => closer.kind.to_string(),
    }
}

fn compare(entry: Raw<'_>, log: &Log) -> Vec<String> {
    let expected = entry.get("expected").unwrap();
    let mut same = Comparison(Vec::new());
    let balanced = int_of(entry, "format") == Some(0);
    let moment = if balanced { Moment::Balanced } else { Moment::Stored };
    let events = int_of(expected, if balanced { "storedEvents" } else { "events" });
    same.same("events", events, Some(log.index().events()));
    let surface = moment.surface(log);
    let nodes: Vec<u64> = surface.nodes().map(|n| n.seq).collect();
    same.same("surface", ints(expected.get("surfaceNodes")), nodes);
    let replacements: Vec<String> = surface
        .replacements()
        .iter()
        .map(|r| format!("{} {} {} {:?}", r.seq, r.start, r.end, r.shadowed))
        .collect();
    let wanted: Vec<String> = expected
        .get("replacements")
        .into_iter()
        .flat_map(Raw::elements)
        .map(|r| {
            let int = |name| int_of(r, name).unwrap_or_default();
            format!("{} {} {} {:?}", int("seq"), int("start"), int("end"), ints(r.get("shadowedSeqs")))
        })
        .collect();
    same.same("replacements", wanted, replacements);
    compare_messages(expected, log, moment, &mut same);
    if let Some(wanted) = str_of(expected, "eventsSha256") {
        let by_line = str_of(entry, "log").is_some_and(|name| name.starts_with("v0-real/"));
        same.same("events' hash", wanted, events_sha256(log, by_line));
    }
    let header = header::in_force(log, moment).unwrap().map(|s| sha256_of(&s.header));
    if expected.get("requestHeaderSha256").is_some() {
        same.same("header", str_of(expected, "requestHeaderSha256"), header);
    }
    compare_closers(expected, log, &mut same);
    let loud: Vec<String> = log
        .findings()
        .list()
        .iter()
        .filter(|f| f.severity != Severity::Notes && f.code != dsh_log::fault::Code::TornTail)
        .map(ToString::to_string)
        .collect();
    same.same("findings", Vec::<String>::new(), loud);
    same.same("opens", true, log.verdict().outcome.opens());
    same.0
}

/// The hash of all events of the balanced log: their texts as lines, or as one array.
fn events_sha256(log: &Log, by_line: bool) -> String {
    let mut hash = Sha256::new();
    let mut first = true;
    let mut add = |text: &[u8]| {
        if !by_line {
            hash.update(if std::mem::take(&mut first) { b"[" } else { b"," });
        }
        hash.update(canonical::stringify(Raw::parse(text).unwrap()));
        if by_line {
            hash.update(b"\n");
        }
    };
    let all = |_: &dsh_log::log::index::Entry| true;
    log.walk(log.whole(), all, |event| {
        add(event.text);
        std::ops::ControlFlow::Continue(())
    })
    .unwrap();
    if !by_line {
        hash.update(if first { &b"[]"[..] } else { b"]" });
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn compare_messages(expected: Raw<'_>, log: &Log, moment: Moment, same: &mut Comparison) {
    let list = messages::list(log, moment).unwrap();
    same.same("messages", int_of(expected, "messages"), Some(list.len() as u64));
    let array = write::array(list.iter().map(|(_, text)| text));
    same.same("messages' hash", str_of(expected, "messagesSha256"), Some(sha256_of(&array)));
    assert_eq!(messages::count(log, moment).unwrap(), list.len() as u64);
    if let Some(wanted) = int_of(expected, "systemMessages") {
        let system =
            list.iter().filter(|(_, m)| Raw::parse(m).unwrap().get("role").is_some_and(|r| r.is("system")));
        same.same("system messages", wanted, system.count());
    }
}

fn compare_closers(expected: Raw<'_>, log: &Log, same: &mut Comparison) {
    let closers = expected.get("closers").unwrap();
    // The marker that must follow closers when a compaction is open is recorded nowhere.
    let marker = log.closers().iter().filter(|c| c.kind == Kind::EndSeed).count();
    let open =
        log.dialect().relations && log.turns().open_compaction().is_some() && !log.closers().is_empty();
    same.same("end-seed marker", usize::from(open), marker);
    let list: Vec<&Closer> = log.closers().iter().filter(|c| c.kind != Kind::EndSeed).collect();
    if closers.is_array() {
        let wanted = strings(Some(closers));
        let with_code = wanted.iter().any(|name| name.contains(':'));
        let found: Vec<String> = list.iter().map(|c| closer_name(c, with_code)).collect();
        same.same("closers", wanted, found);
    } else {
        same.same("closers", closers.count(), Some(list.len() as u64));
    }
    if let Some(wanted) = str_of(expected, "closersSha256") {
        let array = write::array(log.closers().iter().map(|c| &c.text));
        same.same("closers' hash", wanted, sha256_of(&array));
    }
    if let Some(list) = expected.get("closerList") {
        let found: Vec<String> = log
            .closers()
            .iter()
            .map(|c| format!("{} {} {} {:?}", c.kind, c.seq, c.time, c.answers.as_ref().map(|a| a.1.code())))
            .collect();
        let wanted: Vec<String> = list
            .elements()
            .map(|c| {
                let int = |name| int_of(c, name).unwrap_or_default();
                format!(
                    "{} {} {} {:?}",
                    str_of(c, "type").unwrap(),
                    int("seq"),
                    int("time"),
                    str_of(c, "code")
                )
            })
            .collect();
        same.same("closer list", wanted, found);
    }
}

fn read(path: &Path) -> Log {
    Log::read(Source::open(path).unwrap(), &ReadOptions::default()).unwrap()
}

#[test]
fn every_log_reads_as_the_harness_reads_it() {
    let Some(root) = shared::folder("corpus") else { return };
    let index = shared::text(&root.join("corpus/index.json"));
    let mut failed = Vec::new();
    let mut count = 0;
    for entry in Raw::parse(&index).unwrap().elements() {
        let folder = str_of(entry, "log").unwrap();
        let containers = std::fs::read_dir(root.join("corpus").join(&folder)).unwrap();
        for file in containers.map(|f| f.unwrap().path()) {
            let log = read(&file);
            let differences = compare(entry, &log);
            if !differences.is_empty() {
                failed.push(format!("{}\n    {}", file.display(), differences.join("\n    ")));
            }
            count += 1;
        }
    }
    assert!(failed.is_empty(), "{} of {count} differ:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn verdicts_recorded_by_the_harness_are_met() {
    let Some(root) = shared::folder("corpus") else { return };
    let index = shared::text(&root.join("corpus/index.json"));
    for entry in Raw::parse(&index).unwrap().elements() {
        let Some(wanted) = str_of(entry, "verdict") else { continue };
        let folder = root.join("corpus").join(str_of(entry, "log").unwrap());
        let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
        let outcome: Outcome = read(&file).verdict().outcome;
        assert_eq!(outcome.name(), wanted, "{}", file.display());
    }
}
