//! The session logs of DeepSeek Harness: read, trusted, explained, mended.
//!
//! Read a log, see what the harness would make of it, and what the model gets from it:
//!
//! ```
//! use dsh_log::log::{Log, ReadOptions};
//! use dsh_log::storage::source::Source;
//! use dsh_log::view::{messages, moment::Moment};
//! use std::path::Path;
//!
//! fn main() -> dsh_log::error::Result<()> {
//!     let source = Source::open(Path::new("fixtures/crashed.jsonl.zstd"))?;
//!     let log = Log::read(source, &ReadOptions::default())?;
//!     println!("{}, {} events", log.verdict().outcome.name(), log.index().events());
//!     for closer in log.closers() {
//!         println!("repair would append {} {}", closer.seq, closer.kind);
//!     }
//!     for (seq, message) in messages::list(&log, Moment::Balanced)? {
//!         println!("{seq} {}", String::from_utf8_lossy(&message));
//!     }
//!     Ok(())
//! }
//! ```
//!
//! The crate is built in floors; a module imports only from floors below its own:
//!
//! | floor | modules |
//! |---|---|
//! | 0 words | [`seq`], [`position`], [`json`], [`fault`], [`finding`], [`limits`], [`error`] |
//! | 1 storage | [`storage`] |
//! | 2 format | [`format`](mod@format) |
//! | 3 log | [`log`] |
//! | 4 views | [`view`] |
//! | 5 judgement | [`check`], [`evidence`] |
//! | 6 change | [`repair`], [`fork`], [`salvage`], [`convert`] |

pub mod check;
pub mod convert;
pub mod error;
pub mod evidence;
pub mod fault;
pub mod finding;
pub mod fork;
pub mod format;
pub mod json;
pub mod limits;
pub mod log;
pub mod position;
pub mod repair;
pub mod salvage;
pub mod seq;
pub mod storage;
pub mod view;
