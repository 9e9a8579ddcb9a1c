//! Sessions of many tool results with one true source for the last answer, made from a seed.

use dsh_log::json::write::string;

/// Random numbers from a seed (xorshift).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// Where the source of the answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// In context.
    Direct,
    /// Shadowed, with its fact in the summary.
    Compacted,
    /// In the part that a fork inherits.
    Inherited,
    /// Nowhere: the value of the answer is made up.
    NoSource,
    /// Nowhere: the answer says it in other words, of things nobody read.
    Paraphrase,
    /// In the parent, behind the place of the fork.
    OnlyInParent,
}

/// A session and what is true of it.
pub(crate) struct Planted {
    pub(crate) text: Vec<u8>,
    pub(crate) answer: u64,
    /// The seqs of the results that hold the fact; the first is the source.
    pub(crate) source: Option<u64>,
    /// Every result before the answer with its words, ascending.
    pub(crate) results: Vec<(u64, String)>,
    pub(crate) answer_text: String,
    pub(crate) family: &'static str,
}

/// A fact: the question, the line that holds it, lines that look like it, the answer, one made up.
struct Fact {
    family: &'static str,
    question: String,
    line: String,
    decoys: Vec<String>,
    answer: String,
    made_up: String,
    summary: String,
}

const NOUNS: &[&str] = &[
    "gasket", "valve", "lease", "shard", "bucket", "socket", "cursor", "ledger", "beacon", "turbine",
    "harvest", "lantern", "quarry", "pelican", "meadow", "copper", "tunnel", "anchor", "saddle", "garnet",
];
const VERBS: &[&str] =
    &["acquire", "release", "rotate", "flush", "drain", "settle", "resume", "evict", "publish"];
const FILLER: &[&str] = &[
    "let mut total = 0;",
    "for item in list.iter() {",
    "return Err(error);",
    "use std::io::Write;",
    "// see above",
    "if ready { start(); }",
    "ok 12 passed",
    "warning: unused variable",
    "drwxr-xr-x 4 root root 4096",
    "}",
    "the command finished without output",
    "enabled = true",
    "level = info",
    "done in 3 s",
    "import os",
];
const MONTHS: &[&str] = &["January", "April", "June", "August", "October", "December"];

fn path(dice: &mut Dice) -> String {
    format!("src/{}/{}_{}.rs", dice.of(NOUNS), dice.of(NOUNS), dice.of(VERBS))
}

fn fact(dice: &mut Dice) -> Fact {
    let (a, b) = (dice.of(NOUNS), dice.of(NOUNS));
    let verb = dice.of(VERBS);
    let file = path(dice);
    let n = 11 + dice.below(8_000);
    let other = n + 1 + dice.below(50);
    let wrong = n + 60 + dice.below(900);
    let key = format!("{a}_{verb}_limit");
    match dice.below(6) {
        0 => Fact {
            family: "setting",
            question: format!("What is {key} set to in {file}?"),
            line: format!("{key} = {n}"),
            decoys: vec![
                format!("{key} = {other}"),
                format!("{b}_window = {n}"),
                format!("{a}_{verb}_floor = {n}"),
            ],
            answer: format!("In {file}, {key} is set to {n}."),
            made_up: format!("In {file}, {key} is set to {wrong}."),
            summary: format!("{key} = {n}"),
        },
        1 => Fact {
            family: "unit",
            question: format!("How slow is the {a} {verb} path?"),
            line: format!("{a} {verb}: p95 {n} ms over 40 samples"),
            decoys: vec![
                format!("{a} {verb}: p95 {other} ms over 40 samples"),
                format!("{b} {verb}: total {n} s"),
                format!("{a}: {n} requests"),
            ],
            answer: format!("The slowest part is {a} {verb}: p95 {n} ms, so the rest does not matter."),
            made_up: format!("The slowest part takes {wrong} ms, so the rest does not matter."),
            summary: format!("{a} {verb}: p95 {n} ms"),
        },
        2 => Fact {
            family: "line",
            question: format!("Where is {verb}_{a} defined?"),
            line: format!("{file}:{n}: pub fn {verb}_{a}(&self) -> Lease {{"),
            decoys: vec![
                format!("{file}:{other}: self.{verb}_{a}();"),
                format!("{file}:{}: pub fn {verb}_{b}(&self) {{", n + 7),
            ],
            answer: format!("It is defined at {file}:{n}."),
            made_up: format!("It is defined at lib/{b}.rs:{wrong}."),
            summary: format!("defined at {file}:{n}"),
        },
        3 => Fact {
            family: "error",
            question: "Why does the build fail?".into(),
            line: format!("error[E0{n}]: the {a} `{b}{n}` outlives its {verb} guard"),
            decoys: vec![
                format!("error[E0{other}]: the {a} `{b}{other}` was moved"),
                format!("warning: the {a} is never read"),
            ],
            answer: format!("The build fails because `{b}{n}` outlives its {verb} guard."),
            made_up: format!("The build fails because `{b}{wrong}` shadows a trait."),
            summary: format!("E0{n}: `{b}{n}` outlives its {verb} guard"),
        },
        4 => {
            let month = dice.of(MONTHS);
            Fact {
                family: "prose",
                question: "When may we touch production?".into(),
                line: format!(
                    "Maintenance of the {a} cluster begins at dawn on the second Tuesday of {month}."
                ),
                decoys: vec![
                    format!("Maintenance of the {b} cluster begins at noon on the first Monday of May."),
                    "Nobody may restart the cluster at night.".to_owned(),
                ],
                answer: format!(
                    "The notes say that maintenance of the {a} cluster begins at dawn on the second Tuesday of {month}."
                ),
                made_up: "Whenever traffic is low, preferably around breakfast.".into(),
                summary: format!(
                    "maintenance of the {a} cluster begins at dawn on the second Tuesday of {month}"
                ),
            }
        }
        _ => {
            let hash = format!("{:08x}", (n as u32).wrapping_mul(2_654_435_761));
            let stale = format!("{:08x}", (other as u32).wrapping_mul(2_654_435_761));
            let none = format!("{:08x}", (wrong as u32).wrapping_mul(2_654_435_761));
            Fact {
                family: "hash",
                question: format!("Which commit broke {a}?"),
                line: format!("{hash} {verb} the {a} early"),
                decoys: vec![
                    format!("{stale} {verb} the {a} late"),
                    format!("{stale} revert: {verb} the {b}"),
                ],
                answer: format!("Commit {hash} did: it made us {verb} the {a} early."),
                made_up: format!("Commit {none} did."),
                summary: format!("{hash} broke it"),
            }
        }
    }
}

