//! JSON text laid out for people, every name, number and string as it is stored.

/// The text with a line for each member and element; blanks outside of strings are dropped, all
/// other bytes kept. The text must have been checked.
///
/// Beyond 64 levels lines are indented no deeper.
#[must_use]
pub fn indent(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + text.len() / 2);
    let mut depth = 0_usize;
    let mut at = 0;
    let line = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.resize(out.len() + 2 * depth.min(64), b' ');
    };
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => {
                let end = super::scan::string_end(text, at).unwrap_or(text.len());
                out.extend_from_slice(&text[at..end]);
                at = end;
                continue;
            }
            b'{' | b'[' => {
                out.push(byte);
                let next = super::scan::skip_blanks(text, at + 1);
                if matches!(text.get(next), Some(b'}' | b']')) {
                    out.push(text[next]);
                    at = next + 1;
                    continue;
                }
                depth += 1;
                line(&mut out, depth);
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            byte if super::scan::is_blank(byte) => {}
            byte => out.push(byte),
        }
        at += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_strings_stay_as_they_are_stored() {
        let text = br#"{"a":[1.0,-0, 1e999],"b" : {},"c":"\ud800, {x}","d":[ ]}"#;
        let wanted = "{\n  \"a\": [\n    1.0,\n    -0,\n    1e999\n  ],\n  \"b\": {},\n  \"c\": \"\\ud800, {x}\",\n  \"d\": []\n}";
        assert_eq!(String::from_utf8(indent(text)).unwrap(), wanted);
    }

    #[test]
    fn depth_costs_no_stack_and_no_square() {
        let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
        assert!(indent(&deep).len() < 100_000 * 2 * 140);
    }
}
