//! Making a log resumable while losing nothing: a diagnosis, a plan made from it, and what became of
//! the plan. Each type is made only from the one before, so nothing is written that was not planned.

pub mod apply;
mod mend;
pub mod plan;
pub mod undo;
pub mod written_plan;

pub use apply::Applied;
pub use plan::{Change, Diagnosis, Plan};
pub use undo::Undo;
pub use written_plan::WrittenPlan;
