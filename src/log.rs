//! A whole log: read in one tolerant pass into a compact index, findings and a verdict.

mod accept;
mod ahead;
pub mod closers;
pub mod first;
pub mod glimpse;
pub mod index;
mod judging;
mod opening;
mod pass;
pub mod pipeline;
pub mod projection;
pub mod read;
pub mod reader;
pub mod rewrites;
pub mod scan;
pub mod surface;
mod tolerant;
pub mod turns;
pub mod verdict;
pub mod visit;
pub mod walk;

pub use read::{Log, ReadOptions};
