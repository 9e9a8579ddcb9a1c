//! The document of `compactions`.

use dsh_log::json::write::{Object, ints};
use dsh_log::view::compactions::{Compaction, Compactions, Loss, Pruned};

/// The compactions and the shortened results.
pub(crate) fn document(compactions: &Compactions) -> Vec<u8> {
    Object::new()
        .text("schema", b"dsh-log/compactions@1")
        .list("compactions", compactions.list.iter().map(compaction))
        .list("pruned", compactions.pruned.iter().map(pruned))
        .end()
}

fn compaction(c: &Compaction) -> Vec<u8> {
    let usage = c.usage.map(|usage| usage.describe(Object::new()).end());
    let range = c.range.map(|(start, end)| Object::new().int("start", start).int("end", end).end());
    Object::new()
        .text("compactionId", c.id.as_bytes())
        .text("trigger", c.trigger.name().as_bytes())
        .int_if("turn", c.turn)
        .bool("inherited", c.inherited)
        .int_if("startSeq", c.start.map(|s| s.0))
        .int_if("summarySeq", c.summary.map(|s| s.0))
        .int_if("checkpointSeq", c.checkpoint.map(|s| s.0))
        .int_if("endSeq", c.end.map(|s| s.0))
        .int("time", c.time)
        .int_if("millis", c.millis)
        .raw_if("range", range.as_deref())
        .raw("shadowedSeqs", &ints(c.shadowed.iter().copied()))
        .int_if("tokensBefore", c.tokens_before)
        .text_if("model", c.model.as_deref().map(str::as_bytes))
        .raw_if("usage", usage.as_deref())
        .text("summary", c.words.as_bytes())
        .text_if("error", c.error.as_deref().map(str::as_bytes))
        .list("askedAgain", c.loss.iter().map(loss))
        .end()
}

fn pruned(p: &Pruned) -> Vec<u8> {
    Object::new()
        .int("seq", p.seq.0)
        .int_if("resultSeq", p.result)
        .int_if("bySeq", p.by.map(|s| s.0))
        .int_if("tokensBefore", p.tokens_before)
        .list("askedAgain", p.loss.iter().map(loss))
        .end()
}

fn loss(loss: &Loss) -> Vec<u8> {
    Object::new()
        .int("resultSeq", loss.result.0)
        .int("callSeq", loss.call.0)
        .int("againSeq", loss.again.0)
        .text("how", loss.how.name().as_bytes())
        .text("name", loss.name.as_bytes())
        .text("arguments", loss.arguments.as_bytes())
        .int("bytes", loss.bytes)
        .end()
}
