//! What one record means, in each generation of the format.

pub mod admission;
pub mod chunk_pack;
pub mod chunk_rows;
pub mod detail;
pub mod dialect;
pub mod event;
pub mod gather;
pub mod glean;
pub mod header;
pub mod instant;
pub mod judge;
pub mod kind;
pub mod legacy;
pub mod message;
pub mod packed;
pub mod parts;
pub mod relations;
pub mod request_header;
pub mod row;
pub mod row_faults;
pub mod schema;
pub mod shape;
pub mod slim;
pub mod sources;
pub mod surface_op;
