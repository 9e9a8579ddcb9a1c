//! Each rule kept and broken, over whole and slim payloads.

use super::*;
use crate::format::dialect::Dialect;
use crate::format::slim::slim;

/// Feeds `[type, data, surfaceOp?, sourceEventSeqs?]` lines; surface types are appended.
fn feed(lines: &[&str], inherited: u64, slimmed: bool) -> Vec<Violation> {
    let dialect = Dialect::newest();
    let mut relations = Relations::new(&RelHeader { id: b"me".to_vec(), has_parent: true });
    for (seq, line) in (0..).zip(lines) {
        let line = Raw::parse(line.as_bytes()).unwrap_or_else(|_| panic!("{line}"));
        let parts: Vec<Raw<'_>> = line.elements().collect();
        let kind = Kind::of(&parts[0].text().unwrap());
        let op = match parts.get(2).filter(|op| !op.is_null()) {
            Some(op) => SurfaceOp::parse(Some(*op), dialect),
            None if dialect.is_surface(kind) => SurfaceOp::Append,
            None => SurfaceOp::Absent,
        };
        let sources = parts.get(3).map(|list| Sources::parse(*list, seq, true).unwrap());
        let small = slim(kind, parts[1]);
        let data = if slimmed { Raw::parse(&small).unwrap() } else { parts[1] };
        let has_sources = sources.is_some();
        relations.event(&RelEvent { seq, kind, data, op, sources: sources.as_ref(), has_sources });
    }
    relations.finish(inherited)
}

fn broken_from(lines: &[&str], inherited: u64) -> Vec<(u64, &'static str)> {
    let whole = feed(lines, inherited, false);
    assert_eq!(whole, feed(lines, inherited, true), "slim payloads are judged alike: {lines:?}");
    whole.iter().map(|violation| (violation.seq, violation.rule)).collect()
}

fn broken(parts: &[&[&str]]) -> Vec<(u64, &'static str)> {
    broken_from(&parts.concat(), 0)
}

const T: &str = r#"["turn/start",{"turn":1}]"#;
const S: &str = r#"["step/start",{"turn":1,"step":1}]"#;
const SE: &str = r#"["step/end",{"turn":1,"step":1}]"#;
const TE: &str = r#"["turn/end",{"turn":1,"reason":{"kind":"completed"}}]"#;
const U: &str = r#"["user/message",{"id":"u","role":"user","source":{"kind":"user"},"content":[]}]"#;
const SYS: &str = r#"["system/message",{"turn":1,"step":1,"message":{"source":{"kind":"system-prompt"}}}]"#;
const H: &str = r#"["request/header",{"header":{"config":{"provider":"p"},"tools":[{"name":"t","description":"d","parameters":{}}]}}]"#;
const A: &str = r#"["assistant/message",{"turn":1,"step":1,"message":{"source":{"kind":"model"},"content":[{"type":"text","text":"x"},{"type":"tool-call","id":"c","name":"n","arguments":"{}"}]}}]"#;
const C: &str = r#"["tool/call",{"turn":1,"step":1,"callId":"c","name":"n","arguments":"{}"}]"#;
const R: &str = r#"["tool/result",{"turn":1,"step":1,"message":{"id":"r","source":{"kind":"tool","callId":"c"},"toolCallId":"c","content":[]}}]"#;
const SEED: &str = r#"["session/end-seed",{}]"#;
const TAGGED: &str = r#"["session/end-seed",{"inherited":true}]"#;
const CS: &str = r#"["compaction/start",{"compactionId":"k","turn":1}]"#;
const CE: &str = r#"["compaction/end",{"compactionId":"k","turn":1,"error":{}}]"#;
const NONE: &[(u64, &str)] = &[];

#[test]
fn a_whole_turn_breaks_no_rule() {
    assert_eq!(broken(&[&[T, S, SYS, U, H, A, C, R, SE, TE]]), NONE);
    assert_eq!(broken(&[&[T, S, SYS, U, H, A, C]]), NONE, "an unfinished tail may stay open");
}

