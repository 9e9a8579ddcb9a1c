//! As of an event each answer is the one that a log cut right behind it gives.

mod shared;

use dsh_log::check;
use dsh_log::evidence::exposure::{self, Query};
use dsh_log::evidence::{target, why};
use dsh_log::fault::Code;
use dsh_log::limits::Limits;
use dsh_log::log::{Log, ReadOptions};
use dsh_log::seq::Seq;
use dsh_log::storage::source::Source;
use dsh_log::view::moment::Moment;
use dsh_log::view::record;
use std::path::{Path, PathBuf};

const NOW: Seq = Seq(u64::MAX);

/// The raw logs among the fixtures and, where there is one, of the corpus.
fn logs(test: &str) -> Vec<PathBuf> {
    let raw = |path: &Path| path.extension().is_some_and(|e| e == "jsonl");
    let mut all = shared::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"), raw);
    if let Some(root) = shared::folder(test) {
        all.extend(shared::files(&root.join("corpus"), raw));
    }
    all
}

/// A log and some of the events that it can be cut behind, each with the log that is left.
fn cuts(path: &Path) -> Option<(Log, Vec<(Seq, Log)>)> {
    let bytes = std::fs::read(path).unwrap();
    let read = |bytes: &[u8]| {
        let source = Source::memory("log", bytes.to_vec());
        Log::read(source, &ReadOptions::default()).unwrap()
    };
    let whole = read(&bytes);
    if !whole.verdict().outcome.opens() || whole.verdict().cut.is_some() {
        return None;
    }
    let entries = whole.index().entries();
    let behind = |n: usize| entries.get(n + 1).map(|next| (next.seq.0 - 1, next.text.0 as usize));
    let some = (0..entries.len()).step_by((entries.len() / 7).max(1));
    // Cut inside of what it inherited a log does not say any more where that ends.
    let own = |cut: &(u64, usize)| cut.0 >= whole.inherited();
    let cuts =
        some.filter_map(behind).filter(own).map(|(seq, end)| (Seq(seq), read(&bytes[..end]))).collect();
    Some((whole, cuts))
}

#[test]
fn exposure_and_single_events_know_nothing_of_what_comes_later() {
    for path in logs("moments") {
        let Some((whole, cuts)) = cuts(&path) else { continue };
        for (seq, cut) in cuts {
            let (then, shown) = (Moment::After(seq), path.display());
            let middle = Seq((whole.index().first_seq().0 + seq.0) / 2);
            for query in [Query::Text("e".to_owned()), Query::Event(middle), Query::Event(seq)] {
                let earlier = exposure::carriers(&whole, &query, then).unwrap();
                assert_eq!(
                    earlier,
                    exposure::carriers(&cut, &query, Moment::Stored).unwrap(),
                    "{shown} {seq}"
                );
            }
            for event in [middle, seq, seq.next()] {
                let earlier = record::read(&whole, event, then).unwrap();
                assert_eq!(earlier, record::read(&cut, event, Moment::Stored).unwrap(), "{shown} {seq}");
            }
        }
    }
}

#[test]
fn the_last_conclusion_and_its_sources_are_those_of_that_time() {
    for path in logs("moments") {
        let Some((whole, cuts)) = cuts(&path) else { continue };
        for (seq, cut) in cuts {
            let earlier = target::with_text(&whole, "e", seq).and_then(|target| why::ask(&whole, target));
            let alone = target::with_text(&cut, "e", NOW).and_then(|target| why::ask(&cut, target));
            match (earlier, alone) {
                (Ok(earlier), Ok(alone)) => {
                    assert_eq!(earlier.target.seq, alone.target.seq, "{} {seq}", path.display());
                    assert_eq!(earlier.evidence, alone.evidence, "{} {seq}", path.display());
                }
                (earlier, alone) => assert_eq!(earlier.err().map(|e| e.code), alone.err().map(|e| e.code)),
            }
        }
    }
}

#[test]
fn the_rules_see_no_event_behind_it() {
    for path in logs("moments") {
        let Some((whole, cuts)) = cuts(&path) else { continue };
        for (seq, cut) in cuts {
            let found = |log: &Log, upto: Seq| -> Vec<String> {
                let all = check::verify(log, None, upto, &Limits::default()).unwrap();
                let kept = all.list().iter().filter(|finding| finding.code != Code::OpenTurn);
                kept.map(ToString::to_string).collect()
            };
            assert_eq!(found(&whole, seq), found(&cut, NOW), "{} {seq}", path.display());
        }
    }
}
