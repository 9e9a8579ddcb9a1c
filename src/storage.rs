//! Bytes on disk: reading them at any place, walking and decoding the container, finding files.

pub mod alive;
mod by_id;
pub mod container;
pub mod decode;
pub mod discover;
pub mod disk;
pub mod encode;
pub mod frame;
pub mod header_line;
pub mod layout;
pub mod locate;
pub mod lock;
pub mod publish;
pub mod session_dir;
pub mod source;
mod stage;
pub mod text;
pub mod write;
