//! Decoding frames: one reused context, one reused buffer, streaming where a frame is large.

use crate::error::Result;
use crate::storage::source::Source;
use zstd::zstd_safe::{DCtx, InBuffer, OutBuffer, ResetDirective, get_error_name};

/// Frames that cannot decode to more than this are decoded in one call.
const SMALL_TEXT: u64 = 4 << 20;
/// How much compressed input and decoded text a large frame is handled in at a time.
const PIECE: usize = 1 << 20;

/// Why a frame gave no more text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undecodable(pub &'static str);

/// The outcome of decoding one frame.
pub type Decoded = std::result::Result<(), Undecodable>;

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
    context: DCtx<'static>,
    input: Vec<u8>,
    output: Vec<u8>,
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
        Decoder { context: DCtx::create(), input: Vec::new(), output: Vec::new() }
    }

    /// Decodes a whole small frame that is in memory already.
    pub fn small(&mut self, frame: &[u8], bound: u64) -> std::result::Result<&[u8], Undecodable> {
        self.output.clear();
        self.output.reserve(bound as usize);
        match self.context.decompress(&mut self.output, frame) {
            Ok(_) => Ok(&self.output),
            Err(code) => Err(Undecodable(get_error_name(code))),
        }
    }

    /// Whether a frame with that bound is decoded by [`Decoder::small`].
    #[must_use]
    pub fn is_small(bound: u64) -> bool {
        bound <= SMALL_TEXT
    }

    /// Decodes a frame of any size, handing on its text piece by piece. Text comes out before its
    /// checksum is known.
    ///
    /// With `torn` the end of the input is no error: all text that can be had is handed on.
    /// `each` returns whether to go on.
    pub fn stream(
        &mut self,
        source: &Source,
        frame: Stretch,
        torn: bool,
        mut each: impl FnMut(&[u8]) -> bool,
    ) -> Result<Decoded> {
        // A reset cannot fail for a session-only directive; a context in any state is usable after.
        let _ = self.context.reset(ResetDirective::SessionOnly);
        let mut at = frame.start;
        self.input.resize(PIECE, 0);
        let mut filled = 0;
        let mut used = 0;
        loop {
            if used == filled {
                let wanted = PIECE.min((frame.end - at) as usize);
                filled = source.read_at(at, &mut self.input[..wanted])?;
                used = 0;
                at += filled as u64;
            }
            self.output.clear();
            self.output.reserve(PIECE);
            let mut input = InBuffer::around(&self.input[used..filled]);
            let mut output = OutBuffer::around(&mut self.output);
            let left = self.context.decompress_stream(&mut output, &mut input);
            used += input.pos();
            let progress = input.pos() > 0 || output.pos() > 0;
            drop(output);
            if !self.output.is_empty() && !each(&self.output) {
                return Ok(Ok(()));
            }
            match left {
                Err(code) => return Ok(Err(Undecodable(get_error_name(code)))),
                Ok(0) => return Ok(Ok(())),
                Ok(_) if !progress || (filled == 0 && self.output.is_empty()) => {
                    let ended = Undecodable("the frame ends early");
                    return Ok(if torn { Ok(()) } else { Err(ended) });
                }
                Ok(_) => {}
            }
        }
    }
}
