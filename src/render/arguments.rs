//! The arguments of a call in a few words.

use super::clean::clean_line;
use dsh_log::json::Raw;

/// How many members are told.
const MEMBERS: usize = 4;

/// The values of the arguments one after the other; of a text that is no object, the text.
pub(crate) fn in_short(arguments: &str) -> String {
    let object = Raw::parse(arguments.as_bytes()).ok().filter(|value| value.is_object());
    let Some(object) = object else { return clean_line(arguments).into_owned() };
    let values = object.members().take(MEMBERS).map(|(_, value)| {
        value.display_text().unwrap_or_else(|| String::from_utf8_lossy(value.bytes()).into_owned())
    });
    clean_line(&values.collect::<Vec<_>>().join(" ")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_and_what_is_no_object_stays_as_it_is() {
        assert_eq!(in_short(r#"{"command":"cargo test","timeout":5}"#), "cargo test 5");
        assert_eq!(in_short("{\"command\":"), "{\"command\":");
        assert_eq!(in_short("{\"a\":\"x\\ny\"}"), "x⏎y");
    }
}
