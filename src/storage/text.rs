//! The decoded text as one long space of bytes: which frame holds which part, and lines read back
//! from any place of it.

use super::container::Container;
use super::decode::{Decoder, Step, Stretch};
use super::source::Source;
use crate::error::Result;
use crate::position::{FrameNo, TextOffset};

/// Where a frame begins in the file and in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FrameStart {
    file: u64,
    text: u64,
}

/// Which part of the text each frame holds; 16 bytes a frame.
#[derive(Clone, Debug)]
pub struct TextMap {
    container: Container,
    frames: Vec<FrameStart>,
    file_end: u64,
    text_end: u64,
    torn_from: Option<u64>,
    largest: u64,
}

impl TextMap {
    /// The map of a container of which nothing is known yet.
    #[must_use]
    pub fn new(container: Container) -> TextMap {
        TextMap { container, frames: Vec::new(), file_end: 0, text_end: 0, torn_from: None, largest: 0 }
    }

    /// Adds a frame, or a stretch of raw text, that holds `text_bytes` bytes of text.
    pub fn push(&mut self, file: u64, file_end: u64, text_bytes: u64) {
        if self.container == Container::Zstd {
            self.frames.push(FrameStart { file, text: self.text_end });
            self.largest = self.largest.max(text_bytes);
        }
        self.file_end = file_end;
        self.text_end += text_bytes;
    }

    /// Adds what a crash left of a frame.
    pub fn push_torn(&mut self, file: u64, file_end: u64, text_bytes: u64) {
        self.torn_from = Some(file);
        self.push(file, file_end, text_bytes);
    }

    /// The most text that one frame holds, in bytes; 0 for a raw container.
    #[must_use]
    pub fn largest_frame(&self) -> u64 {
        self.largest
    }

    /// How the text is stored.
    #[must_use]
    pub fn container(&self) -> Container {
        self.container
    }

    /// How many frames there are, a torn one included.
    #[must_use]
    pub fn frame_count(&self) -> u64 {
        self.frames.len() as u64
    }

    /// How much of the file is mapped, in bytes.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.file_end
    }

    /// How much text there is, in bytes.
    #[must_use]
    pub fn text_bytes(&self) -> u64 {
        self.text_end
    }

    /// The frame that holds a place of the text.
    #[must_use]
    pub fn frame_of(&self, at: TextOffset) -> Option<FrameNo> {
        // Frames without text share their start with the next one: take the last.
        let after = self.frames.partition_point(|frame| frame.text <= at.0);
        (after > 0).then(|| FrameNo(after as u64 - 1))
    }

    /// The byte of the file at which a place of the text is found: the frame's first byte, or the
    /// place itself in a raw container.
    #[must_use]
    pub fn file_byte(&self, at: TextOffset) -> u64 {
        match self.frame_of(at) {
            Some(FrameNo(n)) => self.frames[n as usize].file,
            None => at.0,
        }
    }

    /// Whether a frame is what a crash left of one.
    #[must_use]
    pub fn is_torn(&self, frame: FrameNo) -> bool {
        self.torn_from.is_some() && self.torn_from == self.frame_span(frame).map(|span| span.0)
    }

    /// Where a frame's text starts and ends.
    #[must_use]
    pub fn text_span(&self, frame: FrameNo) -> Option<(u64, u64)> {
        let n = usize::try_from(frame.0).ok()?;
        let this = self.frames.get(n)?;
        Some((this.text, self.frames.get(n + 1).map_or(self.text_end, |f| f.text)))
    }

    /// The first and the end byte in the file of a frame, and its bytes of text.
    #[must_use]
    pub fn frame_span(&self, frame: FrameNo) -> Option<(u64, u64, u64)> {
        let n = usize::try_from(frame.0).ok()?;
        let this = self.frames.get(n)?;
        let next = self.frames.get(n + 1);
        let end = next.map_or(self.file_end, |f| f.file);
        let text_end = next.map_or(self.text_end, |f| f.text);
        Some((this.file, end, text_end - this.text))
    }
}

