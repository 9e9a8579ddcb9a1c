//! The folds over one log, over every log of the corpus: they agree with each other and with the
//! messages.

mod shared;

use dsh_log::format::kind::Kind;
use dsh_log::log::{Log, ReadOptions};
use dsh_log::seq::Seq;
use dsh_log::storage::source::Source;
use dsh_log::view::figures::Gleaner;
use dsh_log::view::moment::Moment;
use dsh_log::view::stats::{self, Totals};
use dsh_log::view::tools::{self, What};
use dsh_log::view::{compactions, diff, events, messages, record, request, requests, state, timeline};
use std::path::{Path, PathBuf};

fn logs(test: &str) -> Vec<PathBuf> {
    let Some(root) = shared::folder(test) else { return Vec::new() };
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    shared::files(&root.join("corpus"), |path| name(path).ends_with(".jsonl.zstd"))
}

fn read(path: &Path) -> Log {
    Log::read(Source::open(path).unwrap(), &ReadOptions::default()).unwrap()
}

/// A few moments of a log: its beginning, its middle, its end, and the balanced present.
fn moments(log: &Log) -> Vec<Moment> {
    let (first, next) = (log.index().first_seq().0, log.index().next_seq().0);
    let mut moments = vec![Moment::Balanced, Moment::Stored];
    if next > first {
        moments.extend([first, (first + next) / 2, next - 1].map(|seq| Moment::After(Seq(seq))));
    }
    moments
}

#[test]
fn every_tool_call_is_one_row_and_own_and_inherited_make_the_whole() {
    for path in logs("answers") {
        let log = read(&path);
        for moment in moments(&log) {
            let calls = tools::ledger(&log, moment).unwrap();
            let rows = calls.iter().filter(|c| c.what == What::Call && c.call_seq.is_some()).count();
            let upto = moment.upto();
            let recorded =
                log.index().entries().iter().filter(|e| e.kind == Kind::ToolCall && e.seq <= upto).count();
            assert_eq!(rows, recorded, "{} {moment:?}", path.display());
            let stats = stats::of(&log, moment).unwrap();
            let mut all = Totals::default();
            stats::each(&log, moment, &mut |item| all.add(item)).unwrap();
            let mut both = stats.own.clone();
            both.merge(&stats.inherited);
            assert_eq!((both.tokens, both.attempts, both.calls()), (all.tokens, all.attempts, all.calls()));
            assert_eq!(both.attempts as usize, requests::list_upto(&log, upto).len());
            assert!(log.inherited() > 0 || stats.inherited == Totals::default(), "{}", path.display());
        }
    }
}

