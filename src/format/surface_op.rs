//! Surface markers: `append`, or the replacement of a run (v0 section 9.1, generations 3.1).

use super::dialect::Dialect;
use crate::json::Raw;

/// What an event says of its place on the surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SurfaceOp {
    /// It has no marker.
    #[default]
    Absent,
    /// It goes to the end.
    Append,
    /// It takes the place of the run from `start` to `end`, by position.
    Replace {
        /// The seq of the first node of the run.
        start: u64,
        /// The seq of the last node of the run.
        end: u64,
    },
    /// A marker that is neither.
    Malformed,
}

impl SurfaceOp {
    /// Reads a marker.
    #[must_use]
    pub fn parse(value: Option<Raw<'_>>, dialect: &Dialect) -> SurfaceOp {
        let Some(value) = value else { return SurfaceOp::Absent };
        if value.is("append") {
            return SurfaceOp::Append;
        }
        if !value.is_object() {
            return SurfaceOp::Malformed;
        }
        let [op, start, end] = value.get_all(["op", dialect.ends[0], dialect.ends[1]]);
        let only_three = value
            .members()
            .all(|(key, _)| key.is("op") || key.is(dialect.ends[0]) || key.is(dialect.ends[1]));
        let end_of = |value: Option<Raw<'_>>| {
            let value = value?;
            if dialect.ends_below_own && value.is_negative_zero() {
                return None;
            }
            value.count()
        };
        match (op, end_of(start), end_of(end)) {
            (Some(op), Some(start), Some(end)) if only_three && op.is("replace") => {
                SurfaceOp::Replace { start, end }
            }
            _ => SurfaceOp::Malformed,
        }
    }

    /// Whether it is a replacement.
    #[must_use]
    pub fn is_replace(self) -> bool {
        matches!(self, SurfaceOp::Replace { .. })
    }
}
