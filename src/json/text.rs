//! String content as a JavaScript string holds it, in WTF-8.
//!
//! WTF-8 is UTF-8 in which a lone surrogate is three bytes of its own; a pair of escapes that forms
//! one character becomes that character, so equal JavaScript strings are equal byte strings.

use std::borrow::Cow;

/// The content between the quotes of a checked string, escapes resolved.
#[must_use]
pub fn decode(inner: &[u8]) -> Cow<'_, [u8]> {
    decode_upto(inner, usize::MAX)
}

/// As [`decode`], but ends at the first character at or behind `limit` bytes of content; it may end
/// inside a character.
#[must_use]
pub fn decode_upto(inner: &[u8], limit: usize) -> Cow<'_, [u8]> {
    let plain = &inner[..inner.len().min(limit)];
    let Some(first) = memchr::memchr(b'\\', plain) else {
        return Cow::Borrowed(plain);
    };
    let mut out = Vec::with_capacity(plain.len());
    out.extend_from_slice(&inner[..first]);
    let mut at = first;
    while at < inner.len() && out.len() < limit {
        if inner[at] != b'\\' {
            let rest = &inner[at..inner.len().min(at.saturating_add(limit - out.len()))];
            let run = at + memchr::memchr(b'\\', rest).unwrap_or(rest.len());
            out.extend_from_slice(&inner[at..run]);
            at = run;
            continue;
        }
        match inner.get(at + 1) {
            Some(b'u') => {
                let unit = hex(inner, at + 2);
                at += 6;
                let low =
                    if (0xD800..0xDC00).contains(&unit) && inner[at.min(inner.len())..].starts_with(b"\\u") {
                        Some(hex(inner, at + 2)).filter(|low| (0xDC00..0xE000).contains(low))
                    } else {
                        None
                    };
                match low {
                    Some(low) => {
                        at += 6;
                        push_code(&mut out, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
                    }
                    None => push_code(&mut out, unit),
                }
                continue;
            }
            Some(b'b') => out.push(8),
            Some(b'f') => out.push(12),
            Some(b'n') => out.push(b'\n'),
            Some(b'r') => out.push(b'\r'),
            Some(b't') => out.push(b'\t'),
            Some(&other) => out.push(other),
            None => {}
        }
        at += 2;
    }
    Cow::Owned(out)
}

fn hex(text: &[u8], at: usize) -> u32 {
    let digits = text.get(at..at + 4).unwrap_or_default();
    digits.iter().fold(0, |n, &d| n << 4 | char::from(d).to_digit(16).unwrap_or(0))
}

/// Appends a code point, surrogates included, in the generalised UTF-8 form.
fn push_code(out: &mut Vec<u8>, code: u32) {
    let tail = |shift: u32| 0x80 | (code >> shift & 0x3F) as u8;
    match code {
        0..0x80 => out.push(code as u8),
        0x80..0x800 => out.extend([0xC0 | (code >> 6) as u8, tail(0)]),
        0x800..0x10000 => out.extend([0xE0 | (code >> 12) as u8, tail(6), tail(0)]),
        _ => out.extend([0xF0 | (code >> 18) as u8, tail(12), tail(6), tail(0)]),
    }
}

/// Stored bytes as the harness decodes them: each spoiled sequence becomes U+FFFD.
///
/// The three-byte form of a surrogate is spoiled too: stored text has lone surrogates as escapes.
#[must_use]
pub fn stored(bytes: &[u8]) -> Cow<'_, [u8]> {
    // Much faster than the lossy way, and nearly always enough.
    if std::str::from_utf8(bytes).is_ok() {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(String::from_utf8_lossy(bytes).into_owned().into_bytes())
}

/// The text for people: what is not Unicode becomes U+FFFD.
#[must_use]
pub fn lossy(wtf8: &[u8]) -> String {
    // Nearly all text is sound, and to see that is quick.
    match std::str::from_utf8(wtf8) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(wtf8).into_owned(),
    }
}