#[test]
fn the_listed_number_of_messages_is_that_of_the_messages() {
    for path in logs("answers") {
        let log = read(&path);
        let mut earlier = None;
        request::each(&log, Moment::Balanced, |listed| -> dsh_log::error::Result<()> {
            let Some(upto) = listed.request.upto else { return Ok(()) };
            let count = messages::list(&log, Moment::After(upto))?.len() as u64;
            assert_eq!(listed.messages, count, "{} {}", path.display(), listed.request);
            if let Some(earlier) = earlier.replace(listed.request) {
                let prefix = request::compare(&log, &earlier, &listed.request)?.unwrap();
                assert!(prefix.bytes <= prefix.before.min(prefix.after), "{}: {prefix:?}", path.display());
                assert_eq!(
                    prefix.cause.is_none(),
                    prefix.bytes == prefix.before,
                    "{}: {prefix:?}",
                    path.display()
                );
                assert!(prefix.cause.is_none_or(|cause| cause.seq.is_some()), "{prefix:?}");
            }
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn what_is_taken_while_a_log_is_read_tells_the_same_as_its_bodies() {
    for path in logs("answers") {
        let log = read(&path);
        let source = Source::open(&path).unwrap();
        let gleaned =
            Log::read_gleaning(source, &ReadOptions::default(), &mut |_| {}, Some(&Gleaner)).unwrap();
        for moment in moments(&log) {
            assert_eq!(
                tools::ledger(&log, moment).unwrap(),
                tools::ledger(&gleaned, moment).unwrap(),
                "{}",
                path.display()
            );
            assert_eq!(
                stats::of(&log, moment).unwrap(),
                stats::of(&gleaned, moment).unwrap(),
                "{}",
                path.display()
            );
            assert_eq!(
                timeline::of(&log, moment).unwrap(),
                timeline::of(&gleaned, moment).unwrap(),
                "{}",
                path.display()
            );
        }
    }
}

#[test]
fn the_other_answers_are_given_on_every_log() {
    for path in logs("answers") {
        let log = read(&path);
        for moment in moments(&log) {
            let state = state::of(&log, moment).unwrap();
            assert!(state.inbox.broken.is_empty(), "{}: {:?}", path.display(), state.inbox);
            let rows = timeline::of(&log, moment).unwrap();
            for (sort, sum) in timeline::sums(&rows) {
                assert!(sum.wall <= sum.millis, "{}: {sort:?} {sum:?}", path.display());
            }
            let compactions = compactions::of(&log, moment).unwrap();
            let landed = compactions.list.iter().filter(|c| c.checkpoint.is_some()).count();
            assert!(landed as u64 <= moment.surface(&log).generation(), "{}", path.display());
        }
        let (first, next) = (log.index().first_seq().0, log.index().next_seq().0);
        for seq in [first, (first + next) / 2, next.saturating_sub(1), next, next + 10_000] {
            let shown = record::read(&log, Seq(seq), Moment::Balanced).unwrap();
            let closers = log.closers().len() as u64;
            assert_eq!(shown.is_some(), seq < next + closers, "{} {seq}", path.display());
        }
    }
}

#[test]
fn a_log_differs_from_its_beginning_where_that_ends_and_from_its_other_container_not_at_all() {
    fn side(log: &Log) -> diff::Side<'_> {
        diff::Side { log, moment: Moment::Stored }
    }
    for path in logs("answers") {
        let raw = path.with_extension("");
        let Ok(text) = std::fs::read(&raw) else { continue };
        let log = read(&path);
        if !log.verdict().outcome.opens() || log.verdict().cut.is_some() {
            continue;
        }
        let other = read(&raw);
        assert!(diff::of(side(&log), side(&other)).unwrap().is_same(), "{}", path.display());
        let lines: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
        let half = lines[..lines.len().div_ceil(2)].concat();
        let half = Log::read(Source::memory("half", half), &ReadOptions::default()).unwrap();
        let found = diff::of(side(&half), side(&log)).unwrap();
        assert_eq!(found.divergence.common, half.index().events(), "{}", path.display());
        assert!(found.divergence.own[0].is_none() && found.pairs.len() == found.moves[1].len());
    }
}

#[test]
fn events_give_back_the_stored_lines() {
    for path in logs("answers") {
        let raw = path.with_extension("");
        let Ok(text) = std::fs::read(&raw) else { continue };
        let log = read(&path);
        if !log.verdict().outcome.opens() || log.verdict().cut.is_some() {
            continue;
        }
        let mut lines = Vec::new();
        let filter = events::Filter::default();
        events::each(&log, &filter, |found| -> dsh_log::error::Result<()> {
            lines.extend_from_slice(found.text);
            lines.push(b'\n');
            Ok(())
        })
        .unwrap();
        let body = &text[memchr(&text) + 1..];
        assert!(lines == body, "{}", path.display());
        let expand = events::Filter { expand: true, ..events::Filter::default() };
        let mut next = log.index().first_seq().0;
        events::each(&log, &expand, |found| -> dsh_log::error::Result<()> {
            assert_eq!(found.seq.0, next, "{}", path.display());
            next += 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(next, log.index().next_seq().0);
    }
}

fn memchr(text: &[u8]) -> usize {
    text.iter().position(|b| *b == b'\n').unwrap_or(0)
}

#[test]
fn h10_a_fork_does_not_count_its_parents_tokens_as_its_own() {
    let Some(root) = shared::folder("h10") else { return };
    let log = read(&root.join("reports/inputs/H10-fork-counted-twice/child/session.jsonl.zstd"));
    let stats = stats::of(&log, Moment::Balanced).unwrap();
    let (own, inherited) = (stats.own.tokens.total(), stats.inherited.tokens.total());
    assert_eq!((own, own + inherited), (47, 157));
}
