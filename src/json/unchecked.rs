//! An object walked while it is checked: the one pass over a record's text.

use super::scan::{self, SyntaxFault};
use std::ops::Range;

/// Walks the members of one object of text that nothing has checked yet, checking as it goes.
///
/// The walk is the check: when it has ended without error and [`Unchecked::finish`] agrees, the
/// whole text was one JSON object.
pub struct Unchecked<'a> {
    text: &'a [u8],
    at: usize,
    state: Walk,
}

/// Where a member stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name, quotes included.
    pub key: Range<usize>,
    /// Its value.
    pub value: Range<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum Walk {
    First,
    Later,
    Done,
}

impl<'a> Unchecked<'a> {
    /// Starts at the object in `text`; `None` when the first token is not `{`.
    #[must_use]
    pub fn object(text: &'a [u8]) -> Option<Unchecked<'a>> {
        let at = scan::skip_blanks(text, 0);
        (text.get(at) == Some(&b'{')).then_some(Unchecked { text, at: at + 1, state: Walk::First })
    }

    /// The next member, or `None` after the closing brace.
    ///
    /// `end` finds the end of the value: it gets the key, the text and the value's start, and must
    /// check as [`scan::value_end`] does.
    pub fn member(
        &mut self,
        end: impl FnOnce(&[u8], &'a [u8], usize) -> Result<usize, SyntaxFault>,
    ) -> Result<Option<Member>, SyntaxFault> {
        let fault = |offset, what| Err(SyntaxFault { offset, what });
        let mut at = scan::skip_blanks(self.text, self.at);
        match (self.state, self.text.get(at)) {
            (Walk::Done, _) => return Ok(None),
            (Walk::First | Walk::Later, Some(b'}')) => {
                self.at = at + 1;
                self.state = Walk::Done;
                return Ok(None);
            }
            (Walk::First, _) => {}
            (Walk::Later, Some(b',')) => at = scan::skip_blanks(self.text, at + 1),
            (Walk::Later, None) => return fault(at, "the text ends inside a value"),
            (Walk::Later, Some(_)) => return fault(at, "expected `,` or `}`"),
        }
        if self.text.get(at) != Some(&b'"') {
            return fault(at, "expected a member name");
        }
        let key_end = scan::string_end(self.text, at)?;
        let colon = scan::skip_blanks(self.text, key_end);
        if self.text.get(colon) != Some(&b':') {
            return fault(colon, "expected `:`");
        }
        let start = scan::skip_blanks(self.text, colon + 1);
        let end = end(&self.text[at..key_end], self.text, start)?;
        self.at = end;
        self.state = Walk::Later;
        Ok(Some(Member { key: at..key_end, value: start..end }))
    }

    /// Checks that nothing but blanks follows the object.
    pub fn finish(self) -> Result<(), SyntaxFault> {
        let rest = scan::skip_blanks(self.text, self.at);
        if rest < self.text.len() {
            return Err(SyntaxFault { offset: rest, what: "more text after the value" });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unchecked_walk_finds_what_is_wrong_behind_the_members() {
        let mut walk = Unchecked::object(br#" {"a":1,"b":[2]} x"#).unwrap();
        let mut next = || walk.member(|_, text, at| scan::value_end(text, at));
        assert!(next().unwrap().is_some() && next().unwrap().is_some());
        assert!(next().unwrap().is_none());
        assert!(walk.finish().is_err());
        let mut open = Unchecked::object(br#"{"a":1,}"#).unwrap();
        let mut next = || open.member(|_, text, at| scan::value_end(text, at));
        assert!(next().is_ok() && next().is_err());
    }
}
