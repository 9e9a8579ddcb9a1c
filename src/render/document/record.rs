//! The document of `show`.

use dsh_log::format::sources::Run;
use dsh_log::json::Raw;
use dsh_log::json::text;
use dsh_log::json::write::{Object, array, ints};
use dsh_log::position::{FrameNo, LineNo, TextOffset};
use dsh_log::view::record::{Place, Record};

/// One event, explained. `event` is the event as read, `stored` its line as a string where that is
/// another text.
pub(crate) fn document(record: &Record) -> Vec<u8> {
    let cites = record.cites.iter().map(|citation| {
        Object::new().text("member", citation.member.as_bytes()).raw("seqs", &runs(&citation.runs)).end()
    });
    let cited_by = record.cited_by.iter().map(|by| {
        let out = Object::new().int("seq", by.seq.0).text("type", by.kind.name().as_bytes());
        out.text("member", by.member.as_bytes()).end()
    });
    let stored = text::stored(&record.stored);
    let other = record.place.is_some() && record.stored != record.event;
    // What is no JSON document must not break this one.
    let event = Raw::parse(&record.event).map_or(b"null".as_slice(), |_| &record.event);
    Object::new()
        .text("schema", b"dsh-log/show@1")
        .int("seq", record.seq.0)
        .text("type", record.type_text.as_bytes())
        .int("time", record.time)
        .int_if("turn", record.location.turn)
        .int_if("step", record.location.step)
        .bool("inherited", record.inherited)
        .bool("synthetic", record.place.is_none())
        .raw_if("place", record.place.as_ref().map(place).as_deref())
        .text("surface", record.surface.name().as_bytes())
        .list("cites", cites)
        .list("citedBy", cited_by)
        .raw("replaces", &ints(record.replaced.iter().copied()))
        .raw("replacedBy", &ints(record.chain.iter().copied()))
        .raw("event", event)
        .text_if("stored", other.then_some(&*stored))
        .end()
}

/// Runs of more than one as pairs, as later generations write them.
fn runs(runs: &[Run]) -> Vec<u8> {
    array(runs.iter().map(|run| match run.last - run.first {
        0 => run.first.to_string(),
        _ => format!("[{},{}]", run.first, run.last),
    }))
}

fn place(place: &Place) -> Vec<u8> {
    let (TextOffset(text), LineNo(line)) = (place.text, place.line);
    Object::new()
        .int_if("frame", place.frame.map(|FrameNo(n)| n))
        .int("byte", place.byte)
        .int("byteEnd", place.byte_end)
        .int("textByte", text)
        .int("textBytes", place.text_bytes)
        .int("line", line)
        .int_if("member", place.member.map(|(n, _)| n))
        .int_if("members", place.member.map(|(_, of)| of))
        .end()
}
