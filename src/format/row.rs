//! One line of a log, judged alone.

use super::detail::Detail;
use super::dialect::Dialect;
use super::glean::{Glean, Gleaned};
use super::kind::Kind;
use super::parts::RowFault;
use crate::fault::Code;

/// What a line turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One event.
    Event,
    /// A packed chunk row with that many members.
    Packed(u64),
    /// Not a record; the line's detail says why.
    Unparsable,
    /// The literal `null`.
    Null,
    /// A JSON value that is no object.
    NotAnObject,
    /// Longer than the limit on records, and not read.
    TooLong,
}

/// One line, judged alone.
#[derive(Clone, Debug)]
pub struct Row {
    /// What the line is.
    pub form: Form,
    /// The event's type; of an old shape the type it is upgraded to.
    pub kind: Kind,
    /// The `seq` (or `seq0`) it states, when that is a number.
    pub seq: Option<f64>,
    /// Its time, and the last member's of a packed row; epoch milliseconds.
    pub time: i64,
    /// See [`Row::time`].
    pub last_time: i64,
    /// Whether it is a chunk event that ends an attempt.
    pub ends_attempt: bool,
    /// What folds and checks need beyond that; nothing for plain chunks.
    pub detail: Option<Box<Detail>>,
    /// What a view took from it.
    pub gleaned: Option<Gleaned>,
}

impl Row {
    /// A line that is no record.
    #[must_use]
    pub fn bad(form: Form, message: &str) -> Row {
        let detail =
            Detail { faults: vec![RowFault::new(Code::LineUnparsable, message)], ..Detail::default() };
        Row {
            form,
            kind: Kind::Unknown,
            seq: None,
            time: 0,
            last_time: 0,
            ends_attempt: false,
            detail: Some(Box::new(detail)),
            gleaned: None,
        }
    }

    /// Whether it decodes to at least one event-like value.
    #[must_use]
    pub fn is_record(&self) -> bool {
        matches!(self.form, Form::Event | Form::Packed(_))
    }

    /// How many events it stands for.
    #[must_use]
    pub fn members(&self) -> u64 {
        match self.form {
            Form::Packed(n) => n,
            _ => 1,
        }
    }

    /// The first fault with that code.
    #[must_use]
    pub fn fault(&self, code: Code) -> Option<&RowFault> {
        self.detail.as_ref()?.faults.iter().find(|fault| fault.code == code)
    }
}

/// What judging a line needs to know besides the line.
#[derive(Clone, Copy, Debug)]
pub struct RowContext<'a> {
    /// The generation.
    pub dialect: &'static Dialect,
    /// The session's id in WTF-8, for ids that old shapes are given.
    pub session_id: &'a [u8],
    /// Whether the version is one we know; of a newer log only envelopes are read.
    pub known: bool,
    /// What a view takes from events on the way.
    pub glean: Option<&'a dyn Glean>,
}
