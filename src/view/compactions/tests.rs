use super::*;
use crate::log::ReadOptions;
use crate::storage::source::Source;

const BEGIN: &[&str] = &[
    r#""type":"turn/start","data":{"turn":1}"#,
    r#""type":"user/message","data":{"id":"u","role":"user","source":{"kind":"user"},"content":[]},"surfaceOp":"append""#,
    r#""type":"step/start","data":{"turn":1,"step":1}"#,
];

fn call(id: &str, arguments: &str) -> Vec<String> {
    let text = "x".repeat(80);
    vec![
        format!(
            r#""type":"tool/call","data":{{"turn":1,"step":1,"callId":"{id}","name":"read","arguments":"{arguments}"}}"#
        ),
        format!(
            r#""type":"tool/result","data":{{"turn":1,"step":1,"message":{{"id":"r{id}","role":"user","source":{{"kind":"tool","callId":"{id}"}},"content":[{{"type":"tool-result","toolCallId":"{id}","content":[{{"type":"text","text":"{text}{id}"}}]}}]}}}},"surfaceOp":"append""#
        ),
    ]
}

/// A call at 3 and 4, a compaction at 5 to 8 that shadows 1 and 4, then another call.
fn log(again: &str) -> Log {
    let mut lines: Vec<String> = BEGIN.iter().map(|line| (*line).to_owned()).collect();
    lines.extend(call("c1", r#"{\"file_path\":\"a\",\"limit\":9}"#));
    lines.extend([
        r#""type":"compaction/start","data":{"compactionId":"k","turn":1}"#.to_owned(),
        r#""type":"compaction/summary","data":{"compactionId":"k","summary":[{"type":"text","text":"so far"}],"shadowedRange":{"start":1,"end":4},"shadowedSeqs":[1,4],"shadowedTokenCount":70,"provider":"p","model":"m","usage":{"inputTokens":9,"outputTokens":1}}"#.to_owned(),
        r#""type":"user/message","data":{"id":"k","role":"user","source":{"kind":"plugin","plugin":"compact","compactionId":"k"},"content":[]},"sourceEventSeqs":[5,6,1,4],"surfaceOp":{"op":"replace","start":1,"end":4}"#.to_owned(),
        r#""type":"compaction/end","data":{"compactionId":"k","turn":1}"#.to_owned(),
    ]);
    lines.extend(call("c2", again));
    let mut text = r#"{"type":"session","version":0,"id":"a","createdAt":1,"delegationDepth":0}"#.to_owned();
    for (seq, line) in lines.iter().enumerate() {
        text += &format!("\n{{\"seq\":{seq},\"time\":{seq},{line}}}");
    }
    text.push('\n');
    Log::read(Source::memory("log", text.into_bytes()), &ReadOptions::default()).unwrap()
}

fn how(again: &str) -> Vec<(&'static str, Seq, Seq)> {
    let found = of(&log(again), Moment::Balanced).unwrap();
    found.list[0].loss.iter().map(|l| (l.how.name(), l.result, l.again)).collect()
}

#[test]
fn a_compaction_tells_what_it_took_and_what_it_cost() {
    let found = of(&log("{}"), Moment::Balanced).unwrap();
    let [compaction] = &found.list[..] else { panic!("{found:#?}") };
    let seqs = [compaction.start, compaction.summary, compaction.checkpoint, compaction.end];
    assert_eq!(seqs, [5, 6, 7, 8].map(|n| Some(Seq(n))));
    assert_eq!((compaction.range, compaction.tokens_before), (Some((1, 4)), Some(70)));
    assert_eq!((compaction.shadowed.as_slice(), &*compaction.words), ([1, 4].as_slice(), "so far"));
    assert_eq!(compaction.usage.map(|u| u.total()), Some(10));
    assert_eq!((compaction.trigger, compaction.millis), (Trigger::Overflow, Some(3)));
}

#[test]
fn what_is_asked_for_again_is_a_loss() {
    assert_eq!(how(r#"{\"file_path\":\"a\",\"limit\":9}"#), [("same-call", Seq(4), Seq(9))]);
    assert_eq!(how(r#"{\"file_path\":\"a\",\"limit\":2}"#), [("same-file", Seq(4), Seq(9))]);
    assert_eq!(how(r#"{\"file_path\":\"b\"}"#), []);
}
