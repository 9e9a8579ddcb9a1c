//! Reading messages for people: blocks, sources, failures (format v0, sections 8.1, 8.2, 16.2).

use crate::json::Raw;

/// How deep blocks inside `tool-result` blocks are read; deeper ones are named only.
const NESTED: usize = 16;

/// A block of a message, as far as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Words.
    Text(String),
    /// The model's reasoning.
    Reasoning(String),
    /// A picture or a file, described; its bytes lie outside the log.
    Attachment(String),
    /// A tool call; it has a row of its own.
    Call(String),
    /// A block of another type, by the type's name.
    Other(String),
}

impl Block {
    /// Whether it is text that is not blank.
    #[must_use]
    pub fn is_words(&self) -> bool {
        matches!(self, Block::Text(text) if !text.trim().is_empty())
    }

    /// Whether it makes an assistant row visible (section 16.3).
    #[must_use]
    pub fn is_visible(&self) -> bool {
        match self {
            Block::Text(text) | Block::Reasoning(text) => !text.trim().is_empty(),
            Block::Call(_) => false,
            Block::Attachment(_) | Block::Other(_) => true,
        }
    }
}

/// Why a request to the model failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// Its code.
    pub code: Option<String>,
    /// Its message; a fixed text where the stored one may echo a credential.
    pub message: Option<String>,
}

/// The display text of a string member.
pub(super) fn text(value: Option<Raw<'_>>) -> Option<String> {
    value.and_then(Raw::display_text)
}

/// A stored value, copied.
pub(super) fn copy(value: Option<Raw<'_>>) -> Option<Vec<u8>> {
    value.map(|value| value.bytes().to_vec())
}

/// Reads a failure; of `AUTH` the stored message is not shown (section 16.6).
pub(super) fn failure(value: Raw<'_>) -> Failure {
    let [code, message] = value.get_all(["code", "message"]);
    let message = match code {
        Some(code) if code.is("AUTH") => Some("the provider refused the credential".to_owned()),
        _ => text(message),
    };
    Failure { code: text(code), message }
}

/// Reads the blocks of a content array; blocks inside `tool-result` blocks come in their place.
pub(super) fn blocks(content: Option<Raw<'_>>) -> Vec<Block> {
    let Some(content) = content else { return Vec::new() };
    if let Some(text) = content.display_text() {
        return vec![Block::Text(text)];
    }
    let mut found = Vec::new();
    let mut open = vec![content.elements()];
    while let Some(list) = open.last_mut() {
        let Some(value) = list.next() else {
            open.pop();
            continue;
        };
        let inner = value.get("content").filter(|inner| inner.is_array());
        match (value.get("type"), inner) {
            (Some(kind), Some(inner)) if kind.is("tool-result") && open.len() < NESTED => {
                open.push(inner.elements());
            }
            _ => found.push(block(value)),
        }
    }
    found
}

/// Reads a block that stands alone.
pub(super) fn block(value: Raw<'_>) -> Block {
    let kind = text(value.get("type")).unwrap_or_default();
    let own_text = || text(value.get("text"));
    match (kind.as_str(), value.get("attachment")) {
        ("text", _) => own_text().map_or(Block::Other(kind), Block::Text),
        ("reasoning", _) => own_text().map_or(Block::Other(kind), Block::Reasoning),
        ("image" | "file", Some(attachment)) => Block::Attachment(attached(&kind, value, attachment)),
        ("tool-call", _) => Block::Call(text(value.get("name")).unwrap_or_default()),
        _ => Block::Other(kind),
    }
}

fn attached(kind: &str, block: Raw<'_>, attachment: Raw<'_>) -> String {
    let [name, media, width, height, bytes] =
        attachment.get_all(["name", "mediaType", "width", "height", "bytes"]);
    let mut said = vec![text(name).unwrap_or_else(|| kind.to_owned())];
    said.extend(text(media));
    if let (Some(width), Some(height)) = (width.and_then(Raw::count), height.and_then(Raw::count)) {
        said.push(format!("{width}×{height}"));
    }
    if let Some(bytes) = bytes.and_then(Raw::count) {
        said.push(format!("{bytes} bytes"));
    }
    if block.get("offloaded").is_some_and(Raw::is_true) {
        said.push("no longer sent to the model".to_owned());
    }
    said.join(", ")
}

