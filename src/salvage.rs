//! Salvage: what the harness refuses, taken apart into whole records and runs of bytes that give none,
//! and put together as a new session that opens (never in place).
//!
//! Every record and every byte of the log has one fate: kept in the new session, put aside in a file
//! of its own, or lost, which is a run of bytes that gives no record. The three add up to what was
//! read. A run's bytes are put aside too: lost is what they said, not what they are.

pub mod account;
mod aside;
mod base64;
mod header;
pub mod histories;
pub mod plan;
pub mod record;
pub mod scan;
mod stand;

pub use account::{Account, Count};
pub use header::Given;
pub use histories::{Branch, Keep};
pub use plan::{Salvage, Salvaged};
pub use record::{Fate, Record, Run, Why};
pub use scan::Scan;
