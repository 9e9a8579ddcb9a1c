//! Logs that were made to break their reader.

use super::{logs, program};

/// What a run of the program on that log prints, both streams; it must end by itself and without a
/// panic.
fn run(args: &[&str], log: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let output = program(args).write_stdin(log.to_vec()).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code().is_some_and(|code| code < 8), "{args:?}: {:?}\n{err}", output.status);
    assert!(!err.contains("panicked"), "{args:?}: {err}");
    (output.stdout, output.stderr)
}

/// Every command that reads a log from standard input and prints text for people.
const FOR_PEOPLE: &[&[&str]] = &[
    &["inspect", "-"],
    &["inspect", "-", "--events"],
    &["inspect", "-", "--strict"],
    &["surface", "-"],
    &["surface", "-", "--history"],
    &["messages", "-", "--format", "text"],
    &["header", "-"],
    &["header", "-", "--history"],
    &["header", "-", "--tools"],
    &["header", "-", "--context"],
    &["transcript", "-", "--tools", "full", "--reasoning"],
    &["transcript", "-", "--tools", "brief"],
    &["transcript", "-", "--format", "markdown", "--tools", "full", "--reasoning"],
    &["transcript", "-", "--format", "html", "--tools", "full", "--reasoning"],
    &["fork", "-", "--list"],
    &["fork", "-", "--boundary", "3", "--output", "never.jsonl"],
    &["request", "-", "--list"],
    &["request", "-"],
    &["show", "-", "6"],
    &["events", "-", "--table"],
    &["tools", "-"],
    &["tools", "-", "--totals"],
    &["timeline", "-"],
    &["stats", "-", "--by", "model"],
    &["state", "-"],
    &["compactions", "-", "--summaries"],
    &["why", "-", "6"],
    &["why", "-", "6", "--all"],
    &["why", "-", "6", "--graph", "dot"],
    &["exposure", "-", "3"],
    &["diff", "-", SOUND],
    &["diff", SOUND, "-", "--all"],
    &["verify", "-"],
    &["verify", "-", "--target", "v4"],
];

const SOUND: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/sound.jsonl");

const FOR_PROGRAMS: &[&[&str]] = &[
    &["inspect", "-", "--events", "--json"],
    &["surface", "-", "--json"],
    &["messages", "-"],
    &["messages", "-", "--json"],
    &["header", "-", "--json"],
    &["header", "-", "--history", "--json"],
    &["transcript", "-", "--json"],
    &["fork", "-", "--list", "--json"],
    &["request", "-", "--list", "--json"],
    &["request", "-", "--json"],
    &["show", "-", "6", "--json"],
    &["events", "-"],
    &["tools", "-", "--json"],
    &["timeline", "-", "--json"],
    &["stats", "-", "--json"],
    &["state", "-", "--json"],
    &["compactions", "-", "--json"],
    &["why", "-", "6", "--json"],
    &["exposure", "-", "3", "--json"],
    &["diff", "-", SOUND, "--json"],
    &["verify", "-", "--target", "v4", "--json"],
];

