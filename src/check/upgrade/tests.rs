//! Each refusal of an upgrade, on a log that is sound but for it.

use crate::check::tests::{A, C, H, HEADER, R, S, SE, T, TE, U, findings};
use crate::fault::Code;

/// What an upgrade refuses, each with the seq it stands at.
fn asked_of(header: &str, lines: &[&str], target: u32) -> Vec<(String, Option<u64>)> {
    let findings = findings(header, lines, Some(target));
    let refused = findings.into_iter().filter(|finding| finding.code == Code::UpgradeRefused);
    refused.map(|finding| (finding.message, finding.place.seq.map(|seq| seq.0))).collect()
}

const HEADER_2: &str =
    r#"{"type":"session","version":2,"id":"a","createdAt":1,"isSeeded":false,"delegationDepth":0}"#;
const HEADER_3: &str =
    r#"{"type":"session","version":3,"id":"a","createdAt":1,"isSeeded":false,"delegationDepth":0}"#;

/// The first refusal says these words, and stands at that seq.
#[track_caller]
fn refused(header: &str, lines: &[&str], target: u32, words: &str, seq: u64) {
    let all = asked_of(header, lines, target);
    let first = all.first().unwrap_or_else(|| panic!("nothing is refused of {lines:?}"));
    assert!(first.0.contains(words) && first.1 == Some(seq), "{all:?}");
}

#[track_caller]
fn taken(header: &str, lines: &[&str], target: u32) {
    let all = asked_of(header, lines, target);
    assert!(all.is_empty(), "{all:?}");
}

const TURN: [&str; 9] = [T, S, U, H, A, C, R, SE, TE];
/// An answer of generation 2, which has its stream.
fn a2() -> String {
    A.replacen("\"message\":", "\"stream\":[],\"message\":", 1)
}

#[test]
fn a_sound_turn_goes_all_the_way() {
    for target in 1..=4 {
        taken(HEADER, &TURN, target);
    }
    taken(HEADER_2, &[T, S, U, H, &a2(), C, R, SE, TE], 3);
}

