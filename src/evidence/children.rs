//! Results of subagent sessions behind a conclusion of their parent: the parent's model never had them,
//! only what the subagent made of them (v0 sections 13.3 and 17.5, v4 section 8.1).

use super::judge::span;
use super::needle::{Found, Scratch};
use super::score::{Known, SUPPORTS, Scored, score};
use super::strength::{Evidence, Strength};
use super::why::Question;
use super::words;
use crate::error::Result;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::json::Raw;
use crate::log::Log;
use crate::log::walk::Span;
use crate::seq::Seq;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

/// How many results of one child are kept, the most telling first.
const RESULTS: usize = 100;

/// An event of the parent that names a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The event.
    pub seq: u64,
    /// Its type: a catalogue entry, the start of an agent, a message of the child.
    pub kind: Kind,
}

/// The children that the log names up to an event, by id, each with the events that name it.
///
/// A child that no event names is found by its own header alone.
pub fn links(log: &Log, upto: Option<Seq>) -> Result<BTreeMap<Vec<u8>, Vec<Link>>> {
    let mut links: BTreeMap<Vec<u8>, Vec<Link>> = BTreeMap::new();
    let Some(upto) = upto else { return Ok(links) };
    let wanted =
        |kind: Kind| matches!(kind, Kind::SubagentCatalog | Kind::WorkflowAgentStart | Kind::UserMessage);
    let span = Span { from: log.index().first_seq(), upto, closers: false };
    log.walk(
        span,
        |entry| wanted(entry.kind),
        |event| {
            let id = match event.kind {
                Kind::UserMessage => event.data.path(&["source", "senderSessionId"]),
                _ => event.data.get("childId"),
            };
            if let Some(id) = id.and_then(Raw::text).filter(|id| !id.is_empty()) {
                links.entry(id.into_owned()).or_default().push(Link { seq: event.seq.0, kind: event.kind });
            }
            ControlFlow::Continue(())
        },
    )?;
    Ok(links)
}

/// A result of the child.
struct Heard {
    seq: u64,
    call: Option<u64>,
    call_id: Option<String>,
    found: Found,
}

/// The results of a child's own that share telling text with the conclusion, best first. Those that
/// came after `until` (epoch milliseconds), when the conclusion stood already, are left out.
///
/// What people asked for counts less here too; what the child reported does not, since that is the way
/// from its results to the conclusion.
pub fn evidence(question: &mut Question, child: &Log, until: i64) -> Result<Vec<Evidence>> {
    let mut heard = Vec::new();
    let mut tools: HashMap<u64, String> = HashMap::new();
    let mut counts = question.counts.clone();
    let span = Span { from: Seq(child.inherited()), closers: false, ..child.whole() };
    let needle = &question.needle;
    child.walk_mapped(
        span,
        |entry| matches!(entry.kind, Kind::ToolResult | Kind::ToolCall) && entry.time <= until,
        || needle.scratch(),
        |scratch, event| Some(piece(event, child, question, scratch)),
        |piece| match piece {
            Ok(heard_one) => {
                counts.add(&heard_one.found);
                heard.push(heard_one);
            }
            Err((seq, name)) => drop(tools.insert(seq, name)),
        },
    )?;
    question.needle.set_counts(counts);
    let mut evidence: Vec<Evidence> =
        heard.into_iter().filter_map(|heard| judge(&heard, question, &tools)).collect();
    evidence.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.seq.cmp(&a.seq)));
    evidence.truncate(RESULTS);
    Ok(evidence)
}

/// A result, or the name of a call's tool.
fn piece(
    event: &Event<'_>,
    child: &Log,
    question: &Question,
    scratch: &mut Scratch,
) -> std::result::Result<Heard, (u64, String)> {
    if event.kind == Kind::ToolCall {
        return Err((event.seq.0, event.data.get("name").and_then(Raw::display_text).unwrap_or_default()));
    }
    let found = if event.op.is_replace() {
        Found::default()
    } else {
        let words = || words::of_result(event, child.dialect());
        question.needle.look_in(event.message(), words, scratch)
    };
    let call = event.cited().and_then(|sources| sources.only());
    Ok(Heard { seq: event.seq.0, call, call_id: words::call_id(event), found })
}

