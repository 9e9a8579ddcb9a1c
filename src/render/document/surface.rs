//! The document of `surface`.

use dsh_log::json::write::{Object, array, ints};
use dsh_log::log::Log;
use dsh_log::view::moment::Moment;
use dsh_log::view::nodes::{Described, Replaced};

/// The whole document. `history` gives each replacement its cause.
pub(crate) fn document(log: &Log, moment: Moment, nodes: &[Described], history: &[Replaced]) -> Vec<u8> {
    let surface = moment.surface(log);
    let replacements = history.iter().map(replacement);
    let (current, shadowed) = (surface.current_count(), surface.shadowed_count());
    let counts = Object::new()
        .int("current", current)
        .int("shadowed", shadowed)
        .int("logOnly", moment.events(log).saturating_sub(current + shadowed))
        .end();
    Object::new()
        .text("schema", b"dsh-log/surface@1")
        .list("nodes", nodes.iter().map(node))
        .raw("replacements", &array(replacements))
        .int("generation", surface.generation())
        .int("contentGeneration", surface.content_generation())
        .raw("counts", &counts)
        .end()
}

fn node(node: &Described) -> Vec<u8> {
    Object::new()
        .int("seq", node.seq.0)
        .text("type", node.kind.map_or("unknown", |k| k.name()).as_bytes())
        .int_if("turn", node.location.turn)
        .int_if("step", node.location.step)
        .raw_if("messageId", node.message_id.as_deref())
        .text("role", node.role.as_bytes())
        .text("source", node.source.as_bytes())
        .text_if("tool", node.tool.as_deref().map(str::as_bytes))
        .int("time", node.time)
        .int("bytes", node.bytes)
        .text("words", node.words.as_bytes())
        .raw_if("synthetic", node.synthetic.then_some(b"true".as_slice()))
        .end()
}

fn replacement(replaced: &Replaced) -> Vec<u8> {
    let replacement = &replaced.replacement;
    Object::new()
        .int("seq", replacement.seq)
        .int("start", replacement.start)
        .int("end", replacement.end)
        .raw("shadowedSeqs", &ints(replacement.shadowed.iter().copied()))
        .text_if("cause", replaced.cause.map(|c| c.0.name().as_bytes()))
        .int_if("causeSeq", replaced.cause.map(|c| c.1.0))
        .int_if("tokensBefore", replaced.tokens_before)
        .int_if("tokensAfter", replaced.tokens_after)
        .end()
}
