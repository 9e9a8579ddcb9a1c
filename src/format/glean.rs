//! What a view takes from events while a log is read: then it need not decode the log once more.

use super::dialect::Dialect;
use super::event::Event;
use super::kind::Kind;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// What was taken from one event; only the view that took it knows its type.
pub type Gleaned = Arc<dyn Any + Send + Sync>;

/// Takes from events what a view needs of them, on the threads that read.
pub trait Glean: Sync + Debug {
    /// Whether events of that type are looked at.
    fn wants(&self, kind: Kind) -> bool;

    /// Takes what is needed of an event. Its location is not known yet, and its seq is what its line
    /// states.
    fn glean(&self, event: &Event<'_>, dialect: &Dialect) -> Gleaned;
}
