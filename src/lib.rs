//! The session logs of DeepSeek Harness: read, trusted, explained, mended.
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
//! | 6 change | [`repair`], [`fork`] |

pub mod error;
pub mod fault;
pub mod finding;
pub mod fork;
pub mod format;
pub mod json;
pub mod limits;
pub mod log;
pub mod position;
pub mod repair;
pub mod seq;
pub mod storage;
pub mod view;