/// Reads lines of the text back; cheap when places are asked for in ascending order.
pub struct TextReader<'a> {
    source: &'a Source,
    map: &'a TextMap,
    decoder: Decoder,
    compressed: Vec<u8>,
    /// The frame that is being decoded piece by piece.
    streaming: Option<u64>,
    piece: Vec<u8>,
    piece_at: u64,
    line: Vec<u8>,
}

const RAW_PIECE: usize = 256 << 10;

impl<'a> TextReader<'a> {
    /// A reader that holds nothing yet.
    #[must_use]
    pub fn new(source: &'a Source, map: &'a TextMap) -> TextReader<'a> {
        TextReader {
            source,
            map,
            decoder: Decoder::new(),
            compressed: Vec::new(),
            streaming: None,
            piece: Vec::new(),
            piece_at: 0,
            line: Vec::new(),
        }
    }

    /// The line that starts at `at`, without its newline; shorter where the text ends first.
    pub fn line(&mut self, at: TextOffset) -> Result<&[u8]> {
        self.hold(at.0)?;
        let from = (at.0 - self.piece_at) as usize;
        if let Some(n) = memchr::memchr(b'\n', self.piece.get(from..).unwrap_or_default()) {
            return Ok(&self.piece[from..from + n]);
        }
        self.line.clear();
        let mut at = at.0;
        loop {
            let from = (at - self.piece_at) as usize;
            let rest = self.piece.get(from..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            match memchr::memchr(b'\n', rest) {
                Some(n) => {
                    self.line.extend_from_slice(&rest[..n]);
                    break;
                }
                None => self.line.extend_from_slice(rest),
            }
            at += rest.len() as u64;
            self.hold(at)?;
        }
        Ok(&self.line)
    }

    /// Makes the piece that holds `at` the current one; an empty piece at the end of the text.
    fn hold(&mut self, at: u64) -> Result<()> {
        if at >= self.piece_at && at < self.piece_at + self.piece.len() as u64 {
            return Ok(());
        }
        match self.map.container {
            Container::Raw => {
                self.piece.resize(RAW_PIECE, 0);
                let got = self.source.read_at(at, &mut self.piece)?;
                self.piece.truncate(got);
                self.piece_at = at;
                Ok(())
            }
            Container::Zstd => self.hold_frame(at),
        }
    }

    fn hold_frame(&mut self, at: u64) -> Result<()> {
        let frame = self.map.frame_of(TextOffset(at)).unwrap_or_default();
        let Some((start, end, text_bytes)) = self.map.frame_span(frame) else {
            self.piece.clear();
            return Ok(());
        };
        let text_start = self.map.frames[frame.0 as usize].text;
        if at >= text_start + text_bytes {
            self.piece.clear();
            self.piece_at = at;
            return Ok(());
        }
        let torn = self.map.torn_from == Some(start);
        if Decoder::is_small(text_bytes) && !torn {
            self.streaming = None;
            self.compressed.resize((end - start) as usize, 0);
            let got = self.source.read_at(start, &mut self.compressed)?;
            self.piece.clear();
            if let Ok(text) = self.decoder.small(&self.compressed[..got], text_bytes) {
                self.piece.extend_from_slice(text);
            }
            self.piece_at = text_start;
            return Ok(());
        }
        if self.streaming != Some(start) || at < self.piece_at {
            self.decoder.begin(Stretch { start, end, bound: text_bytes }, torn);
            self.streaming = Some(start);
            self.piece.clear();
            self.piece_at = text_start;
        }
        while at >= self.piece_at + self.piece.len() as u64 {
            self.piece_at += self.piece.len() as u64;
            self.piece.clear();
            match self.decoder.step(self.source)? {
                Step::Piece(text) => self.piece.extend_from_slice(text),
                Step::End | Step::Failed(_) => {
                    self.streaming = None;
                    break;
                }
            }
        }
        Ok(())
    }
}
