//! A value as it is stored, read in place.

use super::jumps::Notes;
use super::number;
use super::scan::{self, SyntaxFault};
use super::text;
use std::borrow::Cow;
use std::ops::Range;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, of any size.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// The word for it in a message.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "a boolean",
            Kind::Number => "a number",
            Kind::String => "a string",
            Kind::Array => "an array",
            Kind::Object => "an object",
        }
    }
}

/// One JSON value as stored: a slice that [`scan`] found to be a whole value.
///
/// Invariant: the slice is exactly one value, without blanks around it.
#[derive(Clone, Copy)]
pub struct Raw<'a> {
    text: &'a [u8],
    /// Notes of the text that the value is a part of, and where in that text it starts.
    notes: Option<(Notes<'a>, usize)>,
}

impl PartialEq for Raw<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Raw<'_> {}

impl std::fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.text))
    }
}

impl<'a> Raw<'a> {
    /// The one value in `text`; blanks around it are left out.
    pub fn parse(text: &'a [u8]) -> Result<Raw<'a>, SyntaxFault> {
        scan::document(text).map(|range| Raw { text: &text[range], notes: None })
    }

    /// A value that a scan has found at that range of a text, with the notes of the scan.
    #[must_use]
    pub fn noted(text: &'a [u8], range: Range<usize>, notes: Notes<'a>) -> Raw<'a> {
        let start = range.start;
        Raw { text: &text[range], notes: Some((notes, start)) }
    }

    /// The stored text.
    #[must_use]
    pub fn bytes(self) -> &'a [u8] {
        self.text
    }

    /// What the value is.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self.text.first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') | None => Kind::Null,
            Some(_) => Kind::Number,
        }
    }

    /// The part of this value's text from `start` to `end`, which must be one value.
    fn part(self, start: usize, end: usize) -> Raw<'a> {
        let notes = self.notes.map(|(notes, base)| (notes, base + start));
        Raw { text: &self.text[start..end], notes }
    }

    /// The end of the value that starts at `at`; the text is known to be sound, so an error only ends
    /// a walk.
    fn end_of(self, at: usize) -> Option<usize> {
        if let (Some((notes, base)), Some(b'"' | b'{' | b'[')) = (self.notes, self.text.get(at))
            && let Some(end) = notes.end_of(base + at)
        {
            return Some(end - base);
        }
        scan::value_end(self.text, at).ok()
    }

    /// Whether it is an object.
    #[must_use]
    pub fn is_object(self) -> bool {
        self.kind() == Kind::Object
    }

    /// Whether it is an array.
    #[must_use]
    pub fn is_array(self) -> bool {
        self.kind() == Kind::Array
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Whether it is exactly `true`.
    #[must_use]
    pub fn is_true(self) -> bool {
        self.text == b"true"
    }

    /// The members in stored order, duplicates included; none unless it is an object.
    #[must_use]
    pub fn members(self) -> Members<'a> {
        let at = if self.is_object() { scan::skip_blanks(self.text, 1) } else { self.text.len() };
        Members { value: self, at }
    }

    /// The elements in order; none unless it is an array.
    #[must_use]
    pub fn elements(self) -> Elements<'a> {
        let at = if self.is_array() { scan::skip_blanks(self.text, 1) } else { self.text.len() };
        Elements { value: self, at }
    }

    /// The member of that name; of duplicates the last, as `JSON.parse` keeps it.
    #[must_use]
    pub fn get(self, name: &str) -> Option<Raw<'a>> {
        let mut found = None;
        for (key, value) in self.members() {
            if key.is(name) {
                found = Some(value);
            }
        }
        found
    }

    /// Several members in one walk; of duplicates the last.
    #[must_use]
    pub fn get_all<const N: usize>(self, names: [&str; N]) -> [Option<Raw<'a>>; N] {
        let mut found = [None; N];
        for (key, value) in self.members() {
            for (slot, name) in found.iter_mut().zip(names) {
                if key.is(name) {
                    *slot = Some(value);
                }
            }
        }
        found
    }

    /// The member reached through those names, one object inside the other.
    #[must_use]
    pub fn path(self, names: &[&str]) -> Option<Raw<'a>> {
        names.iter().try_fold(self, |value, name| value.get(name))
    }

    /// The content of a string as WTF-8: UTF-8 in which lone surrogates stand too.
    #[must_use]
    pub fn text(self) -> Option<Cow<'a, [u8]>> {
        (self.kind() == Kind::String).then(|| text::decode(&self.text[1..self.text.len() - 1]))
    }

    /// The content of a string for people: lone surrogates and bad bytes become U+FFFD.
    #[must_use]
    pub fn display_text(self) -> Option<String> {
        // What was decoded into a buffer of its own need not be copied once more.
        self.text().map(|content| match content {
            Cow::Borrowed(bytes) => text::lossy(bytes),
            Cow::Owned(bytes) => String::from_utf8(bytes).unwrap_or_else(|e| text::lossy(e.as_bytes())),
        })
    }

    /// The beginning of a string for people, about `limit` bytes of it.
    #[must_use]
    pub fn display_start(self, limit: usize) -> Option<String> {
        if self.text.len() <= limit {
            return self.display_text();
        }
        (self.kind() == Kind::String).then(|| {
            let start = text::decode_upto(&self.text[1..self.text.len() - 1], limit);
            let mut shown = text::lossy(&start);
            // What was cut inside a character is no spoiled character.
            if start.len() >= limit && shown.ends_with('\u{FFFD}') {
                shown.pop();
            }
            shown
        })
    }

    /// Whether it is the string `wanted` (which has no escapes of its own).
    #[must_use]
    pub fn is(self, wanted: &str) -> bool {
        if self.kind() != Kind::String {
            return false;
        }
        let inner = &self.text[1..self.text.len() - 1];
        inner == wanted.as_bytes()
            || (memchr::memchr(b'\\', inner).is_some() && *text::decode(inner) == *wanted.as_bytes())
    }

    /// Whether it is a string with something in it.
    #[must_use]
    pub fn is_filled_text(self) -> bool {
        self.kind() == Kind::String && self.text.len() > 2
    }

    /// The value of a number as JavaScript reads it; infinite when it overflows.
    #[must_use]
    pub fn number(self) -> Option<f64> {
        if self.kind() == Kind::Number { number::parse(self.text) } else { None }
    }

    /// The value of a number that is a safe integer; `-0` counts as 0.
    #[must_use]
    pub fn safe_int(self) -> Option<i64> {
        if self.kind() == Kind::Number { number::safe_int(self.text) } else { None }
    }

    /// The value of a safe integer of at least 0; `-0` counts as 0.
    #[must_use]
    pub fn count(self) -> Option<u64> {
        self.safe_int().and_then(|n| u64::try_from(n).ok())
    }

    /// Whether it is a number whose value is negative zero.
    #[must_use]
    pub fn is_negative_zero(self) -> bool {
        self.text.first() == Some(&b'-') && self.number().is_some_and(|n| n == 0.0)
    }
}

