//! What stands on the surface in the place of each event, looked up once for all.

use super::{Node, Surface};

/// What is on the surface in the place of each event that was on it.
pub struct Holders<'a> {
    surface: &'a Surface,
    holder: Vec<u32>,
}

impl<'a> Holders<'a> {
    /// What is on the surface in the place of an event: itself, or the last that came in its place.
    /// `None` for what was never on it.
    #[must_use]
    pub fn of(&self, seq: u64) -> Option<&'a Node> {
        let holder = self.holder[self.surface.number_of(seq)?];
        self.surface.nodes.get(holder as usize)
    }
}

impl Surface {
    /// What is on the surface in the place of each event that was on it.
    #[must_use]
    pub fn holders(&self) -> Holders<'_> {
        let mut holder: Vec<u32> = (0..self.nodes.len() as u32).collect();
        // What replaces stands behind what it replaces, so its own holder is known by then.
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if let Some(holds) = holder.get(node.replaced_by as usize) {
                holder[at] = *holds;
            }
        }
        Holders { surface: self, holder }
    }
}
