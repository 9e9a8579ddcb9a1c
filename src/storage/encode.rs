//! Encoding frames as the harness's writer does: streaming, level 3, checksum, no content size.

use std::io::{self, Write};

/// One frame, written as it is fed.
///
/// The encoder is not told the length, so the frame header carries no content size (format v0,
/// section 3.2).
pub struct FrameWriter<'a> {
    encoder: zstd::stream::write::Encoder<'static, &'a mut dyn Write>,
}

impl<'a> FrameWriter<'a> {
    /// Starts a frame.
    pub fn new(out: &'a mut dyn Write) -> io::Result<FrameWriter<'a>> {
        let mut encoder = zstd::stream::write::Encoder::new(out, 3)?;
        encoder.include_checksum(true)?;
        encoder.include_contentsize(false)?;
        Ok(FrameWriter { encoder })
    }

    /// Ends the frame.
    pub fn finish(self) -> io::Result<()> {
        self.encoder.finish().map(drop)
    }
}

impl Write for FrameWriter<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.encoder.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder.flush()
    }
}

/// One frame that holds `text`.
pub fn frame(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut writer = FrameWriter::new(&mut out)?;
    writer.write_all(text)?;
    writer.finish()?;
    Ok(out)
}
