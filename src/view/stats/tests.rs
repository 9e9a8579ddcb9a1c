use super::*;
use crate::log::ReadOptions;
use crate::storage::source::Source;

/// A log of format 0 or later from `type data` lines, one millisecond apart.
fn read(header: &str, lines: &[&str]) -> Log {
    let mut text = format!(r#"{{"type":"session","id":"a","createdAt":1,"delegationDepth":0,{header}}}"#);
    for (seq, line) in lines.iter().enumerate() {
        let (kind, data) = line.split_once(' ').unwrap();
        let more = if kind.ends_with("/message") { r#","surfaceOp":"append""# } else { "" };
        text += &format!("\n{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{seq},\"data\":{data}{more}}}");
    }
    text.push('\n');
    Log::read(Source::memory("log", text.into_bytes()), &ReadOptions::default()).unwrap()
}

const TURN: &str = r#"turn/start {"turn":1}"#;
const STEP: &str = r#"step/start {"turn":1,"step":2}"#;
const ERROR: &str =
    r#"assistant/chunk {"turn":1,"step":2,"chunk":{"type":"finish","reason":{"kind":"error"}}}"#;
const STOP: &str =
    r#"assistant/chunk {"turn":1,"step":2,"chunk":{"type":"finish","reason":{"kind":"stop"}}}"#;
const RETRY: &str = r#"llm/retry {"turn":1,"step":2,"retryId":"r"}"#;
const RETRIED: &str = r#"llm/retry-started {"turn":1,"step":2,"retryId":"r"}"#;

fn used(input: u64, output: u64) -> String {
    format!(
        r#"assistant/chunk {{"turn":1,"step":2,"chunk":{{"type":"usage","usage":{{"inputTokens":{input},"outputTokens":{output}}}}}}}"#
    )
}

fn message(more: &str) -> String {
    format!(
        r#"assistant/message {{"turn":1,"step":2,"message":{{"id":"a","role":"assistant","source":{{"kind":"model","provider":"p","model":"m"}},"content":[{{"type":"text","text":"x"}}]}}{more}}}"#
    )
}

fn figures(log: &Log) -> (u64, u64, u64, u64) {
    let own = of(log, Moment::Balanced).unwrap().own;
    (own.requests, own.attempts, own.tokens.input, own.tokens.output)
}

#[test]
fn two_calls_in_one_step_count_once_each() {
    let (first, second) = (used(50, 5), used(100, 10));
    let last = message(r#","usage":{"inputTokens":100,"outputTokens":10}"#);
    let lines = [TURN, STEP, &first, ERROR, RETRY, RETRIED, &second, STOP, &last];
    assert_eq!(figures(&read(r#""version":0"#, &lines)), (1, 2, 150, 15));
}

#[test]
fn a_message_without_usage_counts_what_was_streamed() {
    let (one, last) = (used(100, 10), message(""));
    assert_eq!(figures(&read(r#""version":0"#, &[TURN, STEP, &one, STOP, &last])), (1, 1, 100, 10));
}

#[test]
fn an_attempt_record_counts_the_usage_in_its_stream() {
    let chunk =
        r#"{"type":"chunk","time":2,"chunk":{"type":"usage","usage":{"inputTokens":50,"outputTokens":5}}}"#;
    let finish = r#"{"type":"chunk","time":3,"chunk":{"type":"finish","reason":{"kind":"error","failure":{"message":"x","code":"NETWORK"}}}}"#;
    let failed = format!(r#"assistant/attempt {{"turn":1,"step":2,"stream":[{chunk},{finish}]}}"#);
    let last = message(r#","stream":[],"usage":{"inputTokens":100,"outputTokens":10,"reasoningTokens":7}"#);
    let lines = [TURN, STEP, &failed, RETRY, RETRIED, &last];
    for version in [2, 3, 4] {
        let log = read(&format!(r#""version":{version},"isSeeded":false"#), &lines);
        assert_eq!(figures(&log), (1, 2, 150, 15), "format {version}");
        let own = of(&log, Moment::Balanced).unwrap().own;
        assert_eq!(
            (own.tokens.reasoning, own.tokens.total(), own.failed_attempts, own.retries),
            (7, 165, 1, 1)
        );
    }
}

#[test]
fn two_steps_of_one_number_are_two_requests() {
    let last = message(r#","usage":{"inputTokens":1,"outputTokens":1}"#);
    let end = r#"step/end {"turn":1,"step":2}"#;
    assert_eq!(figures(&read(r#""version":0"#, &[TURN, STEP, &last, end, STEP, &last, end])), (2, 2, 2, 2));
}

#[test]
fn what_a_summary_took_stands_apart() {
    let summary = r#"compaction/summary {"compactionId":"k","summary":[],"shadowedSeqs":[1],"shadowedTokenCount":9,"provider":"p","model":"small","usage":{"inputTokens":30,"outputTokens":3}}"#;
    let lines = [
        TURN,
        r#"compaction/start {"compactionId":"k","turn":1}"#,
        summary,
        r#"compaction/end {"compactionId":"k","turn":1}"#,
    ];
    let log = read(r#""version":0"#, &lines);
    let own = of(&log, Moment::Balanced).unwrap().own;
    assert_eq!((own.tokens.total(), own.compaction_tokens.total(), own.compactions), (0, 33, 1));
    let mut models = Vec::new();
    each(&log, Moment::Balanced, &mut |item| models.push(item.model.to_owned())).unwrap();
    assert!(models.contains(&"p/small".to_owned()));
}

#[test]
fn the_past_counts_what_had_begun_by_then() {
    let last = message(r#","usage":{"inputTokens":100,"outputTokens":10}"#);
    let log = read(r#""version":0"#, &[TURN, STEP, &last]);
    let at = |seq| of(&log, Moment::After(crate::seq::Seq(seq))).unwrap().own;
    assert_eq!((at(1).attempts, at(1).steps, at(2).attempts), (0, 1, 1));
}
