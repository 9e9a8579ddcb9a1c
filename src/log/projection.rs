//! `image/offload`: events that change how earlier messages are shown to the model (generations
//! 3.3, v4 section 6.5).

use super::read::Log;
use super::visit::Bodies;
use crate::error::Result;
use crate::fault::Code;
use crate::format::dialect::{Dialect, ImageCount};
use crate::format::kind::Kind;
use crate::format::parts::RowFault;
use crate::json::{Raw, scan};
use crate::seq::Seq;
use std::collections::{BTreeMap, BTreeSet};

/// Which images of which messages are offloaded: image numbers by the message's seq.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Projections {
    images: BTreeMap<u64, BTreeSet<u64>>,
}

/// One target of an `image/offload`.
struct Target {
    seq: u64,
    images: Vec<u64>,
}

fn fault(message: String) -> RowFault {
    RowFault::new(Code::Projection, message)
}

fn targets(data: Raw<'_>) -> std::result::Result<Vec<Target>, RowFault> {
    let malformed = || fault("image/offload is malformed".into());
    let list = data.get("targets").filter(|t| t.is_array()).ok_or_else(malformed)?;
    if data.members().any(|(key, _)| !key.is("targets")) {
        return Err(malformed());
    }
    let mut out: Vec<Target> = Vec::new();
    for target in list.elements() {
        let [seq, indexes] = target.get_all(["seq", "imageIndexes"]);
        let seq = seq.and_then(Raw::count).ok_or_else(malformed)?;
        let indexes = indexes.filter(|i| i.is_array()).ok_or_else(malformed)?;
        let images: Option<Vec<u64>> = indexes.elements().map(Raw::count).collect();
        let images = images.filter(|i| !i.is_empty()).ok_or_else(malformed)?;
        if images.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(fault("image/offload names images out of order".into()));
        }
        if out.iter().any(|t| t.seq == seq) {
            return Err(fault(format!("image/offload names event {seq} twice")));
        }
        out.push(Target { seq, images });
    }
    if out.is_empty() { Err(malformed()) } else { Ok(out) }
}

impl Projections {
    /// The images of that message which are offloaded.
    #[must_use]
    pub fn of(&self, seq: u64) -> Option<&BTreeSet<u64>> {
        self.images.get(&seq)
    }

    /// Every message that was ever changed, ascending.
    pub fn seqs(&self) -> impl Iterator<Item = u64> + '_ {
        self.images.keys().copied()
    }

    /// Takes one event; nothing changes when it is at fault.
    fn apply(
        &mut self,
        targets: Vec<Target>,
        messages: &BTreeMap<u64, Vec<bool>>,
    ) -> std::result::Result<(), RowFault> {
        for target in &targets {
            let Some(images) = messages.get(&target.seq) else {
                let message =
                    format!("image/offload names event {}, which is no message on the surface", target.seq);
                return Err(fault(message));
            };
            for image in &target.images {
                let done = self.images.get(&target.seq).is_some_and(|set| set.contains(image));
                let problem = match images.get(*image as usize) {
                    None => "which it does not have",
                    Some(true) => "which is offloaded already",
                    Some(false) if done => "which is offloaded already",
                    Some(false) => continue,
                };
                return Err(fault(format!(
                    "image/offload names image {image} of event {}, {problem}",
                    target.seq
                )));
            }
        }
        for target in targets {
            self.images.entry(target.seq).or_default().extend(target.images);
        }
        Ok(())
    }
}

/// The faults of all `image/offload` events, by seq.
pub fn check(log: &Log) -> Result<Vec<(u64, RowFault)>> {
    let mut faults = Vec::new();
    fold(log, u64::MAX, &mut |seq, fault| faults.push((seq, fault)))?;
    Ok(faults)
}

/// The projections in force right after the event `upto`.
pub fn as_of(log: &Log, upto: u64) -> Result<Projections> {
    fold(log, upto, &mut |_, _| {})
}

