//! Tool rows: pairing, calls without result, nested calls.

use super::*;

#[test]
fn a_call_without_result_says_so() {
    let mut events = vec![TURN, STEP, HELLO, CALL];
    assert_eq!(tool(&rows(4, &events)[1]).call.status, ToolStatus::Running);
    events.push(DONE);
    let closed = rows(4, &events);
    let call = &tool(closed.iter().find(|row| row.body.kind() == "tool").unwrap()).call;
    assert_eq!((call.status, call.error_code.as_deref()), (ToolStatus::Interrupted, Some("interrupted")));
    let asked = rows(4, &[TURN, STEP, HELLO, STEP_END, DONE]);
    let row = asked.iter().find(|row| row.body.kind() == "tool").unwrap();
    assert_eq!((tool(row).call.status, row.anchor.number().as_str()), (ToolStatus::NotStarted, "3.2"));
}

#[test]
fn closers_say_what_is_known_of_a_call() {
    let closer = |code: &str| {
        format!(
            r#"{{"turn":1,"step":1,"message":{{"source":{{"kind":"tool","callId":"c1"}},
                "content":[{{"type":"tool-result",
            "toolCallId":"c1","isError":true,"content":[{{"type":"text","text":"x"}}]}}]}},
            "error":{{"name":"E","code":"{code}"}}}}"#
        )
    };
    let rest = r#","surfaceOp":"append","synthetic":true"#;
    let unknown = closer("TOOL_OUTCOME_UNKNOWN");
    let started = rows(0, &[TURN, STEP, HELLO, CALL, ("tool/result", &unknown, rest)]);
    let row = &started[1];
    assert_eq!((tool(row).call.status, row.synthetic, row.seq), (ToolStatus::OutcomeUnknown, true, Seq(3)));
    assert_eq!(tool(row).call.duration_ms, None);
    let not_started = closer("TOOL_NOT_STARTED");
    let never = rows(0, &[TURN, STEP, HELLO, ("tool/result", &not_started, rest)]);
    let call = &tool(&never[1]).call;
    assert_eq!((call.status, call.name.as_deref()), (ToolStatus::NotStarted, Some("t")));
    assert_eq!(never[1].anchor.number(), "3");
}

#[test]
fn a_second_call_with_the_same_id_opens_a_second_row() {
    let rows = rows(4, &[TURN, STEP, CALL, CALL, RESULT, RESULT, STEP_END, DONE]);
    let states: Vec<_> = rows[..3].iter().map(|row| tool(row).call.status).collect();
    assert_eq!(states, [ToolStatus::Interrupted, ToolStatus::Done, ToolStatus::Done]);
    assert_eq!(anchors(&rows[..3]), ["2", "3", "5"]);
}

#[test]
fn a_replacement_of_a_result_changes_no_row() {
    let pruned = RESULT.1.replace("out", "cut");
    let replace = r#","surfaceOp":{"op":"replace","startSeq":3,"endSeq":3}"#;
    let rows = rows(4, &[TURN, STEP, CALL, RESULT, ("tool/result", &pruned, replace), STEP_END, DONE]);
    assert_eq!(kinds(&rows), ["tool", "turn-end"]);
    assert_eq!(tool(&rows[0]).call.blocks, [Block::Text("out".into())]);
}

#[test]
fn nested_calls_stand_below_the_call_that_made_them() {
    let start = |parent: &str, id: &str| {
        format!(
            r#"{{"rootCallId":"c1","parentCallId":"{parent}","subCallId":"{id}","name":"n",
                "arguments":{{"p":1}}}}"#
        )
    };
    let settle = r#"{"rootCallId":"c1","parentCallId":"x","subCallId":"x","name":"n","arguments":{},
        "isError":true,"content":[]}"#;
    let rows = rows(
        4,
        &[
            TURN,
            STEP,
            CALL,
            ("tool/ptc-dispatch-start", &start("c1", "x"), ""),
            ("tool/ptc-dispatch-start", &start("c1", "z"), ""),
            ("tool/ptc-dispatch-start", &start("x", "y"), ""),
            ("tool/ptc-dispatch", settle, ""),
            RESULT,
        ],
    );
    let children = &tool(&rows[0]).children;
    let shape: Vec<_> =
        children.iter().map(|c| (c.call.id.as_deref().unwrap(), c.depth, c.call.status)).collect();
    use ToolStatus::{Error, Interrupted};
    assert_eq!(shape, [("x", 1, Error), ("y", 2, Interrupted), ("z", 1, Interrupted)]);
}

#[test]
fn nesting_is_bounded() {
    let mut events = vec![TURN, STEP, CALL];
    let deep: Vec<String> = (0..400)
        .map(|n| {
            let parent = if n == 0 { "c1".to_owned() } else { format!("s{}", n - 1) };
            format!(r#"{{"rootCallId":"c1","parentCallId":"{parent}","subCallId":"s{n}","name":"n"}}"#)
        })
        .collect();
    events.extend(deep.iter().map(|data| ("tool/ptc-dispatch-start", data.as_str(), "")));
    let rows = rows(4, &events);
    let children = &tool(&rows[0]).children;
    assert!(children.iter().all(|child| child.depth <= 256) && children.len() >= 256);
}
