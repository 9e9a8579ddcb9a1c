//! The syntax check: finds where a value ends, or where it stops being JSON.

/// Why and where a text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxFault {
    /// Offset into the scanned text, in bytes.
    pub offset: usize,
    /// What was expected or met there.
    pub what: &'static str,
}

fn fault<T>(offset: usize, what: &'static str) -> Result<T, SyntaxFault> {
    Err(SyntaxFault { offset, what })
}

/// The four blanks that JSON allows between tokens.
#[must_use]
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The first offset at or after `at` that is not a blank.
#[must_use]
pub fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && is_blank(text[at]) {
        at += 1;
    }
    at
}

/// Which containers are open, one bit each, so that depth costs a bit and not a stack frame.
#[derive(Default)]
struct Nesting {
    full_words: Vec<u64>,
    top: u64,
    depth: u32,
}

impl Nesting {
    fn push(&mut self, object: bool) {
        if self.depth == 64 {
            self.full_words.push(self.top);
            self.top = 0;
            self.depth = 0;
        }
        self.top = self.top << 1 | u64::from(object);
        self.depth += 1;
    }

    /// Leaves the innermost container; `false` when none is open any more.
    fn pop(&mut self) -> bool {
        self.top >>= 1;
        self.depth -= 1;
        if self.depth == 0 {
            match self.full_words.pop() {
                Some(word) => {
                    self.top = word;
                    self.depth = 64;
                }
                None => return false,
            }
        }
        true
    }

    fn in_object(&self) -> bool {
        self.top & 1 == 1
    }
}

/// Takes note of where values end while a text is scanned.
pub trait Note {
    /// A string spans these offsets.
    fn string(&mut self, start: usize, end: usize);
    /// A container starts here.
    fn open(&mut self, start: usize);
    /// The innermost open container ends here.
    fn close(&mut self, end: usize);
}

/// Takes no notes.
pub struct NoNotes;

impl Note for NoNotes {
    fn string(&mut self, _: usize, _: usize) {}
    fn open(&mut self, _: usize) {}
    fn close(&mut self, _: usize) {}
}

/// The offset just after the value that starts at `at`.
///
/// `at` must be the value's first byte. Errors when the text up to the value's end is not JSON.
pub fn value_end(text: &[u8], at: usize) -> Result<usize, SyntaxFault> {
    value_end_noting(text, at, &mut NoNotes)
}

/// As [`value_end`], with a note of every string and container passed.
pub fn value_end_noting(text: &[u8], at: usize, notes: &mut impl Note) -> Result<usize, SyntaxFault> {
    match text.get(at) {
        Some(b'"') => {
            let end = string_end(text, at)?;
            notes.string(at, end);
            return Ok(end);
        }
        Some(b'{' | b'[') => {}
        _ => return scalar_end(text, at),
    }
    let mut nesting = Nesting::default();
    let mut at = at;
    loop {
        // At the first byte of a value.
        match text.get(at) {
            Some(b'{') => {
                nesting.push(true);
                notes.open(at);
                at = skip_blanks(text, at + 1);
                match text.get(at) {
                    Some(b'}') => at += 1,
                    _ => {
                        at = key_end(text, at)?;
                        continue;
                    }
                }
            }
            Some(b'[') => {
                nesting.push(false);
                notes.open(at);
                at = skip_blanks(text, at + 1);
                match text.get(at) {
                    Some(b']') => at += 1,
                    _ => continue,
                }
            }
            Some(b'"') => {
                let end = string_end(text, at)?;
                notes.string(at, end);
                at = end;
                if let Some(next) = after_value(text, &mut at, &mut nesting, notes)? {
                    return Ok(next);
                }
                continue;
            }
            _ => {
                at = scalar_end(text, at)?;
                if let Some(next) = after_value(text, &mut at, &mut nesting, notes)? {
                    return Ok(next);
                }
                continue;
            }
        }
        // An empty container was just closed.
        notes.close(at);
        if !nesting.pop() {
            return Ok(at);
        }
        if let Some(next) = after_value(text, &mut at, &mut nesting, notes)? {
            return Ok(next);
        }
    }
}

/// From just after a value inside a container to the first byte of the next one; `Some(end)` once
/// the outermost container is closed.
#[inline]
fn after_value(
    text: &[u8],
    at: &mut usize,
    nesting: &mut Nesting,
    notes: &mut impl Note,
) -> Result<Option<usize>, SyntaxFault> {
    loop {
        *at = skip_blanks(text, *at);
        match (text.get(*at), nesting.in_object()) {
            (Some(b','), true) => {
                let key = skip_blanks(text, *at + 1);
                *at = key_end(text, key)?;
                return Ok(None);
            }
            (Some(b','), false) => {
                *at = skip_blanks(text, *at + 1);
                return Ok(None);
            }
            (Some(b'}'), true) | (Some(b']'), false) => {
                *at += 1;
                notes.close(*at);
                if !nesting.pop() {
                    return Ok(Some(*at));
                }
            }
            (None, _) => return fault(*at, "the text ends inside a value"),
            (_, true) => return fault(*at, "expected `,` or `}`"),
            (_, false) => return fault(*at, "expected `,` or `]`"),
        }
    }
}