#[test]
fn slots_and_payloads_are_objects() {
    assert_eq!(broken(&[&[r#"["user/message",{"content":[]}]"#]]), [(0, "N2")]);
    assert_eq!(broken(&[&[r#"["user/message",{"source":{"kind":"plugin"}}]"#]]), [(0, "N2")]);
    assert_eq!(broken(&[&[r#"["agent/inbox/spliced",7]"#]]), [(0, "N2")]);
    assert_eq!(broken(&[&[r#"["agent/inbox/spliced",{"inserted":[{"source":{"kind":"user"}}]}]"#]]), NONE);
    assert_eq!(broken(&[&[r#"["turn/start",null]"#]]), [(0, "N5")]);
    assert_eq!(broken(&[&[r#"["todo/write",null]"#]]), NONE);
}

#[test]
fn foreign_delivery_markers_are_inherited_ones() {
    let own = r#"["session-log-deepseek/delivery-accepted",{"sessionId":"me","sessionFormatVersion":4,"throughSeq":0}]"#;
    let foreign = r#"["session-log-deepseek/delivery-accepted",{"sessionId":"x","sessionFormatVersion":4,"throughSeq":0}]"#;
    let old = r#"["session-log-deepseek/delivery-accepted",{"sessionId":"x","throughSeq":99}]"#;
    assert_eq!(broken_from(&[T, own, foreign, old, TAGGED], 4), NONE);
    assert_eq!(broken_from(&[T, own, TAGGED, foreign], 2), [(3, "N3")]);
    assert_eq!(broken(&[&[own]]), [(0, "N3")], "its throughSeq is not earlier");
}

#[test]
fn own_catalogue_entries_are_sound_and_single() {
    let entry = r#"["subagent/catalog",{"version":0,"childId":"a","childCreatedAt":1,"mode":"continuable","label":"l"}]"#;
    let bad = r#"["subagent/catalog",{"version":0,"childId":"b","childCreatedAt":1,"mode":"external"}]"#;
    assert_eq!(broken_from(&[entry, bad, TAGGED, entry], 2), NONE);
    assert_eq!(broken(&[&[entry, bad, entry]]), [(1, "N4"), (2, "N4")]);
}

#[test]
fn turns_and_steps_are_numbered_and_nested() {
    assert_eq!(broken(&[&[r#"["turn/start",{"turn":2}]"#]]), [(0, "N9")]);
    assert_eq!(broken(&[&[T, T]]), [(1, "N9")]);
    assert_eq!(broken(&[&[T, S, TE]]), [(2, "N10")]);
    assert_eq!(broken(&[&[TE]]), [(0, "N10")]);
    assert_eq!(broken(&[&[T, r#"["step/start",{"turn":1,"step":2}]"#]]), [(1, "N11")]);
    assert_eq!(broken(&[&[T, S, SE, SE]]), [(3, "N12")]);
    assert_eq!(broken(&[&[T, S, A, SE]]), [(3, "N12")]);
    assert_eq!(broken(&[&[S, A, C, R, SE, TE]]), [(0, "N11")], "a lost start is one fault");
    assert_eq!(broken(&[&[H]]), [(0, "N18")]);
    assert_eq!(broken(&[&[T, r#"["assistant/attempt",{"turn":1,"step":1,"stream":[]}]"#]]), [(1, "N6")]);
}

#[test]
fn a_turn_may_cross_only_an_orphan_compaction() {
    assert_eq!(broken(&[&[T, CS, TE]]), [(2, "N7")]);
    assert_eq!(broken(&[&[T, CS, TE, SEED]]), NONE);
    assert_eq!(
        broken(&[&[T, CS, TE, r#"["compaction/end",{"compactionId":"k","turn":1}]"#, SEED]])[0],
        (2, "N7")
    );
    assert_eq!(broken(&[&[T, CS, CE, TE]]), NONE);
}

#[test]
fn replacements_cover_what_they_remove_and_spare_the_head() {
    let begin: &[&str] = &[T, S, SYS, U, U];
    let user = |op: &str, sources: &str| {
        format!(r#"["user/message",{{"source":{{"kind":"x"}}}},{{"op":"replace",{op}}},{sources}]"#)
    };
    let over = |op: &str, sources: &str| broken(&[begin, &[&user(op, sources)]]);
    assert_eq!(over(r#""startSeq":3,"endSeq":4"#, "[3,4]"), NONE);
    assert_eq!(over(r#""startSeq":3,"endSeq":4"#, "[3]"), [(5, "N8")]);
    assert_eq!(over(r#""startSeq":4,"endSeq":3"#, "[3,4]"), [(5, "N8")]);
    assert_eq!(over(r#""startSeq":2,"endSeq":3"#, "[2,3]"), [(5, "N8")]);
    let head = SYS.replace("}}}]", r#"}}},{"op":"replace","startSeq":2,"endSeq":2},[2]]"#);
    assert_eq!(broken(&[begin, &[&head]]), NONE);
    assert_eq!(broken(&[&[U, T, S, SYS, SYS]]), [(3, "N8")], "a missing head is one fault");
}

#[test]
fn calls_are_advertised_started_and_answered_once() {
    let begin: &[&str] = &[T, S];
    assert_eq!(broken(&[begin, &[A, A]]), [(3, "N13")]);
    assert_eq!(broken(&[begin, &[C]]), [(2, "N14")]);
    assert_eq!(broken(&[begin, &[A, C, C]]), [(4, "N14")]);
    assert_eq!(broken(&[begin, &[A, &C.replace("{}", "[]")]]), [(3, "N14")]);
    assert_eq!(broken(&[begin, &[A, C, R, R]]), [(5, "N15")]);
    assert_eq!(broken(&[begin, &[A, R]]), [(3, "N15")]);
    assert_eq!(
        broken(&[&[&R.replace("}}]", r#"}},{"op":"replace","startSeq":0,"endSeq":0}]"#)]]),
        [(0, "N8"), (0, "N16")]
    );
    let repair = |id: &str, text: &str| {
        format!(
            r#"["tool/result",{{"turn":1,"step":1,"error":{{"name":"ToolNotStartedError","code":"TOOL_NOT_STARTED"}},"message":{{"id":"{id}","source":{{"kind":"tool","callId":"c"}},"toolCallId":"c","isError":true,"content":[{{"type":"text","text":"{text}"}}]}}}}]"#
        )
    };
    let fixed = "The tool call was interrupted before the Harness recorded it as started. Retry it if it is still needed.";
    assert_eq!(broken(&[begin, &[A, &repair("interrupted-tool-result-c-99", fixed)]]), NONE);
    assert_eq!(broken(&[begin, &[A, &repair("interrupted-tool-result-c-01", fixed)]]), [(3, "N15")]);
    assert_eq!(broken(&[begin, &[A, &repair("interrupted-tool-result-c-3", "no")]]), [(3, "N15")]);
    assert_eq!(broken(&[begin, &[A, &repair("forked-tool-result-c-3", "any")]]), NONE);
}

#[test]
fn added_tools_are_those_of_the_named_header() {
    let developer = |name: &str, seq: u64| {
        format!(
            r#"["developer/message",{{"turn":1,"step":1,"headerSeq":{seq},"message":{{"source":{{"kind":"tool-registry"}},"content":[{{"type":"tool-addition","toolName":"{name}"}}]}}}}]"#
        )
    };
    assert_eq!(broken(&[&[T, S, H, &developer("t", 2)]]), NONE);
    assert_eq!(broken(&[&[T, S, H, &developer("u", 2)]]), [(3, "N17")]);
    assert_eq!(broken(&[&[T, S, H, &developer("t", 1)]]), [(3, "N17")]);
}

#[test]
fn nested_dispatches_keep_their_root_and_settle_once() {
    let nested = |what: &str, id: &str, parent: &str, args: u8| {
        format!(
            r#"["tool/ptc-dispatch{what}",{{"rootCallId":"r","parentCallId":"{parent}","subCallId":"{id}","name":"n","arguments":{{"a":{args}}}}}]"#
        )
    };
    let start = nested("-start", "a", "r", 1);
    assert_eq!(broken(&[&[T, &start, &nested("-start", "b", "a", 1), &nested("", "a", "r", 1)]]), NONE);
    assert_eq!(broken(&[&[T, &start, &start]]), [(2, "N19")]);
    assert_eq!(broken(&[&[T, &nested("-start", "b", "a", 1)]]), [(1, "N19")]);
    assert_eq!(broken(&[&[T, &start, &nested("", "a", "r", 2)]]), [(2, "N19")]);
    assert_eq!(broken(&[&[&start]]), [(0, "N19")]);
}

#[test]
fn retries_count_up_and_start_once() {
    let retry = |id: &str, n: u64, provider: &str| {
        format!(
            r#"["llm/retry",{{"retryId":"{id}","turn":1,"step":1,"provider":"{provider}","policyKey":"k","retry":{n}}}]"#
        )
    };
    let started = r#"["llm/retry-started",{"retryId":"a","turn":1,"step":1,"retry":1}]"#;
    let begin: &[&str] = &[T, S, H];
    assert_eq!(broken(&[begin, &[&retry("a", 1, "p"), started, SE, &retry("a", 2, "p")]]), NONE);
    assert_eq!(broken(&[begin, &[&retry("a", 1, "p"), &retry("a", 3, "p")]]), [(4, "N20")]);
    assert_eq!(broken(&[begin, &[&retry("a", 1, "p"), &retry("b", 2, "p")]]), [(4, "N20")]);
    assert_eq!(broken(&[begin, &[&retry("a", 1, "q")]]), [(3, "N20")]);
    assert_eq!(broken(&[begin, &[started]]), [(3, "N21")]);
    assert_eq!(broken(&[begin, &[&retry("a", 1, "p"), started, started]]), [(5, "N21")]);
}

#[test]
fn titles_name_messages_of_the_user() {
    let title = |seqs: &str, kind: &str| {
        format!(r#"["session/title",{{"title":"t","messageSeqs":{seqs},"source":{{"kind":"{kind}"}}}}]"#)
    };
    assert_eq!(broken(&[&[U, &title("[0]", "fallback"), &title("[]", "user")]]), NONE);
    assert_eq!(broken(&[&[U, &title("[0]", "user")]]), [(1, "N22")]);
    assert_eq!(broken(&[&[U, &title("[0,0]", "fallback")]]), [(1, "N22")]);
    assert_eq!(broken(&[&[U, &title("[1]", "fallback")]]), [(1, "N22")]);
    let request = |kind: &str| {
        format!(
            r#"["session/title-llm-request",{{"messageSeqs":[0],"messages":[{{"role":"user","source":{{"kind":"{kind}"}},"content":[{{"type":"text","text":"x"}}]}}]}}]"#
        )
    };
    assert_eq!(broken(&[&[U, &request("dsh-session-title-llm")]]), NONE);
    assert_eq!(broken(&[&[U, &request("user")]]), [(1, "N23")]);
}

#[test]
fn commands_run_under_ids_of_their_own() {
    let run = r#"["command/run",{"commandId":"a"}]"#;
    let done = |kind: &str, seq: u64| {
        format!(r#"["command/done",{{"commandId":"a","kind":"{kind}","sourceEventSeq":{seq}}}]"#)
    };
    assert_eq!(
        broken(&[&[T, run, &done("success", 0), r#"["command/done",{"commandId":"a","kind":"error"}]"#]]),
        NONE
    );
    assert_eq!(broken(&[&[run, run]]), [(1, "N24")]);
    assert_eq!(broken(&[&[T, run, &done("success", 1)]]), [(2, "N25")]);
    assert_eq!(broken(&[&[T, run, &done("error", 0)]]), [(2, "N25")]);
    assert_eq!(broken(&[&[r#"["command/done",{"commandId":"a"}]"#]]), [(0, "N25")]);
}

#[test]
fn compactions_name_their_span_and_have_one_owner() {
    let summary = |seqs: &str, id: &str| {
        format!(
            r#"["compaction/summary",{{"compactionId":"{id}","shadowedRange":{{"start":1,"end":2}},"shadowedSeqs":{seqs}}}]"#
        )
    };
    let end = r#"["compaction/end",{"compactionId":"k","turn":1}]"#;
    let checkpoint = r#"["user/message",{"source":{"kind":"compact-checkpoint","compactionId":"k"}},{"op":"replace","startSeq":1,"endSeq":2},[1,2]]"#;
    let begin: &[&str] = &[T, U, U, CS];
    assert_eq!(broken(&[begin, &[&summary("[1,2]", "k"), checkpoint, end]]), NONE);
    assert_eq!(broken(&[begin, &[&summary("[1]", "k")]]), [(4, "N27")]);
    assert_eq!(broken(&[begin, &[&summary("[1,2]", "j")]]), [(4, "N28")]);
    assert_eq!(broken(&[begin, &[&summary("[1,2]", "k"), &summary("[1,2]", "k")]]), [(5, "N28")]);
    assert_eq!(broken(&[begin, &[end]]), [(4, "N29")]);
    assert_eq!(broken(&[begin, &[CS]]), [(4, "N26")]);
    assert_eq!(broken(&[&[CS]]), [(0, "N26")]);
    assert_eq!(broken(&[&[T, U, U, checkpoint]]), [(3, "N30")]);
    assert_eq!(broken(&[begin, &[SEED, end]]), [(5, "N29")], "an end-seed closes it (N31)");
    let prune = r#"["compaction/prune",{"shadowedRange":{"start":2,"end":2},"shadowedSeqs":[2]}]"#;
    assert_eq!(broken(&[&[T, S, SYS, prune]]), [(3, "N27")]);
    assert_eq!(broken(&[&[T, U, U, prune]]), NONE);
}

#[test]
fn the_first_pass_comes_first_and_no_more_than_a_hundred_are_kept() {
    let bad = r#"["user/message",{"source":{}}]"#;
    assert_eq!(broken(&[&[TE, bad]]), [(1, "N2"), (0, "N10")]);
    assert_eq!(broken(&[&[bad; 300]]).len(), 100);
}
