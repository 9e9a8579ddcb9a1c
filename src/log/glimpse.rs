//! Single events of a log that has not been read, found by where they should lie in the file.
//!
//! Nothing is judged on the way, and what cannot be made out is passed over: what a glimpse shows is a
//! guess, to be checked once the log has been read.

use crate::error::Result;
use crate::format::dialect::Dialect;
use crate::format::event::Event;
use crate::format::header;
use crate::format::judge;
use crate::json::Raw;
use crate::json::jumps::Jumps;
use crate::json::text;
use crate::seq::Seq;
use crate::storage::container::Container;
use crate::storage::decode::Decoder;
use crate::storage::frame::{self, Found, MAGIC};
use crate::storage::header_line::{HeaderLine, read_header_line};
use crate::storage::source::{Source, Window};
use std::ops::ControlFlow;

/// How much of the file is looked through at once.
const STRIDE: u64 = 256 << 10;

/// How much is looked at for the start of a frame or the end of a line.
const PIECE: usize = 16 << 10;

/// How many places that look like a frame and are none, or hold too much, are taken before giving up.
const MISSES: u32 = 8;

/// A look into a log that has not been read.
pub struct Glimpse<'a> {
    source: &'a Source,
    container: Container,
    dialect: &'static Dialect,
    window: Window<'a>,
    decoder: Decoder,
    stored: Vec<u8>,
    jumps: Jumps,
    misses: u32,
}

