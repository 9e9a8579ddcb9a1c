//! Each family is silent on a sound log and names what breaks its rules.

use super::*;
use crate::log::ReadOptions;
use crate::storage::source::Source;

pub(super) const HEADER: &str =
    r#"{"type":"session","version":0,"id":"a","createdAt":1,"delegationDepth":0}"#;

/// What is found in a log of these events, given as `type data | envelope`; of packed rows each text is
/// `"t"`.
pub(super) fn findings(header: &str, lines: &[&str], target: Option<u32>) -> Vec<Finding> {
    let mut text = header.to_owned();
    let mut seq = 0;
    for line in lines {
        let (kind, data) = line.split_once(' ').unwrap();
        if kind.ends_with("-chunks") {
            text += &format!("\n{{\"type\":\"{kind}\",\"seq0\":{seq},\"time0\":{seq},\"data\":{data}}}");
            seq += data.matches("\"t\"").count();
            continue;
        }
        let (data, more) = data.split_once(" | ").unwrap_or((data, ""));
        let appended = kind.ends_with("/message") || kind == "tool/result";
        let more = match (appended, more) {
            (true, "") => r#","surfaceOp":"append""#.to_owned(),
            (_, "") => String::new(),
            (_, more) => format!(",{more}"),
        };
        text += &format!("\n{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{seq},\"data\":{data}{more}}}");
        seq += 1;
    }
    text.push('\n');
    let log = Log::read(Source::memory("log", text.into_bytes()), &ReadOptions::default()).unwrap();
    assert!(log.verdict().outcome.opens(), "{:?}", log.verdict());
    verify(&log, target, Seq(u64::MAX), &Limits::default()).unwrap().list().to_vec()
}

/// The codes of a severity, each with its seq.
fn found_with(lines: &[&str], severity: Severity) -> Vec<(&'static str, u64)> {
    let findings = findings(HEADER, lines, None);
    let wanted = findings.iter().filter(|f| f.severity == severity && f.code != Code::OpenTurn);
    wanted.map(|f| (f.code.name(), f.place.seq.unwrap_or_default().0)).collect()
}

fn found(lines: &[&str]) -> Vec<(&'static str, u64)> {
    found_with(lines, Severity::Warns)
}

fn noted(lines: &[&str]) -> Vec<(&'static str, u64)> {
    found_with(lines, Severity::Notes)
}

const NONE: &[(&str, u64)] = &[];
pub(super) const T: &str = r#"turn/start {"turn":1}"#;
pub(super) const TE: &str = r#"turn/end {"turn":1,"reason":{"kind":"completed"}}"#;
pub(super) const S: &str = r#"step/start {"turn":1,"step":1}"#;
pub(super) const SE: &str = r#"step/end {"turn":1,"step":1}"#;
pub(super) const U: &str = r#"user/message {"id":"u","role":"user","source":{"kind":"user"},"content":[]}"#;
pub(super) const A: &str = r#"assistant/message {"turn":1,"step":1,"message":{"id":"a","role":"assistant","source":{"kind":"model","provider":"p","model":"m"},"content":[{"type":"tool-call","id":"c","name":"n","arguments":"{}"}]}}"#;
pub(super) const C: &str = r#"tool/call {"turn":1,"step":1,"callId":"c","name":"n","arguments":"{}"}"#;
pub(super) const R: &str = r#"tool/result {"turn":1,"step":1,"message":{"id":"r","role":"user","source":{"kind":"tool","callId":"c"},"content":[{"type":"tool-result","toolCallId":"c","content":[]}]}}"#;

