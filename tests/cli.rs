//! The program as a user meets it: arguments in; standard output, standard error and exit code out,
//! all three in one file under `golden/`. `BLESS=1` writes them anew.

#[path = "cli/fork.rs"]
mod fork;
#[path = "cli/hostile.rs"]
mod hostile;
mod logs;
#[path = "cli/repair.rs"]
mod repair;
#[path = "cli/views.rs"]
mod views;

use assert_cmd::Command;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Runs the program in a world that is the same everywhere.
fn program(args: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("dsh-log"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")).env_clear();
    command.env("TZ", "UTC").args(["--width", "100", "--color", "never"]).args(args);
    command
}

/// What a run gives, as one text.
fn transcript(command: &mut Command, args: &[&str]) -> String {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!(
        "$ dsh-log {}\n{}--- stderr\n{}--- exit {}\n",
        args.join(" "),
        text(&output.stdout),
        text(&output.stderr),
        output.status.code().map_or("by signal".to_owned(), |code| code.to_string())
    )
}

fn golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.txt"));
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{name}: BLESS=1 accepts what is found");
}

fn check(name: &str, args: &[&str]) {
    golden(name, &transcript(&mut program(args), args));
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)).unwrap()
}

/// What a run in that directory gives, with `NOW` for the time of the run.
fn in_dir(dir: &Path, args: &[&str]) -> String {
    strip(&transcript(program(args).current_dir(dir), args))
}

/// `NOW` for every epoch time in milliseconds that is after those of the fixtures.
fn strip(text: &str) -> String {
    const AFTER: u64 = 1_772_400_000_000;
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        let end = from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len());
        let number = &from[..end];
        let is_now = number.len() == 13 && number.parse::<u64>().is_ok_and(|n| n > AFTER);
        out.push_str(before);
        out.push_str(if is_now { "NOW" } else { number });
        rest = &from[end..];
    }
    out + rest
}

/// A root with two sessions, a spoiled one and an empty directory.
fn root() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let put = |file: &str, at: &str, hour: u64| {
        let to = root.path().join(at);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(fixtures.join(file), &to).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_772_366_400 + hour * 3600);
        fs::File::options().write(true).open(&to).unwrap().set_modified(time).unwrap();
    };
    put("sound.jsonl", "--home-ada-app--/sound/session.jsonl", 1);
    put("compacted.v4.jsonl", "--home-ada-app--/compacted/session.v4.jsonl", 3);
    put("crashed.jsonl.zstd", "--home-ada-other--/moved/session.jsonl.zstd", 2);
    put("README.md", "--home-ada-app--/spoiled/session.jsonl", 4);
    fs::create_dir_all(root.path().join("--home-ada-app--/empty")).unwrap();
    root
}

/// As [`check`] under the root, whose path is shown as `ROOT`.
fn check_in_root(name: &str, args: &[&str]) {
    let root = root();
    let path = root.path().to_str().unwrap();
    let found = transcript(program(args).args(["--root", path]), args);
    let real = root.path().canonicalize().unwrap();
    golden(name, &found.replace(path, "ROOT").replace(real.to_str().unwrap(), "ROOT"));
}

#[test]
fn sessions_are_listed_and_accounted_for() {
    check_in_root("ls", &["ls"]);
    check_in_root("ls-json", &["ls", "--json"]);
    check_in_root("ls-limit", &["ls", "--ndjson", "--project", "*app", "--sort", "id", "--limit", "1"]);
}

#[test]
fn a_root_that_is_not_there_is_an_error_when_it_is_named() {
    check("ls-no-root", &["ls", "--root", "nowhere"]);
    check("ls-no-home", &["ls"]);
}

#[test]
fn messages_are_printed_in_each_format() {
    check("messages", &["messages", "sound.jsonl"]);
    check("messages-text", &["messages", "compacted.v4.jsonl", "--format", "text"]);
    check("messages-ndjson-at", &["messages", "compacted.v4.jsonl", "--format", "ndjson", "--at", "5"]);
    check("messages-json", &["messages", "crashed.jsonl.zstd", "--json"]);
    check("messages-stored", &["messages", "crashed.jsonl.zstd", "--stored", "--format", "text"]);
}

#[test]
fn both_containers_give_the_same_messages() {
    let of = |file| program(&["messages", file]).output().unwrap().stdout;
    assert_eq!(of("sound.jsonl"), of("sound.jsonl.zstd"));
    let piped = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sound.jsonl.zstd")).unwrap();
    let read = program(&["messages", "-"]).write_stdin(piped).output().unwrap();
    assert_eq!((read.status.code(), read.stdout), (Some(0), of("sound.jsonl")));
}

#[test]
fn transcripts_are_printed_in_each_format() {
    check("transcript", &["transcript", "sound.jsonl.zstd", "--reasoning"]);
    check("transcript-crashed", &["transcript", "crashed.jsonl.zstd", "--tools", "full"]);
    check("transcript-markdown", &["transcript", "compacted.v4.jsonl", "--format", "markdown"]);
    check("transcript-json", &["transcript", "sound.jsonl", "--json", "--turn", "2"]);
    check("transcript-ndjson", &["transcript", "sound.jsonl", "--ndjson", "--turn", "2..", "--stored"]);
    check("transcript-html", &["transcript", "sound.jsonl", "--format", "html", "--turn", "..1"]);
}

#[test]
fn damage_is_named_and_strictness_refuses() {
    let sound = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sound.jsonl")).unwrap();
    let hole = String::from_utf8(sound.clone()).unwrap().replace("\"seq\":10,", "\"seq\":11,");
    for (name, args, input) in [
        ("damaged", vec!["messages", "-", "--format", "text"], hole.as_bytes()),
        ("damaged-strict", vec!["messages", "-", "--strict"], hole.as_bytes()),
        ("damaged-strict-json", vec!["messages", "-", "--strict", "--json"], hole.as_bytes()),
        ("damaged-empty", vec!["transcript", "-"], b""),
        ("torn", vec!["messages", "-", "--format", "ndjson"], &sound[..sound.len() - 9]),
    ] {
        golden(name, &transcript(program(&args).write_stdin(input), &args));
    }
    let newer = String::from_utf8_lossy(&sound).replace("\"version\":0", "\"version\":9");
    let args = ["transcript", "-"];
    golden("newer", &transcript(program(&args).write_stdin(newer), &args));
}

#[test]
fn errors_say_what_to_try() {
    check("no-such-file", &["messages", "none.jsonl"]);
    check("no-such-event", &["messages", "sound.jsonl", "--at", "99", "--json"]);
    check("usage", &["messages"]);
    check("usage-json", &["messages", "x", "--format", "y", "--json"]);
    check_in_root("no-such-id", &["transcript", "zzz"]);
}

#[test]
fn a_session_is_found_by_the_beginning_of_its_id() {
    check_in_root("by-id", &["messages", "comp", "--format", "text"]);
    check_in_root("by-id-latest", &["messages", "@latest", "--format", "ndjson", "-q"]);
}

#[test]
fn a_log_that_lies_elsewhere_than_its_header_says_is_named() {
    check_in_root("by-id-moved", &["messages", "moved", "--format", "ndjson", "--at", "2"]);
}

#[test]
fn help_is_printed() {
    check("help", &["--help"]);
    check("help-transcript", &["transcript", "--help"]);
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    use std::process::{Command, Stdio};
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sound.jsonl");
    let program = || Command::new(assert_cmd::cargo::cargo_bin!("dsh-log"));
    let mut child = program();
    let child = child.arg("transcript").arg(path).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}