fn judge(heard: &Heard, question: &Question, tools: &HashMap<u64, String>) -> Option<Evidence> {
    let known: &Known = &question.prompts;
    let scored = Scored { seq: u64::MAX, matches: &heard.found.matches, via: &[] };
    let shared = score(scored, known, &question.needle);
    if shared.score < SUPPORTS {
        return None;
    }
    let spans = shared.runs.iter().map(|run| span(run, &question.needle, None)).collect();
    Some(Evidence {
        seq: heard.seq,
        call_id: heard.call_id.clone(),
        tool: heard.call.and_then(|call| tools.get(&call).cloned()),
        strength: Strength::NeverInContext,
        score: shared.score,
        spans,
        via: Arc::default(),
        inherited: false,
        supports: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{target, why};
    use crate::log::ReadOptions;
    use crate::storage::source::Source;

    /// A log of these events, given as `type time data`.
    fn log(header: &str, lines: &[&str]) -> Log {
        let mut text = format!(r#"{{"type":"session","version":0,{header},"createdAt":1}}"#);
        for (seq, line) in lines.iter().enumerate() {
            let [kind, time, data] = line.splitn(3, ' ').collect::<Vec<_>>().try_into().unwrap();
            let surface = kind.ends_with("/message") || kind == "tool/result";
            let op = if surface { r#","surfaceOp":"append""# } else { "" };
            let cites = if kind == "tool/result" {
                format!(r#","sourceEventSeqs":[{}]"#, seq - 1)
            } else {
                String::new()
            };
            text += &format!(
                "\n{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{time},\"data\":{data}{cites}{op}}}"
            );
        }
        text.push('\n');
        Log::read(Source::memory("log", text.into_bytes()), &ReadOptions::default()).unwrap()
    }

    fn parent() -> Log {
        log(
            r#""id":"a","delegationDepth":0"#,
            &[
                r#"turn/start 1 {"turn":1}"#,
                r#"step/start 2 {"turn":1,"step":1}"#,
                r#"user/message 3 {"id":"u","role":"user","source":{"kind":"user"},"content":[{"type":"text","text":"Which limit is in config/net.toml?"}]}"#,
                r#"user/message 60 {"id":"v","role":"user","source":{"kind":"subagent-report","form":"relay","senderSessionId":"kid"},"content":[{"type":"text","text":"It is max_sockets = 4711."}]}"#,
                r#"assistant/message 70 {"turn":1,"step":1,"message":{"id":"m","role":"assistant","source":{"kind":"model","provider":"p","model":"m"},"content":[{"type":"text","text":"The limit in config/net.toml is max_sockets = 4711."}]}}"#,
            ],
        )
    }

    fn child() -> Log {
        log(
            r#""id":"kid","parentSession":"a","origin":"subagent","delegationDepth":1"#,
            &[
                r#"turn/start 10 {"turn":1}"#,
                r#"step/start 11 {"turn":1,"step":1}"#,
                r#"tool/call 12 {"turn":1,"step":1,"callId":"c","name":"read","arguments":"{}"}"#,
                r#"tool/result 13 {"turn":1,"step":1,"message":{"id":"r","role":"user","source":{"kind":"tool","callId":"c"},"content":[{"type":"tool-result","toolCallId":"c","content":[{"type":"text","text":"[net]\nmax_sockets = 4711"}]}]}}"#,
                r#"tool/call 14 {"turn":1,"step":1,"callId":"d","name":"read","arguments":"{}"}"#,
                r#"tool/result 15 {"turn":1,"step":1,"message":{"id":"s","role":"user","source":{"kind":"tool","callId":"d"},"content":[{"type":"tool-result","toolCallId":"d","content":[{"type":"text","text":"config/net.toml exists"}]}]}}"#,
            ],
        )
    }

    #[test]
    fn a_childs_result_behind_its_report_is_found_and_never_counts_as_seen() {
        let (parent, child) = (parent(), child());
        let target = target::at(&parent, Seq(4)).unwrap();
        let named = links(&parent, target.upto).unwrap();
        assert_eq!(named[&b"kid"[..]], [Link { seq: 3, kind: Kind::UserMessage }]);
        let (why, mut question) = why::ask_on(&parent, target).unwrap();
        assert!(!why.supported);
        let found = evidence(&mut question, &child, 70).unwrap();
        let shown: Vec<_> =
            found.iter().map(|e| (e.seq, e.tool.as_deref(), e.spans[0].quote.as_str(), e.supports)).collect();
        assert_eq!(shown, [(3, Some("read"), "max_sockets = 4711", false)]);
        assert_eq!(found[0].strength, Strength::NeverInContext);
    }

    #[test]
    fn what_came_after_the_conclusion_is_left_out() {
        let parent = parent();
        let (_, mut question) = why::ask_on(&parent, target::at(&parent, Seq(4)).unwrap()).unwrap();
        assert!(evidence(&mut question, &child(), 12).unwrap().is_empty());
    }
}
