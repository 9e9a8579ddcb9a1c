//! Every document that the program prints with `--json` is what `dsh-log schema` says it is: over the
//! fixtures, and over logs of the shared corpus.

mod shared;

use assert_cmd::Command;
use dsh_log::json::Raw;
use std::path::{Path, PathBuf};

/// How many logs of the corpus are gone through, spread evenly over it.
const OF_CORPUS: usize = 48;

fn run(args: &[&str]) -> (Vec<u8>, Vec<u8>) {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("dsh-log"));
    let output = command.env_clear().env("TZ", "UTC").args(args).output().unwrap();
    (output.stdout, output.stderr)
}

/// A schema, as the program prints it.
struct Schema {
    name: String,
    text: Vec<u8>,
}

impl Schema {
    fn of(name: &str) -> Schema {
        Schema { name: name.to_owned(), text: run(&["schema", name]).0 }
    }

    /// What a document breaks, each with its place.
    fn faults(&self, document: &[u8]) -> Vec<String> {
        let root = Raw::parse(&self.text).unwrap_or_else(|_| panic!("schema {} is no JSON", self.name));
        let Ok(document) = Raw::parse(document) else { return vec!["it is no JSON".to_owned()] };
        let mut faults = Vec::new();
        check(root, root, document, &self.name, &mut faults);
        faults
    }
}

/// The part of JSON Schema that our schemas use. As deep as the schema, whatever the document.
fn check(root: Raw<'_>, schema: Raw<'_>, value: Raw<'_>, path: &str, faults: &mut Vec<String>) {
    for (key, rule) in schema.members() {
        let key = key.display_text().unwrap_or_default();
        let fault = match key.as_str() {
            "$schema" | "title" | "description" | "$defs" => None,
            "$ref" => {
                let target = rule.display_text().unwrap();
                let names: Vec<&str> = target.strip_prefix("#/").unwrap().split('/').collect();
                check(root, root.path(&names).expect("the reference leads somewhere"), value, path, faults);
                None
            }
            "type" => {
                let fits = |t: Raw<'_>| is_of(value, &t.display_text().unwrap());
                (!fits_any(rule, fits)).then(|| format!("is no {}", show(rule)))
            }
            "const" => (!same(rule, value)).then(|| format!("is not {}", show(rule))),
            "enum" => (!rule.elements().any(|one| same(one, value)))
                .then(|| format!("{} is none of {}", show(value), show(rule))),
            "minimum" => {
                value.number().filter(|n| *n < rule.number().unwrap()).map(|n| format!("{n} is low"))
            }
            "required" => rule
                .elements()
                .find(|name| value.is_object() && value.get(&name.display_text().unwrap()).is_none())
                .map(|name| format!("lacks {}", show(name))),
            "properties" => {
                for (name, schema) in rule.members() {
                    let name = name.display_text().unwrap();
                    if let Some(member) = value.get(&name).filter(|_| value.is_object()) {
                        check(root, schema, member, &format!("{path}.{name}"), faults);
                    }
                }
                None
            }
            "items" => {
                for (n, element) in value.elements().enumerate().filter(|_| value.is_array()) {
                    check(root, rule, element, &format!("{path}[{n}]"), faults);
                }
                None
            }
            "anyOf" => any_of(root, rule, value, path),
            other => panic!("{path}: the schema uses `{other}`, which is not checked here"),
        };
        faults.extend(fault.map(|fault| format!("{path} {fault}")));
    }
}

fn any_of(root: Raw<'_>, rules: Raw<'_>, value: Raw<'_>, path: &str) -> Option<String> {
    let mut all = Vec::new();
    for rule in rules.elements() {
        let mut faults = Vec::new();
        check(root, rule, value, path, &mut faults);
        if faults.is_empty() {
            return None;
        }
        all.extend(faults);
    }
    Some(format!("fits nothing of: {}", all.join("; ")))
}

fn fits_any(rule: Raw<'_>, fits: impl Fn(Raw<'_>) -> bool) -> bool {
    if rule.is_array() { rule.elements().any(fits) } else { fits(rule) }
}

