//! Decoding frames: one reused context, one reused buffer, streaming where a frame is large.

use crate::error::Result;
use crate::storage::source::Source;
use zstd::zstd_safe::{DCtx, InBuffer, OutBuffer, ResetDirective, get_error_name};

/// Frames that cannot decode to more than this are decoded in one call.
pub const SMALL_TEXT: u64 = 4 << 20;
/// How much compressed input and decoded text a large frame is handled in at a time.
const PIECE: usize = 1 << 20;

/// Why a frame gave no more text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undecodable(pub &'static str);

/// A part of the file that holds one frame, or what a crash left of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Its first byte.
    pub start: u64,
    /// Just after its last byte.
    pub end: u64,
    /// It cannot decode to more bytes than this.
    pub bound: u64,
}

/// Decodes frames one after the other.
pub struct Decoder {
    // Made when the first frame comes: it is much to fill, and raw logs have none.
    context: Option<DCtx<'static>>,
    input: Vec<u8>,
    used: usize,
    output: Vec<u8>,
    rest: Stretch,
    torn: bool,
    ended: bool,
}

/// One step through a frame of any size.
#[derive(Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// The next piece of its text; never empty.
    Piece(&'a [u8]),
    /// The frame is over.
    End,
    /// No more text can be had.
    Failed(Undecodable),
}

impl Default for Decoder {
    fn default() -> Decoder {
        Decoder::new()
    }
}

impl Decoder {
    /// A decoder with empty buffers.
    #[must_use]
    pub fn new() -> Decoder {
        Decoder {
            context: None,
            input: Vec::new(),
            used: 0,
            output: Vec::new(),
            rest: Stretch { start: 0, end: 0, bound: 0 },
            torn: false,
            ended: true,
        }
    }

    /// Whether a frame with that bound is decoded by [`Decoder::small`].
    #[must_use]
    pub fn is_small(bound: u64) -> bool {
        bound <= SMALL_TEXT
    }

    /// Decodes a whole small frame that is in memory already.
    pub fn small(&mut self, frame: &[u8], bound: u64) -> std::result::Result<&[u8], Undecodable> {
        self.output.clear();
        self.output.reserve(bound as usize);
        match self.context.get_or_insert_with(DCtx::create).decompress(&mut self.output, frame) {
            Ok(_) => Ok(&self.output),
            Err(code) => Err(Undecodable(get_error_name(code))),
        }
    }

    /// Starts on a frame of any size, to be taken with [`Decoder::step`].
    ///
    /// With `torn` the end of the input is no error: all text that can be had comes out.
    pub fn begin(&mut self, frame: Stretch, torn: bool) {
        // A reset of the session cannot fail, whatever state the context is in.
        let _ = self.context.as_mut().map(|context| context.reset(ResetDirective::SessionOnly));
        self.input.clear();
        self.used = 0;
        self.rest = frame;
        self.torn = torn;
        self.ended = false;
    }

    /// The next piece of the frame's text. Text comes out before its checksum is known.
    pub fn step(&mut self, source: &Source) -> Result<Step<'_>> {
        while !self.ended {
            if self.used == self.input.len() {
                let wanted = PIECE.min((self.rest.end - self.rest.start) as usize);
                self.input.resize(wanted, 0);
                let got = source.read_at(self.rest.start, &mut self.input)?;
                self.input.truncate(got);
                self.used = 0;
                self.rest.start += got as u64;
            }
            self.output.clear();
            self.output.reserve(PIECE);
            let mut input = InBuffer::around(&self.input[self.used..]);
            let mut output = OutBuffer::around(&mut self.output);
            let context = self.context.get_or_insert_with(DCtx::create);
            let left = context.decompress_stream(&mut output, &mut input);
            self.used += input.pos();
            let stuck = input.pos() == 0 && output.pos() == 0;
            match left {
                Err(code) => {
                    self.ended = true;
                    return Ok(Step::Failed(Undecodable(get_error_name(code))));
                }
                Ok(0) => self.ended = true,
                Ok(_) if stuck && self.used == self.input.len() && self.rest.start >= self.rest.end => {
                    self.ended = true;
                    let early = Step::Failed(Undecodable("the frame ends early"));
                    return Ok(if self.torn { Step::End } else { early });
                }
                Ok(_) => {}
            }
            if !self.output.is_empty() {
                return Ok(Step::Piece(&self.output));
            }
        }
        Ok(Step::End)
    }
}