/// Walks an object's members.
#[derive(Clone)]
pub struct Members<'a> {
    value: Raw<'a>,
    at: usize,
}

impl<'a> Iterator for Members<'a> {
    type Item = (Raw<'a>, Raw<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let text = self.value.text;
        if text.get(self.at) != Some(&b'"') {
            return None;
        }
        let key_end = scan::string_end(text, self.at).ok()?;
        let key = self.value.part(self.at, key_end);
        let colon = scan::skip_blanks(text, key_end);
        let start = scan::skip_blanks(text, colon + 1);
        let end = self.value.end_of(start)?;
        let comma = scan::skip_blanks(text, end);
        self.at = scan::skip_blanks(text, comma + 1);
        Some((key, self.value.part(start, end)))
    }
}

/// Walks an array's elements.
#[derive(Clone)]
pub struct Elements<'a> {
    value: Raw<'a>,
    at: usize,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Raw<'a>> {
        let text = self.value.text;
        if self.at >= text.len() || text[self.at] == b']' {
            return None;
        }
        let start = self.at;
        let end = self.value.end_of(start)?;
        let comma = scan::skip_blanks(text, end);
        self.at = scan::skip_blanks(text, comma + 1);
        Some(self.value.part(start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw<'_> {
        Raw::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn of_duplicate_members_the_last_counts() {
        assert_eq!(raw(r#"{"a":1,"b":2,"a":3}"#).get("a").unwrap().count(), Some(3));
    }

    #[test]
    fn a_name_written_with_escapes_is_the_same_name() {
        assert_eq!(raw(r#"{"\u0061":1}"#).get("a").unwrap().count(), Some(1));
    }

    #[test]
    fn members_and_elements_come_out_as_stored() {
        let value = raw(r#"{ "a" : [ 1 , 1e999 , "\ud800" ] , "b" : {} }"#);
        let list: Vec<&[u8]> = value.get("a").unwrap().elements().map(Raw::bytes).collect();
        assert_eq!(list, [&b"1"[..], b"1e999", br#""\ud800""#]);
        assert_eq!(value.members().count(), 2);
        assert_eq!(raw("[]").elements().count() + raw("{}").members().count(), 0);
    }

    #[test]
    fn numbers_are_those_of_javascript() {
        assert_eq!(raw("1.0").count(), Some(1));
        assert_eq!(raw("1e0").count(), Some(1));
        assert_eq!(raw("9007199254740991").count(), Some(9_007_199_254_740_991));
        assert_eq!(raw("9007199254740992").count(), None);
        assert_eq!(raw("-0").count(), Some(0));
        assert!(raw("-0.0").is_negative_zero() && !raw("0").is_negative_zero());
        assert_eq!(raw("1e999").number(), Some(f64::INFINITY));
        assert_eq!(raw("true").number(), None);
    }

    #[test]
    fn with_notes_and_without_them_a_value_reads_the_same() {
        let long = "x".repeat(100);
        let text = format!(r#"{{"a":["{long}",{{"b":"{long}"}},[[]]],"c":"{long}","d":1}}"#);
        let mut jumps = crate::json::jumps::Jumps::default();
        let end = scan::value_end_noting(text.as_bytes(), 0, &mut jumps).unwrap();
        let noted = Raw::noted(text.as_bytes(), 0..end, jumps.notes());
        let plain = raw(&text);
        assert!(jumps.notes().end_of(0) == Some(end));
        assert_eq!(noted.get("c").unwrap().bytes(), plain.get("c").unwrap().bytes());
        let list = |value: Raw<'_>| -> Vec<Vec<u8>> {
            value.get("a").unwrap().elements().map(|e| e.bytes().to_vec()).collect()
        };
        assert_eq!(list(noted), list(plain));
        assert_eq!(noted.get("a").unwrap().elements().nth(1).unwrap().get("b"), plain.get("c"));
    }
}
