//! Two small logs beside each other.

use super::*;
use crate::log::ReadOptions;
use crate::storage::source::Source;

/// A log with that header and these events, given as `type data`.
fn log(header: &str, lines: &[String]) -> Log {
    let mut text = format!(r#"{{"type":"session","version":0,{header},"delegationDepth":0}}"#);
    for (seq, line) in lines.iter().enumerate() {
        let (kind, data) = line.split_once(' ').unwrap();
        let op =
            if kind.ends_with("/message") || kind == "tool/result" { r#","surfaceOp":"append""# } else { "" };
        text += &format!("\n{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":1,\"data\":{data}{op}}}");
    }
    text.push('\n');
    let log = Log::read(Source::memory("log", text.into_bytes()), &ReadOptions::default()).unwrap();
    assert!(log.verdict().outcome.opens(), "{:?}", log.verdict());
    log
}

fn compare(first: &Log, second: &Log) -> Diff {
    let side = |log| Side { log, moment: Moment::Stored };
    of(side(first), side(second)).unwrap()
}

const A: &str = r#""id":"a","createdAt":1"#;
const CHILD: &str = r#""id":"b","createdAt":1,"parentSession":"a","seedLength":6"#;

fn start(turn: u32) -> Vec<String> {
    vec![format!(r#"turn/start {{"turn":{turn}}}"#), format!(r#"step/start {{"turn":{turn},"step":1}}"#)]
}

fn end(turn: u32, reason: &str) -> Vec<String> {
    vec![
        format!(r#"step/end {{"turn":{turn},"step":1}}"#),
        format!(r#"turn/end {{"turn":{turn},"reason":{{"kind":"{reason}"}}}}"#),
    ]
}

fn prompt(text: &str) -> Vec<String> {
    vec![format!(
        r#"user/message {{"id":"{text}","role":"user","source":{{"kind":"user"}},"content":[{{"type":"text","text":"{text}"}}]}}"#
    )]
}

fn answer(turn: u32, text: &str) -> Vec<String> {
    vec![format!(
        r#"assistant/message {{"turn":{turn},"step":1,"message":{{"id":"{text}","role":"assistant","source":{{"kind":"model","provider":"p","model":"m"}},"content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )]
}

fn call(turn: u32, id: &str, arguments: &str, result: &str) -> Vec<String> {
    vec![
        format!(
            r#"tool/call {{"turn":{turn},"step":1,"callId":"{id}","name":"bash","arguments":"{arguments}"}}"#
        ),
        format!(
            r#"tool/result {{"turn":{turn},"step":1,"message":{{"id":"r{id}","role":"user","source":{{"kind":"tool","callId":"{id}"}},"content":[{{"type":"tool-result","toolCallId":"{id}","content":[{{"type":"text","text":"{result}"}}]}}]}}}}"#
        ),
    ]
}

fn turn_one() -> Vec<String> {
    [start(1), prompt("one"), answer(1, "done"), end(1, "completed")].concat()
}

fn said(diff: &Diff) -> Vec<(&'static str, String)> {
    let of = |pair: &Pair| match *pair {
        Pair::Same(a, _) | Pair::Otherwise(a, _) | Pair::First(a) => diff.moves[0][a].words.clone(),
        Pair::Second(b) => diff.moves[1][b].words.clone(),
    };
    diff.pairs.iter().map(|pair| (pair.name(), of(pair))).collect()
}

#[test]
fn a_log_and_a_copy_of_it_are_the_same_whatever_the_order_of_members() {
    let one = log(A, &turn_one());
    let other = log(r#""createdAt":1.0,"id":"\u0061""#, &turn_one());
    let diff = compare(&one, &other);
    assert!(diff.is_same(), "{diff:?}");
    assert_eq!((diff.kinship, diff.divergence.common), (Kinship::SameSession, 6));
}

#[test]
fn rows_that_are_packed_in_another_way_are_the_same_events() {
    let head = r#"{"type":"session","version":0,"id":"a","createdAt":1,"delegationDepth":0}"#;
    let chunk = |seq: u64, text: &str| {
        format!(
            r#"{{"type":"assistant/chunk","seq":{seq},"time":{},"data":{{"turn":1,"step":1,"chunk":{{"type":"text-delta","index":0,"text":"{text}"}}}}}}"#,
            5 + seq
        )
    };
    let packed = r#"{"type":"text-chunks","seq0":0,"time0":5,"data":{"turn":1,"step":1,"index":0,"dt":[1,1],"texts":["a","b","c"]}}"#;
    let read = |lines: &[String]| {
        let text = format!("{head}\n{}\n", lines.join("\n"));
        Log::read(Source::memory("log", text.into_bytes()), &ReadOptions::default()).unwrap()
    };
    let row = read(&[packed.to_owned()]);
    let events = read(&[chunk(0, "a"), chunk(1, "b"), chunk(2, "c")]);
    assert!(compare(&row, &events).is_same());
    let other = read(&[chunk(0, "a"), chunk(1, "x"), chunk(2, "c")]);
    assert_eq!(compare(&row, &other).divergence.at, Seq(1));
}

#[test]
fn a_fork_parts_from_its_parent_where_it_was_cut() {
    let parent = log(A, &[turn_one(), start(2), prompt("two"), answer(2, "x"), end(2, "completed")].concat());
    let seed = vec![r#"session/end-seed {}"#.to_owned()];
    let child =
        log(CHILD, &[turn_one(), seed, start(2), prompt("two"), answer(2, "y"), end(2, "aborted")].concat());
    let diff = compare(&parent, &child);
    assert_eq!(diff.kinship, Kinship::SecondFromFirst);
    assert_eq!((diff.divergence.at, diff.divergence.common, diff.divergence.turns), (Seq(6), 6, 1));
    let types = diff.divergence.own.clone().map(|own| own.unwrap().kind);
    assert_eq!(types, ["turn/start", "session/end-seed"]);
    let names: Vec<&str> = diff.header.iter().map(|field| &*field.name).collect();
    assert_eq!(names, ["id", "parentSession", "seedLength"]);
    assert_eq!(
        said(&diff),
        [
            ("same", "two".into()),
            ("first-only", "x".into()),
            ("second-only", "y".into()),
            ("second-only", String::new())
        ]
    );
    assert_eq!(diff.moves[1][2].name, "aborted");
}

#[test]
fn a_log_that_ends_first_has_no_event_of_its_own_there() {
    let short = log(A, &turn_one());
    let long = log(A, &[turn_one(), start(2)].concat());
    let diff = compare(&short, &long);
    assert!(diff.divergence.own[0].is_none() && diff.divergence.own[1].is_some());
    assert!(!diff.is_same());
    assert_eq!(diff.since.map(|since| since.events), [0, 2]);
}

#[test]
fn a_call_that_both_made_is_one_call_even_where_its_result_differs() {
    let run = |id: &str, calls: &[(&str, &str)]| {
        let calls: Vec<String> =
            calls.iter().zip(1..).flat_map(|((a, r), n)| call(1, &format!("c{n}"), a, r)).collect();
        log(
            &format!(r#""id":"{id}","createdAt":1"#),
            &[start(1), prompt(id), calls, end(1, "completed")].concat(),
        )
    };
    let one = run("a", &[("ls", "x y"), ("test", "ok")]);
    let other = run("b", &[("ls", "x y"), ("pwd", "/"), ("test", "failed")]);
    let diff = compare(&one, &other);
    assert_eq!((diff.kinship, diff.divergence.common), (Kinship::None, 2));
    assert_eq!(
        said(&diff),
        [
            ("first-only", "a".into()),
            ("second-only", "b".into()),
            ("same", "ls".into()),
            ("second-only", "pwd".into()),
            ("other-result", "test".into()),
        ]
    );
}

#[test]
fn as_of_an_event_nothing_behind_it_counts() {
    let one = log(A, &[turn_one(), start(2)].concat());
    let other = log(A, &[turn_one(), vec![r#"session/end-seed {}"#.to_owned()]].concat());
    let side = |log| Side { log, moment: Moment::After(Seq(5)) };
    assert!(of(side(&one), side(&other)).unwrap().is_same());
    assert!(!compare(&one, &other).is_same());
}

#[test]
fn the_request_headers_in_force_are_compared() {
    let with = |model: &str| {
        let header = format!(
            r#"request/header {{"header":{{"config":{{"provider":"p","model":"{model}"}}}},"reason":"initial"}}"#
        );
        log(A, &[start(1), prompt("one"), vec![header]].concat())
    };
    let diff = compare(&with("m"), &with("n"));
    assert_eq!(
        diff.settings,
        [Change::Config { field: "model".into(), before: Some("\"m\"".into()), after: Some("\"n\"".into()) }]
    );
}

proptest::proptest! {
    #[test]
    fn an_alignment_holds_every_move_once_and_in_order(
        first in proptest::collection::vec(0_u64..5, 0..40),
        second in proptest::collection::vec(0_u64..5, 0..40),
    ) {
        let moves = |keys: &[u64]| -> Vec<Move> {
            let one = |says: &u64| Move {
                what: What::Answer,
                seq: Seq(0),
                turn: None,
                name: String::new(),
                words: String::new(),
                outcome: None,
                result_bytes: None,
                says: *says,
                came: *says % 2,
            };
            keys.iter().map(one).collect()
        };
        let (a, b) = (moves(&first), moves(&second));
        let (mut of_first, mut of_second) = (Vec::new(), Vec::new());
        for pair in alignment::align(&a, &b) {
            match pair {
                Pair::Same(x, y) | Pair::Otherwise(x, y) => {
                    proptest::prop_assert_eq!(a[x].says, b[y].says);
                    of_first.push(x);
                    of_second.push(y);
                }
                Pair::First(x) => of_first.push(x),
                Pair::Second(y) => of_second.push(y),
            }
        }
        proptest::prop_assert!(of_first.into_iter().eq(0..a.len()));
        proptest::prop_assert!(of_second.into_iter().eq(0..b.len()));
    }
}
