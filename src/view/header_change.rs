//! What changed from one request header to the next.

use crate::json::{Raw, canonical};
use std::collections::BTreeMap;

/// One difference between two headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A config field; texts are JSON, `None` = absent.
    Config {
        /// The field.
        field: String,
        /// Before.
        before: Option<String>,
        /// After.
        after: Option<String>,
    },
    /// The system prompt, before and after; empty = none.
    System {
        /// Before.
        before: String,
        /// After.
        after: String,
    },
    /// A tool that is new.
    ToolAdded(String),
    /// A tool that is gone.
    ToolRemoved(String),
    /// A tool with another description or other parameters.
    ToolAltered(String),
    /// The same tools in another order.
    ToolsReordered,
}

/// The differences between two canonical headers.
#[must_use]
pub fn between(before: Raw<'_>, after: Raw<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    for part in ["config", "adapterDefaults"] {
        config(part, before.get(part), after.get(part), &mut changes);
    }
    let system = |header: Raw<'_>| header.get("system").and_then(Raw::display_text).unwrap_or_default();
    let (old, new) = (system(before), system(after));
    if old != new {
        changes.push(Change::System { before: old, after: new });
    }
    tools(before.get("tools"), after.get("tools"), &mut changes);
    changes
}

fn fields(value: Option<Raw<'_>>) -> BTreeMap<String, String> {
    let members = value.into_iter().flat_map(Raw::members);
    members
        .map(|(key, value)| {
            let text = String::from_utf8_lossy(&canonical::stringify(value)).into_owned();
            (key.display_text().unwrap_or_default(), text)
        })
        .collect()
}

fn config(part: &str, before: Option<Raw<'_>>, after: Option<Raw<'_>>, changes: &mut Vec<Change>) {
    let (old, new) = (fields(before), fields(after));
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let (before, after) = (old.get(name).cloned(), new.get(name).cloned());
        if before != after {
            let field = if part == "config" { name.clone() } else { format!("{part}.{name}") };
            changes.push(Change::Config { field, before, after });
        }
    }
}

/// A tool's name and its text, in order.
fn tool_list(tools: Option<Raw<'_>>) -> Vec<(String, Vec<u8>)> {
    let tools = tools.into_iter().flat_map(Raw::elements);
    tools
        .map(|tool| {
            let name = tool.get("name").and_then(Raw::display_text).unwrap_or_default();
            (name, canonical::stringify(tool))
        })
        .collect()
}

fn tools(before: Option<Raw<'_>>, after: Option<Raw<'_>>, changes: &mut Vec<Change>) {
    let (old, new) = (tool_list(before), tool_list(after));
    if old == new {
        return;
    }
    let count = changes.len();
    let text =
        |list: &[(String, Vec<u8>)], name: &str| list.iter().find(|t| t.0 == name).map(|t| t.1.clone());
    for (name, tool) in &new {
        match text(&old, name) {
            None => changes.push(Change::ToolAdded(name.clone())),
            Some(was) if was != *tool => changes.push(Change::ToolAltered(name.clone())),
            Some(_) => {}
        }
    }
    let gone = old.iter().filter(|(name, _)| text(&new, name).is_none());
    changes.extend(gone.map(|(name, _)| Change::ToolRemoved(name.clone())));
    if changes.len() == count {
        changes.push(Change::ToolsReordered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_prompt_and_tools_are_compared_each_in_their_way() {
        let before = r#"{"config":{"provider":"p","model":"a"},"system":"x","tools":[{"name":"t","d":1},{"name":"gone"}]}"#;
        let after = r#"{"config":{"provider":"p","model":"b","maxTokens":5},"tools":[{"name":"new"},{"name":"t","d":2}]}"#;
        let raw = |t: &'static str| Raw::parse(t.as_bytes()).unwrap();
        let config = |f: &str, b: Option<&str>, a: Option<&str>| Change::Config {
            field: f.into(),
            before: b.map(Into::into),
            after: a.map(Into::into),
        };
        assert_eq!(
            between(raw(before), raw(after)),
            [
                config("maxTokens", None, Some("5")),
                config("model", Some("\"a\""), Some("\"b\"")),
                Change::System { before: "x".into(), after: String::new() },
                Change::ToolAdded("new".into()),
                Change::ToolAltered("t".into()),
                Change::ToolRemoved("gone".into()),
            ]
        );
        assert_eq!(between(raw(before), raw(before)), []);
    }
}
