use super::*;
use crate::log::ReadOptions;
use crate::storage::source::Source;

fn read(lines: &[String]) -> Log {
    let mut text = r#"{"type":"session","version":0,"id":"a","createdAt":1,"delegationDepth":0}"#.to_owned();
    for (seq, line) in lines.iter().enumerate() {
        let (kind, data) = line.split_once(' ').unwrap();
        let more = if ["assistant/message", "tool/result"].contains(&kind) {
            r#","surfaceOp":"append""#
        } else {
            ""
        };
        let time = seq * 10;
        text += &format!("\n{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{time},\"data\":{data}{more}}}");
    }
    text.push('\n');
    Log::read(Source::memory("log", text.into_bytes()), &ReadOptions::default()).unwrap()
}

fn opening() -> Vec<String> {
    vec![r#"turn/start {"turn":1}"#.into(), r#"step/start {"turn":1,"step":1}"#.into()]
}

fn ask(calls: &[(&str, &str)]) -> String {
    let blocks: Vec<String> = calls
        .iter()
        .map(|(id, arguments)| {
            format!(r#"{{"type":"tool-call","id":"{id}","name":"bash","arguments":"{arguments}"}}"#)
        })
        .collect();
    format!(
        r#"assistant/message {{"turn":1,"step":1,"message":{{"id":"a","role":"assistant","source":{{"kind":"model","provider":"p","model":"m"}},"content":[{}]}}}}"#,
        blocks.join(",")
    )
}

fn call(id: &str, arguments: &str) -> String {
    format!(r#"tool/call {{"turn":1,"step":1,"callId":"{id}","name":"bash","arguments":"{arguments}"}}"#)
}

fn result(id: &str, more: &str, error: &str) -> String {
    format!(
        r#"tool/result {{"turn":1,"step":1,"message":{{"id":"r{id}","role":"user","source":{{"kind":"tool","callId":"{id}"}},"content":[{{"type":"tool-result","toolCallId":"{id}","content":[{{"type":"text","text":"out"}}]{more}}}]}}{error}}}"#
    )
}

fn outcomes(log: &Log, moment: Moment) -> Vec<(String, &'static str)> {
    ledger(log, moment).unwrap().iter().map(|c| (c.call_id.to_string(), c.outcome.name())).collect()
}

#[test]
fn calls_are_paired_with_outcome_size_and_time() {
    let mut lines = opening();
    lines.extend([ask(&[("c1", "ls"), ("c2", "rm")]), call("c1", "ls"), call("c2", "rm")]);
    lines.push(result("c1", "", ""));
    lines.push(result("c2", r#","isError":true"#, r#","error":{"name":"AbortError","code":"ABORTED"}"#));
    let calls = ledger(&read(&lines), Moment::Balanced).unwrap();
    assert_eq!(
        (calls[0].millis, calls[0].outcome.clone(), calls[0].seen),
        (Some(20), Outcome::Ok, Seen::Whole)
    );
    assert_eq!(calls[0].result_bytes, Some(r#"[{"type":"text","text":"out"}]"#.len() as u64));
    let Outcome::Error { code, .. } = &calls[1].outcome else { panic!("{:?}", calls[1]) };
    assert_eq!(code.as_deref(), Some("ABORTED"));
    let totals = totals(&calls);
    assert_eq!((totals["bash"].calls, totals["bash"].failures), (2, 1));
    assert_eq!((totals["bash"].percentile(50), totals["bash"].percentile(95)), (Some(20), Some(20)));
}

#[test]
fn what_the_log_ends_in_is_running_and_repair_would_say_otherwise() {
    let mut lines = opening();
    lines.extend([ask(&[("c1", "ls"), ("c2", "rm")]), call("c1", "ls")]);
    let log = read(&lines);
    let is = |one, two| vec![("c1".to_owned(), one), ("c2".to_owned(), two)];
    assert_eq!(outcomes(&log, Moment::Stored), is("running", "not-started"));
    let mut balanced = outcomes(&log, Moment::Balanced);
    balanced.sort();
    assert_eq!(balanced, is("unknown", "not-started"));
}

#[test]
fn a_call_that_a_closed_step_left_without_a_result_is_unknown() {
    let mut lines = opening();
    lines.extend([ask(&[("c1", "ls")]), call("c1", "ls"), r#"step/end {"turn":1,"step":1}"#.into()]);
    assert_eq!(outcomes(&read(&lines), Moment::Stored), [("c1".to_owned(), "unknown")]);
}

#[test]
fn of_two_argument_texts_both_are_shown_and_the_recorded_one_ran() {
    let mut lines = opening();
    lines.extend([ask(&[("c1", "ls -l")]), call("c1", "ls"), result("c1", "", "")]);
    let calls = ledger(&read(&lines), Moment::Balanced).unwrap();
    assert_eq!((&*calls[0].arguments, calls[0].asked.as_deref()), ("ls", Some("ls -l")));
}

#[test]
fn a_call_of_the_same_text_names_the_one_before() {
    let mut lines = opening();
    lines.extend([call("c1", "ls"), result("c1", "", ""), call("c2", "pwd"), call("c3", "ls")]);
    let calls = ledger(&read(&lines), Moment::Stored).unwrap();
    let same: Vec<_> = calls.iter().map(|c| c.same_as).collect();
    assert_eq!(same, [None, None, Some(Seq(2))]);
}

#[test]
fn dispatches_follow_the_call_that_made_them() {
    let mut lines = opening();
    let inner = |kind: &str, n: u32, parent: &str, more: &str| {
        format!(
            r#"tool/code-dispatch{kind} {{"rootCallId":"c1","parentCallId":"{parent}","subCallId":"c1:code:{n}","name":"read","arguments":{{"path":"a"}}{more}}}"#
        )
    };
    lines.extend([call("c1", "run"), call("c2", "ls")]);
    lines.push(inner("-start", 1, "c1", ""));
    lines.push(inner("-start", 2, "c1:code:1", ""));
    lines.push(inner("", 1, "c1", r#","isError":false,"content":[]"#));
    let calls = ledger(&read(&lines), Moment::Stored).unwrap();
    let rows: Vec<_> = calls.iter().map(|c| (&*c.call_id, c.depth, c.outcome.name())).collect();
    let wanted =
        [("c1", 0, "running"), ("c1:code:1", 1, "ok"), ("c1:code:2", 2, "running"), ("c2", 0, "running")];
    assert_eq!(rows, wanted);
    assert_eq!(calls[1].file.as_deref(), Some("a"));
}

#[test]
fn a_call_id_that_comes_twice_gets_two_rows() {
    let mut lines = opening();
    lines.extend([call("c1", "ls"), call("c1", "ls"), result("c1", "", "")]);
    assert_eq!(
        outcomes(&read(&lines), Moment::Stored),
        [("c1".to_owned(), "unknown"), ("c1".to_owned(), "ok")]
    );
}