/// One open turn in which every name and text is the same.
fn log_of(text: &str) -> Vec<u8> {
    let mut log = logs::Writer::new(0, text, &format!(r#","parentSession":"{text}","origin":"{text}""#));
    let one = r#""turn":1,"step":1"#;
    log.event("session/title", &format!(r#"{{"title":"{text}"}}"#));
    log.event("turn/start", r#"{"turn":1}"#);
    log.event("step/start", &format!("{{{one}}}"));
    let words = format!(r#"[{{"type":"text","text":"{text}"}}]"#);
    let user = r#""role":"user","source":{"kind":"user"}"#;
    log.append("user/message", &format!(r#"{{"id":"{text}",{user},"content":{words}}}"#), &[]);
    for prompt in [text.to_owned(), format!("{text} once more")] {
        let tool = format!(r#"{{"name":"{prompt}","description":"{text}","parameters":{{}}}}"#);
        let config = format!(r#"{{"provider":"{text}","model":"{prompt}","{text}":"{text}"}}"#);
        log.event(
            "request/header",
            &format!(
                r#"{{"header":{{"config":{config},"system":"{prompt}","tools":[{tool}]}},"reason":"initial"}}"#
            ),
        );
    }
    log.event("request/context", &format!(r#"{{"provider":"{text}","model":"{text}","contextWindow":9}}"#));
    let call = format!(r#"{{"type":"tool-call","id":"{text}","name":"{text}","arguments":"{text}"}}"#);
    log.append(
        "assistant/message",
        &format!(
            r#"{{{one},"message":{{"id":"{text}","role":"assistant","source":{{"kind":"model","provider":"{text}","model":"{text}"}},"content":[{{"type":"reasoning","text":"{text}"}},{{"type":"text","text":"{text}"}},{call}]}}}}"#
        ),
        &[],
    );
    log.event("tool/call", &format!(r#"{{{one},"callId":"{text}","name":"{text}","arguments":"{text}"}}"#));
    log.event(&format!("odd/{text}"), &format!(r#"{{"{text}":"{text}"}}"#));
    log.text()
}

#[test]
fn no_character_of_a_log_acts_on_the_terminal() {
    let odd = r"\u001b]0;title\u0007\u001b[31m\r\b\u009b2J\u202e\u2066\u007fx";
    let log = log_of(odd);
    for args in FOR_PEOPLE {
        let (out, err) = run(args, &log);
        let text = String::from_utf8(out).unwrap() + &String::from_utf8(err).unwrap();
        let acts = |c: char| (c.is_control() && c != '\n' && c != '\t') || "\u{202e}\u{2066}".contains(c);
        assert!(!text.is_empty(), "{args:?} says nothing");
        assert!(!text.contains(acts), "{args:?}: {:?}", text.lines().find(|line| line.contains(acts)));
    }
    for args in FOR_PROGRAMS {
        let (out, err) = run(args, &log);
        let raw = |b: &u8| *b < 0x20 && *b != b'\n';
        assert!(!out.iter().chain(&err).any(raw), "{args:?}: {}", String::from_utf8_lossy(&out));
    }
}

#[test]
fn depth_of_nesting_breaks_nothing() {
    const DEPTH: usize = 100_000;
    let deep = format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH));
    let objects = format!("{}1{}", r#"{"a":"#.repeat(DEPTH), "}".repeat(DEPTH));
    let mut log = logs::Writer::new(0, "deep", "");
    let one = r#""turn":1,"step":1"#;
    log.event("turn/start", r#"{"turn":1}"#);
    log.event("step/start", &format!("{{{one}}}"));
    let call = r#"{"type":"tool-call","id":"c1","name":"bash","arguments":"{}"}"#;
    let from = r#""source":{"kind":"model","provider":"p","model":"m"}"#;
    log.append(
        "assistant/message",
        &format!(r#"{{{one},"message":{{"id":"a","role":"assistant",{from},"content":[{call}]}}}}"#),
        &[],
    );
    let seq = log.event("tool/call", &format!(r#"{{{one},"callId":"c1","name":"bash","arguments":"{{}}"}}"#));
    let result = format!(
        r#"{{"type":"tool-result","toolCallId":"c1","content":{deep},"more":{objects},"isError":false}}"#
    );
    let message = format!(
        r#"{{"id":"r","role":"user","source":{{"kind":"tool","callId":"c1"}},"content":[{result}]}}"#
    );
    log.append("tool/result", &format!(r#"{{{one},"message":{message}}}"#), &[seq]);
    let text = log.text();
    for args in FOR_PEOPLE.iter().chain(FOR_PROGRAMS) {
        run(args, &text);
    }
    let (out, _) = run(&["messages", "-", "--format", "ndjson"], &text);
    assert!(
        out.windows(message.len()).any(|part| part == message.as_bytes()),
        "the message is not as stored"
    );
}

#[test]
fn numbers_and_halves_of_pairs_pass_through_byte_for_byte() {
    let message = r#"{"id":"u1","role":"user","source":{"kind":"user"},"content":[{"type":"text","text":"\ud83d and \uDE00, \u00e9\/é","n":12345678901234567890123.4500e+07,"m":-0.0,"big":1e400,"id":9007199254740993}]}"#;
    let mut log = logs::Writer::new(0, "odd", "");
    log.event("turn/start", r#"{"turn":1}"#);
    log.append("user/message", message, &[]);
    let (out, _) = run(&["messages", "-", "--format", "ndjson"], &log.text());
    assert_eq!(String::from_utf8(out).unwrap(), format!("{message}\n"));
    for args in [&["messages", "-"][..], &["messages", "-", "--json"]] {
        let (out, _) = run(args, &log.text());
        assert!(String::from_utf8(out).unwrap().contains(message), "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_wants_one_line_of_a_long_log_gets_it_in_peace() {
    use std::io::{BufRead, BufReader, Read};
    use std::process::Stdio;
    let mut log = logs::Writer::new(0, "long", "");
    let words = "x".repeat(100);
    for turn in 1..=2000 {
        log.event("turn/start", &format!(r#"{{"turn":{turn}}}"#));
        let content = format!(r#"[{{"type":"text","text":"{words}"}}]"#);
        let user = r#""role":"user","source":{"kind":"user"}"#;
        log.append("user/message", &format!(r#"{{"id":"u{turn}",{user},"content":{content}}}"#), &[]);
        log.event("turn/end", &format!(r#"{{"turn":{turn},"reason":{{"kind":"completed"}}}}"#));
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("long.jsonl");
    std::fs::write(&path, log.text()).unwrap();
    for args in
        [&["transcript"][..], &["messages"], &["surface"], &["inspect", "--events"], &["fork", "--list"]]
    {
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("dsh-log"));
        let child = child.args(args).arg(&path).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""), "{args:?}");
        assert!(first.ends_with('\n'), "{args:?}: {first}");
    }
}
