//! What generation 4 refuses in messages and blocks wherever they stand: plugin sources, tool
//! changes outside developer messages, wrapped results (v4 section 2.4, A1 to A3).

use super::{Verdict, hold};
use crate::format::parts::RowFault;
use crate::format::shape::{array, filled, is, object};
use crate::json::Raw;

/// Which blocks a content may hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Blocks {
    /// Neither tool changes nor wrapped results.
    Ordinary,
    /// Tool changes of the right shape.
    Developer,
    /// Anything but wrapped results.
    NoResults,
}

impl Blocks {
    /// Whether the block may stand there; what is no object is left to other rules.
    pub(super) fn admits(self, block: Option<Raw<'_>>) -> Verdict {
        self.judge(block).map(|_| ())
    }

    /// Like [`Blocks::admits`]; tells whether the block adds a tool.
    fn judge(self, block: Option<Raw<'_>>) -> Result<bool, RowFault> {
        let Some(block) = object(block) else { return Ok(false) };
        let [kind, name, tool] = block.get_all(["type", "toolName", "tool"]);
        hold(!is(kind, "tool-result"), "a content block of the retired type tool-result")?;
        let adds = is(kind, "tool-addition");
        if self == Blocks::NoResults || !(adds || is(kind, "tool-removal")) {
            return Ok(false);
        }
        hold(self == Blocks::Developer, "a tool change outside of a developer/message")?;
        hold(filled(name), "a tool change without a toolName")?;
        hold(!adds || tool.is_none(), "a tool addition that holds the tool itself")?;
        Ok(adds)
    }
}

/// The number of tool additions in a content, when all its blocks are admitted.
pub(super) fn blocks(content: Option<Raw<'_>>, rule: Blocks) -> Result<usize, RowFault> {
    let mut additions = 0;
    for block in array(content).into_iter().flat_map(Raw::elements) {
        additions += usize::from(rule.judge(Some(block))?);
    }
    Ok(additions)
}

/// Judges the blocks of a content; what is no array is left to other rules.
pub(super) fn block_list(content: Option<Raw<'_>>, rule: Blocks) -> Verdict {
    blocks(content, rule).map(|_| ())
}

/// Judges a message that is not a developer's; what is no object is left to other rules.
pub(super) fn ordinary(message: Option<Raw<'_>>, rule: Blocks) -> Verdict {
    let Some(message) = object(message) else { return Ok(()) };
    let [role, content, source] = message.get_all(["role", "content", "source"]);
    hold(!is(role, "developer"), "a message with the role developer outside of a developer/message")?;
    let kind = object(source).and_then(|source| source.get("kind"));
    hold(!is(kind, "plugin"), "a message whose source is of the retired kind plugin")?;
    block_list(content, rule)
}

/// Judges every message of a list.
pub(super) fn message_list(list: Option<Raw<'_>>) -> Verdict {
    array(list)
        .into_iter()
        .flat_map(Raw::elements)
        .try_for_each(|message| ordinary(Some(message), Blocks::Ordinary))
}
