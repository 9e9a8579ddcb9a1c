//! Damage at every place: each fixture cut at every length, and the smallest with every byte changed,
//! through the reader and every view. Nothing may panic.

use dsh_log::check;
use dsh_log::error::Error;
use dsh_log::evidence::aimed::Aimed;
use dsh_log::evidence::target::{self, Asked};
use dsh_log::evidence::{exposure, why};
use dsh_log::fork::{Boundary, Child, ForkPlan, closed_places};
use dsh_log::format::kind::Kind;
use dsh_log::limits::Limits;
use dsh_log::log::{Log, ReadOptions};
use dsh_log::repair::{Diagnosis, Plan};
use dsh_log::seq::Seq;
use dsh_log::storage::source::Source;
use dsh_log::view::figures::Gleaner;
use dsh_log::view::moment::Moment;
use dsh_log::view::transcript::Transcript;
use dsh_log::view::{compactions, diff, events, header, messages, nodes, record, request, requests};
use dsh_log::view::{state, stats, summary, timeline, tools};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The fixtures, the smallest first.
fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect();
    files.sort_by_key(|(_, bytes)| bytes.len());
    files
}

/// Reads a log and asks for everything.
fn look(name: &str, bytes: Vec<u8>) {
    let options = ReadOptions { threads: 1, ..ReadOptions::default() };
    let gleaning = Source::memory(name, bytes.clone());
    let log = Log::read(Source::memory(name, bytes.clone()), &options).unwrap();
    let middle = Seq(log.index().first_seq().0 + log.index().events() / 2);
    // One of both for each case: cases beside each other are alike.
    let moment =
        if log.source().bytes().is_multiple_of(2) { Moment::Balanced } else { Moment::After(middle) };
    nodes::current(&log, moment).unwrap();
    nodes::history(&log, moment).unwrap();
    messages::list(&log, moment).unwrap();
    header::in_force(&log, moment).unwrap();
    header::history(&log, moment).unwrap();
    header::context(&log, moment).unwrap();
    header::system_prompt(&log, moment).unwrap();
    let _ = requests::list(&log);
    summary::of(&log).unwrap();
    rows(&log);
    answers(&log, moment, middle);
    let gleaned = Log::read_gleaning(gleaning, &options, &mut |_| {}, Some(&Gleaner)).unwrap();
    assert_eq!(tools::ledger(&gleaned, moment).unwrap(), tools::ledger(&log, moment).unwrap());
    assert_eq!(stats::of(&gleaned, moment).unwrap(), stats::of(&log, moment).unwrap());
    let answer = log.index().last_of(Kind::AssistantMessage, Seq(u64::MAX));
    let seq = answer.map_or(middle, |entry| entry.seq);
    for asked in [Asked::Seq(seq), Asked::Text("e".to_owned(), middle)] {
        aimed(&log, bytes.clone(), asked, &options);
    }
    let child = Child { id: "child".to_owned(), created_at: 1 };
    let _ = closed_places(&log);
    // Both may refuse; they must not fall over.
    let _ = ForkPlan::make(&log, &Boundary::LastClosed, &child);
    let _ = Diagnosis::of(&log).and_then(|diagnosis| Plan::make(diagnosis, true));
}

/// Asks what stands behind a conclusion, with and without having looked while reading.
fn aimed(log: &Log, bytes: Vec<u8>, asked: Asked, options: &ReadOptions) {
    let aimed = Aimed::read(Source::memory("aimed", bytes), asked.clone(), options, &mut |_| {}).unwrap();
    match (target::of(log, &asked), aimed.target()) {
        (Ok(target), Ok(same)) => {
            assert_eq!((target.seq, &target.text, &target.focus), (same.seq, &same.text, &same.focus));
            let (why, (same, _)) = (why::ask(log, target).unwrap(), aimed.ask(same).unwrap());
            assert_eq!((why.evidence, why.also_said_in), (same.evidence, same.also_said_in));
        }
        (Err(refused), Err(same)) => assert_eq!(refused.code, same.code),
        _ => panic!("one of both readings has no target"),
    }
}

/// Asks the questions that lie above the views.
fn answers(log: &Log, moment: Moment, middle: Seq) {
    request::each(log, moment, |listed| request::whole(log, &listed.request).map(drop)).unwrap();
    events::each(log, &events::Filter::default(), |_| Ok::<_, Error>(())).unwrap();
    record::read(log, middle, moment).unwrap();
    state::of(log, moment).unwrap();
    compactions::of(log, moment).unwrap();
    timeline::of(log, moment).unwrap();
    stats::of(log, moment).unwrap();
    tools::ledger(log, moment).unwrap();
    check::verify(log, Some(4), moment.upto(), &Limits::default()).unwrap();
    exposure::carriers(log, &exposure::Query::Event(middle), moment).unwrap();
    let side = |moment| diff::Side { log, moment };
    diff::of(side(moment), side(Moment::After(middle))).unwrap();
}

fn rows(log: &Log) {
    let mut transcript = Transcript::new(log.dialect(), log.inherited());
    let mut bytes = 0;
    let walked = log.walk(
        log.whole(),
        |_| true,
        |event| {
            transcript.event(event, &mut |row| bytes += row.to_json().len());
            ControlFlow::Continue(())
        },
    );
    walked.unwrap();
    transcript.finish(&mut |row| bytes += row.to_json().len());
}

/// Runs all cases on as many threads as there are cores; names those that panic.
fn sweep(cases: usize, case: impl Fn(usize) -> (String, Vec<u8>) + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let case = &case;
    let failed: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|worker| {
                scope.spawn(move || {
                    let mut failed = Vec::new();
                    for n in (worker..cases).step_by(threads) {
                        let (name, bytes) = case(n);
                        if catch_unwind(AssertUnwindSafe(|| look(&name, bytes))).is_err() {
                            failed.push(name);
                        }
                    }
                    failed
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(failed.is_empty(), "{} of {cases} panic: {}", failed.len(), failed.join(", "));
}

#[test]
fn a_log_cut_at_any_length_is_looked_at_without_a_panic() {
    let files = fixtures();
    for (n, (name, bytes)) in files.iter().enumerate() {
        // What begins as another file was cut there already.
        let alike = |other: &[u8]| other.iter().zip(bytes).take_while(|(a, b)| a == b).count();
        let from = files[..n].iter().map(|(_, other)| alike(other)).max().unwrap_or(0);
        let cases = bytes.len() + 1 - from;
        sweep(cases, |n| (format!("{name} cut at {}", from + n), bytes[..from + n].to_vec()));
    }
}

#[test]
fn a_log_with_any_byte_changed_is_looked_at_without_a_panic() {
    let files = fixtures();
    let smallest =
        |zstd: bool| files.iter().find(|(name, _)| name.ends_with(".zstd") == zstd && name.contains("jsonl"));
    for (name, bytes) in [smallest(true), smallest(false)].into_iter().flatten() {
        // One bit makes another letter or number of it; all bits make it no text at all.
        sweep(bytes.len() * 2, |n| {
            let (at, mask) = (n / 2, if n % 2 == 0 { 0x01 } else { 0xff });
            let mut bytes = bytes.clone();
            bytes[at] ^= mask;
            (format!("{name} with byte {at} changed by {mask:#04x}"), bytes)
        });
    }
}
