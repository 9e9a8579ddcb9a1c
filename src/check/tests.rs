//! Each family is silent on a sound log and names what breaks its rules.

use super::*;
use crate::log::ReadOptions;
use crate::storage::source::Source;

/// The codes of a severity that are found in a log of these events, given as `type data | envelope`.
fn found_with(lines: &[&str], severity: Severity, target: Option<u32>) -> Vec<(&'static str, u64)> {
    let mut text = r#"{"type":"session","version":0,"id":"a","createdAt":1,"delegationDepth":0}"#.to_owned();
    for (seq, line) in lines.iter().enumerate() {
        let (kind, data) = line.split_once(' ').unwrap();
        let (data, more) = data.split_once(" | ").unwrap_or((data, ""));
        let appended = kind.ends_with("/message") || kind == "tool/result";
        let more = match (appended, more) {
            (true, "") => r#","surfaceOp":"append""#.to_owned(),
            (_, "") => String::new(),
            (_, more) => format!(",{more}"),
        };
        text += &format!("\n{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{seq},\"data\":{data}{more}}}");
    }
    text.push('\n');
    let log = Log::read(Source::memory("log", text.into_bytes()), &ReadOptions::default()).unwrap();
    assert!(log.verdict().outcome.opens(), "{:?}", log.verdict());
    let findings = verify(&log, target, &Limits::default()).unwrap();
    let wanted = findings.list().iter().filter(|f| f.severity == severity && f.code != Code::OpenTurn);
    wanted.map(|f| (f.code.name(), f.place.seq.unwrap_or_default().0)).collect()
}

fn found(lines: &[&str]) -> Vec<(&'static str, u64)> {
    found_with(lines, Severity::Warns, None)
}

fn noted(lines: &[&str]) -> Vec<(&'static str, u64)> {
    found_with(lines, Severity::Notes, None)
}

const NONE: &[(&str, u64)] = &[];
const T: &str = r#"turn/start {"turn":1}"#;
const TE: &str = r#"turn/end {"turn":1,"reason":{"kind":"completed"}}"#;
const S: &str = r#"step/start {"turn":1,"step":1}"#;
const SE: &str = r#"step/end {"turn":1,"step":1}"#;
const U: &str = r#"user/message {"id":"u","role":"user","source":{"kind":"user"},"content":[]}"#;
const A: &str = r#"assistant/message {"turn":1,"step":1,"message":{"id":"a","role":"assistant","source":{"kind":"model","provider":"p","model":"m"},"content":[{"type":"tool-call","id":"c","name":"n","arguments":"{}"}]}}"#;
const C: &str = r#"tool/call {"turn":1,"step":1,"callId":"c","name":"n","arguments":"{}"}"#;
const R: &str = r#"tool/result {"turn":1,"step":1,"message":{"id":"r","role":"user","source":{"kind":"tool","callId":"c"},"content":[{"type":"tool-result","toolCallId":"c","content":[]}]}}"#;

#[test]
fn a_whole_turn_breaks_no_rule() {
    assert_eq!(found(&[T, S, U, A, C, R, SE, TE]), NONE);
    assert_eq!(noted(&[T, S, U, A, C, R, SE, TE]), NONE);
}

