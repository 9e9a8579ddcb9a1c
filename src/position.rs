//! Where something stands: in the file, in the decoded text, in the log.

use crate::seq::Seq;
use std::fmt;

/// An offset into the file as stored, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileOffset(pub u64);

/// An offset into the decoded text of the whole log, in bytes.
///
/// In a raw container it equals the [`FileOffset`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextOffset(pub u64);

/// The number of a zstd frame in its file, counted from 0 (the header frame).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameNo(pub u64);

/// The number of a line in the decoded text, counted from 1 (the header line).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineNo(pub u64);

/// A place in a log; every part that is known is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Byte of the file: a frame's first byte, or a line's in a raw container.
    pub byte: Option<FileOffset>,
    /// The zstd frame.
    pub frame: Option<FrameNo>,
    /// The line of the decoded text.
    pub line: Option<LineNo>,
    /// The event.
    pub seq: Option<Seq>,
}

impl Place {
    /// A place of which only the byte is known.
    #[must_use]
    pub fn at_byte(byte: u64) -> Place {
        Place { byte: Some(FileOffset(byte)), ..Place::default() }
    }

    /// A place of which only the event is known.
    #[must_use]
    pub fn at_seq(seq: Seq) -> Place {
        Place { seq: Some(seq), ..Place::default() }
    }
}

impl fmt::Display for FileOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(FrameNo(frame)) = self.frame {
            parts.push(format!("frame {frame}"));
        }
        if let Some(LineNo(line)) = self.line {
            parts.push(format!("line {line}"));
        }
        if let Some(seq) = self.seq {
            parts.push(format!("event {seq}"));
        }
        if let Some(byte) = self.byte {
            parts.push(format!("byte {byte}"));
        }
        f.write_str(&parts.join(", "))
    }
}
