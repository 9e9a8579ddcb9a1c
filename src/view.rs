//! Views: pure folds over a log, each as of any event. A view never judges, writes or prints.

pub mod header;
pub mod header_change;
pub mod messages;
pub mod moment;
pub mod nodes;
pub mod requests;
pub mod summary;
pub mod transcript;