pub(super) const H: &str =
    r#"request/header {"header":{"config":{"provider":"p","model":"m"}},"reason":"initial"}"#;

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
    let checkpoint = r#"user/message {"id":"k","role":"user","source":{"kind":"plugin","plugin":"compact","compactionId":"k"},"content":[]} | "sourceEventSeqs":[1,2,0],"surfaceOp":{"op":"replace","start":0,"end":0}"#;
    assert_eq!(found(&[U, start, summary, checkpoint, end]), NONE);
    assert_eq!(noted(&[U, start, summary, checkpoint, end]), NONE);
    let bare = checkpoint.replace("[1,2,0]", "[0]");
    assert_eq!(noted(&[U, start, &bare]), [("inv-checkpoint", 2)]);
    assert_eq!(noted(&[U, start, summary, &bare]), [("inv-checkpoint", 3)]);
    assert_eq!(
        noted(&[U, start, summary, &checkpoint.replace("[1,2,0]", "[2,1,0]")]),
        [("inv-checkpoint", 3)]
    );
    assert_eq!(found(&[U, &bare]), [("inv-compaction", 1)]);
    assert_eq!(found(&[&start.replace("\"turn\":null", "\"turn\":\"1\"")]), [("inv-compaction", 0)]);
    assert_eq!(found(&[&start.replace("\"k\"", "\"\"")]), [("inv-compaction", 0)]);
    let uncounted = summary.replace("\"shadowedTokenCount\":1,", "");
    assert_eq!(found(&[U, start, &uncounted, checkpoint, end]), [("inv-compaction", 2)]);
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
    assert_eq!(found(&[T, &asked.replace("\"t\"", "\"\"")]), [("inv-approval", 1)]);
    assert_eq!(found(&[T, asked, &decided.replace("rejected", "perhaps")]), [("inv-approval", 2)]);
    let invoked = r#"hook/invoked {"turn":1,"point":"p","dialect":"codex","handlerId":"h"}"#;
    let result = r#"hook/result {"turn":1,"point":"p","handlerId":"h","decision":"allow","durationMs":0.5}"#;
    assert_eq!(found(&[T, invoked, result]), NONE);
    assert_eq!(found(&[T, result]), [("inv-hook", 1)]);
    assert_eq!(found(&[T, &invoked.replace("codex", "other")]), [("inv-hook", 1)]);
    let nested = |parent: &str| {
        format!(
            r#"tool/code-dispatch-start {{"rootCallId":"r","parentCallId":"{parent}","subCallId":"s","name":"n","arguments":{{}}}}"#
        )
    };
    assert_eq!(found(&[T, &nested("r")]), NONE);
    assert_eq!(found(&[T, &nested("x")]), [("inv-dispatch", 1)]);
    let settled = nested("r").replace("-start", "").replace("{}}", "{},\"isError\":false,\"content\":[]}");
    assert_eq!(noted(&[T, &nested("r"), &settled]), NONE);
    assert_eq!(noted(&[T, &settled]), [("inv-dispatch", 1)]);
    assert_eq!(noted(&[T, &nested("r"), &settled, &settled]), [("inv-dispatch", 3)]);
}

#[test]
fn retries_titles_inbox_and_schedules_are_in_order() {
    let retry = |n: u64| {
        format!(
            r#"llm/retry {{"retryId":"i","turn":1,"step":1,"provider":"p","policyKey":"k","retry":{n},"delayMs":5,"failure":{{"message":"m","code":"c"}},"mode":"always"}}"#
        )
    };
    let started = r#"llm/retry-started {"retryId":"i","turn":1,"step":1,"retry":1}"#;
    assert_eq!(found(&[T, S, H, &retry(1), started, &retry(2)]), NONE);
    assert_eq!(found(&[T, S, H, &retry(2)]), [("inv-retry", 3)]);
    assert_eq!(found(&[T, S, &retry(1)]), [("inv-retry", 2)]);
    for (sound, broken) in [
        ("\"i\"", "\"\""),
        ("\"delayMs\":5", "\"delayMs\":2147483648"),
        ("always", "never"),
        ("\"always\"", "\"always\",\"maxRetries\":3"),
        ("\"always\"", "\"normal\""),
        ("\"always\"", "\"normal\",\"maxRetries\":0"),
        ("\"code\":\"c\"", "\"code\":\"c\",\"status\":99"),
        ("\"message\":\"m\"", "\"message\":\"\""),
    ] {
        let broken = retry(1).replace(sound, broken);
        assert_eq!(found(&[T, S, H, &broken]).first(), Some(&("inv-retry", 3)), "{broken}");
    }
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
    let delete = dispatch.replace("dispatch", "delete");
    assert_eq!(found(&[create, &delete, create]), [("inv-schedule", 2)]);
    for (sound, broken) in [
        ("01-01T", "02-30T"),
        ("\"at\"", "\"never\""),
        ("\"p\"", "\" p\""),
        ("\"version\":1", "\"version\":2"),
        ("\"kind\":\"at\"", "\"kind\":\"every\",\"everySeconds\":299"),
    ] {
        assert_eq!(found(&[&create.replace(sound, broken)]), [("inv-schedule", 0)], "{broken}");
    }
    let every = create.replace("\"kind\":\"at\"", "\"kind\":\"every\",\"everySeconds\":300");
    let accept = |time: &str| dispatch.replace("\"s\"", &format!("\"s\",\"acceptedAt\":\"{time}\""));
    let (first, second) = (accept("2026-01-01T00:04:59.000Z"), accept("2026-01-01T00:05:00.000Z"));
    assert_eq!(found(&[&every, &first, &second]), NONE);
    assert_eq!(found(&[&every, &first, &first]), [("inv-schedule", 2)]);
    assert_eq!(found(&[&every, dispatch]), [("inv-schedule", 1)]);
}