impl<'a> Glimpse<'a> {
    /// A look into a log; `None` when its header is not of a generation that we know.
    pub fn new(source: &'a Source) -> Result<Option<Glimpse<'a>>> {
        let HeaderLine::Line { text, .. } = read_header_line(source)? else { return Ok(None) };
        let reading = header::read(&text);
        if !reading.known {
            return Ok(None);
        }
        Ok(Some(Glimpse {
            source,
            container: Container::of(source)?,
            dialect: reading.dialect,
            window: Window::new(source),
            decoder: Decoder::new(),
            stored: Vec::new(),
            jumps: Jumps::default(),
            misses: MISSES,
        }))
    }

    /// What `read` makes of the event at a seq; `None` when it is not come upon. Some tens of places
    /// are looked at, however long the log is.
    pub fn at<T>(&mut self, seq: Seq, read: impl FnOnce(&Event<'_>) -> T) -> Result<Option<T>> {
        let (mut low, mut high) = (0, self.source.bytes());
        while high - low > STRIDE {
            let middle = low + (high - low) / 2;
            match self.first_seq(middle, high)? {
                Some(first) if first <= seq => low = middle,
                _ => high = middle,
            }
        }
        let (mut read, mut out) = (Some(read), None);
        self.events(low, high, &mut |event| {
            if event.seq == seq
                && let Some(read) = read.take()
            {
                out = Some(read(event));
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        Ok(out)
    }

    /// What `pick` makes of the last event that it takes, looked for in the last `bytes` of the file.
    pub fn last<T>(
        &mut self,
        bytes: u64,
        mut pick: impl FnMut(&Event<'_>) -> Option<T>,
    ) -> Result<Option<T>> {
        let mut high = self.source.bytes();
        let end = high.saturating_sub(bytes);
        while high > end {
            let low = high.saturating_sub(STRIDE);
            let mut last = None;
            self.events(low, high, &mut |event| {
                last = pick(event).or(last.take());
                ControlFlow::Continue(())
            })?;
            if last.is_some() {
                return Ok(last);
            }
            high = low;
        }
        Ok(None)
    }

    /// The seq of the first record that begins in a part of the file.
    fn first_seq(&mut self, from: u64, to: u64) -> Result<Option<Seq>> {
        let mut first = None;
        let mut jumps = std::mem::take(&mut self.jumps);
        self.lines(from, to, &mut |line| {
            if let Ok(parts) = judge::envelope(line, &mut jumps) {
                first = parts.seq.or(parts.seq0).and_then(Raw::count).map(Seq);
            }
            if first.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        self.jumps = jumps;
        Ok(first)
    }

    /// Hands on the events whose frames or lines begin in a part of the file; packed ones are left out.
    fn events(
        &mut self,
        from: u64,
        to: u64,
        each: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut jumps = std::mem::take(&mut self.jumps);
        let dialect = self.dialect;
        let done = self.lines(from, to, &mut |line| {
            let line = &*text::stored(line);
            let Ok(parts) = judge::envelope(line, &mut jumps) else { return ControlFlow::Continue(()) };
            let Some(seq) = parts.seq.and_then(Raw::count) else { return ControlFlow::Continue(()) };
            match Event::of_parts(&parts, parts.kind(), line, dialect) {
                Some(event) => each(&Event { seq: Seq(seq), ..event }),
                None => ControlFlow::Continue(()),
            }
        });
        self.jumps = jumps;
        done
    }

    fn lines(&mut self, from: u64, to: u64, each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        match self.container {
            Container::Zstd => self.lines_of_frames(from, to, each),
            Container::Raw => self.raw_lines(from, to, each),
        }
    }

    fn lines_of_frames(
        &mut self,
        from: u64,
        to: u64,
        each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut at = from;
        while self.misses > 0 {
            let Some(start) = self.find(&MAGIC, at, to)? else { break };
            at = start + 1;
            self.misses -= 1;
            let Found::Frame(frame) = frame::walk(&mut self.window, start)? else { continue };
            at = frame.end;
            if frame.window_too_large || !Decoder::is_small(frame.bound) {
                continue;
            }
            self.stored.resize((frame.end - frame.start) as usize, 0);
            let got = self.source.read_at(frame.start, &mut self.stored)?;
            let Ok(text) = self.decoder.small(&self.stored[..got], frame.bound) else {
                at = start + 1;
                continue;
            };
            self.misses += 1;
            if whole_lines(text, each).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn raw_lines(
        &mut self,
        from: u64,
        to: u64,
        each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        let end = self.source.bytes();
        let mut next = match from {
            0 => Some(0),
            _ => self.find(b"\n", from - 1, end)?.map(|newline| newline + 1),
        };
        while let Some(start) = next.filter(|start| *start < to) {
            let Some(newline) = self.find(b"\n", start, end)? else { break };
            let line = self.window.get(start, (newline - start) as usize)?;
            if each(line).is_break() {
                break;
            }
            next = Some(newline + 1);
        }
        Ok(())
    }

    /// The first place in a part of the file where those bytes begin; a line that goes on for longer
    /// than a frame may is not followed.
    fn find(&mut self, bytes: &[u8], from: u64, to: u64) -> Result<Option<u64>> {
        let mut at = from;
        while at < to && at - from < crate::storage::decode::SMALL_TEXT {
            let piece = self.window.get(at, PIECE)?;
            if let Some(hit) = memchr::memmem::find(piece, bytes) {
                return Ok(Some(at + hit as u64).filter(|at| *at < to));
            }
            if piece.len() < PIECE {
                break;
            }
            at += (PIECE - bytes.len() + 1) as u64;
        }
        Ok(None)
    }
}

fn whole_lines(text: &[u8], each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> ControlFlow<()> {
    let mut from = 0;
    for newline in memchr::memchr_iter(b'\n', text) {
        each(&text[from..newline])?;
        from = newline + 1;
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::encode;

    const HEADER: &str = r#"{"type":"session","version":0,"id":"a","createdAt":1,"delegationDepth":0}"#;

    /// A log of notes, long enough to be searched by halves.
    fn lines() -> Vec<String> {
        let noise = |n: u64| {
            (0..12)
                .map(|k| format!("{:x}", (n * 31 + k).wrapping_mul(0x9E37_79B9_7F4A_7C15)))
                .collect::<String>()
        };
        let line = |n| {
            let noise = noise(n);
            format!(r#"{{"type":"plan/mode","seq":{n},"time":1,"data":{{"n":{n},"noise":"{noise}"}}}}"#)
        };
        std::iter::once(HEADER.to_owned()).chain((0..6000).map(line)).collect()
    }

    fn n_of(event: &Event<'_>) -> Option<u64> {
        event.data.get("n").and_then(Raw::count)
    }

    fn check(source: &Source) {
        assert!(source.bytes() > 2 * STRIDE);
        let mut glimpse = Glimpse::new(source).unwrap().unwrap();
        for seq in [0, 1, 63, 64, 2999, 3000, 5998, 5999] {
            assert_eq!(glimpse.at(Seq(seq), n_of).unwrap(), Some(Some(seq)), "{seq}");
        }
        assert_eq!(glimpse.at(Seq(6000), n_of).unwrap(), None);
        for wanted in [0, 17, 4321, 5999] {
            let pick = |event: &Event<'_>| n_of(event).filter(|n| *n <= wanted);
            assert_eq!(glimpse.last(u64::MAX, pick).unwrap(), Some(wanted));
        }
        assert_eq!(glimpse.last(64, n_of).unwrap(), None.or(glimpse.last(STRIDE, n_of).unwrap()));
        assert_eq!(glimpse.last(u64::MAX, |_| None::<()>).unwrap(), None);
    }

    #[test]
    fn each_event_is_found_in_raw_text() {
        let text = lines().iter().map(|line| format!("{line}\n")).collect::<String>();
        check(&Source::memory("log.jsonl", text.into_bytes()));
    }

    #[test]
    fn each_event_is_found_in_frames_of_one_and_of_many_lines() {
        for size in [1, 7, 1000] {
            let lines = lines();
            let mut bytes = encode::frame(format!("{}\n", lines[0]).as_bytes()).unwrap();
            for lines in lines[1..].chunks(size) {
                let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
                bytes.extend(encode::frame(text.as_bytes()).unwrap());
            }
            check(&Source::memory("log.jsonl.zstd", bytes));
        }
    }

    #[test]
    fn a_line_longer_than_a_frame_may_be_is_not_followed() {
        let long = "x".repeat(9 << 20);
        let source = Source::memory("log.jsonl", format!("{HEADER}\n{long}\n").into_bytes());
        let mut glimpse = Glimpse::new(&source).unwrap().unwrap();
        assert_eq!(glimpse.at(Seq(3), n_of).unwrap(), None);
        assert_eq!(glimpse.last(u64::MAX, n_of).unwrap(), None);
        assert!(glimpse.stored.capacity() < 1 << 20);
    }

    #[test]
    fn beginnings_of_frames_without_end_are_soon_given_up() {
        let mut bytes = encode::frame(format!("{HEADER}\n").as_bytes()).unwrap();
        for _ in 0..100_000 {
            bytes.extend(MAGIC);
            bytes.extend([0x20, 0]);
        }
        let source = Source::memory("log.jsonl.zstd", bytes);
        let mut glimpse = Glimpse::new(&source).unwrap().unwrap();
        assert_eq!(glimpse.at(Seq(3), n_of).unwrap(), None);
        assert_eq!(glimpse.misses, 0);
    }
}
