use super::*;
use crate::log::ReadOptions;
use crate::storage::source::Source;
use crate::view::prefix::{Cause, Why};

fn read(lines: &[(&str, &str)]) -> Log {
    let mut text = r#"{"type":"session","version":0,"id":"a","createdAt":1,"delegationDepth":0}"#.to_owned();
    for (seq, (kind, data)) in lines.iter().enumerate() {
        let more = if kind.ends_with("/message") && !data.contains("surfaceOp") {
            r#","surfaceOp":"append""#
        } else {
            ""
        };
        text += &format!("\n{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{seq},\"data\":{data}{more}}}");
    }
    text.push('\n');
    Log::read(Source::memory("log", text.into_bytes()), &ReadOptions::default()).unwrap()
}

fn user(id: &str) -> String {
    format!(r#"{{"id":"{id}","role":"user","source":{{"kind":"user"}},"content":[]}}"#)
}

fn said(step: u32) -> String {
    format!(
        r#"{{"turn":1,"step":{step},"message":{{"id":"a{step}","role":"assistant","source":{{"kind":"model","provider":"p","model":"m"}},"content":[{{"type":"text","text":"x"}}]}}}}"#
    )
}

fn header(tools: &str) -> String {
    format!(
        r#"{{"header":{{"config":{{"provider":"p","model":"m"}},"system":"s","tools":[{tools}]}},"reason":"change"}}"#
    )
}

fn step(n: u32) -> String {
    format!(r#"{{"turn":1,"step":{n}}}"#)
}

#[test]
fn an_attempt_that_runs_is_as_long_as_its_chunks_up_to_that_event() {
    let row = r#"{"type":"text-chunks","seq0":2,"time0":100,"data":{"turn":1,"step":1,"index":0,"dt":[50,50,50],"texts":["","a","b","c"]}}"#;
    let head = r#"{"type":"session","version":0,"id":"a","createdAt":1,"delegationDepth":0}"#;
    let start = |seq, kind, data| format!(r#"{{"type":"{kind}","seq":{seq},"time":10,"data":{data}}}"#);
    let (turn, step) =
        (start(0, "turn/start", r#"{"turn":1}"#), start(1, "step/start", r#"{"turn":1,"step":1}"#));
    let text = format!("{head}\n{turn}\n{step}\n{row}\n");
    let log = Log::read(Source::memory("log", text.into_bytes()), &ReadOptions::default()).unwrap();
    let mut found = Vec::new();
    for moment in [2, 3, 5].map(|seq| Moment::After(Seq(seq))) {
        each(&log, moment, |l| -> Result<()> {
            found.push((l.request.last.0, l.attempt.millis(), l.attempt.first_token_millis()));
            Ok(())
        })
        .unwrap();
    }
    assert_eq!(found, [(2, 90, None), (3, 140, Some(140)), (5, 240, Some(140))]);
}

/// Two requests with these events between the first answer and the second.
fn two(between: &[(&str, &str)]) -> (Log, Prefix) {
    let (u, h, one, s1, s2) = (user("u"), header(""), said(1), step(1), step(2));
    let mut lines: Vec<(&str, &str)> = vec![
        ("turn/start", r#"{"turn":1}"#),
        ("step/start", &s1),
        ("user/message", &u),
        ("request/header", &h),
        ("assistant/message", &one),
        ("step/end", &s1),
        ("step/start", &s2),
    ];
    lines.extend(between);
    let two = said(2);
    lines.push(("assistant/message", &two));
    let log = read(&lines);
    let list = requests::list(&log);
    let prefix = compare(&log, &list[0], &list[1]).unwrap().unwrap();
    (log, prefix)
}

#[test]
fn what_is_only_appended_keeps_the_whole_prefix() {
    let (log, prefix) = two(&[("user/message", &user("v"))]);
    assert_eq!((prefix.cause, prefix.bytes), (None, prefix.before));
    assert_eq!((prefix.new, prefix.gone), (vec![4, 7], vec![]));
    let mut counts = Vec::new();
    each(&log, Moment::Balanced, |l| -> Result<()> {
        counts.push(l.messages);
        Ok(())
    })
    .unwrap();
    assert_eq!(counts, [1, 3]);
}

#[test]
fn other_tools_lose_what_stands_behind_them() {
    let (_, prefix) = two(&[("request/header", &header(r#"{"name":"bash"}"#))]);
    assert_eq!(prefix.cause, Some(Cause { why: Why::Tools, seq: Some(Seq(7)) }));
    // The names of provider and model, the system prompt, and the bracket that opens the tools.
    assert_eq!(prefix.bytes, r#""p""m""s""#.len() as u64);
}

#[test]
fn a_replacement_is_named_with_the_byte_from_which_on_nothing_is_the_same() {
    let summary =
        format!(r#"{},"sourceEventSeqs":[2],"surfaceOp":{{"op":"replace","start":2,"end":2}}"#, user("w"));
    let (log, prefix) = two(&[("user/message", &summary)]);
    assert_eq!(log.surface().generation(), 1, "{:#?}", log.findings());
    assert_eq!(prefix.cause, Some(Cause { why: Why::Replacement, seq: Some(Seq(7)) }));
    assert_eq!(prefix.bytes, (r#""p""m""s""#.len() + r#"{"id":""#.len()) as u64);
    assert_eq!((prefix.new, prefix.gone), (vec![7, 4], vec![2]));
}

#[test]
fn the_usage_of_a_request_stands_beside_it() {
    let (log, _) = two(&[]);
    let list = requests::list(&log);
    let whole = whole(&log, &list[1]).unwrap().unwrap();
    assert_eq!((whole.moment, whole.system.as_deref()), (Moment::After(Seq(6)), Some("s")));
    assert_eq!(whole.attempt.model, Some(("p".to_owned(), "m".to_owned())));
    assert_eq!(before(&list, &list[1]), Some(list[0]));
    assert_eq!(before(&list, &list[0]), None);
}