#[test]
fn results_and_todos_stand_where_they_must() {
    assert_eq!(
        found(&[T, S, U, A, C, &R.replace("\"step\":1", "\"step\":2"), SE, TE]),
        [("inv-placement", 5)]
    );
    let todo = r#"todo/write {"todos":[{"content":"a","status":"pending"}]}"#;
    assert_eq!(found(&[T, todo]), NONE);
    assert_eq!(found(&[todo]), [("inv-placement", 0)]);
}

#[test]
fn workflows_keep_their_runs_and_agents() {
    let run = r#"tool-workflow/run-start {"runId":"w","name":"n"}"#;
    let agent = r#"tool-workflow/agent-start {"runId":"w","seq":1,"label":"","childId":"c"}"#;
    let done = r#"tool-workflow/agent-end {"runId":"w","seq":1,"outcome":"completed"}"#;
    let end = r#"tool-workflow/run-end {"runId":"w","stopReason":"completed"}"#;
    assert_eq!(found(&[run, agent, done, end]), NONE);
    assert_eq!(found(&[run, end, run]), [("inv-workflow", 2)]);
    assert_eq!(found(&[&run.replace("\"n\"", "\"\"")]), [("inv-workflow", 0)]);
    assert_eq!(found(&[agent]), [("inv-workflow", 0)]);
    assert_eq!(found(&[run, end, end]), [("inv-workflow", 2)]);
    assert_eq!(found(&[run, agent, agent]), [("inv-workflow", 2)]);
    assert_eq!(found(&[run, &agent.replace("\"childId\":\"c\"", "\"childId\":\"\"")]), [("inv-workflow", 1)]);
    assert_eq!(found(&[run, &agent.replace("\"c\"", "\"c\",\"phase\":1")]), [("inv-workflow", 1)]);
    assert_eq!(found(&[run, agent, done, done]), [("inv-workflow", 3)]);
    assert_eq!(found(&[run, agent, &done.replace("completed", "lost")]), [("inv-workflow", 2)]);
    assert_eq!(found(&[run, &end.replace("completed", "lost")]), [("inv-workflow", 1)]);
    assert_eq!(found(&[run, agent, end]), [("inv-workflow", 2)]);
}

