//! README.md is true: every command in it is run, and prints what stands there. `BLESS=1` writes the
//! outputs anew.
//!
//! Commands run one after the other in one copy of the fixtures, so that later ones may build on
//! earlier ones. Standard output and standard error come as on a terminal, in one stream.

#![cfg(unix)]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Noon of 1 March 2026 in UTC: what stands for the time of a run.
const NOON: u64 = 1_772_366_400;

fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn readme() -> String {
    fs::read_to_string(project().join("README.md")).unwrap()
}

/// A directory that looks like a fresh clone, as far as the examples go.
fn clone() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let fixtures = dir.path().join("fixtures");
    fs::create_dir(&fixtures).unwrap();
    fs::create_dir(dir.path().join("home")).unwrap();
    for entry in fs::read_dir(project().join("fixtures")).unwrap() {
        let from = entry.unwrap().path();
        let to = fixtures.join(from.file_name().unwrap());
        fs::copy(&from, &to).unwrap();
    }
    dir
}

/// Makes every file look as if it was written at noon, whatever an example made of it just now: a log
/// that changed within seconds looks alive, and `repair` warns of it.
fn age(dir: &Path) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(NOON);
    let mut dirs = vec![dir.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => dirs.push(path),
                false => File::options().write(true).open(&path).unwrap().set_modified(time).unwrap(),
            }
        }
    }
}

/// What a command of the README prints.
fn run(command: &str, dir: &Path) -> String {
    let program = PathBuf::from(assert_cmd::cargo::cargo_bin!("dsh-log"));
    let mut path = program.parent().unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let home = dir.join("home");
    age(dir);
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .current_dir(dir)
        .env_clear()
        .envs([("TZ", "UTC"), ("COLUMNS", "100"), ("NO_COLOR", "1")])
        .envs([("PATH", path), ("HOME", home.clone().into()), ("DSH_HOME", home.into())])
        .output()
        .unwrap();
    at_noon(&String::from_utf8(output.stdout).unwrap())
}

/// The times that files are named after, all set to noon.
fn at_noon(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = [".cut-", ".backup-"].iter().filter_map(|mark| rest.find(mark)).min() {
        let name = rest[at..].find(|c: char| c.is_whitespace() || c == '"').map_or(rest.len(), |n| at + n);
        let stem = rest[..name].trim_end_matches(|c: char| c.is_ascii_digit());
        out.push_str(stem);
        out.push_str(&format!("{NOON}000"));
        rest = &rest[name..];
    }
    out + rest
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

#[test]
fn every_command_prints_what_stands_there() {
    let dir = clone();
    let text = readme();
    let mut found = String::new();
    let mut in_block = false;
    let mut lines = text.lines().peekable();
    let mut count = 0;
    while let Some(line) = lines.next() {
        found.push_str(line);
        found.push('\n');
        in_block = if in_block { line != "```" } else { line == "```console" };
        let Some(command) = line.strip_prefix("$ ").filter(|_| in_block) else { continue };
        let mut stands = String::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("$ ") && *line != "```") {
            stands.push_str(line);
            stands.push('\n');
        }
        let lacking = ["jq", "zstd"].into_iter().find(|name| {
            let used = command.split(['|', ' ']).any(|word| word == *name);
            used && !has(name)
        });
        match lacking {
            Some(name) => {
                use std::io::Write;
                let _ = writeln!(std::io::stderr(), "readme: left out for want of {name}: {command}");
                found.push_str(&stands);
            }
            None => found.push_str(&run(command, dir.path())),
        }
        count += 1;
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(project().join("README.md"), &found).unwrap();
    }
    assert_eq!(found, readme(), "BLESS=1 accepts what is found");
    assert!(count > 30, "only {count} commands were found");
}

#[test]
fn the_library_example_is_the_one_that_is_compiled() {
    let text = readme();
    let example = text.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let lib = fs::read_to_string(project().join("src/lib.rs")).unwrap();
    let doc: String = lib
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
        .collect();
    assert!(doc.contains(&format!("```\n{example}```")), "src/lib.rs has another example:\n{example}");
}

#[test]
fn every_command_of_the_program_is_described() {
    let mut program = Command::new(assert_cmd::cargo::cargo_bin!("dsh-log"));
    let list = String::from_utf8(program.args(["man", "--list"]).output().unwrap().stdout).unwrap();
    let text = readme();
    for name in list.lines().filter_map(|page| page.strip_prefix("dsh-log-")) {
        assert!(text.contains(&format!("dsh-log {name}")), "README.md has nothing on {name}");
    }
}
