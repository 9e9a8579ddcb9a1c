//! The text that `JSON.stringify(JSON.parse(text))` gives, and comparison by value.
//!
//! Only for comparing and for what we create ourselves; stored text is never replaced by it.

use super::raw::{Kind, Raw};
use super::{number, scan, text, write};
use std::collections::HashMap;

/// In which order an object's members come out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As a JavaScript object lists them: integer-like names ascending, then as first met.
    JavaScript,
    /// By name, so that two objects with the same members give the same text.
    Sorted,
}

/// Where each container of a text ends, in one pass, so that deep nesting is not walked again at
/// every level.
struct Ends {
    spans: Vec<(usize, usize)>,
}

impl Ends {
    fn of(text: &[u8]) -> Ends {
        let mut spans: Vec<(usize, usize)> = Vec::new();
        let mut open = Vec::new();
        let mut at = 0;
        while at < text.len() {
            match text[at] {
                b'"' => {
                    at = scan::string_end(text, at).unwrap_or(text.len());
                    continue;
                }
                b'{' | b'[' => {
                    open.push(spans.len());
                    spans.push((at, text.len()));
                }
                b'}' | b']' => {
                    if let Some(span) = open.pop() {
                        spans[span].1 = at + 1;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        Ends { spans }
    }

    /// The offset just after the value at `start`.
    fn of_value(&self, text: &[u8], start: usize) -> usize {
        if matches!(text.get(start), Some(b'{' | b'[')) {
            let found = self.spans.binary_search_by_key(&start, |span| span.0);
            return found.map_or(text.len(), |span| self.spans[span].1);
        }
        scan::value_end(text, start).unwrap_or(text.len())
    }
}

/// A name to write (for members), and where its value starts.
type Item = (Option<Vec<u8>>, usize);

/// The text of the value, rewritten; iterative, so depth costs memory and no stack.
#[must_use]
pub fn rewrite(value: Raw<'_>, order: Order) -> Vec<u8> {
    let text = value.bytes();
    let ends = Ends::of(text);
    let mut out = Vec::with_capacity(text.len());
    let mut open: Vec<(std::vec::IntoIter<Item>, u8, bool)> = Vec::new();
    let mut next = Some(0);
    loop {
        if let Some(start) = next.take() {
            match text.get(start) {
                Some(b'{') => {
                    out.push(b'{');
                    open.push((members(text, &ends, start, order).into_iter(), b'}', true));
                }
                Some(b'[') => {
                    out.push(b'[');
                    open.push((elements(text, &ends, start).into_iter(), b']', true));
                }
                _ => write_scalar(&mut out, &text[start..ends.of_value(text, start)]),
            }
        }
        let Some((items, close, first)) = open.last_mut() else { return out };
        match items.next() {
            Some((name, start)) => {
                if !std::mem::take(first) {
                    out.push(b',');
                }
                if let Some(name) = name {
                    write::push_string(&mut out, &name);
                    out.push(b':');
                }
                next = Some(start);
            }
            None => {
                out.push(*close);
                open.pop();
            }
        }
    }
}

fn write_scalar(out: &mut Vec<u8>, stored: &[u8]) {
    match Raw::parse(stored) {
        Ok(value) if value.kind() == Kind::Number => {
            out.extend(number::stringify(value.number().unwrap_or(0.0)).bytes());
        }
        Ok(value) if value.kind() == Kind::String => {
            write::push_string(out, &value.text().unwrap_or_default());
        }
        _ => out.extend_from_slice(stored),
    }
}

/// Where the elements of the array at `start` start.
fn elements(text: &[u8], ends: &Ends, start: usize) -> Vec<Item> {
    let mut list = Vec::new();
    let mut at = scan::skip_blanks(text, start + 1);
    while at < text.len() && text[at] != b']' {
        list.push((None, at));
        let comma = scan::skip_blanks(text, ends.of_value(text, at));
        if text.get(comma) != Some(&b',') {
            break;
        }
        at = scan::skip_blanks(text, comma + 1);
    }
    list
}

/// The members as `JSON.parse` keeps them: of duplicates the last value at the first place.
fn members(text: &[u8], ends: &Ends, start: usize, order: Order) -> Vec<Item> {
    let mut list: Vec<Item> = Vec::new();
    let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut at = scan::skip_blanks(text, start + 1);
    while text.get(at) == Some(&b'"') {
        let key_end = scan::string_end(text, at).unwrap_or(text.len());
        let name = text::decode(&text[at + 1..key_end - 1]).into_owned();
        let colon = scan::skip_blanks(text, key_end);
        let member = scan::skip_blanks(text, colon + 1);
        match places.get(&name) {
            Some(&place) => list[place].1 = member,
            None => {
                places.insert(name.clone(), list.len());
                list.push((Some(name), member));
            }
        }
        let comma = scan::skip_blanks(text, ends.of_value(text, member));
        at = scan::skip_blanks(text, comma + 1);
    }
    let name = |item: &Item| item.0.clone().unwrap_or_default();
    match order {
        Order::Sorted => list.sort_by_key(name),
        Order::JavaScript => {
            if list.iter().any(|item| array_index(&name(item)).is_some()) {
                // Stable: names that are no index keep the order in which they were met.
                list.sort_by_key(|item| array_index(&name(item)).map_or(u64::MAX, u64::from));
            }
        }
    }
    list
}

/// The name as an array index, 0 to 2^32 - 2 in plain decimal; such names come first.
fn array_index(name: &[u8]) -> Option<u32> {
    if name.is_empty() || name.len() > 10 || (name[0] == b'0' && name.len() > 1) {
        return None;
    }
    let n: u32 = std::str::from_utf8(name).ok()?.parse().ok()?;
    (n != u32::MAX && name[0].is_ascii_digit()).then_some(n)
}

/// `JSON.stringify(JSON.parse(text))`.
#[must_use]
pub fn stringify(value: Raw<'_>) -> Vec<u8> {
    rewrite(value, Order::JavaScript)
}

/// Whether two values are deeply equal: members by name, elements in order, numbers by value.
#[must_use]
pub fn equal(a: Raw<'_>, b: Raw<'_>) -> bool {
    a == b || rewrite(a, Order::Sorted) == rewrite(b, Order::Sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn js(text: &str) -> String {
        String::from_utf8(stringify(Raw::parse(text.as_bytes()).unwrap())).unwrap()
    }

    #[test]
    fn text_comes_out_as_stringify_gives_it() {
        assert_eq!(
            js(r#"{ "b" : 1.0 , "2":[], "1":{"x":-0}, "a":"\u00e9\/" }"#),
            r#"{"1":{"x":0},"2":[],"b":1,"a":"é/"}"#
        );
        assert_eq!(js(r#"{"a":1,"b":2,"a":3}"#), r#"{"a":3,"b":2}"#);
        assert_eq!(js(r#"["\uD800",1e999,1E3]"#), r#"["\ud800",null,1000]"#);
    }

    #[test]
    fn order_of_members_does_not_make_values_differ() {
        let raw = |t| Raw::parse(str::as_bytes(t)).unwrap();
        assert!(equal(raw(r#"{"a":1,"b":[2,3]}"#), raw(r#"{"b":[2.0,3],"a":1}"#)));
        assert!(!equal(raw("[1,2]"), raw("[2,1]")));
        assert!(!equal(raw(r#"{"a":null}"#), raw("{}")));
    }

    #[test]
    fn a_hundred_thousand_levels_do_not_recurse() {
        let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
        assert_eq!(stringify(Raw::parse(&deep).unwrap()), deep);
    }
}
