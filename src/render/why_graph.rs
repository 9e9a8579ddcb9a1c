//! `why` as a graph in the language of Graphviz.

use super::clean::clean_line;
use super::wrap::cut;
use dsh_log::evidence::strength::Strength;
use dsh_log::evidence::why::Why;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// A text as a quoted label.
fn label(text: &str) -> String {
    format!("\"{}\"", clean_line(text).replace('\\', "\\\\").replace('"', "\\\""))
}

/// Writes the graph: results and what stands in their place, to the conclusion.
pub(crate) fn dot(why: &Why, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "digraph why {{")?;
    writeln!(out, "  rankdir=LR; node [shape=box];")?;
    let target = &why.target;
    let words = cut(target.text.trim(), 60);
    writeln!(
        out,
        "  {} [label={}, peripheries=2];",
        target.seq,
        label(&format!("{} {}: {words}", target.seq, target.kind))
    )?;
    let mut edges = BTreeSet::new();
    for e in why.evidence.iter().filter(|e| e.supports || !e.spans.is_empty()) {
        let tool = e.tool.as_deref().unwrap_or("tool");
        writeln!(out, "  {} [label={}];", e.seq, label(&format!("{} {tool}", e.seq)))?;
        let style = if e.supports { "solid" } else { "dotted" };
        let quote = e.spans.first().map(|s| cut(&s.quote, 40)).unwrap_or_default();
        let named = format!("{} {:.1} {quote}", e.strength.name(), e.score);
        let mut at = e.seq;
        for via in e.via.iter() {
            edges.insert(format!("  {at} -> {via} [label=\"replaced by\", style=dashed];"));
            at = *via;
        }
        if e.strength != Strength::NeverInContext {
            edges.insert(format!("  {at} -> {} [label={}, style={style}];", target.seq, label(&named)));
        }
    }
    for edge in edges {
        writeln!(out, "{edge}")?;
    }
    writeln!(out, "}}")
}
