//! Text cut into tokens: words, numbers, single marks, runs of blanks. Together they are the text.

use std::ops::Range;

/// What a token is, as far as its weight goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Blanks.
    Blank,
    /// One mark.
    Mark,
    /// A word of letters, as prose has them.
    Word,
    /// A number of so many digits.
    Number(u8),
    /// Letters with digits, underscores or capitals inside: what programs call things.
    Name,
    /// One character of a script that is written without blanks.
    Ideograph,
}

/// One token of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its first byte.
    pub start: usize,
    /// The byte behind it.
    pub end: usize,
    /// What it is.
    pub class: Class,
}

/// What a number may carry behind it without a blank.
const UNITS: &[&str] = &[
    "ns", "us", "ms", "s", "min", "h", "d", "b", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "k", "m", "g",
    "x", "px", "pt", "em", "hz", "khz", "mhz", "ghz",
];

/// The tokens of a text, in order and without gaps.
pub fn tokens(text: &str) -> impl Iterator<Item = Token> + '_ {
    cuts(text).map(|(start, end)| Token { start, end, class: class_of(&text[start..end]) })
}

/// The tokens of a text without their classes: the first byte of each and the byte behind it.
pub fn cuts(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let start = at;
        at += first(rest);
        Some((start, at))
    })
}

fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x2E80..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0x20000..=0x3FFFD)
}

fn is_word(c: char) -> bool {
    (c.is_alphanumeric() || c == '_') && !is_ideograph(c)
}

/// The token that holds a byte of a text, where one begins at `from`.
#[must_use]
pub fn token_at(text: &str, from: usize, at: usize) -> Range<usize> {
    let start = run_start(text, from, at);
    let end = start + first(&text[start..]);
    // Behind the digits of a number its unit is a token of its own.
    if at < end { start..end } else { end..end + first(&text[end..]) }
}

/// Where the letters or blanks begin in which a byte stands, not before `from`.
fn run_start(text: &str, from: usize, at: usize) -> usize {
    let bytes = text.as_bytes();
    let sort = SORTS[usize::from(bytes[at])];
    let mut start = at;
    if sort != Sort::Other {
        start -= bytes[from..at].iter().rev().take_while(|byte| SORTS[usize::from(**byte)] == sort).count();
        // Only where other characters touch the run are they looked at.
        if start == from || bytes[start - 1].is_ascii() {
            return start;
        }
    }
    let at = (0..=start).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let run = |of: fn(char) -> bool| {
        let before = text[from..at].char_indices().rev().take_while(|(_, c)| of(*c)).last();
        before.map_or(at, |(n, _)| from + n)
    };
    match text[at..].chars().next() {
        Some(c) if c.is_whitespace() => run(char::is_whitespace),
        Some(c) if is_word(c) => run(is_word),
        _ => at,
    }
}

/// What a byte is, as far as cutting goes.
#[derive(Clone, Copy, PartialEq)]
enum Sort {
    Word,
    Blank,
    Other,
}

/// The sort of each byte.
const SORTS: [Sort; 256] = {
    let mut sorts = [Sort::Other; 256];
    let mut byte = 0;
    while byte < 128_u8 {
        sorts[byte as usize] = match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' => Sort::Word,
            _ if byte.is_ascii_whitespace() => Sort::Blank,
            _ => Sort::Other,
        };
        byte += 1;
    }
    sorts
};

/// The length of the first token; the text is not empty.
fn first(text: &str) -> usize {
    let bytes = text.as_bytes();
    let sort = SORTS[usize::from(bytes[0])];
    let length = match sort {
        Sort::Other => 0,
        _ => bytes.iter().take_while(|byte| SORTS[usize::from(**byte)] == sort).count(),
    };
    // Most text is ASCII; only where other characters touch the run are they looked at.
    if length > 0 && bytes.get(length).is_none_or(u8::is_ascii) {
        return if bytes[0].is_ascii_digit() { number(&text[..length]) } else { length };
    }
    let Some(c) = text.chars().next() else { return 0 };
    let run = |of: fn(char) -> bool| text.find(|c| !of(c)).unwrap_or(text.len());
    if c.is_whitespace() {
        run(char::is_whitespace)
    } else if is_word(c) {
        number(&text[..run(is_word)])
    } else {
        c.len_utf8()
    }
}

/// The length of a word, or of the digits at its beginning when only a unit follows them.
fn number(word: &str) -> usize {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let unit = &word[digits..];
    let has_unit = digits > 0 && unit.len() <= 3 && UNITS.iter().any(|u| u.eq_ignore_ascii_case(unit));
    if has_unit { digits } else { word.len() }
}

