//! What two header lines say of how their sessions are related.

use crate::format::header::Header;

/// How two sessions are related, by their headers alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinship {
    /// They have one id: copies, or generations of one session.
    SameSession,
    /// The second names the first as its parent.
    SecondFromFirst,
    /// The first names the second as its parent.
    FirstFromSecond,
    /// Both name one parent.
    SameParent,
    /// The headers tell of no relation.
    None,
}

impl Kinship {
    /// The word used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kinship::SameSession => "same-session",
            Kinship::SecondFromFirst => "second-from-first",
            Kinship::FirstFromSecond => "first-from-second",
            Kinship::SameParent => "same-parent",
            Kinship::None => "none",
        }
    }
}

/// The relation between two sessions. An empty id names nothing.
#[must_use]
pub fn kinship(first: Option<&Header>, second: Option<&Header>) -> Kinship {
    let (Some(first), Some(second)) = (first, second) else { return Kinship::None };
    let names = |child: &Header, parent: &Header| {
        !parent.id.is_empty() && child.parent_session.as_ref() == Some(&parent.id)
    };
    let has_parent = first.parent_session.as_ref().is_some_and(|id| !id.is_empty());
    match () {
        () if first.id == second.id && !first.id.is_empty() => Kinship::SameSession,
        () if names(second, first) => Kinship::SecondFromFirst,
        () if names(first, second) => Kinship::FirstFromSecond,
        () if has_parent && first.parent_session == second.parent_session => Kinship::SameParent,
        () => Kinship::None,
    }
}
