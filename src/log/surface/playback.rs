//! A surface played forward from its beginning.

use super::Surface;

/// A surface played forward from its beginning: each step costs only the events it takes, where
/// [`Surface::as_of`] takes all of them again.
pub struct Playback<'a> {
    whole: &'a Surface,
    past: Surface,
    taken: usize,
}

impl<'a> Playback<'a> {
    /// Before the first event.
    #[must_use]
    pub fn new(whole: &'a Surface) -> Playback<'a> {
        Playback { whole, past: Surface::new(whole.dialect), taken: 0 }
    }

    /// The surface right after the event `seq`, which is not before the one asked for last.
    pub fn to(&mut self, seq: u64) -> &Surface {
        while let Some(node) = self.whole.nodes.get(self.taken).filter(|node| node.seq <= seq) {
            self.past.replay(*node);
            self.taken += 1;
        }
        &self.past
    }
}
