//! What was said: people, the model, and words that were cut off.

use super::*;

#[test]
fn a_turn_is_told_in_order_and_ends_with_its_tail() {
    let said = user("u", r#"{"kind":"user"}"#);
    let rows = rows(4, &[TURN, STEP, ("user/message", &said, APPEND), HELLO, CALL, RESULT, STEP_END, DONE]);
    assert_eq!(kinds(&rows), ["user", "assistant", "tool", "turn-end"]);
    assert_eq!(anchors(&rows), ["2", "3", "4", "7"]);
    let Body::TurnEnd(end) = &rows[3].body else { panic!() };
    assert_eq!((end.duration_ms, end.steps, end.tools, end.can_branch), (Some(7000), 1, 1, false));
    assert_eq!((end.first_token_ms, end.usage.unwrap().output), (Some(2500), 2));
    let call = &tool(&rows[2]).call;
    assert_eq!((call.status, call.duration_ms), (ToolStatus::Done, Some(1000)));
    assert_eq!(call.content.as_deref(), Some(&br#"[{"type":"text","text":"out"}]"#[..]));
    assert_eq!(rows[2].turn.zip(rows[2].step), Some((1, 1)));
}

#[test]
fn a_message_claimed_from_the_next_step_inbox_is_steering_unless_canceled() {
    let insert = |id: &str| {
        format!(r#"{{"target":"next-step","start":0,"inserted":[{}]}}"#, user(id, r#"{"kind":"user"}"#))
    };
    let claim = r#"{"target":"next-step","start":0,"removedCount":1,"inserted":[]}"#;
    let cancel = r#"{"target":"next-step","start":0,"removedCount":1,"inserted":[],"outcome":"canceled"}"#;
    let said = |id: &str| user(id, r#"{"kind":"user"}"#);
    let rows = rows(
        4,
        &[
            TURN,
            ("agent/inbox/spliced", &insert("a"), ""),
            ("agent/inbox/spliced", claim, ""),
            STEP,
            ("user/message", &said("a"), APPEND),
            ("agent/inbox/spliced", &insert("b"), ""),
            ("agent/inbox/spliced", cancel, ""),
            ("user/message", &said("b"), APPEND),
        ],
    );
    assert_eq!(kinds(&rows), ["steering", "user"]);
}

#[test]
fn a_reference_that_follows_at_once_labels_the_message_before_it() {
    let said = user("u", r#"{"kind":"user"}"#);
    let recall = user("r", r#"{"kind":"session-reference","form":"recall","references":[{"label":"old"}]}"#);
    let rows = rows(4, &[("user/message", &said, APPEND), ("user/message", &recall, APPEND)]);
    let (Body::User(said), Body::Context(context)) = (&rows[0].body, &rows[1].body) else { panic!() };
    assert_eq!(said.references, ["old"]);
    assert_eq!(
        (context.role, context.label.as_deref(), context.form),
        ("recall", Some("old"), Some("recall"))
    );
}

#[test]
fn words_streamed_in_a_closed_step_without_message_are_interrupted() {
    let (a, b) = (chunk("half "), chunk("said"));
    let rows =
        rows(0, &[TURN, STEP, ("assistant/chunk", &a, ""), ("assistant/chunk", &b, ""), STEP_END, DONE]);
    assert_eq!(
        (kinds(&rows), anchors(&rows)),
        (vec!["assistant", "turn-end"], vec!["3.1".into(), "5".into()])
    );
    let Body::Assistant(said) = &rows[0].body else { panic!() };
    assert_eq!(
        (said.state, said.content.as_slice()),
        (AssistantState::Interrupted, &br#"[{"type":"text","text":"half said"}]"#[..],)
    );
    assert!(said.message_id.is_none() && rows[0].time == 3000);
}

#[test]
fn a_retry_takes_the_words_of_the_failed_attempt_away() {
    let (a, b) = (chunk("lost"), chunk("kept"));
    let retry = |n: u32| {
        format!(
            r#"{{"retryId":"r","turn":1,"step":1,"retry":{n},"delayMs":5,"failure":{{"code":"SERVER"}}}}"#
        )
    };
    let started = r#"{"retryId":"r","turn":1,"step":1,"retry":1}"#;
    let rows = rows(
        0,
        &[
            TURN,
            STEP,
            ("assistant/chunk", &a, ""),
            ("llm/retry", &retry(1), ""),
            ("llm/retry-started", started, ""),
            ("assistant/chunk", &b, ""),
            ("llm/retry", &retry(2), ""),
            STEP_END,
            DONE,
        ],
    );
    assert_eq!(kinds(&rows), ["retry", "turn-end"]);
    let Body::Retry(retry) = &rows[0].body else { panic!() };
    let states: Vec<_> = retry.attempts.iter().map(|attempt| attempt.state.name()).collect();
    assert_eq!(states, ["started", "cancelled"]);
}

#[test]
fn words_that_stream_where_the_log_ends_are_running() {
    let rows =
        rows(0, &[TURN, STEP, ("assistant/chunk", &chunk(" "), ""), ("assistant/chunk", &chunk("w"), "")]);
    let Body::Assistant(said) = &rows[0].body else { panic!() };
    assert_eq!((said.state, rows[0].seq), (AssistantState::Running, Seq(3)));
}

#[test]
fn a_step_that_only_calls_tools_has_no_assistant_row() {
    let only = r#"{"turn":1,"step":1,"message":{"content":[{"type":"tool-call","id":"c1","name":"t",
        "arguments":""}]}}"#;
    let rows = rows(4, &[TURN, STEP, ("assistant/message", only, APPEND), CALL, RESULT, STEP_END, DONE]);
    assert_eq!(kinds(&rows), ["tool", "turn-end"]);
}

#[test]
fn an_attempt_with_words_is_a_failed_row_and_an_open_step_leaves_nothing() {
    let attempt = r#"{"turn":1,"step":1,"stream":[{"type":"text-chunks","time0":1,"index":0,"dt":[1],
        "texts":["a","b"]},
        {"type":"chunk","time":3,"chunk":{"type":"finish","reason":{"kind":"error","failure":{"code":"X",
        "message":"m"}}}}]}"#;
    let rows = rows(
        2,
        &[TURN, STEP, ("assistant/attempt", attempt, ""), ("assistant/attempt", r#"{"stream":[]}"#, "")],
    );
    assert_eq!(kinds(&rows), ["assistant"]);
    let Body::Assistant(said) = &rows[0].body else { panic!() };
    assert_eq!((said.state, &said.blocks[0]), (AssistantState::Failed, &Block::Text("ab".into())));
    assert_eq!(said.failure.as_ref().unwrap().code.as_deref(), Some("X"));
}

#[test]
fn messages_of_unknown_types_and_instructions_are_rows_too() {
    let system =
        r#"{"message":{"content":[{"type":"text","text":"be terse"}],"source":{"kind":"system-prompt"}}}"#;
    let empty = r#"{"message":{"content":[],"source":{"kind":"system-prompt"}}}"#;
    let rows = rows(
        4,
        &[
            ("plugin:x/note", r#"{"n":1e999}"#, APPEND),
            ("system/message", system, APPEND),
            ("system/message", empty, APPEND),
        ],
    );
    assert_eq!(kinds(&rows), ["unknown", "context"]);
    assert!(
        String::from_utf8(rows[0].to_json())
            .unwrap()
            .contains(r#""type":"plugin:x/note","data":{"n":1e999}"#)
    );
}