fn fold(log: &Log, upto: u64, report: &mut dyn FnMut(u64, RowFault)) -> Result<Projections> {
    let mut projections = Projections::default();
    if log.sums().offloads.is_empty() {
        return Ok(projections);
    }
    let mut bodies = Bodies::new(log);
    for seq in log.sums().offloads.iter().copied().take_while(|seq| *seq <= upto) {
        let Some(targets) = bodies.with(Seq(seq), |event| targets(event.data))? else { continue };
        let outcome = match targets {
            Ok(targets) => {
                let messages = images_of(log, &mut bodies, seq, &targets)?;
                projections.apply(targets, &messages)
            }
            Err(fault) => Err(fault),
        };
        if let Err(fault) = outcome {
            report(seq, fault);
        }
    }
    Ok(projections)
}

/// For each target on the surface at that moment, its images: whether each is stored as offloaded.
fn images_of(
    log: &Log,
    bodies: &mut Bodies<'_>,
    at: u64,
    targets: &[Target],
) -> Result<BTreeMap<u64, Vec<bool>>> {
    let mut out = BTreeMap::new();
    let surface = log.surface().as_of(at, 0);
    for target in targets {
        let node = surface.current(target.seq);
        if !node.is_some_and(|n| matches!(n.kind, Kind::UserMessage | Kind::ToolResult)) {
            continue;
        }
        let images = bodies.with(Seq(target.seq), |event| {
            event.message().map(|m| image_blocks(m, log.dialect()).iter().map(|b| is_offloaded(*b)).collect())
        })?;
        if let Some(Some(images)) = images {
            out.insert(target.seq, images);
        }
    }
    Ok(out)
}

fn is_offloaded(block: Raw<'_>) -> bool {
    block.get("offloaded").is_some_and(Raw::is_true)
}

/// The image blocks of a message in the order in which they are counted.
fn image_blocks<'a>(message: Raw<'a>, dialect: &Dialect) -> Vec<Raw<'a>> {
    let mut out = Vec::new();
    let Some(content) = message.get("content") else { return out };
    for block in content.elements() {
        match block.get("type") {
            Some(t) if t.is("image") => out.push(block),
            Some(t) if t.is("tool-result") && dialect.images == ImageCount::Nested => {
                // One level only: a tool result inside a tool result is no shape of any generation.
                let nested = block.get("content").into_iter().flat_map(Raw::elements);
                out.extend(nested.filter(|b| b.get("type").is_some_and(|t| t.is("image"))));
            }
            _ => {}
        }
    }
    out
}

/// The message as the model gets it: `offloaded: true` spliced into the chosen images, every other
/// byte as stored.
#[must_use]
pub fn project(stored: Raw<'_>, images: &BTreeSet<u64>, dialect: &Dialect) -> Vec<u8> {
    let text = stored.bytes();
    let base = text.as_ptr() as usize;
    let mut out = Vec::with_capacity(text.len() + images.len() * 18);
    let mut copied = 0;
    for (n, block) in image_blocks(stored, dialect).into_iter().enumerate() {
        if !images.contains(&(n as u64)) {
            continue;
        }
        let end = block.bytes().as_ptr() as usize - base + block.bytes().len();
        let (upto, from) = match block.get("offloaded") {
            Some(value) => {
                let start = value.bytes().as_ptr() as usize - base;
                (start, start + value.bytes().len())
            }
            None => (end - 1, end - 1),
        };
        out.extend_from_slice(&text[copied..upto]);
        if upto == from {
            let first = scan::skip_blanks(block.bytes(), 1) + 1 == block.bytes().len();
            out.extend_from_slice(if first { b"\"offloaded\":true" } else { b",\"offloaded\":true" });
        } else {
            out.extend_from_slice(b"true");
        }
        copied = from;
    }
    out.extend_from_slice(&text[copied..]);
    out
}

/// The number of messages that a moment's projections concern, for counters.
#[must_use]
pub fn count_upto(log: &Log, upto: u64) -> u64 {
    log.sums().offloads.iter().take_while(|seq| **seq <= upto).count() as u64
}
