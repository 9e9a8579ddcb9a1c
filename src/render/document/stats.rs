//! The document of `stats`.

use super::tools;
use dsh_log::json::write::Object;
use dsh_log::view::stats::{Stats, Totals};

/// Own, inherited, compactions and tools; with `by`, what the sessions did themselves in groups.
pub(crate) fn document(stats: &Stats, by: Option<&[(String, Totals)]>, sessions: u64) -> Vec<u8> {
    let compaction = |totals: &Totals| {
        totals.compaction_tokens.describe(Object::new()).int("compactions", totals.compactions)
    };
    let own = compaction(&stats.own).raw("inherited", &compaction(&stats.inherited).end());
    let tools = stats.own.tools.iter().map(|(name, totals)| tools::total(name, totals).end());
    let inherited = stats.inherited.tools.iter().map(|(name, totals)| tools::total(name, totals).end());
    let out = Object::new()
        .text("schema", b"dsh-log/stats@1")
        .int("sessions", sessions)
        .raw("own", &stats.own.describe(Object::new()).end())
        .raw("inherited", &stats.inherited.describe(Object::new()).end())
        .raw("compaction", &own.end())
        .list("tools", tools)
        .list("inheritedTools", inherited);
    match by {
        Some(groups) => out.list("by", groups.iter().map(group)).end(),
        None => out.end(),
    }
}

fn group((key, totals): &(String, Totals)) -> Vec<u8> {
    let compaction = totals.compaction_tokens.describe(Object::new()).end();
    totals.describe(Object::new().text("key", key.as_bytes())).raw("compaction", &compaction).end()
}
