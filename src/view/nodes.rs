//! The surface as a reading list: for each node who speaks, from where, how much and the first words.

use super::moment::Moment;
use super::tools;
use crate::error::Result;
use crate::format::event::{Event, Location};
use crate::format::kind::Kind;
use crate::format::message::{result_content, words};
use crate::json::Raw;
use crate::log::Log;
use crate::log::index::Flags;
use crate::log::surface::Replacement;
use crate::log::visit::Bodies;
use crate::seq::Seq;
use std::collections::{BTreeMap, HashMap};

/// One node, described.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Described {
    /// The event.
    pub seq: Seq,
    /// Its type.
    pub kind: Option<Kind>,
    /// Its time, epoch milliseconds.
    pub time: i64,
    /// Where it stands.
    pub location: Location,
    /// The id of its message, as a JSON literal.
    pub message_id: Option<Vec<u8>>,
    /// The role of its message.
    pub role: String,
    /// The kind of its source, with the plugin's name where it has one.
    pub source: String,
    /// The tool that a result comes from.
    pub tool: Option<String>,
    /// The size of its message's content as stored, in bytes.
    pub bytes: u64,
    /// Its first words.
    pub words: String,
    /// Whether it replaces others.
    pub replaces: bool,
    /// Whether it is a closer and not stored.
    pub synthetic: bool,
    call: Option<u64>,
}

/// How much of the words is kept, in bytes.
const WORDS: usize = 400;

/// Describes nodes, in the order given.
pub fn describe(log: &Log, seqs: &[u64]) -> Result<Vec<Described>> {
    let mut bodies = Bodies::new(log);
    // Bodies are read in ascending order, whatever the order of the surface.
    let mut by_seq: BTreeMap<u64, Described> = seqs.iter().map(|seq| (*seq, Described::default())).collect();
    for (seq, node) in &mut by_seq {
        *node = bodies.with(Seq(*seq), |event| one(event, log))?.unwrap_or_default();
    }
    let calls: BTreeMap<u64, u64> = by_seq.iter().filter_map(|(seq, n)| Some((n.call?, *seq))).collect();
    let mut bodies = Bodies::new(log);
    for (call, seq) in calls {
        let name = bodies.with(Seq(call), |event| event.data.get("name").and_then(Raw::display_text))?;
        if let (Some(Some(name)), Some(node)) = (name, by_seq.get_mut(&seq)) {
            node.tool = Some(name);
        }
    }
    name_results(log, &mut by_seq)?;
    Ok(seqs.iter().filter_map(|seq| by_seq.get(seq).cloned()).collect())
}

/// The tools of results that cite no call: the ledger pairs by the call's id.
fn name_results(log: &Log, nodes: &mut BTreeMap<u64, Described>) -> Result<()> {
    let unnamed = |n: &Described| n.kind == Some(Kind::ToolResult) && n.tool.is_none() && !n.replaces;
    if !nodes.values().any(unnamed) {
        return Ok(());
    }
    for call in tools::ledger(log, Moment::Balanced)? {
        let node = call.result_seq.and_then(|seq| nodes.get_mut(&seq.0));
        if let Some(node) = node.filter(|node| unnamed(node) && !call.name.is_empty()) {
            node.tool = Some(call.name.to_string());
        }
    }
    Ok(())
}

/// The nodes on the surface at a moment, described.
pub fn current(log: &Log, moment: Moment) -> Result<Vec<Described>> {
    let seqs: Vec<u64> = moment.surface(log).nodes().map(|node| node.seq).collect();
    describe(log, &seqs)
}