fn is_of(value: Raw<'_>, kind: &str) -> bool {
    match kind {
        "integer" => value.number().is_some_and(|n| n.fract() == 0.0),
        "boolean" => matches!(value.bytes(), b"true" | b"false"),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        "number" => value.number().is_some(),
        "string" => value.text().is_some(),
        other => panic!("no type is called `{other}`"),
    }
}

fn same(a: Raw<'_>, b: Raw<'_>) -> bool {
    dsh_log::json::canonical::equal(a, b)
}

fn show(value: Raw<'_>) -> String {
    String::from_utf8_lossy(value.bytes()).into_owned()
}

/// The log that others are compared with.
const SOUND: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/sound.jsonl");

/// Runs every command that can look at a log, and checks what it prints.
fn check_log(path: &Path) {
    let path = path.to_str().unwrap();
    for (name, args) in [
        ("inspect", vec!["inspect", "--events"]),
        ("surface", vec!["surface"]),
        ("messages", vec!["messages"]),
        ("header", vec!["header"]),
        ("header", vec!["header", "--history"]),
        ("transcript", vec!["transcript"]),
        ("repair", vec!["repair", "--dry-run"]),
        ("repair", vec!["repair", "--check"]),
        ("fork", vec!["fork", "--list"]),
        ("fork", vec!["fork", "--dry-run", "--output", "child.jsonl"]),
        ("salvage", vec!["salvage", "--dry-run"]),
        ("salvage", vec!["salvage", "--dry-run", "--keep", "first"]),
        ("convert", vec!["convert", "--dry-run"]),
        ("request", vec!["request"]),
        ("request", vec!["request", "--list"]),
        ("events", vec!["events"]),
        ("tools", vec!["tools"]),
        ("tools", vec!["tools", "--totals"]),
        ("timeline", vec!["timeline"]),
        ("timeline", vec!["timeline", "--totals"]),
        ("stats", vec!["stats"]),
        ("stats", vec!["stats", "--by", "turn"]),
        ("state", vec!["state"]),
        ("compactions", vec!["compactions"]),
        ("verify", vec!["verify"]),
        ("verify", vec!["verify", "--target", "v4"]),
        ("show", vec!["show", "EVENT"]),
        ("why", vec!["why", "EVENT"]),
        ("diff", vec!["diff", SOUND]),
        ("exposure", vec!["exposure", "EVENT"]),
        ("exposure", vec!["exposure", "--text", "the"]),
    ] {
        let mut all = [&args[..], &["--json"]].concat();
        // An event stands behind its log.
        let event = all.iter().position(|arg| *arg == "EVENT").map(|at| all.remove(at));
        all.push(path);
        all.extend(event.map(|_| "9"));
        let (out, err) = run(&all);
        let faults = match out.is_empty() {
            false => Schema::of(name).faults(&out),
            // Nothing was printed: then the reason stands on standard error, behind the warnings.
            true => {
                let last = err.trim_ascii().rsplit(|b| *b == b'\n').next().unwrap_or_default();
                Schema::of("error").faults(last)
            }
        };
        assert!(faults.is_empty(), "{args:?} {path}:\n{}", faults.join("\n"));
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

#[test]
fn every_document_over_every_fixture_fits_its_schema() {
    for path in shared::files(&fixtures(), |path| path.is_file()) {
        check_log(&path);
    }
}

#[test]
fn every_document_over_logs_of_the_corpus_fits_its_schema() {
    let Some(root) = shared::folder("schema") else { return };
    let is_log = |path: &Path| path.to_str().is_some_and(|p| p.contains("/session") && p.contains(".jsonl"));
    let small = |path: &Path| is_log(path) && path.metadata().is_ok_and(|meta| meta.len() < 200_000);
    let all = shared::files(&root.join("corpus"), small);
    for path in all.iter().step_by((all.len() / OF_CORPUS).max(1)) {
        check_log(path);
    }
}

#[test]
fn what_those_that_write_have_written_is_told_as_their_schemas_say() {
    let dir = tempfile::tempdir().unwrap();
    let (log, child) = (dir.path().join("session.jsonl.zstd"), dir.path().join("child.jsonl"));
    let (plain, saved) = (dir.path().join("plain.jsonl"), dir.path().join("saved.jsonl"));
    let damaged = fixtures().join("damaged.jsonl");
    std::fs::copy(fixtures().join("crashed.jsonl.zstd"), &log).unwrap();
    for (name, args) in [
        ("fork", vec!["fork", log.to_str().unwrap(), "--output", child.to_str().unwrap()]),
        ("repair", vec!["repair", log.to_str().unwrap()]),
        ("convert", vec!["convert", log.to_str().unwrap(), "--output", plain.to_str().unwrap()]),
        ("salvage", vec!["salvage", damaged.to_str().unwrap(), "--output", saved.to_str().unwrap()]),
    ] {
        let (out, _) = run(&[&args[..], &["--json"]].concat());
        let faults = Schema::of(name).faults(&out);
        assert!(faults.is_empty(), "{name}: {}", faults.join("\n"));
    }
}

#[test]
fn a_repair_that_is_taken_back_is_told_as_its_schema_says() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("session.jsonl.zstd");
    std::fs::copy(fixtures().join("torn.jsonl.zstd"), &log).unwrap();
    let (out, _) = run(&["repair", "--json", log.to_str().unwrap()]);
    assert_eq!(Schema::of("repair").faults(&out), Vec::<String>::new());
    let sidecar = Raw::parse(&out).unwrap().path(&["cut", "sidecar"]).and_then(Raw::display_text).unwrap();
    let (out, _) = run(&["repair", "--json", "--undo", &sidecar]);
    assert!(Raw::parse(&out).unwrap().get("restored").is_some());
    assert_eq!(Schema::of("repair").faults(&out), Vec::<String>::new());
}

#[test]
fn the_rules_and_what_a_whole_root_breaks_fit_the_schema_of_verify() {
    let root = tempfile::tempdir().unwrap();
    for (file, to) in [("sound.jsonl", "sound"), ("damaged.jsonl", "damaged"), ("README.md", "spoiled")] {
        let dir = root.path().join("--home-ada-app--").join(to);
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::copy(fixtures().join(file), dir.join("session.jsonl")).unwrap();
    }
    for args in [vec!["--rules"], vec!["--all", "--root", root.path().to_str().unwrap()]] {
        let (out, _) = run(&[&["verify", "--json"], &args[..]].concat());
        assert_eq!(Schema::of("verify").faults(&out), Vec::<String>::new(), "{args:?}");
    }
}

#[test]
fn a_list_of_sessions_fits_its_schema() {
    let root = tempfile::tempdir().unwrap();
    let put = |file: &str, at: &str| {
        let to = root.path().join(at);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(fixtures().join(file), to).unwrap();
    };
    put("sound.jsonl", "--home-ada-app--/sound/session.jsonl");
    put("README.md", "--home-ada-app--/spoiled/session.jsonl");
    let (out, _) = run(&["ls", "--json", "--root", root.path().to_str().unwrap()]);
    assert_eq!(Schema::of("ls").faults(&out), Vec::<String>::new());
}

#[test]
fn a_document_that_does_not_fit_is_told_from_one_that_does() {
    let schema = Schema::of("finding");
    let fits = br#"{"code":"x","severity":"warns","message":"m","byte":3,"more":[]}"#;
    assert_eq!(schema.faults(fits), Vec::<String>::new());
    let wrong = br#"{"code":1,"severity":"loud","byte":-3}"#;
    assert_eq!(schema.faults(wrong).len(), 4, "{:?}", schema.faults(wrong));
}

#[test]
fn every_name_that_is_listed_has_a_schema() {
    let (names, _) = run(&["schema"]);
    for name in String::from_utf8(names).unwrap().lines() {
        let schema = Schema::of(name);
        let title = Raw::parse(&schema.text).unwrap().get("title").and_then(Raw::display_text);
        assert_eq!(title, Some(format!("dsh-log/{name}@1")));
    }
}