#[test]
fn settings_have_values_that_the_harness_knows() {
    let todos = |todos: &str| format!(r#"todo/write {{"todos":{todos}}}"#);
    let todo = r#"{"content":"a","status":"pending"}"#;
    assert_eq!(found(&[T, &todos(&format!("[{todo}]"))]), NONE);
    assert_eq!(found(&[T, &todos(&format!("[{todo},{todo}]"))]), [("inv-setting", 1)]);
    for broken in ["{}", r#"[{"content":" a","status":"pending"}]"#, r#"[{"content":"a","status":"done"}]"#] {
        assert_eq!(found(&[T, &todos(broken)]), [("inv-setting", 1)], "{broken}");
    }
    for (sound, broken) in [
        (r#"plan/mode {"active":true}"#, r#"plan/mode {"active":1}"#),
        (r#"sandbox/mode {"mode":"read-only"}"#, r#"sandbox/mode {"mode":"none"}"#),
        (r#"approval/policy {"policy":"ask"}"#, r#"approval/policy {"policy":"guess"}"#),
    ] {
        assert_eq!(found(&[sound]), NONE);
        assert_eq!(found(&[broken]), [("inv-setting", 0)]);
    }
}

/// A change of a goal; the words are `phase roundsStarted updatedAt`.
fn goal(operation: &str, id: &str, revision: u64, words: &str) -> String {
    let mut words = words.split(' ');
    let [phase, rounds, updated] = [(); 3].map(|()| words.next().unwrap());
    let reason = if phase == "blocked" { r#","blockedReason":{"code":"no-key","message":"m"}"# } else { "" };
    format!(
        r#"goal/change {{"kind":"goal/change","version":1,"operation":"{operation}","goal":{{"id":"{id}","revision":{revision},"objective":"o","phase":"{phase}","maxGoalRounds":2{reason}}},"roundsStarted":{rounds},"createdAt":5,"updatedAt":{updated}}}"#
    )
}

fn round(id: &str, revision: u64, round: u64) -> String {
    format!(
        r#"user/message {{"id":"{id}{round}","role":"user","source":{{"kind":"goal","goalId":"{id}","revision":{revision},"round":{round}}},"content":[]}}"#
    )
}

#[test]
fn a_goal_goes_from_change_to_change() {
    let create = goal("create", "g", 1, "active 0 5");
    let clear = |id: &str, revision: u64, at: u64| {
        format!(
            r#"goal/change {{"kind":"goal/change","version":1,"operation":"clear","cleared":{{"id":"{id}","revision":{revision}}},"clearedAt":{at}}}"#
        )
    };
    let (pause, resume) = (goal("pause", "g", 2, "paused 0 6"), goal("resume", "g", 3, "active 0 6"));
    let (block, complete) = (goal("block", "g", 4, "blocked 0 7"), goal("complete", "g", 5, "complete 0 8"));
    let again = goal("create", "h", 1, "active 0 5");
    assert_eq!(found(&[&create, &pause, &resume, &block, &complete, &again]), NONE);
    assert_eq!(
        found(&[&create, &round("g", 1, 1), &goal("edit", "g", 2, "active 1 5"), &clear("g", 3, 9)]),
        NONE
    );
    for second in [
        again.as_str(),
        &goal("pause", "h", 2, "paused 0 6"),
        &goal("pause", "g", 3, "paused 0 6"),
        &goal("pause", "g", 2, "paused 1 6"),
        &goal("pause", "g", 2, "paused 0 4"),
        &goal("pause", "g", 2, "active 0 6"),
        &goal("edit", "g", 2, "paused 0 6"),
        &goal("block", "g", 2, "active 0 6"),
        &pause.replace("\"o\"", "\"other\""),
        &pause.replace("\"createdAt\":5", "\"createdAt\":4"),
        &pause.replace("\"o\"", "\" o\""),
        &pause.replace("\"version\":1", "\"version\":2"),
        &goal("block", "g", 2, "blocked 0 6").replace("no-key", "No Key"),
        &clear("g", 3, 9),
        &clear("h", 2, 9),
        &clear("g", 2, 4),
    ] {
        assert_eq!(found(&[&create, second]), [("inv-goal", 1)], "{second}");
    }
    assert_eq!(found(&[&pause]), [("inv-goal", 0)]);
    assert_eq!(found(&[&clear("g", 1, 9)]), [("inv-goal", 0)]);
    assert_eq!(found(&[&create, &clear("g", 2, 9), &create]), [("inv-goal", 2)]);
    assert_eq!(found(&[&goal("create", "g", 2, "active 0 5")]), [("inv-goal", 0)]);
}

#[test]
fn rounds_of_a_goal_are_counted() {
    let create = goal("create", "g", 1, "active 0 5");
    let (first, second) = (round("g", 1, 1), round("g", 1, 2));
    assert_eq!(found(&[&create, &first, &second]), NONE);
    assert_eq!(found(&[&create, &first, &second, &round("g", 1, 3)]), [("inv-goal", 3)]);
    assert_eq!(found(&[&create, &second]), [("inv-goal", 1)]);
    assert_eq!(found(&[&first]), [("inv-goal", 0)]);
    assert_eq!(found(&[&create, &round("g", 2, 1)]), [("inv-goal", 1)]);
    let spent = goal("pause", "g", 2, "paused 2 6");
    let resume = goal("resume", "g", 3, "active 2 7");
    assert_eq!(found(&[&create, &first, &second, &spent, &resume]), [("inv-goal", 4)]);
}

#[test]
fn a_team_keeps_its_members_tasks_and_messages() {
    let member = |id: &str, name: &str, phase: &str| {
        format!(
            r#"team/member {{"version":1,"teamId":"a","member":{{"id":"{id}","name":"{name}","description":"","provider":"p","context":"fresh","phase":"{phase}"}}}}"#
        )
    };
    let (begun, active) = (member("m", "n", "provisioning"), member("m", "n", "active"));
    assert_eq!(found(&[&begun, &active]), NONE);
    for (lines, at) in [
        (vec![&*active], 0),
        (vec![&*begun, &*begun], 1),
        (vec![&*begun, &*active, &*active], 2),
        (vec![&*begun, &*member("x", "n", "provisioning")], 1),
        (vec![&*begun, &*member("m", "other", "active")], 1),
        (vec![&*begun.replace("\"version\":1", "\"version\":2")], 0),
        (vec![&*begun.replace("\"p\"", "\"p\",\"more\":1")], 0),
    ] {
        assert_eq!(found(&lines), [("inv-team", at)], "{lines:?}");
    }
    assert_eq!(found(&[&active.replace("\"teamId\":\"a\"", "\"teamId\":\"b\"")]), NONE);
    let queued = r#"team/message/queued {"version":1,"teamId":"a","message":{"id":"q","senderId":"s","senderName":"","targetId":"t","delivery":"quiet","content":[]}}"#;
    let delivered = r#"team/message/delivered {"version":1,"teamId":"a","messageId":"q","targetId":"t"}"#;
    assert_eq!(found(&[queued, delivered]), NONE);
    assert_eq!(found(&[queued, queued]), [("inv-team", 1)]);
    assert_eq!(found(&[delivered]), [("inv-team", 0)]);
    assert_eq!(found(&[queued, delivered, delivered]), [("inv-team", 2)]);
    assert_eq!(found(&[queued, &delivered.replace("\"t\"", "\"u\"")]), [("inv-team", 1)]);
}

#[test]
fn tasks_of_a_team_wait_without_a_circle() {
    let task = |id: u64, revision: u64, status: &str, blockers: &str| {
        format!(
            r#"team/task {{"version":1,"teamId":"a","task":{{"id":"task-{id}","revision":{revision},"subject":"","description":"","status":"{status}","blockedBy":[{blockers}],"writeScopes":[]}}}}"#
        )
    };
    let (one, two) = (task(1, 1, "pending", ""), task(2, 1, "pending", "\"task-1\""));
    assert_eq!(found(&[&one, &two, &task(1, 2, "completed", "")]), NONE);
    for (second, what) in [
        (task(1, 1, "pending", ""), "the revision stays"),
        (task(1, 3, "pending", ""), "the revision jumps"),
        (task(1, 2, "pending", "\"task-1\""), "itself"),
        (task(2, 1, "pending", "\"task-1\",\"task-1\""), "twice"),
        (task(2, 1, "pending", "\"task-9\""), "not there"),
        (task(2, 1, "done", ""), "unknown status"),
        (task(9_007_199_254_740_992, 1, "pending", ""), "unsafe number"),
    ] {
        assert_eq!(found(&[&one, &second]), [("inv-team", 1)], "{what}");
    }
    assert_eq!(found(&[&one, &two, &task(1, 2, "pending", "\"task-2\"")]), [("inv-team", 2)]);
    assert_eq!(found(&[&one, &two, &task(1, 2, "deleted", "")]), [("inv-team", 2)]);
}

#[test]
fn a_time_context_stands_before_its_request() {
    let told = r#"user/message {"id":"t","role":"user","source":{"kind":"plugin","plugin":"time-context","form":"snapshot","sections":[{"name":"time-context","text":"noon"}]},"content":[{"type":"text","text":"noon"}]}"#;
    assert_eq!(found(&[T, S, told, H]), NONE);
    assert_eq!(found(&[T, told]), [("inv-time-context", 1)]);
    assert_eq!(found(&[T, S, H, told]), [("inv-time-context", 3)]);
    let other = told.replacen("noon", "midnight", 1);
    assert_eq!(found(&[T, S, &other]), [("inv-time-context", 2)]);
}

#[test]
fn a_compaction_does_not_cut_between_a_call_and_its_result() {
    let lines = |covered: &str, last: u64| {
        let start = r#"compaction/start {"compactionId":"k","turn":null}"#.to_owned();
        let summary = format!(
            r#"compaction/summary {{"compactionId":"k","summary":[],"shadowedRange":{{"start":2,"end":{last}}},"shadowedSeqs":[{covered}],"shadowedTokenCount":1,"provider":"p","model":"m"}}"#
        );
        let checkpoint = format!(
            r#"user/message {{"id":"k","role":"user","source":{{"kind":"plugin","plugin":"compact","compactionId":"k"}},"content":[]}} | "sourceEventSeqs":[8,9,{covered}],"surfaceOp":{{"op":"replace","start":2,"end":{last}}}"#
        );
        [start, summary, checkpoint]
    };
    for (covered, last, wanted) in [("2,3,5", 5, NONE), ("2,3", 3, &[("inv-cut", 10)]), ("2", 2, NONE)] {
        let [start, summary, checkpoint] = lines(covered, last);
        assert_eq!(noted(&[T, S, U, A, C, R, SE, TE, &start, &summary, &checkpoint]), wanted, "{covered}");
    }
}
