//! The logs of `fixtures/`, written down event by event; `tests/fixtures.rs` keeps the files equal.

#![allow(dead_code)]

use dsh_log::storage::encode;

/// Noon of 1 March 2026 in UTC.
const START: u64 = 1_772_366_400_000;

/// A log that grows event by event, one second apart.
pub(crate) struct Writer {
    header: String,
    lines: Vec<String>,
    seq: u64,
    now: u64,
}

impl Writer {
    pub(crate) fn new(version: u32, id: &str, more: &str) -> Writer {
        let header = format!(
            r#"{{"type":"session","version":{version},"id":"{id}","createdAt":{START},"cwd":"/home/ada/app"{more},"delegationDepth":0}}"#
        );
        Writer { header, lines: Vec::new(), seq: 0, now: START }
    }

    fn put(&mut self, kind: &str, data: &str, rest: &str) -> u64 {
        self.now += 1000;
        let (seq, now) = (self.seq, self.now);
        self.lines.push(format!(r#"{{"type":"{kind}","seq":{seq},"time":{now},"data":{data}{rest}}}"#));
        self.seq += 1;
        seq
    }

    /// An event that is not on the surface.
    pub(crate) fn event(&mut self, kind: &str, data: &str) -> u64 {
        self.put(kind, data, "")
    }

    /// An event at the end of the surface.
    pub(crate) fn append(&mut self, kind: &str, data: &str, sources: &[u64]) -> u64 {
        let sources =
            if sources.is_empty() { String::new() } else { format!(r#","sourceEventSeqs":{sources:?}"#) };
        let sources = sources.replace(", ", ",");
        self.put(kind, data, &format!(r#"{sources},"surfaceOp":"append""#))
    }

    /// A run of chunks in one line, 20 ms apart.
    pub(crate) fn packed(&mut self, tag: &str, place: &str, texts: &[&str]) -> Vec<u64> {
        self.now += 1000;
        let (seq, now) = (self.seq, self.now);
        let gaps = vec!["20"; texts.len() - 1].join(",");
        let texts_json = texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(",");
        self.lines.push(format!(
            r#"{{"type":"{tag}","seq0":{seq},"time0":{now},"data":{{{place},"index":0,"dt":[{gaps}],"texts":[{texts_json}]}}}}"#
        ));
        self.now += 20 * (texts.len() as u64 - 1);
        self.seq += texts.len() as u64;
        (seq..self.seq).collect()
    }

    /// The whole text.
    pub(crate) fn text(&self) -> Vec<u8> {
        format!("{}\n{}\n", self.header, self.lines.join("\n")).into_bytes()
    }

    /// The header in a frame of its own, then batches of `batch` lines.
    pub(crate) fn frames(&self, batch: usize) -> Vec<u8> {
        let mut file = encode::frame(format!("{}\n", self.header).as_bytes()).unwrap();
        for lines in self.lines.chunks(batch) {
            file.extend(encode::frame(format!("{}\n", lines.join("\n")).as_bytes()).unwrap());
        }
        file
    }

    fn user(&mut self, id: &str, text: &str) -> u64 {
        let data = format!(
            r#"{{"id":"{id}","role":"user","source":{{"kind":"user"}},"content":[{{"type":"text","text":"{text}"}}]}}"#
        );
        self.append("user/message", &data, &[])
    }

    fn assistant(&mut self, place: &str, id: &str, content: &str, more: &str, sources: &[u64]) -> u64 {
        let data = format!(
            r#"{{{place},"message":{{"id":"{id}","role":"assistant","source":{{"kind":"model","provider":"deepseek","model":"deepseek-v4-flash"}},"content":[{content}]}}{more}}}"#
        );
        self.append("assistant/message", &data, sources)
    }

    fn call(&mut self, place: &str, id: &str, name: &str, arguments: &str) -> u64 {
        let data = format!(r#"{{{place},"callId":"{id}","name":"{name}","arguments":"{arguments}"}}"#);
        self.event("tool/call", &data)
    }
}

const TOOLS: &str = r#"[{"name":"bash","description":"Run a command.","parameters":{"type":"object"}}]"#;
const CONFIG: &str = r#"{"provider":"deepseek","model":"deepseek-v4-flash"}"#;

fn header(system: &str) -> String {
    format!(r#"{{"header":{{"config":{CONFIG}{system},"tools":{TOOLS}}},"reason":"initial"}}"#)
}

const CONTEXT: &str = r#"{"provider":"deepseek","model":"deepseek-v4-flash","contextWindow":131072}"#;
const SYSTEM: &str = r#","system":"You are a careful engineer.""#;
const DONE: &str = r#""reason":{"kind":"completed"}"#;

fn call_block(id: &str, name: &str, arguments: &str) -> String {
    format!(r#"{{"type":"tool-call","id":"{id}","name":"{name}","arguments":"{arguments}"}}"#)
}

/// Two turns, the first with reasoning, a call and its result, and words that came in chunks.
pub(crate) fn sound() -> Writer {
    let mut log = Writer::new(0, "sound", "");
    first_turn(&mut log);
    log.event("turn/start", r#"{"turn":2}"#);
    log.event("step/start", r#"{"turn":2,"step":1}"#);
    log.user("u2", "Thanks. Danke, 谢谢!");
    let usage = r#","usage":{"inputTokens":160,"outputTokens":5}"#;
    log.assistant(r#""turn":2,"step":1"#, "a3", r#"{"type":"text","text":"You are welcome."}"#, usage, &[]);
    log.event("step/end", r#"{"turn":2,"step":1}"#);
    log.event("turn/end", &format!(r#"{{"turn":2,{DONE}}}"#));
    log
}

/// A fork of [`sound`] behind its first turn, with another model, whose agent looks again.
pub(crate) fn forked() -> Writer {
    let mut log = Writer::new(0, "forked", r#","parentSession":"sound","seedLength":20"#);
    first_turn(&mut log);
    let place = r#""turn":2,"step":1"#;
    log.event("session/end-seed", "{}");
    log.event("turn/start", r#"{"turn":2}"#);
    log.event("step/start", &format!("{{{place}}}"));
    log.user("u2", "Thanks. Danke, 谢谢!");
    log.event(
        "request/header",
        &format!(
            r#"{{"header":{{"config":{}{SYSTEM},"tools":{TOOLS}}},"reason":"config"}}"#,
            CONFIG.replace("flash", "pro")
        ),
    );
    let arguments = r#"{\"command\":\"git status --short\"}"#;
    log.assistant(place, "b3", &call_block("c2", "bash", arguments), "", &[]);
    let call = log.call(place, "c2", "bash", arguments);
    let result = r#"{"type":"tool-result","toolCallId":"c2","content":[{"type":"text","text":" M src/lib.rs"}],"isError":false}"#;
    let data = format!(
        r#"{{{place},"message":{{"id":"r2","role":"user","source":{{"kind":"tool","callId":"c2"}},"content":[{result}]}}}}"#
    );
    log.append("tool/result", &data, &[call]);
    log.event("step/end", &format!("{{{place}}}"));
    let place = r#""turn":2,"step":2"#;
    log.event("step/start", &format!("{{{place}}}"));
    let text = r#"{"type":"text","text":"One change is not committed yet."}"#;
    log.assistant(place, "b4", text, "", &[]);
    log.event("step/end", &format!("{{{place}}}"));
    log.event("turn/end", &format!(r#"{{"turn":2,{DONE}}}"#));
    log
}

/// A question, a call, an answer.
fn first_turn(log: &mut Writer) {
    let (one, two) = (r#""turn":1,"step":1"#, r#""turn":1,"step":2"#);
    let arguments = r#"{\"command\":\"cargo test\"}"#;
    log.event("turn/start", r#"{"turn":1}"#);
    log.event("step/start", &format!("{{{one}}}"));
    log.user("u1", "Do the tests pass?");
    log.event("request/header", &header(SYSTEM));
    log.event("request/context", CONTEXT);
    let thought = log.packed("reasoning-chunks", one, &["I", " must", " run", " them."]);
    let content = format!(
        r#"{{"type":"reasoning","text":"I must run them."}},{}"#,
        call_block("c1", "bash", arguments)
    );
    log.assistant(one, "a1", &content, r#","usage":{"inputTokens":120,"outputTokens":14}"#, &thought);
    let call = log.call(one, "c1", "bash", arguments);
    let result = r#"{"type":"tool-result","toolCallId":"c1","content":[{"type":"text","text":"running 3 tests\ntest result: ok. 3 passed"}],"isError":false}"#;
    let data = format!(
        r#"{{{one},"message":{{"id":"r1","role":"user","source":{{"kind":"tool","callId":"c1"}},"content":[{result}]}}}}"#
    );
    log.append("tool/result", &data, &[call]);
    log.event("step/end", &format!("{{{one}}}"));
    log.event("step/start", &format!("{{{two}}}"));
    let words = log.packed("text-chunks", two, &["All", " three", " pass."]);
    let usage = r#","usage":{"inputTokens":160,"outputTokens":5}"#;
    log.assistant(two, "a2", r#"{"type":"text","text":"All three pass."}"#, usage, &words);
    log.event("step/end", &format!("{{{two}}}"));
    log.event("turn/end", &format!(r#"{{"turn":1,{DONE}}}"#));
}

/// Dies in its first turn: one call was started and not answered, the other not even started.
pub(crate) fn crashed() -> Writer {
    let mut log = Writer::new(0, "crashed", "");
    let one = r#""turn":1,"step":1"#;
    let (apply, write) =
        (r#"{\"command\":\"terraform apply -auto-approve\"}"#, r#"{\"path\":\"infra/main.tf\"}"#);
    log.event("turn/start", r#"{"turn":1}"#);
    log.event("step/start", &format!("{{{one}}}"));
    log.user("u1", "apply it and watch the logs");
    log.event("request/header", &header(SYSTEM));
    log.event("request/context", CONTEXT);
    let words = log.packed("text-chunks", one, &["Applying", " now."]);
    let content = format!(
        r#"{{"type":"text","text":"Applying now."}},{},{}"#,
        call_block("c7", "bash", apply),
        call_block("c8", "write", write)
    );
    log.assistant(one, "a1", &content, r#","usage":{"inputTokens":90,"outputTokens":30}"#, &words);
    log.call(one, "c7", "bash", apply);
    log
}

/// Generation 4: a tool is added, then a compaction replaces the first message with a summary.
pub(crate) fn compacted() -> Writer {
    let mut log = Writer::new(4, "compacted", r#","isSeeded":false"#);
    let (one, two) = (r#""turn":1,"step":1"#, r#""turn":1,"step":2"#);
    log.event("turn/start", r#"{"turn":1}"#);
    log.event("step/start", &format!("{{{one}}}"));
    let system = r#""message":{"id":"s1","role":"system","source":{"kind":"system-prompt"},"content":[{"type":"text","text":"You are a careful engineer."}]}"#;
    log.append("system/message", &format!("{{{one},{system}}}"), &[]);
    let asked = log.user("u1", "Read the long report and say what is in it.");
    let first = log.event("request/header", &header(""));
    let added = r#""message":{"id":"d1","role":"developer","source":{"kind":"tool-registry"},"content":[{"type":"tool-addition","toolName":"bash"}]}"#;
    log.append("developer/message", &format!(r#"{{{one},{added},"headerSeq":{first}}}"#), &[]);
    log.event("request/context", CONTEXT);
    let stream = |text: &str| {
        format!(
            r#","usage":{{"inputTokens":900,"outputTokens":8}},"stream":[{{"type":"text-chunks","time0":{START},"index":0,"dt":[],"texts":["{text}"]}}]"#
        )
    };
    let text = "It is a report on tides.";
    log.assistant(one, "a1", &format!(r#"{{"type":"text","text":"{text}"}}"#), &stream(text), &[]);
    log.event("step/end", &format!("{{{one}}}"));
    log.event("step/start", &format!("{{{two}}}"));
    let start = log.event("compaction/start", r#"{"compactionId":"k1","turn":1}"#);
    let summary = r#"[{"type":"text","text":"A report was to be read."}]"#;
    let done = log.event(
        "compaction/summary",
        &format!(
            r#"{{"compactionId":"k1","summary":{summary},"rawOutput":{summary},"llmStreamCall":true,"shadowedRange":{{"start":{asked},"end":{asked}}},"shadowedSeqs":[{asked}],"shadowedTokenCount":266,"provider":"deepseek","model":"deepseek-v4-flash","maxTokens":32,"usage":{{"inputTokens":20,"outputTokens":4}}}}"#
        ),
    );
    let checkpoint = format!(
        r#"{{"id":"u2","role":"user","source":{{"kind":"compact-checkpoint","compactionId":"k1"}},"content":{summary}}}"#
    );
    let op = format!(
        r#","sourceEventSeqs":[{start},{done},{asked}],"surfaceOp":{{"op":"replace","startSeq":{asked},"endSeq":{asked}}}"#
    );
    log.put("user/message", &checkpoint, &op);
    log.event("compaction/end", r#"{"compactionId":"k1","turn":1}"#);
    let text = "Tides follow the moon.";
    log.assistant(two, "a2", &format!(r#"{{"type":"text","text":"{text}"}}"#), &stream(text), &[]);
    log.event("step/end", &format!("{{{two}}}"));
    log.event("turn/end", &format!(r#"{{"turn":1,{DONE}}}"#));
    log
}

/// As [`crashed`], and the write of the result of `c7` was torn.
pub(crate) fn torn() -> Vec<u8> {
    let mut log = crashed();
    let result = r#"{"type":"tool-result","toolCallId":"c7","content":[{"type":"text","text":"Apply complete! Resources: 3 added, 0 changed, 1 destroyed."}],"isError":false}"#;
    let data = format!(
        r#"{{"turn":1,"step":1,"message":{{"id":"r1","role":"user","source":{{"kind":"tool","callId":"c7"}},"content":[{result}]}}}}"#
    );
    log.append("tool/result", &data, &[8]);
    let mut file = log.frames(4);
    file.truncate(file.len() - 40);
    file
}

/// Between its two turns another model, another prompt and other tools come in force.
pub(crate) fn changed() -> Writer {
    let mut log = Writer::new(0, "changed", "");
    let prompt = r#","system":"You are a careful engineer.\nAnswer in one sentence.\nRun the tests.""#;
    let other = r#","system":"You are a careful engineer.\nAnswer briefly.\nRun the tests.""#;
    let config = r#"{"provider":"deepseek","model":"deepseek-v4-pro","maxTokens":4096}"#;
    let tools = r#"[{"name":"bash","description":"Run a command in a sandbox.","parameters":{"type":"object"}},{"name":"write","description":"Write a file.","parameters":{"type":"object"}}]"#;
    let change = format!(r#"{{"header":{{"config":{config}{other},"tools":{tools}}},"reason":"change"}}"#);
    let usage = r#","usage":{"inputTokens":100,"outputTokens":5}"#;
    for (turn, header) in [(1, header(prompt)), (2, change)] {
        let place = format!(r#""turn":{turn},"step":1"#);
        log.event("turn/start", &format!(r#"{{"turn":{turn}}}"#));
        log.event("step/start", &format!("{{{place}}}"));
        log.user(&format!("u{turn}"), "Which model are you?");
        log.event("request/header", &header);
        log.assistant(&place, &format!("a{turn}"), r#"{"type":"text","text":"Ask my header."}"#, usage, &[]);
        log.event("step/end", &format!("{{{place}}}"));
        log.event("turn/end", &format!(r#"{{"turn":{turn},{DONE}}}"#));
    }
    log
}

/// A turn whose call, result and answer a rewind takes away, and the same answer once more. The result
/// cites no call, and a message reasons.
pub(crate) fn rewound() -> Writer {
    let mut log = Writer::new(0, "rewound", "");
    let (first, second, again) = (r#""turn":1,"step":1"#, r#""turn":1,"step":2"#, r#""turn":2,"step":1"#);
    let (tool, arguments) = ("harbour_book", r#"{\"day\":4}"#);
    let answer = r#"{"type":"text","text":"CURLEW-7 lies at berth 418."}"#;
    log.event("turn/start", r#"{"turn":1}"#);
    log.event("step/start", &format!("{{{first}}}"));
    log.user("u1", "Which berth has the pilot boat?");
    let system = r#","system":"You keep the harbour book.""#;
    log.event("request/header", &format!(r#"{{"header":{{"config":{CONFIG}{system}}},"reason":"initial"}}"#));
    let thought = r#"{"type":"reasoning","text":"The ledger of moorings will say."}"#;
    let asks =
        log.assistant(first, "a1", &format!("{thought},{}", call_block("c1", tool, arguments)), "", &[]);
    log.call(first, "c1", tool, arguments);
    let text = r#"[{"type":"text","text":"pilot boat CURLEW-7 lies at berth 418"}]"#;
    let block = format!(r#"{{"type":"tool-result","toolCallId":"c1","content":{text}}}"#);
    let source = r#"{"kind":"tool","callId":"c1"}"#;
    let message = format!(r#"{{"id":"r1","role":"user","source":{source},"content":[{block}]}}"#);
    let result = log.append("tool/result", &format!(r#"{{{first},"message":{message}}}"#), &[]);
    log.event("step/end", &format!("{{{first}}}"));
    log.event("step/start", &format!("{{{second}}}"));
    let said = log.assistant(second, "a2", answer, "", &[]);
    log.event("step/end", &format!("{{{second}}}"));
    log.event("turn/end", &format!(r#"{{"turn":1,{DONE}}}"#));
    let model = r#"{"kind":"model","provider":"deepseek","model":"deepseek-v4-flash"}"#;
    let nothing = format!(r#"{{"id":"w1","role":"assistant","source":{model},"content":[]}}"#);
    let place = format!(
        r#","sourceEventSeqs":[{asks},{result},{said}],"surfaceOp":{{"op":"replace","start":{asks},"end":{said}}}"#
    );
    log.put("assistant/message", &format!(r#"{{"turn":null,"step":0,"message":{nothing}}}"#), &place);
    log.event("turn/start", r#"{"turn":2}"#);
    log.event("step/start", &format!("{{{again}}}"));
    log.user("u2", "Once more, please.");
    log.assistant(again, "a3", answer, "", &[]);
    log.event("step/end", &format!("{{{again}}}"));
    log.event("turn/end", &format!(r#"{{"turn":2,{DONE}}}"#));
    log
}

/// Three calls, of which one fails and one has what the answer rests on.
pub(crate) fn searched() -> Writer {
    let mut log = Writer::new(0, "searched", "");
    log.event("turn/start", r#"{"turn":1}"#);
    let steps = [
        (
            "bash",
            r#"{\"command\":\"cat deploy/limits.yaml\"}"#,
            true,
            "cat: deploy/limits.yaml: No such file",
        ),
        (
            "bash",
            r#"{\"command\":\"cat deploy/limits.toml\"}"#,
            false,
            r"[upload]\nretry_limit = 37\nbackoff_ms = 4100\ndeadline_s = 120",
        ),
        ("bash", r#"{\"command\":\"cargo test\"}"#, false, r"running 12 tests\ntest result: ok. 12 passed"),
    ];
    let usage = r#","usage":{"inputTokens":300,"outputTokens":12}"#;
    for (n, (name, arguments, failed, text)) in steps.into_iter().enumerate() {
        let step = n + 1;
        let (place, id) = (format!(r#""turn":1,"step":{step}"#), format!("c{step}"));
        log.event("step/start", &format!("{{{place}}}"));
        if n == 0 {
            log.user("u1", "Why does the upload time out?");
            log.event("request/header", &header(SYSTEM));
            log.event("request/context", CONTEXT);
        }
        log.assistant(&place, &format!("a{step}"), &call_block(&id, name, arguments), usage, &[]);
        let call = log.call(&place, &id, name, arguments);
        let result = format!(
            r#"{{"type":"tool-result","toolCallId":"{id}","content":[{{"type":"text","text":"{text}"}}],"isError":{failed}}}"#
        );
        let source = format!(r#"{{"kind":"tool","callId":"{id}"}}"#);
        let message = format!(r#"{{"id":"r{step}","role":"user","source":{source},"content":[{result}]}}"#);
        log.append("tool/result", &format!(r#"{{{place},"message":{message}}}"#), &[call]);
        log.event("step/end", &format!("{{{place}}}"));
    }
    let place = r#""turn":1,"step":4"#;
    log.event("step/start", &format!("{{{place}}}"));
    let answer =
        "It retries too patiently: retry_limit = 37 with backoff_ms = 4100 is more than the deadline.";
    let content = format!(r#"{{"type":"text","text":"{answer}"}}"#);
    log.assistant(place, "a4", &content, usage, &[]);
    log.event("step/end", &format!("{{{place}}}"));
    log.event("turn/end", &format!(r#"{{"turn":1,{DONE}}}"#));
    log
}

/// A session whose answer rests on what a subagent reported.
pub(crate) fn delegating() -> Writer {
    let mut log = Writer::new(0, "delegating", "");
    let place = r#""turn":1,"step":1"#;
    log.event("turn/start", r#"{"turn":1}"#);
    log.event("step/start", &format!("{{{place}}}"));
    log.user("u1", "How many sockets may the pool open?");
    let report = r#"{"id":"u2","role":"user","source":{"kind":"subagent-report","form":"relay","senderSessionId":"scout"},"content":[{"type":"text","text":"The pool is capped."}]}"#;
    log.now += 60_000;
    log.append("user/message", report, &[]);
    let text = r#"{"type":"text","text":"At most max_sockets = 4711, as pool.toml has it."}"#;
    log.assistant(place, "a1", text, "", &[]);
    log.event("step/end", &format!("{{{place}}}"));
    log.event("turn/end", &format!(r#"{{"turn":1,{DONE}}}"#));
    log
}

/// The subagent of [`delegating`], which read the file.
pub(crate) fn scout() -> Writer {
    let more = r#","parentSession":"delegating","origin":"subagent""#;
    let mut log = Writer::new(0, "scout", more);
    log.header = log.header.replace("\"delegationDepth\":0", "\"delegationDepth\":1");
    let place = r#""turn":1,"step":1"#;
    log.now += 10_000;
    log.event("turn/start", r#"{"turn":1}"#);
    log.event("step/start", &format!("{{{place}}}"));
    log.user("u1", "Look for the cap of the pool.");
    let arguments = r#"{\"path\":\"pool.toml\"}"#;
    log.assistant(place, "a1", &call_block("c1", "read", arguments), "", &[]);
    let call = log.call(place, "c1", "read", arguments);
    let result = r#"{"type":"tool-result","toolCallId":"c1","content":[{"type":"text","text":"[pool]\nmax_sockets = 4711"}],"isError":false}"#;
    let data = format!(
        r#"{{{place},"message":{{"id":"r1","role":"user","source":{{"kind":"tool","callId":"c1"}},"content":[{result}]}}}}"#
    );
    log.append("tool/result", &data, &[call]);
    log.event("step/end", &format!("{{{place}}}"));
    log.event("turn/end", &format!(r#"{{"turn":1,{DONE}}}"#));
    log
}

/// As [`sound`], with a number left out in the middle.
pub(crate) fn damaged() -> Vec<u8> {
    let text = String::from_utf8(sound().text()).unwrap();
    text.replace("\"seq\":10,", "\"seq\":11,").into_bytes()
}

/// As [`sound`], and a second writer goes on from the end of its first turn.
pub(crate) fn two_writers() -> Writer {
    let mut log = sound();
    log.seq -= 6;
    log.event("turn/start", r#"{"turn":2}"#);
    log.event("step/start", r#"{"turn":2,"step":1}"#);
    log.user("u9", "And from the other window?");
    log
}

/// As [`sound`], by its header from a harness that is not known here.
pub(crate) fn newer() -> Vec<u8> {
    String::from_utf8(sound().text()).unwrap().replace("\"version\":0", "\"version\":9").into_bytes()
}
