//! The JSON documents of the commands: stable names, stored JSON embedded as it is.

pub(crate) mod fork;
pub(crate) mod header;
pub(crate) mod inspect;
pub(crate) mod repair;
pub(crate) mod salvage;
pub(crate) mod surface;
