//! The kinds of packed chunk rows, and the one pass that counts what such a row holds (v0 section 6).

use crate::json::{Raw, scan};

/// The three kinds of packed rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packed {
    /// `text-chunks`
    Text,
    /// `reasoning-chunks`
    Reasoning,
    /// `tool-call-chunks`
    ToolCall,
}

impl Packed {
    /// The kind of a row tag.
    #[must_use]
    pub fn of(type_name: Raw<'_>) -> Option<Packed> {
        match type_name {
            _ if Packed::of_tag(type_name.bytes()).is_some() => Packed::of_tag(type_name.bytes()),
            _ if type_name.is("text-chunks") => Some(Packed::Text),
            _ if type_name.is("reasoning-chunks") => Some(Packed::Reasoning),
            _ if type_name.is("tool-call-chunks") => Some(Packed::ToolCall),
            _ => None,
        }
    }

    /// As [`Packed::of`], by the plain text of the tag alone.
    #[must_use]
    pub fn of_tag(literal: &[u8]) -> Option<Packed> {
        match literal {
            b"\"text-chunks\"" => Some(Packed::Text),
            b"\"reasoning-chunks\"" => Some(Packed::Reasoning),
            b"\"tool-call-chunks\"" => Some(Packed::ToolCall),
            _ => None,
        }
    }

    pub(super) fn payload(self) -> &'static str {
        match self {
            Packed::ToolCall => "args",
            _ => "texts",
        }
    }

    /// The type of the member chunks.
    #[must_use]
    pub fn chunk_type(self) -> &'static str {
        match self {
            Packed::Text => "text-delta",
            Packed::Reasoning => "reasoning-delta",
            Packed::ToolCall => "tool-call-delta",
        }
    }
}

/// The payload of a packed row as one pass over its unchecked text finds it.
///
/// Packed rows are most of a log's text and hold many short strings, so they get a pass of their
/// own that checks, counts and adds up at once. Whatever is not written as the writer writes it is
/// left to the general way, which knows all rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// How many members the payload has; at least 1.
    pub members: u64,
    /// How many time steps stand between them.
    pub steps: u64,
    /// The sum of the time steps, in milliseconds.
    pub elapsed: i64,
}

impl Tally {
    /// Reads the data object at `at`: the offset just after it, and the tally. `None` where the
    /// general way must look.
    #[must_use]
    pub fn of(text: &[u8], at: usize, packed: Packed) -> Option<(usize, Tally)> {
        let mut tally = Tally { members: 0, steps: 0, elapsed: 0 };
        let mut seen = 0_u32;
        let mut at = at + 1;
        if text.get(at - 1) != Some(&b'{') {
            return None;
        }
        loop {
            let key_end = scan::string_end(text, at).ok().filter(|_| text.get(at) == Some(&b'"'))?;
            if text.get(key_end) != Some(&b':') {
                return None;
            }
            let value = key_end + 1;
            let (bit, end) = match &text[at + 1..key_end - 1] {
                b"turn" => (1, number_end(text, value)?),
                b"step" => (2, number_end(text, value)?),
                b"index" => (4, number_end(text, value)?),
                b"dt" => (8, tally.add_steps(text, value)?),
                key if key == packed.payload().as_bytes() => (16, tally.count_texts(text, value)?),
                b"id" => (32, text_end(text, value)?),
                b"name" => (64, text_end(text, value)?),
                _ => return None,
            };
            // A key written twice is for the general way, and so is one that the row must not have.
            if seen & bit != 0 || (bit >= 32 && packed != Packed::ToolCall) {
                return None;
            }
            seen |= bit;
            at = end + 1;
            match text.get(end) {
                Some(b',') => {}
                Some(b'}') => break,
                _ => return None,
            }
        }
        let required = if packed == Packed::ToolCall { 63 } else { 31 };
        let sound = seen & required == required && tally.members > 0 && tally.steps == tally.members - 1;
        sound.then_some((at, tally))
    }

    fn count_texts(&mut self, text: &[u8], at: usize) -> Option<usize> {
        let mut at = at;
        if text.get(at) != Some(&b'[') {
            return None;
        }
        loop {
            at = text_end(text, at + 1)?;
            self.members += 1;
            match text.get(at) {
                Some(b',') => {}
                Some(b']') => return Some(at + 1),
                _ => return None,
            }
        }
    }

    /// Adds up `dt`: integers of at most nine digits, which cannot overflow a safe integer unseen.
    fn add_steps(&mut self, text: &[u8], at: usize) -> Option<usize> {
        if text.get(at..at + 2) == Some(b"[]") {
            return Some(at + 2);
        }
        let mut at = at;
        if text.get(at) != Some(&b'[') {
            return None;
        }
        loop {
            at += 1;
            let negative = text.get(at) == Some(&b'-');
            at += usize::from(negative);
            let first = at;
            let mut n = 0_i64;
            while let Some(digit @ b'0'..=b'9') = text.get(at) {
                n = n * 10 + i64::from(digit - b'0');
                at += 1;
                if at - first > 9 {
                    return None;
                }
            }
            if at == first || (text[first] == b'0' && at - first > 1) {
                return None;
            }
            self.elapsed += if negative { -n } else { n };
            self.steps += 1;
            match text.get(at) {
                Some(b',') => {}
                Some(b']') => return Some(at + 1),
                _ => return None,
            }
        }
    }
}

fn text_end(text: &[u8], at: usize) -> Option<usize> {
    if text.get(at) == Some(&b'"') { scan::string_end(text, at).ok() } else { None }
}

fn number_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at) {
        Some(b'-' | b'0'..=b'9') => scan::value_end(text, at).ok(),
        _ => None,
    }
}