/// From a key's first byte past its colon to the first byte of the member's value.
#[inline]
fn key_end(text: &[u8], at: usize) -> Result<usize, SyntaxFault> {
    if text.get(at) != Some(&b'"') {
        return fault(at, "expected a member name");
    }
    let colon = skip_blanks(text, string_end(text, at)?);
    if text.get(colon) != Some(&b':') {
        return fault(colon, "expected `:`");
    }
    Ok(skip_blanks(text, colon + 1))
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// High bits set in each byte of `word` that ends a plain run: a quote, a backslash or a control.
///
/// The lowest such bit is exact; bits above it may be set by borrows, so only the lowest counts.
#[inline]
fn specials(word: u64) -> u64 {
    let quote = word ^ (ONES * u64::from(b'"'));
    let escape = word ^ (ONES * u64::from(b'\\'));
    let zero = |w: u64| w.wrapping_sub(ONES) & !w;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (zero(quote) | zero(escape) | control) & HIGHS
}

/// The offset just after the string that starts at `at`.
#[inline]
pub fn string_end(text: &[u8], at: usize) -> Result<usize, SyntaxFault> {
    let mut at = at + 1;
    loop {
        while let Some(chunk) = text.get(at..at + 8) {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            let hits = specials(u64::from_le_bytes(word));
            if hits != 0 {
                at += (hits.trailing_zeros() / 8) as usize;
                break;
            }
            at += 8;
        }
        match text.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at = escape_end(text, at)?,
            Some(0..=0x1f) => return fault(at, "a control character inside a string"),
            Some(_) => at += 1,
            None => return fault(at, "the text ends inside a string"),
        }
    }
}

fn escape_end(text: &[u8], at: usize) -> Result<usize, SyntaxFault> {
    match text.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => match text.get(at + 2..at + 6) {
            Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => Ok(at + 6),
            Some(_) => fault(at, "expected four hex digits after `\\u`"),
            None => fault(text.len(), "the text ends inside a string"),
        },
        Some(_) => fault(at, "an unknown escape inside a string"),
        None => fault(at + 1, "the text ends inside a string"),
    }
}

fn scalar_end(text: &[u8], at: usize) -> Result<usize, SyntaxFault> {
    match text.get(at) {
        Some(b'-' | b'0'..=b'9') => number_end(text, at),
        Some(b't') => word_end(text, at, b"true"),
        Some(b'f') => word_end(text, at, b"false"),
        Some(b'n') => word_end(text, at, b"null"),
        Some(b'"') => string_end(text, at),
        Some(_) => fault(at, "expected a value"),
        None => fault(at, "the text ends where a value is expected"),
    }
}

fn word_end(text: &[u8], at: usize, word: &[u8]) -> Result<usize, SyntaxFault> {
    if text[at..].starts_with(word) { Ok(at + word.len()) } else { fault(at, "expected a value") }
}

fn number_end(text: &[u8], at: usize) -> Result<usize, SyntaxFault> {
    let digits = |mut i: usize| {
        while text.get(i).is_some_and(u8::is_ascii_digit) {
            i += 1;
        }
        i
    };
    let start = if text[at] == b'-' { at + 1 } else { at };
    let mut end = match text.get(start) {
        Some(b'0') => start + 1,
        Some(b'1'..=b'9') => digits(start + 1),
        _ => return fault(start, "expected a digit"),
    };
    if text.get(end) == Some(&b'.') {
        let after = digits(end + 1);
        if after == end + 1 {
            return fault(after, "expected a digit after the decimal point");
        }
        end = after;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let after = digits(end + 1 + sign);
        if after == end + 1 + sign {
            return fault(after, "expected a digit in the exponent");
        }
        end = after;
    }
    Ok(end)
}

/// The range of the one value that `text` holds, blanks around it left out.
pub fn document(text: &[u8]) -> Result<std::ops::Range<usize>, SyntaxFault> {
    let start = skip_blanks(text, 0);
    let end = value_end(text, start)?;
    let rest = skip_blanks(text, end);
    if rest < text.len() {
        return fault(rest, "more text after the value");
    }
    Ok(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_kind_end_where_they_end() {
        for good in [
            "null",
            "true",
            "false",
            "0",
            "-0",
            "10",
            "1.5",
            "1e999",
            "-1E+2",
            r#""""#,
            r#""a\"b\\\u00e9\ud800""#,
            "[]",
            "{}",
            "[[],{}]",
            r#"{"a":[1,{"b":null}],"c":"d"}"#,
            " [ 1 , 2 ] ",
            "{ \"a\" : 1 }\r",
            "[[[[[[]]]]],1]",
        ] {
            assert!(document(good.as_bytes()).is_ok(), "{good}");
        }
    }

    #[test]
    fn what_json_parse_refuses_is_refused() {
        for bad in [
            "",
            " ",
            "nul",
            "01",
            "1.",
            ".5",
            "1e",
            "+1",
            "[1,]",
            "{,}",
            "{\"a\"}",
            "{\"a\":}",
            "[1 2]",
            "\"\n\"",
            r#""\x""#,
            r#""\u12g4""#,
            "\"open",
            "[",
            "{\"a\":1",
            "1 2",
            "\u{feff}1",
            "]",
            "{\"a\":1]",
        ] {
            assert!(document(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_hundred_thousand_levels_do_not_recurse() {
        let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
        assert_eq!(document(&deep), Ok(0..200_000));
        assert!(document(&deep[..199_999]).is_err());
    }

    #[test]
    fn a_special_byte_is_found_at_every_place_of_a_word() {
        for lead in 0..20 {
            let text = format!("\"{}\u{e9}{}\"", "x".repeat(lead), "y".repeat(20 - lead));
            assert_eq!(string_end(text.as_bytes(), 0), Ok(text.len()));
            let bad = format!("\"{}\u{1}{}\"", "x".repeat(lead), "y".repeat(20 - lead));
            assert_eq!(string_end(bad.as_bytes(), 0).unwrap_err().offset, lead + 1);
        }
    }
}
