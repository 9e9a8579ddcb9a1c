//! Encoding one frame as the harness's writer does: streaming, level 3, checksum, no content size.

use std::io::{self, Write};

/// One frame that holds `text`.
///
/// The encoder is not told the length, so the frame header carries no content size (format v0,
/// section 3.2).
pub fn frame(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3)?;
    encoder.include_checksum(true)?;
    encoder.include_contentsize(false)?;
    encoder.write_all(text)?;
    encoder.finish()
}