fn one(event: &Event<'_>, log: &Log) -> Described {
    let mut node = Described {
        seq: event.seq,
        kind: Some(event.kind),
        time: event.time,
        location: event.location,
        replaces: event.op.is_replace(),
        synthetic: event.synthetic,
        ..Described::default()
    };
    let Some(message) = event.message() else { return node };
    let [id, role, source, content] = message.get_all(["id", "role", "source", "content"]);
    node.message_id = id.map(|id| id.bytes().to_vec());
    node.role = role.and_then(Raw::display_text).unwrap_or_default();
    node.source = source.map(source_name).unwrap_or_default();
    node.bytes = content.map_or(0, |c| c.bytes().len() as u64);
    let content =
        if event.kind == Kind::ToolResult { result_content(message, log.dialect()) } else { content };
    node.words = content.map(|c| first_words(c)).unwrap_or_default();
    if event.kind == Kind::ToolResult {
        // An append cites its call; a rewrite cites the result it replaces.
        node.call = event.cited().filter(|_| !node.replaces).and_then(|s| s.only());
    }
    node
}

/// The kind of a source, and the plugin behind it.
fn source_name(source: Raw<'_>) -> String {
    let [kind, plugin] = source.get_all(["kind", "plugin"]);
    let shown = |value: Option<Raw<'_>>| value.and_then(Raw::display_text).unwrap_or_default();
    match plugin {
        Some(_) => format!("{} {}", shown(kind), shown(plugin)),
        None => shown(kind),
    }
}

/// The first words of a content list; of an answer without words what it calls.
fn first_words(content: Raw<'_>) -> String {
    let text = words(content, WORDS);
    if !text.is_empty() {
        return text;
    }
    let calls: Vec<String> = content
        .elements()
        .filter(|block| block.get("type").is_some_and(|t| t.is("tool-call")))
        .map(|block| {
            let [name, arguments] = block.get_all(["name", "arguments"]);
            let shown = |value: Option<Raw<'_>>| value.and_then(Raw::display_text).unwrap_or_default();
            format!("{} {}", shown(name), shown(arguments))
        })
        .collect();
    if !calls.is_empty() {
        return calls.join("; ");
    }
    let kinds: Vec<String> =
        content.elements().filter_map(|block| block.get("type").and_then(Raw::display_text)).collect();
    if kinds.is_empty() { String::new() } else { format!("[{}]", kinds.join(", ")) }
}

/// A replacement and why it was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Replaced {
    /// What was replaced by what.
    pub replacement: Replacement,
    /// The compaction or pruning directly before it: its type and its seq.
    pub cause: Option<(Kind, Seq)>,
    /// The tokens that the cause says were shadowed.
    pub tokens_before: Option<u64>,
    /// The tokens of the summary, as its usage reports them.
    pub tokens_after: Option<u64>,
}

/// All replacements up to a moment, each with its cause.
pub fn history(log: &Log, moment: Moment) -> Result<Vec<Replaced>> {
    let mut bodies = Bodies::new(log);
    let mut out = Vec::new();
    for replacement in moment.surface(log).replacements() {
        let before = replacement.seq.checked_sub(1).and_then(|seq| log.index().record_of(Seq(seq)));
        let cause = before
            .map(|record| log.index().entries()[record])
            .filter(|entry| matches!(entry.kind, Kind::CompactionSummary | Kind::CompactionPrune))
            .filter(|entry| !entry.flags.has(Flags::TOO_LONG));
        let mut replaced = Replaced {
            replacement,
            cause: cause.map(|e| (e.kind, e.seq)),
            tokens_before: None,
            tokens_after: None,
        };
        if let Some(entry) = cause {
            let counts = bodies.with(entry.seq, |event| {
                let before = event.data.get("shadowedTokenCount").and_then(Raw::count);
                let after = event.data.path(&["usage", "outputTokens"]).and_then(Raw::count);
                (before, after)
            })?;
            (replaced.tokens_before, replaced.tokens_after) = counts.unwrap_or_default();
        }
        out.push(replaced);
    }
    Ok(out)
}

/// What each replacing event removed, by its seq.
#[must_use]
pub fn shadowed_by(history: &[Replaced]) -> HashMap<u64, Vec<u64>> {
    history.iter().map(|r| (r.replacement.seq, r.replacement.shadowed.clone())).collect()
}
