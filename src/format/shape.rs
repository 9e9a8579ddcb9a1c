//! Small questions about values, asked alike by every rule on shapes.

use crate::json::Raw;

/// The value of a safe integer of at least 0 that is not written as `-0` (v4, abbreviations).
#[must_use]
pub fn strict_count(value: Option<Raw<'_>>) -> Option<u64> {
    let value = value?;
    if value.is_negative_zero() { None } else { value.count() }
}

/// Like [`strict_count`], and at least 1.
#[must_use]
pub fn positive(value: Option<Raw<'_>>) -> Option<u64> {
    strict_count(value).filter(|n| *n > 0)
}

/// Whether there is a value and it is a string with something in it.
#[must_use]
pub fn filled(value: Option<Raw<'_>>) -> bool {
    value.is_some_and(Raw::is_filled_text)
}

/// Whether there is a value and it is a string.
#[must_use]
pub fn is_text(value: Option<Raw<'_>>) -> bool {
    value.is_some_and(|value| value.kind() == crate::json::Kind::String)
}

/// Whether there is a value and it is that string.
#[must_use]
pub fn is(value: Option<Raw<'_>>, wanted: &str) -> bool {
    value.is_some_and(|value| value.is(wanted))
}

/// Whether there is a value and it is one of those strings.
#[must_use]
pub fn is_any(value: Option<Raw<'_>>, wanted: &[&str]) -> bool {
    value.is_some_and(|value| wanted.iter().any(|word| value.is(word)))
}

/// The value when it is an object.
#[must_use]
pub fn object(value: Option<Raw<'_>>) -> Option<Raw<'_>> {
    value.filter(|value| value.is_object())
}

/// The value when it is an array.
#[must_use]
pub fn array(value: Option<Raw<'_>>) -> Option<Raw<'_>> {
    value.filter(|value| value.is_array())
}

/// The only element of an array of one.
#[must_use]
pub fn only(value: Option<Raw<'_>>) -> Option<Raw<'_>> {
    let mut elements = array(value)?.elements();
    elements.next().filter(|_| elements.next().is_none())
}

/// Whether every key of an object is among `names`.
#[must_use]
pub fn keys_among(value: Raw<'_>, names: &[&str]) -> bool {
    value.members().all(|(key, _)| names.iter().any(|name| key.is(name)))
}

/// A number written as JavaScript writes it: digits, no leading zero, a safe integer.
#[must_use]
pub fn canonical_decimal(text: &[u8]) -> Option<u64> {
    let sound = text.iter().all(u8::is_ascii_digit) && (text.len() == 1 || text.first() != Some(&b'0'));
    let n = std::str::from_utf8(text).ok().filter(|_| sound)?.parse().ok()?;
    (n <= crate::seq::MAX_SAFE).then_some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_decimals_are_numbers_of_an_id() {
        let read = |text: &str| canonical_decimal(text.as_bytes());
        assert_eq!(
            (read("0"), read("17"), read("9007199254740991")),
            (Some(0), Some(17), Some((1 << 53) - 1))
        );
        for bad in ["", "01", "-1", "+1", "9007199254740992", "99999999999999999999999", "1.0"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn negative_zero_is_no_strict_count() {
        let value = |text: &'static str| Raw::parse(text.as_bytes()).ok();
        assert_eq!((strict_count(value("-0")), strict_count(value("0"))), (None, Some(0)));
        assert_eq!((positive(value("0")), positive(value("1.0")), positive(None)), (None, Some(1), None));
    }
}