/// The UTF-16 code units of WTF-8 text.
pub fn utf16(wtf8: &[u8]) -> impl Iterator<Item = u16> + '_ {
    let mut at = 0;
    let mut low = None;
    std::iter::from_fn(move || {
        if let Some(unit) = low.take() {
            return Some(unit);
        }
        let first = *wtf8.get(at)?;
        let rest = |n: usize| u32::from(wtf8.get(at + n).copied().unwrap_or(0) & 0x3F);
        let (code, len) = match first {
            0..0x80 => (u32::from(first), 1),
            0xC0..0xE0 => (u32::from(first & 0x1F) << 6 | rest(1), 2),
            0xE0..0xF0 => (u32::from(first & 0x0F) << 12 | rest(1) << 6 | rest(2), 3),
            0xF0.. => (u32::from(first & 0x07) << 18 | rest(1) << 12 | rest(2) << 6 | rest(3), 4),
            _ => (0xFFFD, 1),
        };
        at += len;
        if code < 0x10000 {
            return Some(code as u16);
        }
        let code = code - 0x10000;
        low = Some(0xDC00 | (code & 0x3FF) as u16);
        Some(0xD800 | (code >> 10 & 0x3FF) as u16)
    })
}

/// Appends WTF-8; the halves of a surrogate pair that was cut between two deltas become one.
pub fn push_wtf8(out: &mut Vec<u8>, more: &[u8]) {
    let tail = out.len().saturating_sub(3);
    if let ([0xED, h1 @ 0xA0..=0xAF, h2], [0xED, l1 @ 0xB0..=0xBF, l2, rest @ ..]) = (&out[tail..], more) {
        let high = u32::from(h1 & 0x0F) << 6 | u32::from(h2 & 0x3F);
        let low = u32::from(l1 & 0x0F) << 6 | u32::from(l2 & 0x3F);
        if let Some(whole) = char::from_u32(0x10000 + (high << 10) + low) {
            out.truncate(tail);
            out.extend(whole.encode_utf8(&mut [0; 4]).bytes());
            out.extend_from_slice(rest);
            return;
        }
    }
    out.extend_from_slice(more);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_pair_of_escapes_is_one_character_and_a_lone_one_stays() {
        assert_eq!(&*decode(br"\ud83d\ude00"), "\u{1F600}".as_bytes());
        assert_eq!(&*decode(br"a\ud800b"), b"a\xED\xA0\x80b");
        assert_eq!(&*decode(br"\ud800\ud83d\ude00"), b"\xED\xA0\x80\xF0\x9F\x98\x80");
        assert_eq!(&*decode(br"\n\t\/\\\u00e9"), "\n\t/\\\u{e9}".as_bytes());
        assert_eq!(&*decode(br"\ud800"), b"\xED\xA0\x80");
    }

    #[test]
    fn a_beginning_is_a_beginning_of_the_whole() {
        let text = br"plain \n\u00e9\ud83d\ude00 and more \t text";
        let whole = decode(text).into_owned();
        for limit in 0..whole.len() + 3 {
            let start = decode_upto(text, limit);
            assert!(whole.starts_with(&start) && start.len() >= limit.min(whole.len()), "{limit}");
            assert!(start.len() < limit + 4);
        }
    }

    proptest! {
        #[test]
        fn what_was_escaped_comes_out_as_it_was(text in "(.{0,40}|[\\x00-\\x1f\\\\\"]{1,3}|\\u{1F600}){0,8}") {
            let literal = serde_json::to_string(&text).unwrap();
            let inner = &literal.as_bytes()[1..literal.len() - 1];
            prop_assert_eq!(&*decode(inner), text.as_bytes());
        }
    }

    #[test]
    fn stored_bytes_that_are_no_utf8_become_replacement_characters() {
        assert!(matches!(stored("a\u{e9}".as_bytes()), Cow::Borrowed(_)));
        assert_eq!(&*stored(b"a\xFFb\xE2\x82c"), "a\u{FFFD}b\u{FFFD}c".as_bytes());
        assert_eq!(&*stored(b"\xED\xA0\x80"), "\u{FFFD}\u{FFFD}\u{FFFD}".as_bytes());
    }

    #[test]
    fn code_units_are_those_of_the_javascript_string() {
        let units: Vec<u16> = utf16(&decode(br"a\u00e9\ud800\ud83d\ude00")).collect();
        assert_eq!(units, [0x61, 0xE9, 0xD800, 0xD83D, 0xDE00]);
    }
}
