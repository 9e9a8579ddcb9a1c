//! Bytes on disk: reading them at any place, walking and decoding the container, finding files.

pub mod container;
pub mod decode;
pub mod encode;
pub mod frame;
pub mod source;
pub mod text;
