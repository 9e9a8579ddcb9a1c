//! Old shapes and what they become.

use super::*;

fn run(kind: Kind, data: &str, op: SurfaceOp) -> Upgrade {
    upgrade(kind, Raw::parse(data.as_bytes()).unwrap(), op, b"s", 7)
}

fn text(kind: Kind, data: &str) -> String {
    match run(kind, data, SurfaceOp::Append) {
        Upgrade::Current => "current".into(),
        Upgrade::Malformed(_) => "malformed".into(),
        Upgrade::Rewritten { data, .. } => String::from_utf8(data).unwrap(),
    }
}

#[test]
fn a_turn_start_loses_its_trigger() {
    for (data, becomes) in [
        (r#"{"turn":1}"#, "current"),
        ("null", "current"),
        (r#"{"trigger":{"kind":"user"},"turn":1.0}"#, r#"{"turn":1.0}"#),
        (r#"{"turn":1,"trigger":{"kind":""}}"#, "malformed"),
        (r#"{"turn":0,"trigger":{"kind":"u"}}"#, "malformed"),
        (r#"{"turn":1,"trigger":{"kind":"u"},"x":1}"#, "malformed"),
    ] {
        assert_eq!(text(Kind::TurnStart, data), becomes, "{data}");
    }
}

#[test]
fn reasons_of_a_turn_end_are_those_of_today() {
    let failure = r#"{"message":"m","code":"c","status":1}"#;
    let with_failure = format!(r#"{{"kind":"error","step":0,"failure":{failure}}}"#);
    for (reason, becomes) in [
        (r#"{"kind":"completed"}"#, "current"),
        (r#"{"kind":"completed","x":1}"#, "malformed"),
        (r#"{"kind":"aborted","reason":1}"#, "current"),
        (r#"{"kind":"aborted","x":1}"#, "malformed"),
        (r#"{"kind":"aborted"}"#, r#"{"turn":1,"reason":{"kind":"aborted","reason":{"kind":"legacy"}}}"#),
        (r#"{"kind":"disposed"}"#, r#"{"turn":1,"reason":{"kind":"aborted","reason":{"kind":"disposed"}}}"#),
        (r#"{"kind":"disposed","x":1}"#, "malformed"),
        (r#"{"kind":"novel","x":1}"#, "current"),
        (r#"{"kind":"error","error":1}"#, "current"),
        (r#"{"kind":"error"}"#, "malformed"),
        (r#"{"kind":"error","step":0,"failure":{"message":"m"}}"#, "malformed"),
        (r#"{"kind":1}"#, "malformed"),
        (&with_failure, &format!(r#"{{"turn":1,"reason":{{"kind":"error","error":{failure}}}}}"#)),
        (
            r#"{"kind":"error","step":0,"message":"m"}"#,
            r#"{"turn":1,"reason":{"kind":"error","error":{"message":"m","code":"UNKNOWN"}}}"#,
        ),
        (r#"{"kind":"error","step":-1,"message":"m"}"#, "malformed"),
        ("1", "malformed"),
    ] {
        assert_eq!(text(Kind::TurnEnd, &format!(r#"{{"turn":1,"reason":{reason}}}"#)), becomes, "{reason}");
    }
    assert_eq!(text(Kind::TurnEnd, r#"{"turn":1,"reason":{"kind":"completed"},"x":1}"#), "malformed");
    assert_eq!(text(Kind::TurnEnd, "7"), "current");
}

#[test]
fn messages_get_an_id_and_their_role() {
    for (kind, data, becomes) in [
        (
            Kind::UserMessage,
            r#"{"source":1,"x":1e999,"content":[]}"#,
            r#"{"source":1,"x":1e999,"content":[],"id":"legacy-message:s:7","role":"user"}"#,
        ),
        (Kind::UserMessage, r#"{"source":1,"content":[],"role":"user"}"#, "current"),
        (
            Kind::SteeringMessage,
            r#"{"turn":1,"source":1,"content":[]}"#,
            r#"{"source":1,"content":[],"id":"legacy-message:s:7","role":"user"}"#,
        ),
        (Kind::SteeringMessage, r#"{"turn":1,"message":{"id":"a"}}"#, r#"{"id":"a"}"#),
        (Kind::SteeringMessage, r#"{"turn":1,"source":1,"content":[],"x":1}"#, "malformed"),
        (Kind::SteeringMessage, r#"{"turn":1,"step":1,"message":{"id":"a"}}"#, "malformed"),
        (Kind::SteeringMessage, "null", "malformed"),
        (
            Kind::AssistantMessage,
            r#"{"turn":1,"content":[],"provenance":{"kind":"x","model":"m"}}"#,
            r#"{"turn":1,"message":{"id":"legacy-message:s:7","role":"assistant","content":[],"source":{"kind":"model","model":"m"}}}"#,
        ),
        (Kind::AssistantMessage, r#"{"message":{},"content":[],"provenance":{}}"#, "current"),
        (
            Kind::ToolResult,
            r#"{"turn":1,"callId":"c","content":[],"isError":false,"meta":1}"#,
            r#"{"turn":1,"meta":1,"message":{"id":"legacy-message:s:7","role":"user","content":[{"type":"tool-result","toolCallId":"c","content":[],"isError":false}],"source":{"kind":"tool","callId":"c"}}}"#,
        ),
        (Kind::ToolResult, r#"{"callId":"c","content":[]}"#, "current"),
    ] {
        assert_eq!(text(kind, data), becomes, "{data}");
    }
}

#[test]
fn a_replacing_result_takes_over_the_id_of_what_it_replaces() {
    let op = SurfaceOp::Replace { start: 3, end: 3 };
    let done = run(Kind::ToolResult, r#"{"callId":"c","content":[],"isError":false}"#, op);
    let Upgrade::Rewritten { data, inherits_id_from, .. } = done else { panic!("{done:?}") };
    assert_eq!(inherits_id_from, Some(3));
    assert!(Raw::parse(&data).unwrap().path(&["message", "id"]).is_none());
    let whole = with_message_id(Raw::parse(&data).unwrap(), br#""\u0061""#);
    assert!(whole.starts_with(br#"{"message":{"id":"\u0061","role":"user","content""#));
}

#[test]
fn a_new_reason_of_a_turn_end_stands_where_the_old_one_stood() {
    assert_eq!(
        text(Kind::TurnEnd, r#"{"reason":{"kind":"aborted"},"turn":1.0}"#),
        r#"{"reason":{"kind":"aborted","reason":{"kind":"legacy"}},"turn":1.0}"#
    );
}
