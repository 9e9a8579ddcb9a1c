//! Where the shared corpus and damage files lie, for the tests that run over them.

#![allow(dead_code)]

use dsh_log::json::Raw;
use std::path::{Path, PathBuf};

/// The folder with corpus and damage files; `None`, said in one line, when there is none.
pub(crate) fn folder(test: &str) -> Option<PathBuf> {
    let root = std::env::var_os("DSH_LOG_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    if root.join("corpus/index.json").is_file() {
        return Some(root);
    }
    say(&format!("{test}: left out, no shared corpus at {}", root.display()));
    None
}

/// Says a line where the test runner's reader sees it.
pub(crate) fn say(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Reads a JSON file and hands its text on.
pub(crate) fn text(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub(crate) fn str_of(value: Raw<'_>, name: &str) -> Option<String> {
    value.get(name)?.display_text()
}

pub(crate) fn int_of(value: Raw<'_>, name: &str) -> Option<u64> {
    value.get(name)?.count()
}

/// The texts of an array of strings.
pub(crate) fn strings(value: Option<Raw<'_>>) -> Vec<String> {
    value.into_iter().flat_map(Raw::elements).filter_map(Raw::display_text).collect()
}

/// The numbers of an array.
pub(crate) fn ints(value: Option<Raw<'_>>) -> Vec<u64> {
    value.into_iter().flat_map(Raw::elements).filter_map(Raw::count).collect()
}

/// Every file below a folder that is wanted, sorted.
pub(crate) fn files(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut open = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if wanted(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