#[test]
fn turns_and_steps_are_numbered_and_nested() {
    assert_eq!(found(&[r#"turn/start {"turn":2}"#]), [("inv-turn", 0)]);
    assert_eq!(found(&[T, T]), [("inv-turn", 1)]);
    assert_eq!(found(&[T, S, TE]), [("inv-turn", 2)]);
    assert_eq!(found(&[TE]), [("inv-turn", 0)]);
    assert_eq!(found(&[T, r#"step/start {"turn":1,"step":2}"#]), [("inv-step", 1)]);
    assert_eq!(found(&[T, S, SE, SE]), [("inv-step", 3)]);
    assert_eq!(found(&[T, S, SE, A]), [("inv-placement", 3)]);
    assert_eq!(found(&[r#"request/context {"provider":"p","model":"m"}"#]), [("inv-placement", 0)]);
}

#[test]
fn calls_are_answered_once_and_ids_are_single() {
    assert_eq!(found(&[T, S, A, R]), [("inv-result", 3)]);
    assert_eq!(found(&[T, S, A, C, R, R]), [("inv-result", 5)]);
    assert_eq!(noted(&[T, S, A, C, SE]), [("unanswered-call", 4)]);
    assert_eq!(noted(&[T, S, A, SE, TE]), [("unanswered-call", 4)]);
    assert_eq!(found(&[U, U]), [("repeated-id", 1)]);
}

#[test]
fn compactions_keep_their_bracket() {
    let start = r#"compaction/start {"compactionId":"k","turn":null}"#;
    let end = r#"compaction/end {"compactionId":"k","turn":null,"error":"no"}"#;
    let summary = r#"compaction/summary {"compactionId":"k","summary":[],"shadowedRange":{"start":0,"end":0},"shadowedSeqs":[0],"shadowedTokenCount":1,"provider":"p","model":"m"}"#;
    let checkpoint = r#"user/message {"id":"k","role":"user","source":{"kind":"plugin","plugin":"compact","compactionId":"k"},"content":[]} | "sourceEventSeqs":[0],"surfaceOp":{"op":"replace","start":0,"end":0}"#;
    assert_eq!(found(&[U, start, summary, checkpoint, end]), NONE);
    assert_eq!(noted(&[U, start, checkpoint]), [("inv-checkpoint", 2)]);
    assert_eq!(found(&[U, checkpoint]), [("inv-compaction", 1)]);
    assert_eq!(found(&[start, start]), [("inv-compaction", 1)]);
    assert_eq!(found(&[end]), [("inv-compaction", 0)]);
    assert_eq!(found(&[start, T, TE, end]), [("inv-compaction", 1), ("inv-compaction", 2)]);
    assert_eq!(found(&[start, T, TE, r#"session/end-seed {}"#]), NONE);
}

#[test]
fn commands_approvals_hooks_and_dispatches_pair_up() {
    let run = r#"command/run {"commandId":"x","name":"goal","source":{"kind":"user"}}"#;
    assert_eq!(found(&[run, r#"command/done {"commandId":"x","kind":"success"}"#]), NONE);
    assert_eq!(found(&[run, run]), [("inv-command", 1)]);
    assert_eq!(found(&[r#"command/done {"commandId":"x","kind":"success"}"#]), [("inv-command", 0)]);
    let asked = r#"approval/asked {"id":"q","toolName":"t"}"#;
    let decided = r#"approval/decided {"id":"q","outcome":"rejected"}"#;
    assert_eq!(found(&[T, asked, decided]), NONE);
    assert_eq!(found(&[T, decided]), [("inv-approval", 1)]);
    assert_eq!(found(&[asked]), [("inv-approval", 0)]);
    let invoked = r#"hook/invoked {"turn":1,"point":"p","dialect":"codex","handlerId":"h"}"#;
    let result = r#"hook/result {"turn":1,"point":"p","handlerId":"h","decision":"allow","durationMs":0.5}"#;
    assert_eq!(found(&[T, invoked, result]), NONE);
    assert_eq!(found(&[T, result]), [("inv-hook", 1)]);
    let nested = |parent: &str| {
        format!(
            r#"tool/code-dispatch-start {{"rootCallId":"r","parentCallId":"{parent}","subCallId":"s","name":"n","arguments":{{}}}}"#
        )
    };
    assert_eq!(found(&[T, &nested("r")]), NONE);
    assert_eq!(found(&[T, &nested("x")]), [("inv-dispatch", 1)]);
}

#[test]
fn retries_titles_inbox_and_schedules_are_in_order() {
    let retry = |n: u64| {
        format!(
            r#"llm/retry {{"retryId":"i","turn":1,"step":1,"provider":"p","policyKey":"k","retry":{n},"delayMs":5,"failure":{{"message":"m","code":"c"}},"mode":"always"}}"#
        )
    };
    let started = r#"llm/retry-started {"retryId":"i","turn":1,"step":1,"retry":1}"#;
    assert_eq!(found(&[T, S, &retry(1), started, &retry(2)]), NONE);
    assert_eq!(found(&[T, S, &retry(2)]), [("inv-retry", 2)]);
    assert_eq!(found(&[T, S, started]), [("inv-retry", 2)]);
    let title = r#"session/title {"title":"t","messageSeqs":[],"source":{"kind":"fallback"}}"#;
    assert_eq!(found(&[title]), [("inv-title", 0)]);
    let put = r#"agent/inbox/spliced {"target":"next-turn","start":0,"inserted":[{"id":"m","role":"user","source":{"kind":"user"},"content":[]}]}"#;
    let take = r#"agent/inbox/spliced {"target":"next-turn","start":0,"removedCount":1,"inserted":[]}"#;
    assert_eq!(found(&[put, take, put]), NONE);
    assert_eq!(found(&[take]), [("inv-inbox", 0)]);
    assert_eq!(found(&[put, put]), [("inv-inbox", 1)]);
    let dispatch = r#"schedule/change {"version":1,"operation":"dispatch","id":"s"}"#;
    let create = r#"schedule/change {"version":1,"operation":"create","schedule":{"id":"s","kind":"at","prompt":"p","scheduledAt":"2026-01-01T00:00:00.000Z"}}"#;
    assert_eq!(found(&[create, dispatch]), NONE);
    assert_eq!(found(&[create, dispatch, dispatch]), [("inv-schedule", 2)]);
}

#[test]
fn an_upgrade_names_all_that_it_refuses() {
    let asked = |lines: &[&str], to| found_with(lines, Severity::Warns, Some(to));
    let preset = r#"permission/preset {"preset":"p","origin":"x"}"#;
    assert_eq!(asked(&[preset, preset], 1), [("upgrade-refused", 0), ("upgrade-refused", 1)]);
    assert_eq!(asked(&[T, S, U, A, C, R, SE, TE], 4), NONE);
    assert_eq!(asked(&[U, T, S], 3), [("upgrade-refused", 0)]);
    assert_eq!(asked(&[U, T, S], 2), NONE);
    assert_eq!(asked(&[T, S, A, C, SE, TE], 4), [("upgrade-refused", 4)]);
    assert_eq!(asked(&[T, S, A, C, SE, TE], 3), NONE);
}
