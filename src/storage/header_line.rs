//! The header line of a log, with as little reading as it takes (format v0, sections 2.4 and 3.3).

use super::container::Container;
use super::decode::{Decoder, Step, Undecodable};
use super::frame::{self, Found, Frame};
use super::source::{Source, Window};
use crate::error::Result;

/// The longest header line that is read, its newline not counted.
pub const HEADER_BYTES: usize = 1 << 20;

/// The first look at a zstd log: sound header frames are some 200 bytes.
const FIRST_LOOK: usize = 4 << 10;

/// What stands where the header line should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderLine {
    /// A whole line.
    Line {
        /// The line without its newline.
        text: Vec<u8>,
        /// Whether the first frame holds more than this line, for which the harness refuses the log.
        /// Never set for a raw log.
        crowded: bool,
    },
    /// The log ends before its header line does.
    Absent(&'static str),
    /// Bytes that no header line can be read from.
    Spoiled {
        /// The offending byte of the file, or the first one of the frame that does not decode.
        byte: u64,
        /// What is wrong there.
        why: String,
    },
}

impl HeaderLine {
    fn spoiled(byte: u64, why: impl Into<String>) -> HeaderLine {
        HeaderLine::Spoiled { byte, why: why.into() }
    }

    fn too_long() -> HeaderLine {
        HeaderLine::spoiled(0, "the header line is longer than 1 MiB")
    }
}

/// Reads the header line: the first frame of a zstd log, a raw log up to its first newline.
///
/// Errors when the source cannot be read; all else that may be wrong with it is in the answer.
pub fn read_header_line(source: &Source) -> Result<HeaderLine> {
    read_header_line_with(&mut Decoder::new(), source)
}

/// As [`read_header_line`], with a decoder that is used for many logs.
pub fn read_header_line_with(decoder: &mut Decoder, source: &Source) -> Result<HeaderLine> {
    if source.bytes() == 0 {
        return Ok(HeaderLine::Absent("the file is empty"));
    }
    match Container::of(source)? {
        Container::Raw => raw_line(source),
        Container::Zstd => zstd_line(decoder, source),
    }
}

fn raw_line(source: &Source) -> Result<HeaderLine> {
    let mut text = Vec::new();
    let mut piece = vec![0; FIRST_LOOK];
    while text.len() <= HEADER_BYTES {
        let got = source.read_at(text.len() as u64, &mut piece)?;
        if got == 0 {
            return Ok(HeaderLine::Absent("the file ends within the header line"));
        }
        let end = memchr::memchr(b'\n', &piece[..got]);
        text.extend_from_slice(&piece[..end.unwrap_or(got)]);
        if end.is_some() && text.len() <= HEADER_BYTES {
            return Ok(HeaderLine::Line { text, crowded: false });
        }
    }
    Ok(HeaderLine::too_long())
}

fn zstd_line(decoder: &mut Decoder, source: &Source) -> Result<HeaderLine> {
    // Most often the first frame is in the first look, and nothing else needs to be read.
    let mut head = vec![0; FIRST_LOOK];
    let got = source.read_at(0, &mut head)?;
    head.truncate(got);
    let head = Source::memory("", head);
    if let Found::Frame(found) = frame::walk(&mut Window::new(&head), 0)? {
        return frame_line(decoder, &head, found);
    }
    Ok(match frame::walk(&mut Window::new(source), 0)? {
        Found::Frame(found) => frame_line(decoder, source, found)?,
        Found::Torn => HeaderLine::Absent("the file ends within its first frame"),
        Found::NoMagic => HeaderLine::spoiled(0, "the file does not start with a zstd frame"),
        Found::Reserved(byte) => HeaderLine::spoiled(byte, "a reserved bit or block type in the first frame"),
    })
}

fn frame_line(decoder: &mut Decoder, source: &Source, frame: Frame) -> Result<HeaderLine> {
    if frame.window_too_large {
        return Ok(HeaderLine::spoiled(frame.start, "the window of the first frame is too large"));
    }
    let mut text = Vec::new();
    let decoded = if Decoder::is_small(frame.bound) && frame.end <= FIRST_LOOK as u64 {
        let mut stored = vec![0; frame.end as usize];
        let got = source.read_at(0, &mut stored)?;
        decoder.small(&stored[..got], frame.bound).map(|all| text.extend_from_slice(all))
    } else {
        // Decoded to its end, or until it is plain that more than a header is in it.
        decoder.begin(frame.into(), false);
        loop {
            match decoder.step(source)? {
                Step::Piece(piece) => {
                    let left = (HEADER_BYTES + 2).saturating_sub(text.len());
                    text.extend_from_slice(&piece[..piece.len().min(left)]);
                    if text.len() >= HEADER_BYTES + 2 {
                        break Ok(());
                    }
                }
                Step::End => break Ok(()),
                Step::Failed(why) => break Err(why),
            }
        }
    };
    Ok(match decoded {
        Err(Undecodable(why)) => HeaderLine::spoiled(
            frame.start,
            format!("the first frame does not decode: {}", why.to_lowercase()),
        ),
        Ok(()) => first_line(text, frame.start),
    })
}

