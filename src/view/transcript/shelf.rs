//! The order of rows: a place is held for what is still open, and rows leave once nothing before
//! them can change (format v0, section 16.2).

use super::rows::Row;
use crate::seq::Seq;
use std::collections::BTreeMap;

/// The sort key of a row: a seq, possibly with hundredths added or taken away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Anchor(i64);

impl Anchor {
    /// The anchor at an event.
    #[must_use]
    pub fn at(seq: Seq) -> Anchor {
        Anchor(i64::try_from(seq.0).unwrap_or(i64::MAX).saturating_mul(100))
    }

    /// That many hundredths later.
    #[must_use]
    pub fn plus(self, hundredths: i64) -> Anchor {
        Anchor(self.0.saturating_add(hundredths))
    }

    /// That many hundredths earlier.
    #[must_use]
    pub fn minus(self, hundredths: i64) -> Anchor {
        Anchor(self.0.saturating_sub(hundredths))
    }

    /// The anchor as a JSON number.
    #[must_use]
    pub fn number(self) -> String {
        let (sign, n) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        match n % 100 {
            0 => format!("{sign}{}", n / 100),
            rest => format!("{sign}{}.{}", n / 100, format!("{rest:02}").trim_end_matches('0')),
        }
    }
}

/// A place in the order; of two with one anchor the first made comes first.
pub(super) type Place = (Anchor, u64);

/// Rows on their way out.
#[derive(Debug)]
pub(super) struct Shelf {
    own_from: u64,
    /// `None` = held for a row that is not finished.
    places: BTreeMap<Place, Option<Box<Row>>>,
    made: u64,
    /// The anchor of the last row that left; nothing is placed before it.
    left: Anchor,
}

impl Shelf {
    pub(super) fn new(own_from: u64) -> Shelf {
        Shelf { own_from, places: BTreeMap::new(), made: 0, left: Anchor(i64::MIN) }
    }

    /// Holds a place; everything after it waits until it is filled or dropped.
    pub(super) fn hold(&mut self, anchor: Anchor) -> Place {
        self.made += 1;
        let place = (anchor.max(self.left), self.made);
        self.places.insert(place, None);
        place
    }

    /// Puts a finished row into a place that was held.
    pub(super) fn fill(&mut self, place: Place, mut row: Row) {
        row.anchor = place.0;
        row.inherited = row.seq.0 < self.own_from;
        self.places.insert(place, Some(Box::new(row)));
    }

    /// Gives up a place.
    pub(super) fn drop(&mut self, place: Place) {
        self.places.remove(&place);
    }

    /// Puts a row that is finished already.
    pub(super) fn put(&mut self, anchor: Anchor, row: Row) {
        let place = self.hold(anchor);
        self.fill(place, row);
    }

    /// Lets go of every row before the first place that is still held.
    pub(super) fn flush(&mut self, out: &mut dyn FnMut(Row)) {
        while let Some(first) = self.places.first_entry() {
            if first.get().is_none() {
                return;
            }
            let (place, row) = first.remove_entry();
            self.left = place.0;
            if let Some(row) = row {
                out(*row);
            }
        }
    }

    /// Lets go of all rows; places that are still held stay empty.
    pub(super) fn flush_all(&mut self, out: &mut dyn FnMut(Row)) {
        self.places.retain(|_, row| row.is_some());
        self.flush(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_is_written_as_the_shortest_number() {
        let at = Anchor::at(Seq(12));
        let written =
            [at, at.plus(10), at.plus(5), at.minus(90), Anchor::at(Seq(0)).minus(10)].map(Anchor::number);
        assert_eq!(written, ["12", "12.1", "12.05", "11.1", "-0.1"]);
    }
}
