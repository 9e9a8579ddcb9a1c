//! Lines fitted to a width in terminal columns.

/// How many columns a character takes: none for marks that combine, two for wide ones.
pub(crate) fn columns(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36F | 0x200C..=0x200D | 0xFE00..=0xFE0F | 0x1AB0..=0x1AFF | 0x20D0..=0x20FF => 0,
        0x1100..=0x115F | 0x2E80..=0x303E | 0x3041..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF => 2,
        0xFE30..=0xFE6F | 0xFF00..=0xFF60 | 0xFFE0..=0xFFE6 | 0x1F300..=0x1FAFF | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

/// How many columns a text takes.
pub(crate) fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(columns).sum() }
}

/// The text cut to a width, with `…` where something is missing.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += columns(*c);
        used <= most
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// Breaks one line (without newlines) at blanks so that each piece fits; a word that is too long is
/// cut. The blanks in front are kept on the first piece only.
pub(crate) fn wrap(line: &str, most: usize) -> Vec<&str> {
    let most = most.max(8);
    // The most common line: short, and each of its bytes a column.
    if line.len() <= most && line.bytes().all(|b| matches!(b, b' '..=b'~')) {
        return vec![line];
    }
    let mut pieces = Vec::new();
    let mut rest = line;
    loop {
        let (mut used, mut blank, mut over) = (0, None, None);
        for (at, c) in rest.char_indices() {
            used += if c == '\t' { 8 } else { columns(c) };
            if used > most && at > 0 {
                over = Some(at);
                break;
            }
            if c == ' ' && !rest[..at].trim().is_empty() {
                blank = Some(at);
            }
        }
        let Some(over) = over else { break };
        // A blank right behind the piece is as good a place as one inside it.
        let at = if rest[over..].starts_with(' ') { over } else { blank.unwrap_or(over) };
        pieces.push(rest[..at].trim_end_matches(' '));
        rest = rest[at..].trim_start_matches(' ');
    }
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(rest);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks_and_long_words_are_cut() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("abcdefghijkl", 8), ["abcdefgh", "ijkl"]);
        assert_eq!(wrap("    indented words", 12), ["    indented", "words"]);
        assert_eq!(wrap("", 8), [""]);
        assert_eq!(wrap("漢字漢字漢字", 8), ["漢字漢字", "漢字"]);
    }

    #[test]
    fn a_cut_says_that_something_is_missing() {
        assert_eq!((cut("abcdef", 6), cut("abcdefg", 6)), ("abcdef".into(), "abcde…".into()));
    }
}
