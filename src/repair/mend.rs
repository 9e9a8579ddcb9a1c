//! Logs that the harness refuses and that can be mended all the same, because nothing in them is
//! damaged: padding behind the last frame, and the end-seed that a killed resume still owed.

use crate::error::{Error, Result};
use crate::fault::{Code, Severity};
use crate::finding::Finding;
use crate::format::kind::Kind;
use crate::json::write::Object;
use crate::log::verdict::Outcome;
use crate::log::{Log, ReadOptions};
use crate::storage::container::Container;
use crate::storage::source::Source;
use std::io::{Cursor, Read};

/// What mends such a log.
pub(super) enum Mend {
    /// The file is sound up to this byte, and only zero bytes follow; the log without them.
    Padding(u64, Box<Log>),
    /// This one event behind the last makes it open (v4 section 9.5).
    EndSeed(Vec<u8>),
}

/// What mends a refused log; `None` when it is damaged. Every answer was tried by reading the log as
/// it would be.
pub(super) fn mend(log: &Log, options: &ReadOptions) -> Result<Option<Mend>> {
    let refusing: Vec<&Finding> =
        log.findings().list().iter().filter(|finding| finding.severity == Severity::Refuses).collect();
    match refusing.as_slice() {
        [one] if one.code == Code::FrameMagic => padding(log, one, options),
        [] => Ok(None),
        all if all.iter().all(|finding| finding.code == Code::RelCompaction) => end_seed(log, options),
        _ => Ok(None),
    }
}

fn padding(log: &Log, magic: &Finding, options: &ReadOptions) -> Result<Option<Mend>> {
    let Some(from) = magic.place.byte.map(|byte| byte.0).filter(|from| *from > 0) else { return Ok(None) };
    if log.container() != Container::Zstd || !is_zero(log.source(), from)? {
        return Ok(None);
    }
    let inner = Log::read(log.source().upto(from)?, options)?;
    // With a cut of its own it would be torn before the padding, which no walk over frames ends so.
    let sound = inner.verdict().outcome.opens() && inner.verdict().cut.is_none();
    Ok(sound.then(|| Mend::Padding(from, Box::new(inner))))
}

/// Whether there is nothing but zero bytes from there on.
fn is_zero(source: &Source, from: u64) -> Result<bool> {
    let mut piece = vec![0; 64 << 10];
    let mut at = from;
    while at < source.bytes() {
        let got = source.read_at(at, &mut piece)?;
        if got == 0 || piece[..got].iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        at += got as u64;
    }
    Ok(true)
}

fn end_seed(log: &Log, options: &ReadOptions) -> Result<Option<Mend>> {
    let index = log.index();
    let ends_a_turn = index.entries().last().is_some_and(|entry| entry.kind == Kind::TurnEnd);
    if !ends_a_turn || !log.dialect().relations {
        return Ok(None);
    }
    let event = Object::new()
        .text("type", Kind::EndSeed.name().as_bytes())
        .int("seq", index.next_seq().0)
        .int("time", log.sums().last_time)
        .raw("data", b"{}")
        .end();
    let mut line = event.clone();
    line.push(b'\n');
    let path = log.source().path();
    let more = match log.container() {
        Container::Raw => line,
        Container::Zstd => {
            crate::storage::encode::frame(&line).map_err(|e| Error::io("compress for", path, e))?
        }
    };
    let stored = log.source().part(0, log.source().bytes());
    let with_it = Source::spool(path, stored.chain(Cursor::new(more)))?;
    let mended = Log::read(with_it, options)?;
    let opens = mended.verdict().outcome == Outcome::Opens && mended.index().events() == index.events() + 1;
    Ok(opens.then_some(Mend::EndSeed(event)))
}
