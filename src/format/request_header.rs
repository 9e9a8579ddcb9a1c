//! `request/header`: its shape, its canonical form (v0 sections 5.6 and 11, v4 section 7).

use super::dialect::{Dialect, RowRules, SystemPrompt};
use crate::json::write::Object;
use crate::json::{Kind, Raw};

/// What is wrong with the shape; `None` when nothing is.
#[must_use]
pub fn shape_fault(data: Raw<'_>, dialect: &Dialect) -> Option<&'static str> {
    let config = data.path(&["header", "config"]).filter(|c| c.is_object());
    let Some(config) = config else { return Some("has no config") };
    let filled = |name: &str| config.get(name).is_some_and(Raw::is_filled_text);
    if !filled("provider") || !filled("model") {
        return Some("has a config without provider or model");
    }
    if config.get("reasoningEffort").is_some() && !filled("reasoningEffort") {
        return Some("has a reasoningEffort that is no filled string");
    }
    if let Some(defaults) = data.path(&["header", "adapterDefaults"])
        && !defaults_are_sound(defaults, config)
    {
        return Some("has adapterDefaults that mark what the config does not hold");
    }
    if dialect.rows == RowRules::Generation4 {
        let [reason, starts] = data.get_all(["reason", "startsSeries"]);
        let known = ["initial", "resume", "change", "series"];
        if !reason.is_some_and(|r| known.iter().any(|name| r.is(name))) {
            return Some("has an unknown reason");
        }
        if starts.is_some_and(|s| !s.is_true()) {
            return Some("has a startsSeries that is not true");
        }
    }
    None
}

fn defaults_are_sound(defaults: Raw<'_>, config: Raw<'_>) -> bool {
    defaults.is_object()
        && defaults.members().all(|(key, value)| {
            ["reasoningEffort", "maxTokens"].iter().any(|name| key.is(name) && config.get(name).is_some())
                && value.is_true()
        })
}

/// The canonical header: `config`, then `adapterDefaults` with a flag, a filled `system` and filled
/// `tools`; members as stored. `None` when there is no header object.
#[must_use]
pub fn canonical(data: Raw<'_>, dialect: &Dialect) -> Option<Vec<u8>> {
    let header = data.get("header").filter(|h| h.is_object())?;
    let [config, defaults, system, tools] = header.get_all(["config", "adapterDefaults", "system", "tools"]);
    let flagged =
        |d: &Raw<'_>| ["reasoningEffort", "maxTokens"].iter().any(|n| d.get(n).is_some_and(Raw::is_true));
    let in_header = dialect.system_prompt == SystemPrompt::InHeader;
    let system = system.filter(|s| in_header && has_length(*s));
    let tools = tools.filter(|t| has_length(*t));
    Some(
        Object::new()
            .raw_if("config", config.map(Raw::bytes))
            .raw_if("adapterDefaults", defaults.filter(flagged).map(Raw::bytes))
            .raw_if("system", system.map(Raw::bytes))
            .raw_if("tools", tools.map(Raw::bytes))
            .end(),
    )
}

/// Whether the value is a filled string or list: the harness asks for its length, not its kind.
fn has_length(value: Raw<'_>) -> bool {
    value.is_filled_text() || value.is_array() && value.elements().next().is_some()
}

/// Whether the header's `tools` or `adapterDefaults` are present and empty, which generation 4
/// refuses on reading.
#[must_use]
pub fn has_empty_member(data: Raw<'_>) -> bool {
    let Some(header) = data.get("header") else { return false };
    let [tools, defaults] = header.get_all(["tools", "adapterDefaults"]);
    tools.is_some_and(|t| t.is_array() && t.elements().next().is_none())
        || defaults.is_some_and(|d| d.kind() == Kind::Object && d.members().next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_or_tools_with_a_length_stays_whatever_its_kind() {
        let canonical = |header: &str| {
            let data = format!(r#"{{"header":{header}}}"#);
            let text = canonical(Raw::parse(data.as_bytes()).unwrap(), Dialect::of(0).unwrap());
            text.map(|text| String::from_utf8(text).unwrap())
        };
        for (header, kept) in [
            (r#"{"config":{},"system":"","tools":[]}"#, r#"{"config":{}}"#),
            (r#"{"tools":"t","config":{},"system":[1]}"#, r#"{"config":{},"system":[1],"tools":"t"}"#),
            (r#"{"config":{},"system":7,"tools":{}}"#, r#"{"config":{}}"#),
        ] {
            assert_eq!(canonical(header).as_deref(), Some(kept), "{header}");
        }
    }
}