/// The log while it is made.
struct Maker {
    lines: Vec<String>,
    results: Vec<(u64, String)>,
    appended: Vec<u64>,
}

impl Maker {
    fn put(&mut self, kind: &str, data: &str, rest: &str) -> u64 {
        let seq = self.lines.len() as u64;
        self.lines.push(format!(
            r#"{{"type":"{kind}","seq":{seq},"time":{},"data":{data}{rest}}}"#,
            1_772_366_400_000 + seq
        ));
        seq
    }

    fn surface(&mut self, kind: &str, data: &str, sources: &str) -> u64 {
        let seq = self.put(kind, data, &format!(r#"{sources},"surfaceOp":"append""#));
        self.appended.push(seq);
        seq
    }

    fn user(&mut self, text: &str) {
        let id = self.lines.len();
        let text = string(text);
        self.surface(
            "user/message",
            &format!(r#"{{"id":"u{id}","role":"user","source":{{"kind":"user"}},"content":[{{"type":"text","text":{text}}}]}}"#),
            "",
        );
    }

    fn assistant(&mut self, step: usize, content: &str) -> u64 {
        let id = self.lines.len();
        self.surface(
            "assistant/message",
            &format!(
                r#"{{"turn":1,"step":{step},"message":{{"id":"a{id}","role":"assistant","source":{{"kind":"model","provider":"p","model":"m"}},"content":[{content}]}}}}"#
            ),
            "",
        )
    }

    /// A step in which one tool is called.
    fn tool(&mut self, step: usize, name: &str, arguments: &str, words: &str) -> u64 {
        self.put("step/start", &format!(r#"{{"turn":1,"step":{step}}}"#), "");
        let (id, arguments) = (format!("c{step}"), string(arguments));
        self.assistant(
            step,
            &format!(r#"{{"type":"tool-call","id":"{id}","name":"{name}","arguments":{arguments}}}"#),
        );
        let call = self.put(
            "tool/call",
            &format!(r#"{{"turn":1,"step":{step},"callId":"{id}","name":"{name}","arguments":{arguments}}}"#),
            "",
        );
        let text = string(words);
        let seq = self.surface(
            "tool/result",
            &format!(
                r#"{{"turn":1,"step":{step},"message":{{"id":"r{step}","role":"user","source":{{"kind":"tool","callId":"{id}"}},"content":[{{"type":"tool-result","toolCallId":"{id}","content":[{{"type":"text","text":{text}}}]}}]}}}}"#
            ),
            &format!(r#","sourceEventSeqs":[{call}]"#),
        );
        self.put("step/end", &format!(r#"{{"turn":1,"step":{step}}}"#), "");
        self.results.push((seq, words.to_owned()));
        seq
    }

    /// Replaces all but the last nodes of the surface by a summary.
    fn compact(&mut self, summary: &str) {
        let cut = self.appended.len() - 2;
        let gone: Vec<u64> = self.appended.drain(..cut).collect();
        let start = self.put("compaction/start", r#"{"compactionId":"k","turn":1}"#, "");
        let (first, last) = (gone[0], gone[gone.len() - 1]);
        let seqs = format!("{gone:?}").replace(' ', "");
        let text = string(summary);
        let event = self.put(
            "compaction/summary",
            &format!(
                r#"{{"compactionId":"k","summary":[{{"type":"text","text":{text}}}],"shadowedRange":{{"start":{first},"end":{last}}},"shadowedSeqs":{seqs},"shadowedTokenCount":9,"provider":"p","model":"m"}}"#
            ),
            "",
        );
        let sources = format!("[{start},{event},{}", &seqs[1..]);
        self.put(
            "user/message",
            &format!(
                r#"{{"id":"k1","role":"user","source":{{"kind":"plugin","plugin":"compact","compactionId":"k"}},"content":[{{"type":"text","text":{text}}}]}}"#
            ),
            &format!(r#","sourceEventSeqs":{sources},"surfaceOp":{{"op":"replace","start":{first},"end":{last}}}"#),
        );
        self.put("compaction/end", r#"{"compactionId":"k","turn":1}"#, "");
    }
}

/// Some lines around one, as tools give them.
fn page(dice: &mut Dice, line: Option<&str>) -> String {
    let mut lines: Vec<String> = Vec::new();
    for _ in 0..2 + dice.below(12) {
        lines.push(match dice.below(4) {
            0 => dice.of(FILLER).to_owned(),
            1 => format!("{}_{} = {}", dice.of(NOUNS), dice.of(VERBS), 10 + dice.below(9_000)),
            2 => format!("{}:{}: fn {}_{}()", path(dice), dice.below(900), dice.of(VERBS), dice.of(NOUNS)),
            _ => format!("the {} was {} by {}", dice.of(NOUNS), dice.of(VERBS), dice.below(100)),
        });
    }
    if let Some(line) = line {
        let at = dice.below(lines.len() + 1);
        lines.insert(at, line.to_owned());
    }
    lines.join("\n")
}

/// Makes a session of `count` results.
pub(crate) fn session(seed: u64, count: usize, way: Way) -> Planted {
    let dice = &mut Dice::new(seed);
    let fact = fact(dice);
    let mut log = Maker { lines: Vec::new(), results: Vec::new(), appended: Vec::new() };
    log.put("turn/start", r#"{"turn":1}"#, "");
    log.user(&fact.question);
    let has_source = matches!(way, Way::Direct | Way::Compacted | Way::Inherited);
    let last = if way == Way::Compacted { count * 2 / 3 } else { count };
    // The summary leaves the last result before it as it is.
    let at = dice.below(if way == Way::Compacted { last - 1 } else { last });
    let mut source = None;
    let mut seed_length = 0;
    let mut unused: Vec<&String> = fact.decoys.iter().collect();
    for n in 0..count {
        let step = n + 1;
        let line = if has_source && n == at {
            Some(fact.line.as_str())
        } else if !unused.is_empty() && (dice.below(3) == 0 || count - n <= unused.len() + 1) {
            Some(unused.remove(dice.below(unused.len())).as_str())
        } else {
            None
        };
        let words = page(dice, line);
        let seq = log.tool(step, dice.of(&["read", "grep", "bash"]), &format!("{{\"n\":{n}}}"), &words);
        if has_source && n == at {
            source = Some(seq);
        }
        if way == Way::Compacted && n + 1 == last {
            log.compact(&format!("So far: {}. The rest was of no use.", fact.summary));
        }
        if n == at.max(count / 2) {
            seed_length = log.lines.len();
        }
    }
    let answer_text = match way {
        Way::NoSource | Way::OnlyInParent => fact.made_up,
        Way::Paraphrase => "Honestly I believe everything looks healthy, though patience helps.".into(),
        _ => fact.answer,
    };
    log.put("step/start", &format!(r#"{{"turn":1,"step":{}}}"#, count + 1), "");
    let answer = log.assistant(count + 1, &format!(r#"{{"type":"text","text":{}}}"#, string(&answer_text)));
    log.put("step/end", &format!(r#"{{"turn":1,"step":{}}}"#, count + 1), "");
    log.put("turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#, "");
    let lineage = match way {
        Way::Inherited | Way::OnlyInParent => {
            format!(r#","parentSession":"parent","seedLength":{seed_length}"#)
        }
        _ => String::new(),
    };
    let header = format!(
        r#"{{"type":"session","version":0,"id":"s{seed}","createdAt":1,"cwd":"/w"{lineage},"delegationDepth":0}}"#
    );
    Planted {
        text: format!("{header}\n{}\n", log.lines.join("\n")).into_bytes(),
        answer,
        source,
        results: log.results,
        answer_text,
        family: fact.family,
    }
}
