//! What one record means, in each generation of the format.

pub mod dialect;
pub mod event;
pub mod kind;
pub mod row;
pub mod sources;
pub mod surface_op;
