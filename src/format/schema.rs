//! Shapes of payloads as data: which members an object has, and what each of them may be.

use super::shape::{positive, strict_count};
use crate::json::{Kind, Raw};

/// The members of an object: the name and the shape.
pub type Members = &'static [(&'static str, Shape)];

/// What a value may be.
#[derive(Clone, Copy)]
pub enum Shape {
    /// Any value.
    Any,
    /// A string.
    Text,
    /// A string with something in it.
    Filled,
    /// A string with something in it and no blanks around it.
    Trimmed,
    /// A boolean.
    Bool,
    /// `true`.
    True,
    /// A safe integer of at least 0.
    Count,
    /// A safe integer of at least 1.
    Positive,
    /// A safe integer between both, these included.
    Between(i64, i64),
    /// A finite number between both, these included.
    Number(f64, f64),
    /// That number.
    Exactly(u64),
    /// One of those strings.
    OneOf(&'static [&'static str]),
    /// `null` or that.
    OrNull(&'static Shape),
    /// An object.
    Object,
    /// An array of such values.
    List(&'static Shape),
    /// An array of such values, not empty.
    Some(&'static Shape),
    /// An object with all of the first members, perhaps some of the second, and no others.
    Exact(Members, Members),
    /// An object with all of the first members and perhaps some of the second; others are not
    /// looked at.
    Open(Members, Members),
    /// An object whose member of that name says which shape it has; the last is for any other word.
    By(&'static str, &'static [(&'static str, Shape)], Option<&'static Shape>),
    /// Both of these.
    Both(&'static Shape, &'static Shape),
    /// What a function says yes to, and the words for it.
    Test(fn(Raw<'_>) -> bool, &'static str),
}

/// A blank as JavaScript's `trim` sees it.
fn is_blank(c: char) -> bool {
    c == '\u{FEFF}' || c.is_whitespace() && c != '\u{85}'
}

/// Whether it is a string with something in it and no blanks around it.
#[must_use]
pub fn is_trimmed(value: Raw<'_>) -> bool {
    let text = value.display_text().unwrap_or_default();
    let edge = |c: Option<char>| c.is_some_and(is_blank);
    !text.is_empty() && !edge(text.chars().next()) && !edge(text.chars().next_back())
}

/// What a value is not: the path to the part, and what was expected there.
type Misfit = (String, String);

impl Shape {
    /// Whether a value has this shape; otherwise what is wrong, in words.
    pub fn fit(&self, value: Raw<'_>) -> Result<(), String> {
        self.judge(value).map_err(|(path, what)| match path.strip_prefix('.').unwrap_or(&path) {
            "" => what,
            path => format!("{path} {what}"),
        })
    }

    /// Recursion ends with the shape, which is finite, and not with the value.
    fn judge(&self, value: Raw<'_>) -> Result<(), Misfit> {
        let whole = Some(value);
        let hold = |kept: bool, what: &str| match kept {
            true => Ok(()),
            false => Err((String::new(), format!("is not {what}"))),
        };
        match *self {
            Shape::Any => Ok(()),
            Shape::Text => hold(value.kind() == Kind::String, "a string"),
            Shape::Filled => hold(value.is_filled_text(), "a non-empty string"),
            Shape::Trimmed => hold(is_trimmed(value), "a non-empty string without blanks around it"),
            Shape::Bool => hold(value.kind() == Kind::Bool, "a boolean"),
            Shape::True => hold(value.is_true(), "true"),
            Shape::Count => hold(strict_count(whole).is_some(), "an integer of at least 0"),
            Shape::Positive => hold(positive(whole).is_some(), "an integer of at least 1"),
            Shape::Between(low, high) => {
                let inside = value.safe_int().is_some_and(|n| low <= n && n <= high);
                hold(inside && !value.is_negative_zero(), &format!("an integer from {low} to {high}"))
            }
            Shape::Number(low, high) => {
                let inside = value.number().is_some_and(|n| n.is_finite() && low <= n && n <= high);
                hold(inside && !value.is_negative_zero(), &format!("a number from {low} to {high}"))
            }
            Shape::Exactly(n) => hold(value.count() == Some(n), &n.to_string()),
            Shape::OneOf(words) => {
                hold(words.iter().any(|word| value.is(word)), &format!("one of {}", words.join(", ")))
            }
            Shape::OrNull(other) => {
                if value.is_null() {
                    Ok(())
                } else {
                    other.judge(value)
                }
            }
            Shape::Object => hold(value.is_object(), "an object"),
            Shape::List(element) => elements(element, value),
            Shape::Some(element) => {
                hold(value.elements().next().is_some(), "a non-empty array")?;
                elements(element, value)
            }
            Shape::Exact(required, optional) => {
                known_only(value, required, optional)?;
                members(value, required, optional)
            }
            Shape::Open(required, optional) => members(value, required, optional),
            Shape::By(name, cases, other) => by(value, name, cases, other),
            Shape::Both(one, two) => one.judge(value).and_then(|()| two.judge(value)),
            Shape::Test(test, words) => hold(test(value), words),
        }
    }
}

fn elements(shape: &Shape, value: Raw<'_>) -> Result<(), Misfit> {
    if !value.is_array() {
        return Err((String::new(), "is not an array".to_owned()));
    }
    for (at, element) in value.elements().enumerate() {
        shape.judge(element).map_err(|(path, what)| (format!("[{at}]{path}"), what))?;
    }
    Ok(())
}

fn known_only(value: Raw<'_>, required: Members, optional: Members) -> Result<(), Misfit> {
    let known = |key: Raw<'_>| required.iter().chain(optional).any(|(name, _)| key.is(name));
    match value.members().find(|(key, _)| !known(*key)) {
        None => Ok(()),
        Some((key, _)) => {
            let name = key.display_start(40).unwrap_or_default();
            Err((String::new(), format!("has the unexpected member {name}")))
        }
    }
}

fn members(value: Raw<'_>, required: Members, optional: Members) -> Result<(), Misfit> {
    if !value.is_object() {
        return Err((String::new(), "is not an object".to_owned()));
    }
    for (name, shape) in required {
        let member = value.get(name).ok_or_else(|| (String::new(), format!("lacks the member {name}")))?;
        shape.judge(member).map_err(|(path, what)| (format!(".{name}{path}"), what))?;
    }
    for (name, shape) in optional {
        let Some(member) = value.get(name) else { continue };
        shape.judge(member).map_err(|(path, what)| (format!(".{name}{path}"), what))?;
    }
    Ok(())
}

fn by(value: Raw<'_>, name: &str, cases: &[(&str, Shape)], other: Option<&Shape>) -> Result<(), Misfit> {
    let word = value.get(name);
    let known = cases.iter().find(|(case, _)| word.is_some_and(|word| word.is(case)));
    match (known, other) {
        (Some((_, shape)), _) => shape.judge(value),
        (None, Some(other)) => other.judge(value),
        (None, None) => {
            let words: Vec<&str> = cases.iter().map(|(case, _)| *case).collect();
            Err((format!(".{name}"), format!("is not one of {}", words.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Shape = Shape::Exact(&[("turn", Shape::Count)], &[("note", Shape::Trimmed)]);
    const KINDS: Shape =
        Shape::By("kind", &[("one", Shape::Open(&[("at", PLACE)], &[])), ("many", Shape::Object)], None);

    fn wrong(shape: &Shape, text: &str) -> String {
        Raw::parse(text.as_bytes()).map_or("no JSON".to_owned(), |v| shape.fit(v).err().unwrap_or_default())
    }

    #[test]
    fn what_is_wrong_is_said_with_its_path() {
        assert_eq!(wrong(&KINDS, r#"{"kind":"one","at":{"turn":1,"note":"n"}}"#), "");
        assert_eq!(wrong(&KINDS, r#"{"kind":"many"}"#), "");
        assert_eq!(wrong(&KINDS, r#"{"kind":"none"}"#), "kind is not one of one, many");
        assert_eq!(
            wrong(&KINDS, r#"{"kind":"one","at":{"turn":-0}}"#),
            "at.turn is not an integer of at least 0"
        );
        assert_eq!(
            wrong(&KINDS, r#"{"kind":"one","at":{"turn":1,"x":2}}"#),
            "at has the unexpected member x"
        );
        assert_eq!(wrong(&PLACE, "{}"), "lacks the member turn");
        assert_eq!(wrong(&Shape::List(&PLACE), r#"[{"turn":0},7]"#), "[1] is not an object");
        assert_eq!(wrong(&Shape::Some(&Shape::Any), "[]"), "is not a non-empty array");
    }

    #[test]
    fn blanks_are_those_of_javascript() {
        let trimmed = |text: &str| Raw::parse(text.as_bytes()).is_ok_and(is_trimmed);
        assert!(trimmed("\"a b\"") && trimmed("\"\u{85}a\""));
        assert!(!trimmed("\" a\"") && !trimmed("\"a\u{FEFF}\"") && !trimmed("\"\"") && !trimmed("7"));
    }
}
