//! Where the shared corpus and damage files lie, for the tests that run over them.

#![allow(dead_code)]

use dsh_log::json::Raw;
use std::path::{Path, PathBuf};

/// The folder with corpus and damage files; `None`, said in one line, when there is none.
pub fn folder(test: &str) -> Option<PathBuf> {
    let root = std::env::var_os("DSH_LOG_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    if root.join("corpus/index.json").is_file() {
        return Some(root);
    }
    eprintln!("{test}: left out, no shared corpus at {}", root.display());
    None
}

/// Reads a JSON file and hands its text on.
pub fn text(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub fn str_of(value: Raw<'_>, name: &str) -> Option<String> {
    value.get(name)?.display_text()
}

pub fn int_of(value: Raw<'_>, name: &str) -> Option<u64> {
    value.get(name)?.count()
}

/// The texts of an array of strings.
pub fn strings(value: Option<Raw<'_>>) -> Vec<String> {
    value.into_iter().flat_map(Raw::elements).filter_map(Raw::display_text).collect()
}

/// The numbers of an array.
pub fn ints(value: Option<Raw<'_>>) -> Vec<u64> {
    value.into_iter().flat_map(Raw::elements).filter_map(Raw::count).collect()
}
