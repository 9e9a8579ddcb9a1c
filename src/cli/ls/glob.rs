//! A pattern for names: a piece of text, or `*` and `?` over the whole.

/// A pattern that texts are held against.
pub(in crate::cli) enum Pattern {
    /// The text has it in it.
    Piece(String),
    /// The whole text fits it.
    Whole(Vec<char>),
}

impl Pattern {
    /// Reads a pattern; without `*` and `?` it is a piece of text.
    pub(in crate::cli) fn new(text: &str) -> Pattern {
        match text.contains(['*', '?']) {
            true => Pattern::Whole(text.chars().collect()),
            false => Pattern::Piece(text.to_owned()),
        }
    }

    /// Reads a pattern that the whole text must fit.
    pub(in crate::cli) fn whole(text: &str) -> Pattern {
        Pattern::Whole(text.chars().collect())
    }

    /// Whether the text fits.
    pub(in crate::cli) fn fits(&self, text: &str) -> bool {
        match self {
            Pattern::Piece(piece) => text.contains(piece.as_str()),
            Pattern::Whole(pattern) => whole(pattern, &text.chars().collect::<Vec<_>>()),
        }
    }
}

/// Matches from the left; a star takes more only when what follows it does not fit, so the time is
/// bounded by the product of both lengths.
fn whole(pattern: &[char], text: &[char]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((at, taken)) = star else { return false };
                star = Some((at, taken + 1));
                p = at + 1;
                t = taken + 1;
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_in_a_shell() {
        for (pattern, text, fits) in [
            ("app", "/home/a/app", true),
            ("App", "/home/a/app", false),
            ("*app", "/home/a/app", true),
            ("app*", "/home/a/app", false),
            ("*/a?p", "/home/a/app", true),
            ("*a*b*c", "xaxbxbxc", true),
            ("*a*b*c", "xaxbxbx", false),
            ("*", "", true),
            ("?", "", false),
        ] {
            assert_eq!(Pattern::new(pattern).fits(text), fits, "{pattern} {text}");
        }
    }
}
