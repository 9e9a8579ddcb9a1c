//! One zstd frame walked without decoding it (format v0, section 3.2, rules Z1 to Z10).

use super::source::Window;
use crate::error::Result;
use crate::limits::WINDOW_LOG;

/// The first four bytes of a zstd frame.
pub const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// The most text that one block can hold.
const BLOCK_BYTES: u64 = 128 << 10;

/// A whole frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The offset of its first byte in the file.
    pub start: u64,
    /// The offset just after its last byte.
    pub end: u64,
    /// It cannot decode to more bytes than this.
    pub bound: u64,
    /// Whether it carries a checksum of its content.
    pub checksum: bool,
    /// Whether its window is larger than a streaming decoder allows.
    pub window_too_large: bool,
}

/// What stands at an offset where a frame may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A whole frame.
    Frame(Frame),
    /// The file ends before the frame that starts here does.
    Torn,
    /// Not the start of a frame.
    NoMagic,
    /// A frame with a reserved bit or block type, at this offset.
    Reserved(u64),
}

/// Walks the frame that starts at `start`, reading its header and its blocks' headers only.
pub fn walk(window: &mut Window<'_>, start: u64) -> Result<Found> {
    let head = window.get(start, 18)?;
    if head.len() < 4 {
        return Ok(Found::Torn);
    }
    if head[..4] != MAGIC {
        return Ok(Found::NoMagic);
    }
    let Some(&descriptor) = head.get(4) else { return Ok(Found::Torn) };
    if descriptor & 0x18 != 0 {
        return Ok(Found::Reserved(start + 4));
    }
    let single_segment = descriptor & 0x20 != 0;
    let window_bytes = usize::from(!single_segment);
    let dictionary_bytes = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size_bytes = match (descriptor >> 6, single_segment) {
        (0, single) => usize::from(single),
        (flag, _) => 1 << flag,
    };
    let header_bytes = 5 + window_bytes + dictionary_bytes + size_bytes;
    if head.len() < header_bytes {
        return Ok(Found::Torn);
    }
    let window_too_large = if single_segment {
        content_size(&head[header_bytes - size_bytes..header_bytes]) > 1 << WINDOW_LOG
    } else {
        let exponent = 10 + u32::from(head[5] >> 3);
        let base = 1_u64 << exponent;
        base + (base >> 3) * u64::from(head[5] & 7) > 1 << WINDOW_LOG
    };
    let checksum = descriptor & 4 != 0;
    let mut at = start + header_bytes as u64;
    let mut bound = 0;
    loop {
        let Some(&[low, mid, high]) = window.get(at, 3)?.first_chunk() else {
            return Ok(Found::Torn);
        };
        let header = u32::from_le_bytes([low, mid, high, 0]);
        let size = u64::from(header >> 3);
        let (stored, text) = match header >> 1 & 3 {
            0 => (size, size),
            1 => (1, size),
            2 => (size, BLOCK_BYTES),
            _ => return Ok(Found::Reserved(at)),
        };
        bound += text;
        at += 3 + stored;
        if header & 1 == 1 {
            break;
        }
    }
    let end = at + if checksum { 4 } else { 0 };
    // One look at the last byte tells whether all of it is there.
    if window.get(end - 1, 1)?.is_empty() {
        return Ok(Found::Torn);
    }
    Ok(Found::Frame(Frame { start, end, bound, checksum, window_too_large }))
}

/// A content size field; the two-byte form is stored minus 256.
fn content_size(field: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..field.len()].copy_from_slice(field);
    u64::from_le_bytes(bytes) + if field.len() == 2 { 256 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::source::Source;

    fn found(bytes: &[u8]) -> Found {
        let source = Source::memory("test", bytes.to_vec());
        walk(&mut Window::new(&source), 0).unwrap()
    }

    #[test]
    fn every_prefix_of_a_frame_is_torn_and_the_whole_is_a_frame() {
        let text: Vec<u8> =
            (0..200_000_u32).flat_map(|n| (n.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
        for frame in [zstd::encode_all(&text[..], 3).unwrap(), zstd::encode_all(&b"short\n"[..], 3).unwrap()]
        {
            let step = (frame.len() / 300).max(1);
            for cut in (0..frame.len()).step_by(step) {
                assert_eq!(found(&frame[..cut]), Found::Torn, "{cut}");
            }
            assert!(matches!(found(&frame), Found::Frame(f) if f.end == frame.len() as u64));
        }
    }

    #[test]
    fn reserved_bits_and_foreign_bytes_are_told_apart() {
        let mut frame = zstd::encode_all(&b"x"[..], 3).unwrap();
        frame[4] |= 8;
        assert_eq!(found(&frame), Found::Reserved(4));
        assert_eq!(found(&[0; 4]), Found::NoMagic);
        assert_eq!(found(&[0; 3]), Found::Torn);
    }

    #[test]
    fn a_two_byte_content_size_is_stored_minus_256() {
        assert_eq!(content_size(&[222, 0]), 478);
        assert_eq!(content_size(&[7]), 7);
    }
}
