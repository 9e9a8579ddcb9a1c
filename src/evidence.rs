//! Where a conclusion comes from: which tool results stand behind it and how strongly, what the
//! model had of each, and who else carried a text.
//!
//! A conclusion is an assistant message, a tool call or a summary. Its words are made ready once
//! ([`needle`]), all that the model had when it was made is streamed past them, and what both hold is
//! weighed by how hard it is to hit by chance ([`score`]). It is a measure, not a proof.

pub mod aimed;
pub mod automaton;
pub mod children;
mod context;
pub mod exposure;
mod judge;
mod looked;
pub mod needle;
pub mod pattern;
pub mod score;
pub mod stream;
pub mod strength;
pub mod target;
pub mod tokens;
pub mod why;
pub mod words;
