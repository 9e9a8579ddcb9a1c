//! Views: pure folds over a log, each as of any event. A view never judges, writes or prints.

pub mod attempt;
pub mod citations;
pub mod compactions;
pub mod diff;
pub mod events;
pub mod figures;
pub mod header;
pub mod header_change;
pub mod messages;
pub mod moment;
pub mod nodes;
pub mod prefix;
pub mod record;
pub mod request;
pub mod requests;
pub mod routes;
mod settled;
pub mod state;
pub mod stats;
pub mod summary;
pub mod timeline;
pub mod tokens;
pub mod tools;
pub mod transcript;
