//! The messages that the model gets, exactly as stored (v0 section 10, generations 3.4).

use super::moment::Moment;
use crate::error::Result;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::json::Raw;
use crate::log::Log;
use crate::log::projection::{self, Projections};
use crate::log::visit::Bodies;
use crate::seq::Seq;
use std::collections::HashMap;

/// The message of a surface event, or nothing where it has none: an assistant, system or developer
/// message without content only holds its place.
#[must_use]
pub fn derive<'e>(event: &Event<'e>) -> Option<Raw<'e>> {
    let message = event.message()?;
    let may_be_empty = matches!(event.kind, Kind::UserMessage | Kind::ToolResult);
    let empty = message.get("content").is_some_and(|c| c.is_array() && c.elements().next().is_none());
    (may_be_empty || !empty).then_some(message)
}

/// Hands on each message in the order of the surface, with the event it comes from.
///
/// Errors when the file cannot be read, or as `each` says.
pub fn each<E: From<crate::error::Error>>(
    log: &Log,
    moment: Moment,
    mut each: impl FnMut(Seq, &[u8]) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let seqs: Vec<u64> = moment.surface(log).nodes().map(|node| node.seq).collect();
    let projections = projection::as_of(log, moment.upto().0)?;
    let mut bodies = Bodies::new(log);
    let mut held = read_ahead(log, &seqs, &projections, &mut bodies)?;
    for seq in seqs {
        let text = match held.remove(&seq) {
            Some(text) => text,
            None => message_text(log, seq, &projections, &mut bodies)?,
        };
        if let Some(text) = text {
            each(Seq(seq), &text)?;
        }
    }
    Ok(())
}

/// Where a frame is so large that going back in it means decoding it again, messages out of order
/// are read ahead in one ascending pass.
fn read_ahead(
    log: &Log,
    seqs: &[u64],
    projections: &Projections,
    bodies: &mut Bodies<'_>,
) -> Result<HashMap<u64, Option<Vec<u8>>>> {
    let mut held = HashMap::new();
    if seqs.is_sorted() || !log.has_large_frames() {
        return Ok(held);
    }
    let mut ascending = seqs.to_vec();
    ascending.sort_unstable();
    for seq in ascending {
        held.insert(seq, message_text(log, seq, projections, bodies)?);
    }
    Ok(held)
}

/// The text of one message as the model gets it.
pub(super) fn message_text(
    log: &Log,
    seq: u64,
    projections: &Projections,
    bodies: &mut Bodies<'_>,
) -> Result<Option<Vec<u8>>> {
    let text = bodies.with(Seq(seq), |event| {
        let message = derive(event)?;
        Some(match projections.of(seq) {
            Some(images) => projection::project(message, images, log.dialect()),
            None => message.bytes().to_vec(),
        })
    })?;
    Ok(text.flatten())
}

/// All messages with their events.
pub fn list(log: &Log, moment: Moment) -> Result<Vec<(Seq, Vec<u8>)>> {
    let mut out = Vec::new();
    each(log, moment, |seq, text| -> Result<()> {
        out.push((seq, text.to_vec()));
        Ok(())
    })?;
    Ok(out)
}

/// How many messages there are.
pub fn count(log: &Log, moment: Moment) -> Result<u64> {
    let mut bodies = Bodies::new(log);
    let mut count = 0;
    let surface = moment.surface(log);
    // Only a log that opens is known to have a message in each of these.
    let opens = log.verdict().outcome.opens();
    for node in surface.nodes() {
        let has_one = opens && matches!(node.kind, Kind::UserMessage | Kind::ToolResult);
        if has_one || bodies.with(Seq(node.seq), |event| derive(event).is_some())? == Some(true) {
            count += 1;
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::ReadOptions;
    use crate::storage::source::Source;

    fn log(message: &[u8]) -> Log {
        let head = &br#"{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}"#[..];
        let text = [head, b"\n", message, b"\n"].concat();
        Log::read(Source::memory("session.jsonl", text), &ReadOptions::default()).unwrap()
    }

    #[test]
    fn the_count_is_that_of_the_list_where_a_result_has_no_message() {
        let log = log(br#"{"type":"tool/result","seq":0,"time":1,"data":{},"surfaceOp":"append"}"#);
        assert!(!log.verdict().outcome.opens());
        assert_eq!(
            count(&log, Moment::Balanced).unwrap(),
            list(&log, Moment::Balanced).unwrap().len() as u64
        );
    }

    #[test]
    fn a_message_that_is_not_utf8_is_read_as_the_harness_reads_it() {
        let log = log(
            b"{\"type\":\"user/message\",\"seq\":0,\"time\":1,\"data\":{\"id\":\"\xFF\",\"role\":\"user\",\"source\":{\"kind\":\"user\"},\"content\":[]},\"surfaceOp\":\"append\"}",
        );
        let messages = list(&log, Moment::Balanced).unwrap();
        let wanted = "{\"id\":\"\u{FFFD}\",\"role\":\"user\",\"source\":{\"kind\":\"user\"},\"content\":[]}";
        assert_eq!(messages, [(Seq(0), wanted.as_bytes().to_vec())]);
    }
}
