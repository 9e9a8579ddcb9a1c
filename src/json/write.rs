//! Writing JSON text as `JSON.stringify` does.

/// Appends a string literal for WTF-8 content: shortest escapes, lone surrogates as `\udxxx`.
pub fn push_string(out: &mut Vec<u8>, wtf8: &[u8]) {
    out.push(b'"');
    let mut at = 0;
    while at < wtf8.len() {
        let byte = wtf8[at];
        match byte {
            b'"' => out.extend(b"\\\""),
            b'\\' => out.extend(b"\\\\"),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            8 => out.extend(b"\\b"),
            12 => out.extend(b"\\f"),
            0..0x20 => out.extend(format!("\\u{byte:04x}").bytes()),
            // The three-byte form of U+D800 to U+DFFF: a surrogate without its partner.
            0xED if wtf8.get(at + 1).is_some_and(|b| *b >= 0xA0) && at + 2 < wtf8.len() => {
                let unit = 0xD000 | u32::from(wtf8[at + 1] & 0x3F) << 6 | u32::from(wtf8[at + 2] & 0x3F);
                out.extend(format!("\\u{unit:04x}").bytes());
                at += 2;
            }
            _ => out.push(byte),
        }
        at += 1;
    }
    out.push(b'"');
}

/// The string literal for a text.
#[must_use]
pub fn string(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + 2);
    push_string(&mut out, text.as_bytes());
    String::from_utf8(out).unwrap_or_default()
}

/// Builds one JSON object, member by member, from text that may be stored text.
#[derive(Default)]
pub struct Object {
    out: Vec<u8>,
}

impl Object {
    /// An object without members.
    #[must_use]
    pub fn new() -> Object {
        Object { out: vec![b'{'] }
    }

    fn key(&mut self, name: &str) {
        if self.out.len() > 1 {
            self.out.push(b',');
        }
        push_string(&mut self.out, name.as_bytes());
        self.out.push(b':');
    }

    /// Adds a member whose value is JSON text already.
    #[must_use]
    pub fn raw(mut self, name: &str, json: &[u8]) -> Object {
        self.key(name);
        self.out.extend_from_slice(json);
        self
    }

    /// Adds a member whose value is JSON text, when there is one.
    #[must_use]
    pub fn raw_if(self, name: &str, json: Option<&[u8]>) -> Object {
        match json {
            Some(json) => self.raw(name, json),
            None => self,
        }
    }

    /// Adds a string.
    #[must_use]
    pub fn text(mut self, name: &str, wtf8: &[u8]) -> Object {
        self.key(name);
        push_string(&mut self.out, wtf8);
        self
    }

    /// Adds a string, when there is one.
    #[must_use]
    pub fn text_if(self, name: &str, wtf8: Option<&[u8]>) -> Object {
        match wtf8 {
            Some(text) => self.text(name, text),
            None => self,
        }
    }

    /// Adds an integer.
    #[must_use]
    pub fn int(self, name: &str, n: impl Into<i128>) -> Object {
        let digits = n.into().to_string();
        self.raw(name, digits.as_bytes())
    }

    /// Adds an integer, when there is one.
    #[must_use]
    pub fn int_if(self, name: &str, n: Option<impl Into<i128>>) -> Object {
        match n {
            Some(n) => self.int(name, n),
            None => self,
        }
    }

    /// Adds a boolean.
    #[must_use]
    pub fn bool(self, name: &str, value: bool) -> Object {
        self.raw(name, if value { b"true" } else { b"false" })
    }

    /// Adds `null`.
    #[must_use]
    pub fn null(self, name: &str) -> Object {
        self.raw(name, b"null")
    }

    /// Adds an array of values that are JSON text already.
    #[must_use]
    pub fn list<T: AsRef<[u8]>>(self, name: &str, items: impl IntoIterator<Item = T>) -> Object {
        let list = array(items);
        self.raw(name, &list)
    }

    /// The object's text.
    #[must_use]
    pub fn end(mut self) -> Vec<u8> {
        self.out.push(b'}');
        self.out
    }
}

/// An array of values that are JSON text already.
#[must_use]
pub fn array<T: AsRef<[u8]>>(items: impl IntoIterator<Item = T>) -> Vec<u8> {
    let mut out = vec![b'['];
    for item in items {
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend_from_slice(item.as_ref());
    }
    out.push(b']');
    out
}

/// An array of sequence numbers.
#[must_use]
pub fn ints(items: impl IntoIterator<Item = u64>) -> Vec<u8> {
    array(items.into_iter().map(|n| n.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped_as_javascript_does() {
        let mut out = Vec::new();
        push_string(&mut out, b"a\"\\\n\x01\xED\xA0\x80\xED\x9F\xBF/\xC2\x85");
        assert_eq!(out, "\"a\\\"\\\\\\n\\u0001\\ud800\u{D7FF}/\u{85}\"".as_bytes());
    }

    #[test]
    fn an_object_joins_its_members() {
        let text = Object::new().int("a", 1_u32).text("b", b"x").raw("c", b"[1]").bool("d", true).end();
        assert_eq!(text, br#"{"a":1,"b":"x","c":[1],"d":true}"#);
        assert_eq!(Object::new().end(), b"{}");
    }
}
