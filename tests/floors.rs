//! The house has floors: a module imports only from floors below its own or from its own.

use std::path::{Path, PathBuf};

/// Floors from the ground up; modules of one floor may use each other.
const FLOORS: &[&[&str]] = &[
    &["seq", "position", "json", "fault", "finding", "limits", "error"],
    &["storage"],
    &["format"],
    &["log"],
    &["view"],
    &["check", "evidence"],
    &["repair", "fork", "salvage", "redact", "convert"],
    &["live"],
    &["render"],
    &["cli", "main"],
];

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

fn sources(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// The first module of each path that a line names after `crate::` or `dsh_log::`.
fn named(line: &str) -> Vec<String> {
    ["crate::", "dsh_log::"]
        .iter()
        .flat_map(|root| line.match_indices(root).map(|(at, _)| &line[at + root.len()..]))
        .flat_map(|rest| match rest.strip_prefix('{') {
            Some(list) => list.split([',', '}']).map(str::trim).map(str::to_owned).collect(),
            None => vec![rest.to_owned()],
        })
        .map(|path| path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .collect()
}

#[test]
fn every_import_goes_down_or_stays_on_its_floor() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut wrong = Vec::new();
    for file in files {
        let place = file.strip_prefix(&root).unwrap();
        let first = place.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        let module = first.trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let Some(own) = floor(module) else { panic!("{module} stands on no floor") };
        let text = std::fs::read_to_string(&file).unwrap();
        for line in text.lines().map(str::trim).filter(|l| !l.starts_with("//")) {
            for target in named(line) {
                if floor(&target).is_some_and(|floor| floor > own) {
                    wrong.push(format!("{}: {line}", place.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "imports that go up:\n{}", wrong.join("\n"));
}

#[test]
fn no_module_is_a_drawer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(
            !["util", "utils", "common", "helpers", "misc"].contains(&name.as_str()),
            "{}",
            file.display()
        );
        assert!(!name.split('_').any(|part| part == "and"), "{}", file.display());
    }
}
