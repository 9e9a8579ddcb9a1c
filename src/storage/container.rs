//! The container: zstd frames or raw lines, told apart by content, cut into stretches of work.

use super::decode::{Decoder, Stretch};
use super::frame::{self, Found, Frame};
use super::source::{Source, Window};
use crate::error::Result;

/// How a log's text is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// Concatenated zstd frames.
    Zstd,
    /// The text itself.
    Raw,
}

impl Container {
    /// The stable name used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Container::Zstd => "zstd",
            Container::Raw => "raw",
        }
    }

    /// The container of a source, by its first bytes; its name decides only where they say nothing.
    pub fn of(source: &Source) -> Result<Container> {
        let mut head = [0; 64];
        let got = source.read_at(0, &mut head)?;
        let head = &head[..got];
        if head.starts_with(&frame::MAGIC) {
            return Ok(Container::Zstd);
        }
        let name = source.path().to_string_lossy();
        let named_zstd = name.ends_with(".zstd") || name.ends_with(".zst");
        let first = head.iter().find(|byte| !byte.is_ascii_whitespace());
        Ok(match first {
            Some(b'{') => Container::Raw,
            _ if named_zstd => Container::Zstd,
            None if frame::MAGIC.starts_with(head) && !head.is_empty() => Container::Zstd,
            _ => Container::Raw,
        })
    }
}

/// A piece of the file that one worker reads: whole frames, or raw text that starts at a line.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Its first byte in the file.
    pub start: u64,
    /// Just after its last byte.
    pub end: u64,
    /// The frames in it; empty for raw text.
    pub frames: Vec<Frame>,
    /// The number of the first of them.
    pub first_frame: u64,
    /// Whether it is what a crash left of a frame.
    pub torn: bool,
}

/// How the walk over the container ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At the end of the file.
    Clean,
    /// Inside a frame that starts at this byte.
    Torn(u64),
    /// At bytes that are no frame: from `frame`, the offending byte being `byte`.
    Spoiled {
        /// Where a frame should start.
        frame: u64,
        /// The byte that is wrong.
        byte: u64,
        /// Whether it is a reserved bit or block type, and not missing magic.
        reserved: bool,
    },
}

/// How many bytes of file one segment holds, about.
const SEGMENT_BYTES: u64 = 512 << 10;

/// Cuts a container into segments, one call after the other.
pub struct Segments<'a> {
    window: Window<'a>,
    source: &'a Source,
    container: Container,
    at: u64,
    frames: u64,
    end: Option<End>,
}

impl<'a> Segments<'a> {
    /// Starts at the beginning of the source.
    #[must_use]
    pub fn new(source: &'a Source, container: Container) -> Segments<'a> {
        Segments { window: Window::new(source), source, container, at: 0, frames: 0, end: None }
    }

    /// How the walk ended, once [`Segments::next_segment`] gave `None`.
    #[must_use]
    pub fn end(&self) -> End {
        self.end.unwrap_or(End::Clean)
    }

    /// How many whole frames were walked.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// The next segment in file order. The header frame, and each large frame, stands alone.
    pub fn next_segment(&mut self) -> Result<Option<Segment>> {
        if self.end.is_some() {
            return Ok(None);
        }
        match self.container {
            Container::Raw => self.next_raw(),
            Container::Zstd => self.next_zstd(),
        }
    }

    fn next_raw(&mut self) -> Result<Option<Segment>> {
        let bytes = self.source.bytes();
        if self.at >= bytes {
            self.end = Some(End::Clean);
            return Ok(None);
        }
        let start = self.at;
        // The header line stands alone, as the header frame does.
        let mut end = if start == 0 { 0 } else { (start + SEGMENT_BYTES).min(bytes) };
        while end < bytes {
            let piece = self.window.get(end, 64 << 10)?;
            if piece.is_empty() {
                break;
            }
            match memchr::memchr(b'\n', piece) {
                Some(n) => {
                    end += n as u64 + 1;
                    break;
                }
                None => end += piece.len() as u64,
            }
        }
        self.at = end.max(start + 1);
        Ok(Some(Segment { start, end: self.at, frames: Vec::new(), first_frame: 0, torn: false }))
    }

    fn next_zstd(&mut self) -> Result<Option<Segment>> {
        let start = self.at;
        let mut segment =
            Segment { start, end: start, frames: Vec::new(), first_frame: self.frames, torn: false };
        while self.at < self.source.bytes() {
            let spoiled = |frame, byte, reserved| End::Spoiled { frame, byte, reserved };
            let end = match frame::walk(&mut self.window, self.at)? {
                Found::Frame(found) => {
                    let alone = self.frames == 0 || !Decoder::is_small(found.bound);
                    if alone && !segment.frames.is_empty() {
                        return Ok(Some(segment));
                    }
                    segment.frames.push(found);
                    segment.end = found.end;
                    self.at = found.end;
                    self.frames += 1;
                    if alone || segment.end - segment.start >= SEGMENT_BYTES {
                        return Ok(Some(segment));
                    }
                    continue;
                }
                Found::Torn => End::Torn(self.at),
                Found::NoMagic => spoiled(self.at, self.at, false),
                Found::Reserved(byte) => spoiled(self.at, byte, true),
            };
            if !segment.frames.is_empty() {
                return Ok(Some(segment));
            }
            self.end = Some(end);
            return Ok(match end {
                End::Torn(at) => {
                    let end = self.source.bytes();
                    Some(Segment { start: at, end, frames: Vec::new(), first_frame: self.frames, torn: true })
                }
                _ => None,
            });
        }
        if segment.frames.is_empty() {
            self.end = Some(End::Clean);
            return Ok(None);
        }
        Ok(Some(segment))
    }
}

impl From<Frame> for Stretch {
    fn from(frame: Frame) -> Stretch {
        Stretch { start: frame.start, end: frame.end, bound: frame.bound }
    }
}
