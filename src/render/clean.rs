//! Text of a log made safe to show: no character of it may move the cursor, change colours, turn
//! the direction of writing or hide.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character does something rather than show something. Newline and tab may stay.
fn acts(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Marks and overrides of direction, separators, invisible operators and annotations.
        '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

/// The text with every acting character made visible: `␛` and its like for the old controls,
/// `\u{85}` for the others. Newlines and tabs stay, and a line end of two characters becomes one.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    // Plain ASCII is most of what there is, and quickly seen.
    let plain = |bytes: &[u8]| bytes.iter().all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\t'));
    let clear = text.as_bytes().chunks(64).take_while(|bytes| plain(bytes)).count() * 64;
    let Some(rest) = text.get(clear..) else { return Cow::Borrowed(text) };
    let Some(first) = rest.find(acts).map(|at| clear + at) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    let mut rest = text[first..].chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' if rest.peek() == Some(&'\n') => {}
            c if acts(c) => show(&mut out, c),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Output for a terminal with every acting character beyond ASCII, and DEL, as JSON escapes it: so it
/// stays the same document. Escapes of colours pass; what is no text becomes U+FFFD.
pub(crate) fn escaped(piece: &[u8]) -> Cow<'_, [u8]> {
    let acts = |c: char| c >= '\u{7f}' && acts(c);
    let text = String::from_utf8_lossy(piece);
    if !text.contains(acts) {
        return match text {
            Cow::Borrowed(_) => Cow::Borrowed(piece),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        };
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match acts(c) {
            // Writing to a string does not fail.
            true => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                write!(out, "\\u{unit:04x}").unwrap_or_default();
            }),
            false => out.push(c),
        }
    }
    Cow::Owned(out.into_bytes())
}

fn show(out: &mut String, c: char) {
    let symbol = match u32::from(c) {
        n @ 0..0x20 => char::from_u32(0x2400 + n),
        0x7F => Some('␡'),
        _ => None,
    };
    match symbol {
        Some(symbol) => out.push(symbol),
        // Writing to a string does not fail.
        None => write!(out, "\\u{{{:x}}}", u32::from(c)).unwrap_or_default(),
    }
}

/// The text on one line: newlines show as `⏎`, tabs as a blank.
pub(crate) fn clean_line(text: &str) -> Cow<'_, str> {
    let text = clean(text);
    if !text.contains(['\n', '\t']) {
        return text;
    }
    Cow::Owned(text.trim_end_matches('\n').replace('\n', "⏎").replace('\t', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_without_acting_characters_is_not_copied() {
        assert!(matches!(clean("plain\ttext\nof two lines — ü 漢 👩‍👩"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_on_a_terminal_has_escapes_for_what_acts_and_stays_the_same_document() {
        let text = "{\"a\":\"x\u{9b}\u{7f}\u{202e}\u{2028}\u{e0001}é漢\"}";
        let shown = escaped(text.as_bytes());
        let escaped_text = r#"{"a":"x\u009b\u007f\u202e\u2028\udb40\udc01é漢"}"#;
        assert_eq!(std::str::from_utf8(&shown).unwrap(), escaped_text);
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(escaped_text), value(text));
        assert!(matches!(escaped(b"\x1b[1mplain\x1b[0m\n"), Cow::Borrowed(_)));
        assert_eq!(&*escaped(b"a\x9bb"), "a\u{FFFD}b".as_bytes());
    }

    #[test]
    fn every_control_is_made_visible() {
        assert_eq!(clean("\u{1b}[31mred\u{7}\0\u{7f}"), "␛[31mred␇␀␡");
        assert_eq!(clean("a\u{85}b\u{9b}c\u{2028}d\u{2029}e"), r"a\u{85}b\u{9b}c\u{2028}d\u{2029}e");
        assert_eq!(clean("x\u{202e}y\u{2066}z\u{200f}\u{feff}"), r"x\u{202e}y\u{2066}z\u{200f}\u{feff}");
        assert_eq!(clean("a\r\nb\rc"), "a\nb␍c");
    }

    #[test]
    fn no_acting_character_of_all_gets_through() {
        let all: String = (0..=0x10_FFFF).filter_map(char::from_u32).collect();
        assert!(!clean(&all).contains(acts));
        assert!(!clean_line(&all).contains(|c: char| acts(c) || c == '\n' || c == '\t'));
    }

    #[test]
    fn a_line_stays_one_line() {
        assert_eq!(clean_line("a\r\n\tb\u{1b}\n\n"), "a⏎ b␛");
    }
}
