//! The JSON documents of the commands: stable names, stored JSON embedded as it is.

pub(crate) mod compactions;
pub(crate) mod diff;
pub(crate) mod exposure;
pub(crate) mod fork;
pub(crate) mod header;
pub(crate) mod inspect;
pub(crate) mod record;
pub(crate) mod repair;
pub(crate) mod request;
pub(crate) mod salvage;
pub(crate) mod state;
pub(crate) mod stats;
pub(crate) mod surface;
pub(crate) mod timeline;
pub(crate) mod tools;
pub(crate) mod verify;
pub(crate) mod why;
