//! Compactions, commands, ends of turns, workflows, forks, and data of any shape.

use super::*;

const SUMMARY: &str = r#"{"compactionId":"k","summary":[{"type":"text","text":"so far"}],"shadowedSeqs":[4,7],
    "shadowedTokenCount":52,"model":"m"}"#;
const REPLACE: &str = r#","surfaceOp":{"op":"replace","startSeq":0,"endSeq":1}"#;

#[test]
fn a_compaction_shows_where_its_checkpoint_landed() {
    let point = user("p", r#"{"kind":"compact-checkpoint","compactionId":"k"}"#);
    let rows = rows(
        4,
        &[
            ("compaction/start", r#"{"compactionId":"k","turn":1}"#, ""),
            ("compaction/summary", SUMMARY, ""),
            ("user/message", &point, REPLACE),
            ("compaction/end", r#"{"compactionId":"k","turn":1}"#, ""),
        ],
    );
    let Body::Compaction(mark) = &rows[0].body else { panic!() };
    assert_eq!((rows.len(), rows[0].seq, mark.items, mark.tokens), (1, Seq(2), Some(2), Some(52)));
    assert_eq!(mark.summary.as_deref(), Some("so far"));
}

#[test]
fn a_compaction_on_command_moves_the_command_to_its_checkpoint() {
    let point = user("p", r#"{"kind":"plugin","plugin":"compact","compactionId":"k","sourceCommandId":"d"}"#);
    let replace = r#","surfaceOp":{"op":"replace","start":0,"end":1}"#;
    let said = user("u", r#"{"kind":"user"}"#);
    let run = r#"{"commandId":"d","name":"compact","args":"","source":{"kind":"user"}}"#;
    let done = r#"{"commandId":"d","kind":"success","text":"Compacted"}"#;
    let rows = rows(
        0,
        &[
            ("command/run", run, ""),
            ("user/message", &said, APPEND),
            ("compaction/summary", SUMMARY, ""),
            ("user/message", &point, replace),
            ("command/done", done, ""),
        ],
    );
    assert_eq!((kinds(&rows), anchors(&rows)), (vec!["user", "compaction"], vec!["1".into(), "3".into()]));
    let Body::Compaction(mark) = &rows[1].body else { panic!() };
    assert_eq!(mark.command.as_ref().unwrap().text.as_deref(), Some("Compacted"));
}

#[test]
fn a_failed_compaction_is_a_row_and_one_without_checkpoint_is_not() {
    let rows = rows(
        4,
        &[
            ("compaction/start", r#"{"compactionId":"k","turn":1}"#, ""),
            ("compaction/summary", SUMMARY, ""),
            ("compaction/end", r#"{"compactionId":"k","turn":1,"error":"too small"}"#, ""),
            ("compaction/start", r#"{"compactionId":"l","turn":1}"#, ""),
        ],
    );
    let Body::Compaction(mark) = &rows[0].body else { panic!() };
    assert_eq!((rows.len(), mark.error.as_deref()), (1, Some("too small")));
}

#[test]
fn a_goal_command_has_its_line_before_it_and_an_open_one_is_running() {
    let run = r#"{"commandId":"g","name":"goal","args":" win  "}"#;
    let rows = rows(4, &[("command/run", run, "")]);
    assert_eq!(
        (kinds(&rows), anchors(&rows)),
        (vec!["command-input", "command"], vec!["-0.1".into(), "0".into()])
    );
    let (Body::CommandInput(line), Body::Command(command)) = (&rows[0].body, &rows[1].body) else { panic!() };
    assert_eq!((line.as_str(), command.outcome.as_str()), ("/goal win", "running"));
}

#[test]
fn what_ended_a_turn_is_told() {
    let error = r#"{"turn":1,"reason":{"kind":"error","error":{"code":"AUTH","message":"key sk-1"}}}"#;
    let failed = rows(4, &[TURN, STEP, HELLO, STEP_END, ("turn/end", error, "")]);
    assert_eq!(kinds(&failed), ["assistant", "tool", "turn-error", "turn-end"]);
    assert!(!String::from_utf8(failed[3].to_json()).unwrap().contains("sk-1"));
    let capped = rows(
        4,
        &[
            TURN,
            STEP,
            HELLO,
            RESULT,
            STEP_END,
            ("turn/end", r#"{"turn":1,"reason":{"kind":"max-tokens"}}"#, ""),
        ],
    );
    assert_eq!((kinds(&capped)[1], capped[1].anchor.number().as_str()), ("max-tokens", "2.05"));
    let by = r#"{"turn":1,"reason":{"kind":"aborted","reason":{"kind":"hook","reason":"no"}}}"#;
    let aborted = rows(4, &[TURN, ("turn/end", by, "")]);
    let Body::TurnEnd(end) = &aborted[0].body else { panic!() };
    assert_eq!(end.detail.as_deref(), Some("hook: no"));
}

#[test]
fn a_workflow_groups_its_agents_by_phase() {
    let agent =
        |n: u32, phase: &str| format!(r#"{{"runId":"w","seq":{n},"label":"l","childId":"c"{phase}}}"#);
    let (a, b, c) = (agent(1, r#","phase":"P""#), agent(2, ""), agent(3, r#","phase":"P""#));
    let rows = rows(
        4,
        &[
            ("tool-workflow/run-start", r#"{"runId":"w","name":"n"}"#, ""),
            ("tool-workflow/agent-start", &a, ""),
            ("tool-workflow/agent-start", &b, ""),
            ("tool-workflow/agent-start", &c, ""),
            ("tool-workflow/agent-end", r#"{"runId":"w","seq":1,"outcome":"completed"}"#, ""),
            DONE,
        ],
    );
    let Body::Workflow(run) = &rows[0].body else { panic!() };
    let members: Vec<_> = run.members.iter().map(|m| (m.number.unwrap(), m.outcome.as_str())).collect();
    assert_eq!(members, [(1, "completed"), (3, "interrupted"), (2, "interrupted")]);
    assert_eq!(run.status, "interrupted");
}

#[test]
fn the_inherited_part_is_marked_and_its_boundary_shown() {
    let said = user("u", r#"{"kind":"user"}"#);
    let lines = log(&[
        ("user/message", &said, APPEND),
        ("session/end-seed", r#"{"inherited":true}"#, ""),
        ("user/message", &said, APPEND),
        ("session/end-seed", "{}", ""),
    ]);
    let rows = rows_from(4, 1, &lines);
    assert_eq!(rows.iter().map(|row| row.inherited).collect::<Vec<_>>(), [true, false, false, false]);
    assert!(matches!(
        (&rows[1].body, &rows[3].body),
        (Body::EndSeed(Seed::Fork), Body::EndSeed(Seed::Resumed))
    ));
}

#[test]
fn data_of_any_shape_is_survived() {
    for kind in Kind::ALL.iter().map(|kind| kind.name()).chain(["no/such"]) {
        for data in [
            "{}",
            "null",
            "[]",
            "7",
            r#"{"message":7,"content":{},"chunk":[],"stream":"x","inserted":1,"reason":[]}"#,
        ] {
            for rest in ["", APPEND, REPLACE] {
                rows(4, &[TURN, STEP, (kind, data, rest), (kind, data, rest), STEP_END, DONE]);
                rows(0, &[(kind, data, rest), TURN, (kind, data, rest)]);
            }
        }
    }
}