#[test]
fn the_first_edge_knows_each_type_and_its_members() {
    let preset = r#"permission/preset {"preset":"p","origin":"x"}"#;
    refused(HEADER, &[preset], 1, "has the unexpected member origin", 0);
    assert_eq!(asked_of(HEADER, &[preset, preset], 1).len(), 2);
    refused(HEADER, &[r#"x/y {} | "ignorable":true"#], 1, "an unknown event type", 0);
    refused(HEADER, &[r#"subagent/catalog {} | "ignorable":true"#], 1, "an unknown event type", 0);
    let descriptor = r#"subagent/descriptor {"mode":"one-shot","version":2,"provider":"p"}"#;
    refused(HEADER, &[descriptor], 1, "another version than 3", 0);
    taken(HEADER, &[&descriptor.replace('2', "3")], 1);
    let more = HEADER.replace("}", ",\"more\":1}");
    let all = asked_of(&more, &[U], 1);
    assert!(all[0].0.contains("a header that has the unexpected member more") && all[0].1.is_none());
    let delivery =
        r#"session-log-deepseek/delivery-accepted {"sessionId":"b","throughSeq":0} | "ignorable":true"#;
    refused(HEADER, &[U, delivery], 1, "a delivery marker", 1);
    taken(HEADER, &[U, &delivery.replace("\"b\"", "\"a\"")], 1);
    refused(HEADER, &[T, S, &H.replace("\"initial\"", "\"other\"")], 1, "reason is not one of", 2);
    refused(
        HEADER,
        &[&U.replace("{\"kind\":\"user\"}", "{\"kind\":\"user\",\"x\":1}")],
        1,
        "source has the",
        0,
    );
    refused(HEADER, &[&U.replace("[]", "[{\"type\":\"text\"}]")], 1, "content[0] lacks the member text", 0);
    let nested = r#"[{"type":"tool-result","toolCallId":"c","content":[{"type":"text"}]}]"#;
    refused(HEADER, &[&U.replace("[]", nested)], 1, "results with sound blocks", 0);
}

#[test]
fn what_early_releases_left_out_is_made_up() {
    taken(HEADER, &[T, S, &H.replace("\"config\"", "\"messagePrefix\":[],\"config\""), SE, TE], 2);
    refused(
        HEADER,
        &[T, S, &H.replace("\"config\"", "\"messagePrefix\":1,\"config\"")],
        1,
        "messagePrefix",
        2,
    );
    let start = r#"compaction/start {"turn":null}"#;
    let end = r#"compaction/end {"turn":null,"error":"no"}"#;
    taken(HEADER, &[start, end], 2);
    refused(HEADER, &[end], 2, "lacks the member compactionId", 0);
    let retry = r#"llm/retry {"turn":1,"step":1,"provider":"p","policyKey":"k","mode":"always","retry":1,"delayMs":5,"failure":{"message":"m","code":"c"}}"#;
    taken(HEADER, &[T, S, H, retry, &retry.replace("\"retry\":1", "\"retry\":2"), SE, TE], 2);
}

#[test]
fn a_goal_that_changes_in_a_message_shows_its_change() {
    let message = |text: &str| {
        format!(
            r#"user/message {{"id":"u","role":"user","source":{{"kind":"goal","goalId":"g","revision":2,"round":0,"change":{{"kind":"goal/change","version":1,"operation":"clear","cleared":{{"id":"g","revision":2}},"clearedAt":5}}}},"content":[{{"type":"text","text":"{text}"}}]}}"#
        )
    };
    let sound =
        message(r#"<goal_state>{\"cleared\":{\"id\":\"g\",\"revision\":2},\"clearedAt\":5}</goal_state>"#);
    taken(HEADER, &[&sound], 1);
    refused(HEADER, &[&message("")], 1, "whose text does not show it", 0);
    refused(HEADER, &[&sound.replace("\"goalId\":\"g\"", "\"goalId\":\"h\"")], 1, "names another", 0);
    refused(HEADER, &[&sound.replace("\"round\":0", "\"round\":1")], 1, "round is not 0", 0);
}

/// A chunk of the open step.
const K: &str = r#"assistant/chunk {"turn":1,"step":1,"chunk":{"type":"text-delta","index":0,"text":"t"}}"#;

fn citing(sources: &str) -> String {
    format!(r#"{A} | "sourceEventSeqs":{sources},"surfaceOp":"append""#)
}

#[test]
fn attempts_are_taken_whole_or_refused() {
    taken(HEADER, &[T, S, H, K, K, &citing("[3,4]"), C, R, SE, TE], 2);
    refused(HEADER, &[T, S, H, K, K, &citing("[3]"), C, R, SE, TE], 2, "not one whole attempt", 5);
    refused(HEADER, &[T, S, H, K, K, &citing("[4,3]"), C, R, SE, TE], 2, "not one whole attempt", 5);
    refused(HEADER, &[T, S, H, K, A, C, R, SE, TE], 2, "does not name the chunks before it", 4);
    refused(HEADER, &[K], 2, "chunks outside of an open turn and step", 0);
    let cited = r#"user/message {"id":"v","role":"user","source":{"kind":"user"},"content":[]} | "sourceEventSeqs":[3],"surfaceOp":"append""#;
    refused(HEADER, &[T, S, H, K, cited], 2, "sources that name chunks", 4);
    let run = r#"command/run {"commandId":"x","name":"n","source":{"kind":"user"}}"#;
    let done = r#"command/done {"commandId":"x","kind":"success","sourceEventSeq":2}"#;
    refused(HEADER, &[T, S, K, run, done], 2, "sourceEventSeq that names chunks", 4);
    refused(
        HEADER,
        &[T, S, &K.replace("\"chunk\":{\"type\":\"text-delta\",\"index\":0,\"text\":\"t\"}", "\"x\":0")],
        2,
        "without a chunk",
        2,
    );
    let seeded = HEADER.replace("}", ",\"seedLength\":4}");
    refused(&seeded, &[T, S, H, K, K, SE, TE], 2, "splits an attempt", 4);
    taken(&seeded.replace('4', "3"), &[T, S, H, K, K, SE, TE], 2);
}

/// Five chunks in one row; time goes back once.
const PACKED: &str =
    r#"text-chunks {"turn":1,"step":1,"index":0,"dt":[1,-5,1,1],"texts":["t","t","t","t","t"]}"#;

#[test]
fn each_chunk_of_a_packed_row_counts_as_if_it_stood_alone() {
    for row in [PACKED, &PACKED.replace("-5", "5")] {
        taken(HEADER, &[T, S, H, row, &citing("[3,4,5,6,7]"), C, R, SE, TE], 2);
        taken(HEADER, &[T, S, H, row, K, &citing("[3,4,5,6,7,8]"), C, R, SE, TE], 2);
        refused(HEADER, &[T, S, H, row, &citing("[3,7]"), C, R, SE, TE], 2, "not one whole attempt", 8);
        let done = r#"command/done {"commandId":"x","kind":"success","sourceEventSeq":4}"#;
        let run = r#"command/run {"commandId":"x","name":"n","source":{"kind":"user"}}"#;
        refused(HEADER, &[T, S, H, row, run, done], 2, "sourceEventSeq that names chunks", 9);
        for cut in 4..=7 {
            let seeded = HEADER.replace("}", &format!(",\"seedLength\":{cut}}}"));
            refused(&seeded, &[T, S, H, row, SE, TE], 2, "splits an attempt", cut);
        }
    }
}

#[test]
fn a_turn_that_was_left_open_is_closed_before_a_prompt_only() {
    let put = r#"agent/inbox/spliced {"target":"next-turn","start":0,"inserted":[{"id":"m","role":"user","source":{"kind":"user"},"content":[]}]}"#;
    let second = r#"turn/start {"turn":2}"#;
    taken(HEADER, &[T, put, second], 2);
    refused(HEADER, &[T, second], 2, "a turn/start inside an open turn", 1);
}

#[test]
fn a_repair_keeps_its_seq_or_is_tolerated_later() {
    let fixed = "The tool call was interrupted before the Harness recorded it as started. Retry it if it is still needed.";
    let repair = |number: u64| {
        format!(
            r#"tool/result {{"turn":1,"step":1,"message":{{"id":"interrupted-tool-result-c-{number}","role":"user","source":{{"kind":"tool","callId":"c"}},"content":[{{"type":"tool-result","toolCallId":"c","isError":true,"content":[{{"type":"text","text":"{fixed}"}}]}}]}},"error":{{"name":"ToolNotStartedError","code":"TOOL_NOT_STARTED"}}}}"#
        )
    };
    taken(HEADER, &[T, S, U, H, A, &repair(5), SE, TE], 2);
    let (chunks, message) = ([K, K], citing("[4,5]"));
    let moved = repair(7);
    let lines = [T, S, U, H, chunks[0], chunks[1], &message, &moved, SE, TE];
    refused(HEADER, &lines, 2, "does not hold its seq in the result, 5", 7);
    taken(HEADER, &lines, 3);
    refused(HEADER, &[T, S, U, H, A, &repair(5).replace("Retry", "Do")], 2, "not the exact repair", 5);
    refused(
        HEADER_2,
        &[T, S, U, H, &a2(), &repair(5).replace("result-c-", "result-d-")],
        3,
        "not that of one",
        5,
    );
}

#[test]
fn the_third_edge_needs_a_step_before_the_surface() {
    refused(HEADER, &[U, T, S], 3, "a surface event before the first step/start", 0);
    taken(HEADER, &[U, T, S], 2);
    let prompt = |text: &str| H.replace("\"config\"", &format!("\"system\":\"{text}\",\"config\""));
    taken(HEADER, &[T, S, &prompt("p"), SE, TE], 3);
    refused(HEADER, &[T, S, SE, &prompt("p"), TE], 3, "changes the system prompt outside", 3);
    taken(HEADER, &[T, S, &prompt("p"), SE, &prompt("p"), TE], 3);
}

#[test]
fn the_third_edge_knows_what_it_carries_over() {
    let from = |source: &str| U.replace("{\"kind\":\"user\"}", source);
    refused(HEADER, &[T, S, &from(r#"{"kind":"x"}"#)], 3, "a source that the upgrade does not know", 2);
    refused(HEADER, &[T, S, &from(r#"{"kind":"agent-message"}"#)], 3, "a source that the upgrade", 2);
    taken(HEADER, &[T, S, &from(r#"{"kind":"x"}"#)], 2);
    refused(HEADER, &[T, S, &U.replace("[]", r#"[{"type":"video"}]"#)], 3, "a content block that", 2);
    let file = r#"[{"type":"file","attachment":{"attachmentId":"a","name":"n","bytes":1}}]"#;
    taken(HEADER, &[T, S, &U.replace("[]", file)], 3);
    refused(HEADER, &[T, S, &U.replace("[]", &file.replace(":1", ":-1"))], 3, "a content block that", 2);
    let opened = K.replace(
        "\"text-delta\",\"index\":0,\"text\":\"t\"",
        "\"block-start\",\"index\":0,\"blockType\":\"video\"",
    );
    refused(HEADER, &[T, S, &opened], 3, "a content block that", 2);
    let failed = R.replacen("\"message\":", "\"error\":{\"name\":\"n\",\"code\":\"c\"},\"message\":", 1);
    refused(HEADER, &[T, S, U, H, A, C, &failed], 3, "an error on a tool/result that is none", 6);
    refused(HEADER_2, &[r#"x/y {} | "ignorable":true"#], 3, "an unknown event type", 0);
    let cited = format!(r#"{} | "sourceEventSeqs":[2],"surfaceOp":"append""#, a2());
    refused(HEADER_2, &[T, S, U, H, &cited], 3, "an assistant/message with sourceEventSeqs", 4);
    let delivery =
        r#"session-log-deepseek/delivery-accepted {"sessionId":"a","sessionFormatVersion":3,"throughSeq":0}"#;
    refused(HEADER_2, &[T, delivery], 3, "a delivery marker of generation 3", 1);
    refused(
        HEADER_2,
        &[T, &delivery.replace('3', "2").replace("\"a\"", "\"b\"")],
        3,
        "does not fit its log",
        1,
    );
}

#[test]
fn the_last_edge_keeps_the_rules_between_events() {
    for target in 2..=4 {
        refused(HEADER, &[T, S, H, A, C, SE, TE], target, "calls that have no result (N12)", 5);
        refused(HEADER, &[T, S, H, A, C, R, R], target, "for no advertised call", 6);
        refused(HEADER, &[T, S, H, A, R], target, "not the exact repair", 4);
        refused(HEADER, &[T, S, H, A, A], target, "a call that has no result yet (N13)", 4);
        refused(HEADER, &[T, S, H, C], target, "that no assistant/message advertised", 3);
        refused(HEADER, &[T, TE, TE], target, "turn 1 ends", 2);
        refused(HEADER, &[H], target, "outside of any turn (N18)", 0);
    }
    let start = r#"compaction/start {"compactionId":"k","turn":null}"#;
    let end = r#"compaction/end {"compactionId":"k","turn":null,"error":"e"}"#;
    refused(HEADER, &[start, T, TE, end], 2, "(N7)", 1);
    taken(HEADER, &[start, T, TE, r#"session/end-seed {}"#], 2);
    let checkpoint = r#"user/message {"id":"k","role":"user","source":{"kind":"plugin","plugin":"compact","compactionId":"k"},"content":[]} | "sourceEventSeqs":[0],"surfaceOp":{"op":"replace","start":0,"end":0}"#;
    refused(HEADER, &[U, checkpoint], 2, "(N30)", 1);
    let title = |seqs: &str| {
        format!(r#"session/title {{"title":"t","messageSeqs":{seqs},"source":{{"kind":"user"}}}}"#)
    };
    taken(HEADER, &[U, &title("[]")], 2);
    refused(HEADER, &[U, &title("[0]")], 2, "(N22)", 1);
    let sub = r#"tool/code-dispatch {"rootCallId":"r","parentCallId":"r","subCallId":"s","name":"n","arguments":{},"isError":false,"content":[]}"#;
    refused(HEADER, &[T, sub], 2, "settles without a start (N19)", 1);
}

/// A system message at the head of a log of generation 3.
const P: &str = r#"system/message {"turn":1,"step":1,"message":{"id":"p","role":"system","source":{"kind":"plugin","plugin":"@deepseek-ai/dsh-system-prompt"},"content":[]}}"#;

#[test]
fn the_fourth_edge_gives_messages_their_new_shape() {
    let open = [T, S, P];
    let with = |line: &str, words: &str| refused(HEADER_3, &[open[0], open[1], open[2], line], 4, words, 3);
    taken(HEADER_3, &[T, S, P, U, H, &a2(), C, R, SE, TE], 4);
    let other = P.replace("@deepseek-ai/dsh-system-prompt", "other");
    refused(HEADER_3, &[T, S, &other], 4, "of another source than the system prompt", 2);
    refused(HEADER_3, &[T, S, U, P], 4, "(N8)", 3);
    with(&U.replace("{\"kind\":\"user\"}", "{\"kind\":\"plugin\"}"), "has no kind, or no plugin");
    with(&U.replace("[]", r#"[{"x":1}]"#), "a content block without a type");
    with(
        &U.replace("[]", r#"[{"type":"tool-result","toolCallId":"c","content":[]}]"#),
        "generation 4 has none",
    );
    let tool = r#""tools":[{"name":"n","description":"d","parameters":{},"deferLoading":true}],"config""#;
    with(&H.replace("\"config\"", tool), "a tool with deferLoading");
    let delivery =
        r#"session-log-deepseek/delivery-accepted {"sessionId":"a","sessionFormatVersion":4,"throughSeq":0}"#;
    with(delivery, "a delivery marker of generation 4");
    with(&delivery.replace('4', "3").replace("\"a\"", "\"b\""), "does not fit its log");
    let child =
        r#"subagent/catalog {"version":0,"childId":"c","childCreatedAt":1,"mode":"continuable","label":"l"}"#;
    refused(HEADER_3, &[child, child], 4, "two subagent/catalog entries", 1);
    refused(HEADER_3, &[&child.replace("continuable", "often")], 4, "(N4)", 0);
    let result = |from: &str, to: &str, words: &str| {
        let answer = a2();
        let lines = [T, S, P, U, H, &answer, C, &R.replace(from, to)];
        refused(HEADER_3, &lines, 4, words, 7);
    };
    result("\"content\":[]", r#""isError":1,"content":[]"#, "isError is no boolean");
    result("\"content\":[]", r#""content":[{"type":"tool-result"}]"#, "a tool-result inside a tool-result");
    with(&H.replace("initial", "other"), "reason is not one of");
    let put = r#"agent/inbox/spliced {"target":"next-turn","start":0,"inserted":[{"id":"m","role":"developer","source":{"kind":"user"},"content":[]}]}"#;
    with(put, "a message of a developer");
    let opened = a2().replace("\"stream\":[]", r#""stream":[{"type":"chunk","time":1,"chunk":{"type":"block-start","index":0,"blockType":"tool-result"}}]"#);
    refused(HEADER_3, &[T, S, P, U, H, &opened], 4, "generation 4 has none", 5);
}

/// An answer of generation 3 with that content, those records and perhaps more members.
fn answer(content: &str, stream: &str, more: &str) -> String {
    format!(
        r#"assistant/message {{"turn":1,"step":1,"message":{{"id":"a","role":"assistant","source":{{"kind":"model","provider":"p","model":"m"}},"content":{content}}},"stream":{stream}{more}}}"#
    )
}

/// A record of a stream that holds a chunk.
fn chunk(chunk: &str) -> String {
    format!(r#"{{"type":"chunk","time":1,"chunk":{chunk}}}"#)
}

#[test]
fn an_answer_comes_of_its_stream() {
    let run = r#"{"type":"text-chunks","time0":1,"index":0,"dt":[2],"texts":["a \ud83d","\ude00"]}"#;
    let call = r#"{"type":"tool-call-chunks","time0":1,"index":1,"dt":[],"id":"c","name":"n","args":["{}"]}"#;
    let usage = chunk(r#"{"type":"usage","usage":{"inputTokens":1,"outputTokens":2}}"#);
    let finish = |kind: &str| chunk(&format!(r#"{{"type":"finish","reason":{{"kind":"{kind}"}}}}"#));
    let said = r#"{"type":"text","text":"a \ud83d\ude00"}"#;
    let called = r#"{"type":"tool-call","id":"c","name":"n","arguments":"{}"}"#;
    let sound = |content: &[&str], stream: &[&str], more: &str| {
        let line = answer(&format!("[{}]", content.join(",")), &format!("[{}]", stream.join(",")), more);
        let all = asked_of(HEADER_3, &[T, S, P, &line], 4);
        all.into_iter().map(|(words, _)| words).next()
    };
    let is_wrong = |found: Option<String>, words: &str| {
        assert!(found.as_ref().is_some_and(|found| found.contains(words)), "{words}: {found:?}");
    };
    assert_eq!(sound(&[said], &[], ""), None);
    assert_eq!(sound(&[said], &[run, &finish("stop")], ""), None);
    assert_eq!(sound(&[said, called], &[run, call, &finish("tool-calls")], ""), None);
    assert_eq!(sound(&[said], &[run, call, &finish("max-tokens")], ""), None);
    assert_eq!(sound(&[said], &[run, call], r#","interrupted":true"#), None);
    is_wrong(sound(&[called], &[run, call], ""), "another content");
    is_wrong(sound(&[said], &[run, &usage], ""), "another usage");
    assert_eq!(sound(&[said], &[run, &usage], r#","usage":{"outputTokens":2,"inputTokens":1}"#), None);
    let state = chunk(r#"{"type":"finish","reason":{"kind":"stop"},"replayState":{"response":1}}"#);
    is_wrong(sound(&[said], &[run, &state], ""), "another replayState");
    let ended = chunk(r#"{"type":"block-end","index":0,"block":{"type":"text","text":"end"}}"#);
    assert_eq!(sound(&[r#"{"type":"text","text":"end"}"#], &[run, &ended, run], ""), None);
    let begun = chunk(r#"{"type":"block-start","index":0,"blockType":"video"}"#);
    is_wrong(sound(&[], &[&begun], ""), "leaves a block open");
    is_wrong(sound(&[said], &[&run.replace("[2]", "[]")], ""), "a gap between each two");
    is_wrong(
        sound(&[said], &[&run.replace("\"time0\":1", "\"time0\":9007199254740991")], ""),
        "a gap between",
    );
    is_wrong(sound(&[said], &[&run.replace("\"dt\"", "\"x\":1,\"dt\"")], ""), "the unexpected member x");
}