fn class_of(token: &str) -> Class {
    let Some(c) = token.chars().next() else { return Class::Blank };
    if c.is_whitespace() {
        return Class::Blank;
    }
    if is_ideograph(c) {
        return Class::Ideograph;
    }
    if !is_word(c) {
        return Class::Mark;
    }
    if token.bytes().all(|byte| byte.is_ascii_digit()) {
        return Class::Number(token.len().min(255) as u8);
    }
    let plain = token.chars().all(char::is_alphabetic);
    let capital_inside = token.chars().skip(1).any(char::is_uppercase);
    if plain && !capital_inside { Class::Word } else { Class::Name }
}

/// Words that say nothing about where a text comes from.
const COMMON: &[&str] = &[
    "about", "above", "after", "again", "all", "already", "also", "always", "and", "any", "are", "based",
    "because", "been", "before", "being", "below", "both", "but", "call", "called", "can", "cannot",
    "change", "changed", "check", "code", "command", "content", "contents", "could", "current", "data",
    "default", "did", "does", "done", "each", "else", "error", "every", "false", "file", "files", "find",
    "first", "for", "found", "from", "function", "had", "has", "have", "here", "how", "into", "its", "just",
    "last", "line", "lines", "list", "make", "matches", "may", "means", "more", "most", "must", "name",
    "need", "never", "new", "next", "none", "not", "now", "null", "number", "off", "once", "one", "only",
    "other", "our", "out", "output", "over", "path", "please", "result", "results", "return", "returned",
    "running", "same", "see", "set", "should", "show", "shows", "since", "some", "still", "string",
    "success", "test", "tests", "text", "than", "that", "the", "their", "them", "then", "there", "these",
    "they", "this", "those", "three", "time", "tool", "true", "two", "type", "under", "until", "use", "used",
    "user", "uses", "using", "value", "values", "very", "was", "were", "what", "when", "where", "which",
    "while", "will", "with", "without", "works", "would", "yes", "you", "your",
];

impl Class {
    /// How much a token of this class tells by itself, before rarity.
    #[must_use]
    pub fn worth(self, token: &str) -> f64 {
        match self {
            Class::Blank | Class::Mark => 0.0,
            Class::Ideograph => 0.4,
            Class::Name => 2.0,
            Class::Number(1) => 0.4,
            Class::Number(2) => 0.9,
            Class::Number(3) => 1.0,
            Class::Number(_) => 1.6,
            Class::Word => {
                let lower = token.to_lowercase();
                match token.chars().count() {
                    0..=3 => 0.0,
                    _ if COMMON.binary_search(&lower.as_str()).is_ok() => 0.0,
                    4 => 0.3,
                    _ => 0.5,
                }
            }
        }
    }

    /// Whether one token of this class is seldom met by chance.
    #[must_use]
    pub fn is_telling(self) -> bool {
        matches!(self, Class::Name | Class::Number(3..))
    }
}

/// Whether a mark joins the words beside it into one path, number or name.
#[must_use]
pub fn joins(mark: &str) -> bool {
    matches!(mark, "/" | "." | "_" | "-" | ":" | "@" | "=" | "#" | "\\" | "," | "%")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(text: &str) -> Vec<(&str, Class)> {
        tokens(text).map(|t| (&text[t.start..t.end], t.class)).collect()
    }

    #[test]
    fn names_numbers_and_units_are_told_apart() {
        use Class::{Blank, Mark, Name, Number, Word};
        assert_eq!(
            cut("max_retries = 30ms"),
            [("max_retries", Name), (" ", Blank), ("=", Mark), (" ", Blank), ("30", Number(2)), ("ms", Word)]
        );
        assert_eq!(cut("9f3c E42"), [("9f3c", Name), (" ", Blank), ("E42", Name)]);
        assert_eq!(cut("漢字"), [("漢", Class::Ideograph), ("字", Class::Ideograph)]);
    }

    #[test]
    fn tokens_leave_no_gap() {
        let text = "a\u{301}b \u{2028}é漢_x\t\n--12.5GB\u{1F600}";
        assert_eq!(tokens(text).map(|t| &text[t.start..t.end]).collect::<String>(), text);
    }

    proptest! {
        #[test]
        fn each_byte_is_held_by_the_token_that_cutting_finds(
            text in "([a-zA-Z_0-9]{1,3}|[ \t]{1,2}|[0-9]{1,2}(ms|kb|x)|[é漢ß\u{a0}\u{2028}١\u{301}]|[./:-]){0,30}",
        ) {
            let all: Vec<(usize, usize)> = cuts(&text).collect();
            for (n, (start, end)) in all.iter().enumerate() {
                for at in *start..*end {
                    prop_assert_eq!(token_at(&text, 0, at), *start..*end);
                    prop_assert_eq!(token_at(&text, all[n / 2].0, at), *start..*end);
                }
            }
        }
    }

    #[test]
    fn the_common_words_are_sorted() {
        assert!(COMMON.is_sorted());
        assert!(Class::Word.worth("The").abs() < 1e-9 && Class::Word.worth("gasket") > 0.4);
    }
}