fn first_line(mut text: Vec<u8>, byte: u64) -> HeaderLine {
    match memchr::memchr(b'\n', &text) {
        Some(end) if end <= HEADER_BYTES => {
            let crowded = end + 1 < text.len();
            text.truncate(end);
            HeaderLine::Line { text, crowded }
        }
        _ if text.len() > HEADER_BYTES => HeaderLine::too_long(),
        _ => HeaderLine::spoiled(byte, "the first frame holds no whole line"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::encode;

    fn read(bytes: impl Into<Vec<u8>>) -> HeaderLine {
        read_header_line(&Source::memory("log", bytes.into())).unwrap()
    }

    fn line(text: &[u8], crowded: bool) -> HeaderLine {
        HeaderLine::Line { text: text.to_vec(), crowded }
    }

    #[test]
    fn the_first_line_is_read_from_both_containers() {
        assert_eq!(read("{\"a\":1}\n{}\n"), line(b"{\"a\":1}", false));
        let mut log = encode::frame(b"{\"a\":1}\n").unwrap();
        log.extend(encode::frame(b"{}\n").unwrap());
        assert_eq!(read(log), line(b"{\"a\":1}", false));
    }

    #[test]
    fn what_lies_behind_the_first_frame_is_not_looked_at() {
        let mut log = encode::frame(b"{}\n").unwrap();
        log.extend([0; 9000]);
        assert_eq!(read(log), line(b"{}", false));
    }

    #[test]
    fn a_first_frame_with_more_lines_still_gives_the_first() {
        assert_eq!(read(encode::frame(b"{}\n{}\n").unwrap()), line(b"{}", true));
        let noise: Vec<u8> =
            (0..3_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let long = [b"{}\n".as_slice(), &noise].concat();
        assert_eq!(read(encode::frame(&long).unwrap()), line(b"{}", true));
    }

    #[test]
    fn a_log_that_ends_early_has_no_header_line() {
        assert!(matches!(read(""), HeaderLine::Absent(_)));
        assert!(matches!(read("{\"type\":"), HeaderLine::Absent(_)));
        let frame = encode::frame(b"{\"type\":\"session\"}\n").unwrap();
        for cut in 1..frame.len() {
            assert!(matches!(read(&frame[..cut]), HeaderLine::Absent(_)), "{cut}");
        }
    }

    #[test]
    fn damage_in_the_first_frame_is_named_with_its_byte() {
        let sound = encode::frame(b"{\"type\":\"session\"}\n").unwrap();
        let mut checksum = sound.clone();
        *checksum.last_mut().unwrap() ^= 1;
        assert!(
            matches!(read(checksum), HeaderLine::Spoiled { byte: 0, why } if why.contains("does not decode"))
        );
        let mut reserved = sound;
        reserved[4] |= 8;
        assert!(matches!(read(reserved), HeaderLine::Spoiled { byte: 4, .. }));
        let foreign = Source::memory("session.jsonl.zstd", vec![0; 64]);
        assert!(matches!(read_header_line(&foreign).unwrap(), HeaderLine::Spoiled { byte: 0, .. }));
        assert!(matches!(read(encode::frame(b"{}").unwrap()), HeaderLine::Spoiled { byte: 0, .. }));
        assert!(matches!(read(encode::frame(b"").unwrap()), HeaderLine::Spoiled { byte: 0, .. }));
    }

    #[test]
    fn a_line_of_1_mib_is_read_and_a_longer_one_is_not() {
        for (bytes, whole) in [(HEADER_BYTES, true), (HEADER_BYTES + 1, false), (40 << 20, false)] {
            let mut text = vec![b' '; bytes];
            text[0] = b'{';
            text.push(b'\n');
            for log in [encode::frame(&text).unwrap(), text] {
                match read(log) {
                    HeaderLine::Line { text, crowded } => assert!(whole && text.len() == bytes && !crowded),
                    other => assert!(!whole && other == HeaderLine::too_long()),
                }
            }
        }
    }
}