/// The label of a context row: where the message comes from, in a word.
pub(super) fn label(source: Option<Raw<'_>>) -> Option<String> {
    let source = source?;
    let kind = text(source.get("kind"))?;
    let listed = match kind.as_str() {
        "session-reference" => distinct(source.get("references"), "label"),
        "agent-instructions" => distinct(source.get("changes"), "path"),
        "plugin" => text(source.get("plugin")).into_iter().collect(),
        "skill-invocation" => text(source.get("name")).into_iter().collect(),
        _ => Vec::new(),
    };
    Some(if listed.is_empty() { kind } else { listed.join(", ") })
}

/// The distinct texts under a name in a list of objects, as first met.
pub(super) fn distinct(list: Option<Raw<'_>>, name: &str) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let texts = list.into_iter().flat_map(Raw::elements).filter_map(|item| text(item.get(name)));
    texts.filter(|text| seen.insert(text.clone())).collect()
}

/// The form of a source when it is one of the known ones (section 8.1).
pub(super) fn form(source: Option<Raw<'_>>) -> Option<&'static str> {
    let form = source?.get("form")?;
    ["instructions", "catalog", "snapshot", "notice", "relay", "recall"]
        .into_iter()
        .find(|known| form.is(known))
}

/// The compaction id of a checkpoint's source; the generations name the source in two ways.
pub(super) fn checkpoint<'a>(source: Option<Raw<'a>>) -> Option<(Raw<'a>, Option<Raw<'a>>)> {
    let [kind, plugin, id, command] = source?.get_all(["kind", "plugin", "compactionId", "sourceCommandId"]);
    let kind = kind?;
    let ours = kind.is("compact-checkpoint") || (kind.is("plugin") && plugin?.is("compact"));
    let id = id.filter(|id| id.kind() == crate::json::Kind::String)?;
    ours.then_some((id, command))
}

/// The text blocks of a message, joined.
#[must_use]
pub fn words(blocks: &[Block]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw<'_> {
        Raw::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn blocks_of_every_kind_are_named() {
        let found = blocks(Some(raw(
            r#"[{"type":"text","text":"a"},{"type":"tool-result","content":[{"type":"text","text":"b"}]},
            {"type":"image","attachment":{"mediaType":"image/png","bytes":3,"width":1,
            "height":2}},{"type":"x"},7]"#,
        )));
        assert_eq!(found[..2], [Block::Text("a".into()), Block::Text("b".into())]);
        assert_eq!(found[2], Block::Attachment("image, image/png, 1×2, 3 bytes".into()));
        assert_eq!(found[3..], [Block::Other("x".into()), Block::Other(String::new())]);
    }

    #[test]
    fn the_message_of_a_refused_credential_is_not_shown() {
        let hidden = failure(raw(r#"{"code":"AUTH","message":"bad key sk-123"}"#));
        assert!(!hidden.message.unwrap().contains("sk-"));
        assert_eq!(failure(raw(r#"{"code":"SERVER","message":"m"}"#)).message.as_deref(), Some("m"));
    }

    #[test]
    fn labels_say_where_a_message_comes_from() {
        let of = |text| label(Some(raw(text)));
        let references =
            r#"{"kind":"session-reference","references":[{"label":"A"},{"label":"B"},{"label":"A"}]}"#;
        assert_eq!(of(references).as_deref(), Some("A, B"));
        assert_eq!(of(r#"{"kind":"plugin","plugin":"p"}"#).as_deref(), Some("p"));
        assert_eq!(of(r#"{"kind":"goal"}"#).as_deref(), Some("goal"));
        assert_eq!(of("{}"), None);
    }
}
