use super::*;
use crate::log::ReadOptions;
use crate::storage::source::Source;

/// Lines of `time type data`.
fn read(lines: &[&str]) -> Log {
    let mut text = r#"{"type":"session","version":0,"id":"a","createdAt":1,"delegationDepth":0}"#.to_owned();
    for (seq, line) in lines.iter().enumerate() {
        let mut parts = line.splitn(3, ' ');
        let mut part = || parts.next().unwrap();
        let (time, kind, data) = (part(), part(), part());
        let more = if ["assistant/message", "tool/result"].contains(&kind) {
            r#","surfaceOp":"append""#
        } else {
            ""
        };
        text += &format!("\n{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{time},\"data\":{data}{more}}}");
    }
    text.push('\n');
    Log::read(Source::memory("log", text.into_bytes()), &ReadOptions::default()).unwrap()
}

fn result(time: u32, id: &str) -> String {
    format!(
        r#"{time} tool/result {{"turn":1,"step":1,"message":{{"id":"r{id}","role":"user","source":{{"kind":"tool","callId":"{id}"}},"content":[{{"type":"tool-result","toolCallId":"{id}","content":[]}}]}}}}"#
    )
}

#[test]
fn time_is_told_by_what_took_it_and_parallel_tools_count_once() {
    let (one, two) = (result(500, "c1"), result(600, "c2"));
    let log = read(&[
        r#"100 turn/start {"turn":1}"#,
        r#"110 step/start {"turn":1,"step":1}"#,
        r#"150 assistant/chunk {"turn":1,"step":1,"chunk":{"type":"text-delta","index":0,"text":"x"}}"#,
        r#"200 assistant/message {"turn":1,"step":1,"message":{"id":"a","role":"assistant","source":{"kind":"model","provider":"p","model":"m"},"content":[]}}"#,
        r#"300 tool/call {"turn":1,"step":1,"callId":"c1","name":"bash","arguments":""}"#,
        r#"400 tool/call {"turn":1,"step":1,"callId":"c2","name":"bash","arguments":""}"#,
        r#"410 approval/asked {"id":"q","toolName":"bash"}"#,
        r#"450 approval/decided {"id":"q","outcome":"rejected"}"#,
        &one,
        &two,
        r#"650 step/end {"turn":1,"step":1}"#,
        r#"700 turn/end {"turn":1,"reason":{"kind":"completed"}}"#,
        r#"1700 turn/start {"turn":2}"#,
    ]);
    let rows = of(&log, Moment::Stored).unwrap();
    let shown: Vec<_> = rows.iter().map(|r| (r.sort.name(), &*r.name, r.from, r.to, r.ended)).collect();
    let wanted = [
        ("turn", "completed", 100, 700, true),
        ("model", "1.1", 110, 200, true),
        ("tool", "bash", 300, 500, true),
        ("tool", "bash", 400, 600, true),
        ("approval", "bash rejected", 410, 450, true),
        ("idle", "", 700, 1700, true),
        ("turn", "", 1700, 1700, false),
    ];
    assert_eq!(shown, wanted);
    assert_eq!(rows[1].first_token, Some(40));
    assert_eq!(sums(&rows)[&Sort::Tool], Sum { count: 2, millis: 400, wall: 300 });
}
