use super::*;
use crate::log::ReadOptions;
use crate::storage::source::Source;

fn read(header: &str, lines: &[&str]) -> Log {
    let mut text = format!(r#"{{"type":"session","id":"a","createdAt":1,"delegationDepth":0,{header}}}"#);
    for (seq, line) in lines.iter().enumerate() {
        let (kind, data) = line.split_once(' ').unwrap();
        text += &format!("\n{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{seq},\"data\":{data}}}");
    }
    text.push('\n');
    Log::read(Source::memory("log", text.into_bytes()), &ReadOptions::default()).unwrap()
}

const INSERT: &str = r#"agent/inbox/spliced {"target":"next-turn","start":0,"inserted":[{"id":"m","role":"user","source":{"kind":"user"},"content":[{"type":"text","text":"go on"}]}]}"#;
const CLAIM: &str = r#"agent/inbox/spliced {"target":"next-turn","start":0,"removedCount":1,"inserted":[]}"#;

fn waiting(log: &Log, moment: Moment) -> Vec<String> {
    of(log, moment).unwrap().inbox.next_turn.into_iter().map(|p| p.words).collect()
}

#[test]
fn the_last_event_of_a_type_wins_as_of_any_moment() {
    let on = r#"plan/mode {"active":true}"#;
    let off = r#"plan/mode {"active":false}"#;
    let log = read(r#""version":0"#, &[on, off]);
    let at = |moment| of(&log, moment).unwrap().set[0].clone();
    assert_eq!((at(Moment::Balanced).seq, at(Moment::After(Seq(0))).seq), (Seq(1), Seq(0)));
    assert_eq!(at(Moment::After(Seq(0))).data, br#"{"active":true}"#);
}

#[test]
fn a_step_that_ended_is_not_open() {
    let (turn, step) = (r#"turn/start {"turn":1}"#, r#"{"turn":1,"step":1}"#);
    let log = read(r#""version":0"#, &[turn, &format!("step/start {step}"), &format!("step/end {step}")]);
    let open = |moment| of(&log, moment).unwrap().open.map(|(_, open)| (open.turn, open.step));
    assert_eq!(open(Moment::After(Seq(1))), Some((Some(1), Some(1))));
    assert_eq!(open(Moment::After(Seq(2))), Some((Some(1), None)));
}

#[test]
fn a_cleared_goal_is_none() {
    let (set, clear) = (r#"goal/change {"operation":"set"}"#, r#"goal/change {"operation":"clear"}"#);
    let log = read(r#""version":0"#, &[set, clear]);
    let has_goal = |moment| of(&log, moment).unwrap().set.iter().any(|set| set.name == "goal");
    assert!(has_goal(Moment::After(Seq(0))) && !has_goal(Moment::Stored));
}

#[test]
fn a_claimed_message_waits_no_more() {
    let log = read(r#""version":0"#, &[INSERT, r#"turn/start {"turn":1}"#, CLAIM]);
    assert_eq!(waiting(&log, Moment::After(Seq(1))), ["go on"]);
    assert!(waiting(&log, Moment::Stored).is_empty());
    assert_eq!(of(&log, Moment::Stored).unwrap().open.unwrap().0, Seq(1));
}

#[test]
fn a_fork_inherits_what_waits_only_in_the_later_generations() {
    let early = read(r#""version":0,"parentSession":"p","seedLength":1"#, &[INSERT, "session/end-seed {}"]);
    assert!(waiting(&early, Moment::Stored).is_empty());
    let seed = r#"session/end-seed {"inherited":true}"#;
    let late = read(r#""version":4,"parentSession":"p","isSeeded":true"#, &[INSERT, seed]);
    assert_eq!(waiting(&late, Moment::Stored), ["go on"]);
}

#[test]
fn a_splice_out_of_bounds_is_named_and_changes_nothing() {
    let log = read(r#""version":0"#, &[INSERT, CLAIM, CLAIM, INSERT]);
    let inbox = of(&log, Moment::Stored).unwrap().inbox;
    assert_eq!((inbox.broken, inbox.next_turn.len()), (vec![Seq(2)], 1));
}

#[test]
fn a_schedule_is_dispatched_once_or_again_and_again() {
    let once = r#"schedule/change {"version":1,"operation":"create","schedule":{"id":"a","kind":"at","prompt":"x","scheduledAt":"2026-03-01T00:00:00.000Z"}}"#;
    let every = r#"schedule/change {"version":1,"operation":"create","schedule":{"id":"b","kind":"every","prompt":"x","everySeconds":300,"scheduledAt":"2026-03-01T00:00:00.000Z"}}"#;
    let fire = |id: &str| format!(r#"schedule/change {{"version":1,"operation":"dispatch","id":"{id}"}}"#);
    let log = read(r#""version":0"#, &[once, every, &fire("a"), &fire("b")]);
    let active = of(&log, Moment::Stored).unwrap().schedule.active;
    let left: Vec<_> = active.iter().map(|s| (&*s.id, s.seq, s.touched)).collect();
    assert_eq!(left, [("b", Seq(1), Seq(3))]);
}
