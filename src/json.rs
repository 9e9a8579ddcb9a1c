//! Stored JSON text, kept untouched.
//!
//! A log's text is evidence: numbers beyond 2^53, key order, duplicate keys, lone surrogates and
//! nesting of any depth must come out as they went in. So values are slices of the stored text
//! ([`Raw`]), checked once by [`scan`] and read in place; nothing here recurses or builds a tree.
//! The rules are those of JavaScript's `JSON.parse`, since that is what wrote and reads the logs
//! (format v0, section 5.4).

pub mod canonical;
pub mod indent;
pub mod jumps;
pub mod number;
pub mod raw;
pub mod scan;
pub mod text;
pub mod unchecked;
pub mod write;

pub use raw::{Kind, Raw};
pub use scan::SyntaxFault;
