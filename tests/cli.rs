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

/// Makes the files of a directory look as if nobody had touched them for a long time.
fn at_rest(dir: &Path) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_772_366_400);
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        }
    }
}

/// What a run in that directory gives, with `NOW` for the time of the run.
fn in_dir(dir: &Path, args: &[&str]) -> String {
    at_rest(dir);
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
    out += rest;
    // Which file it is depends on the machine.
    for key in ["\"device\":\"", "\"inode\":\""] {
        if let Some(at) = out.find(key).map(|at| at + key.len()) {
            let end = at + out[at..].find('"').unwrap_or(0);
            out.replace_range(at..end, "FILE");
        }
    }
    out
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
fn what_a_subagent_found_behind_a_conclusion_is_listed_apart() {
    let root = tempfile::tempdir().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for id in ["delegating", "scout"] {
        let dir = root.path().join("--home-ada-app--").join(id);
        fs::create_dir_all(&dir).unwrap();
        fs::copy(fixtures.join(format!("{id}.jsonl")), dir.join("session.jsonl")).unwrap();
    }
    let path = root.path().to_str().unwrap();
    for (name, args) in [
        ("why-delegated", &["why", "delegating", "4"][..]),
        ("why-delegated-json", &["why", "delegating", "4", "--json"]),
    ] {
        let found = transcript(program(args).args(["--root", path]), args);
        golden(name, &found.replace(path, "ROOT"));
    }
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

/// A directory with one file that nobody has touched for a long time.
fn folder(name: &str, bytes: &[u8]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, bytes).unwrap();
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_772_366_400);
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    dir
}

/// As [`check`] in such a directory; the time in the name of a file of cut bytes is left out.
fn check_on(name: &str, file: &str, bytes: &[u8], args: &[&str]) -> tempfile::TempDir {
    let dir = folder(file, bytes);
    let mut found = transcript(program(args).current_dir(dir.path()), args);
    if let Some(at) = found.find(".cut-").map(|at| at + 5) {
        let digits = |at: usize| found[at..].bytes().take_while(u8::is_ascii_digit).count();
        let time = at + digits(at) + 1;
        found.replace_range(time..time + digits(time), "TIME");
    }
    golden(name, &found);
    dir
}

#[test]
fn padding_behind_the_last_frame_is_cut_and_nothing_else() {
    let crashed = fixture("crashed.jsonl.zstd");
    let padded = [&crashed[..], &[0; 512]].concat();
    let dir = check_on("repair-padding", "log.jsonl.zstd", &padded, &["repair", "log.jsonl.zstd"]);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    check("repair-usage", &["repair"]);
}

#[test]
fn a_printed_plan_is_carried_out_and_undone_and_refused_when_the_log_has_changed() {
    let torn = [&fixture("crashed.jsonl.zstd")[..], &[0x28, 0xB5]].concat();
    let dir = folder("log.jsonl.zstd", &torn);
    let run = |args: &[&str]| program(args).current_dir(dir.path()).output().unwrap();
    let plan = run(&["repair", "--dry-run", "--json", "log.jsonl.zstd"]).stdout;
    fs::write(dir.path().join("plan"), &plan).unwrap();
    assert_eq!(run(&["repair", "--plan", "plan"]).status.code(), Some(0));
    let repaired = fs::read(dir.path().join("log.jsonl.zstd")).unwrap();
    assert!(repaired != torn);
    let again = run(&["repair", "--plan", "plan", "--json"]);
    assert_eq!(again.status.code(), Some(6));
    assert!(String::from_utf8_lossy(&again.stderr).contains("\"code\":\"changed\""));
    assert_eq!(fs::read(dir.path().join("log.jsonl.zstd")).unwrap(), repaired);
    let names =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let sidecar = names.into_iter().find(|name| name.contains(".cut-")).unwrap();
    // The plan was made at the time that the sidecar's name states.
    let at = sidecar.rsplit('-').next().unwrap().to_owned();
    assert!(String::from_utf8(plan).unwrap().contains(&format!("\"at\":{at}")));
    assert_eq!(run(&["repair", "--undo", &sidecar]).status.code(), Some(0));
    assert_eq!(fs::read(dir.path().join("log.jsonl.zstd")).unwrap(), torn);
    assert_eq!(run(&["repair", "--undo", &sidecar]).status.code(), Some(7));
}

#[test]
fn a_log_that_looks_alive_is_named() {
    let dir = folder("log.jsonl", &fixture("sound.jsonl"));
    let path = dir.path().join("log.jsonl");
    let said = |args: &[&str]| {
        let output = program(args).current_dir(dir.path()).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(said(&["repair", "--check", "log.jsonl"]), "");
    fs::File::options().write(true).open(&path).unwrap().set_modified(SystemTime::now()).unwrap();
    assert!(said(&["repair", "--check", "log.jsonl"]).contains("looks alive: it changed "));
    if cfg!(target_os = "linux") {
        let _open = fs::File::open(&path).unwrap();
        let open = format!("looks alive: process {} has it open", std::process::id());
        assert!(said(&["repair", "--check", "log.jsonl"]).contains(&open));
    }
}

#[test]
fn salvage_accounts_for_what_it_reads() {
    let sound = String::from_utf8(fixture("sound.jsonl")).unwrap();
    let lines: Vec<&str> = sound.split_inclusive('\n').collect();
    let spoiled = [&lines[..9].concat(), "garbage{\"type\":\"tool/ca\n", &lines[10..].concat()].concat();
    let newer = sound.replace("request/context", "request/colour");
    check_on("salvage-newer-type", "log.jsonl", newer.as_bytes(), &["salvage", "log.jsonl", "--dry-run"]);
    check_on(
        "salvage-open-call",
        "log.jsonl",
        &fixture("damaged.jsonl"),
        &["salvage", "log.jsonl", "--dry-run"],
    );
    let args = ["salvage", "log.jsonl", "-o", "new.jsonl.zstd"];
    let dir = check_on("salvage", "log.jsonl", spoiled.as_bytes(), &args);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
    check_on(
        "salvage-json",
        "log.jsonl",
        spoiled.as_bytes(),
        &["salvage", "log.jsonl", "--dry-run", "--json"],
    );
    let headless = lines[1..].concat();
    check_on("salvage-headless", "log.jsonl", headless.as_bytes(), &["salvage", "log.jsonl", "-o", "x"]);
    let args = ["salvage", "log.jsonl", "-o", "x/", "--id", "rescued", "--cwd", "/home/ada/app"];
    let dir = check_on("salvage-given", "log.jsonl", headless.as_bytes(), &args);
    assert!(dir.path().join("x/session.jsonl").is_file());
    assert!(dir.path().join("x/session.jsonl.aside.ndjson").is_file());
    check_on("salvage-sound", "log.jsonl", sound.as_bytes(), &["salvage", "log.jsonl", "--dry-run"]);
}

#[test]
fn two_histories_are_shown_side_by_side() {
    let sound = String::from_utf8(fixture("sound.jsonl")).unwrap();
    let resumed = "{\"type\":\"session/end-seed\",\"seq\":20,\"time\":1772366500000,\"data\":{}}\n";
    let both = sound + resumed;
    let args = ["salvage", "log.jsonl", "-o", "new.jsonl"];
    let dir = check_on("salvage-histories", "log.jsonl", both.as_bytes(), &args);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    let args = ["salvage", "log.jsonl", "-o", "new.jsonl", "--json"];
    check_on("salvage-histories-json", "log.jsonl", both.as_bytes(), &args);
    let args = ["salvage", "log.jsonl", "-o", "new.jsonl", "--keep", "B"];
    check_on("salvage-keep", "log.jsonl", both.as_bytes(), &args);
}

#[test]
fn conversion_says_what_it_wrote() {
    let sound = fixture("sound.jsonl");
    check_on(
        "convert",
        "log.jsonl",
        &sound,
        &["convert", "log.jsonl", "-o", "log.jsonl.zstd", "--rows", "expanded"],
    );
    check_on(
        "convert-json",
        "log.jsonl",
        &sound,
        &["convert", "log.jsonl", "--to", "zstd", "--dry-run", "--json"],
    );
    check_on("convert-torn", "log.jsonl", &sound[..sound.len() - 3], &["convert", "log.jsonl", "--dry-run"]);
    check_on("convert-taken", "log.jsonl", &sound, &["convert", "log.jsonl", "-o", "log.jsonl"]);
}

#[test]
fn requests_are_listed_and_shown_with_what_is_new() {
    check("request-list", &["request", "sound.jsonl", "--list"]);
    check("request", &["request", "compacted.v4.jsonl", "1.2"]);
    check("request-json", &["request", "sound.jsonl.zstd", "1.2", "--json"]);
    check("request-none", &["request", "sound.jsonl", "9.9"]);
}

#[test]
fn an_event_is_shown_with_its_place_and_its_ties() {
    check("show", &["show", "compacted.v4.jsonl", "3", "--utc"]);
    check("show-member", &["show", "sound.jsonl.zstd", "6", "--json"]);
    check("show-at", &["show", "compacted.v4.jsonl", "3", "--utc", "--at", "9"]);
    check("show-not-yet", &["show", "compacted.v4.jsonl", "12", "--at", "9"]);
    check("show-raw", &["show", "sound.jsonl.zstd", "6", "--raw"]);
}

#[test]
fn events_are_chosen_and_printed_as_stored() {
    check("events", &["events", "sound.jsonl", "--type", "t*l/*", "--type", "turn/end"]);
    check("events-table", &["events", "sound.jsonl", "--turn", "1", "--grep", "run", "--table"]);
    check("events-at", &["events", "sound.jsonl", "--seq", "4..", "--at", "5"]);
    check("events-regex", &["events", "sound.jsonl", "--grep", "a(", "--regex"]);
}

#[test]
fn the_ledger_tells_what_became_of_every_call() {
    check("tools", &["tools", "sound.jsonl"]);
    check("tools-damaged", &["tools", "damaged.jsonl"]);
    check("tools-rewound", &["tools", "rewound.jsonl"]);
    check("tools-crashed", &["tools", "crashed.jsonl.zstd", "--stored"]);
    check("tools-json", &["tools", "crashed.jsonl.zstd", "--json"]);
}

#[test]
fn figures_state_compactions_and_times_are_shown() {
    check("stats", &["stats", "sound.jsonl", "compacted.v4.jsonl", "--by", "model"]);
    check("stats-json", &["stats", "compacted.v4.jsonl", "--json"]);
    check("stats-csv", &["stats", "sound.jsonl", "--csv", "--by", "turn"]);
    check_in_root("stats-all", &["stats", "--all", "--by", "session"]);
    check("state", &["state", "sound.jsonl"]);
    check("compactions", &["compactions", "compacted.v4.jsonl", "--utc"]);
    check("timeline", &["timeline", "sound.jsonl", "--utc"]);
}

#[test]
fn two_sessions_are_told_apart() {
    check("diff", &["diff", "sound.jsonl", "forked.jsonl"]);
    check("diff-json", &["diff", "sound.jsonl", "forked.jsonl", "--json"]);
    check("diff-same", &["diff", "sound.jsonl", "sound.jsonl.zstd"]);
    check("diff-prefix", &["diff", "crashed.jsonl.zstd", "torn.jsonl.zstd", "--stored"]);
    check("diff-at", &["diff", "sound.jsonl", "forked.jsonl", "--at", "99"]);
    check("diff-unrelated", &["diff", "searched.jsonl", "changed.jsonl", "--width", "90"]);
    check("diff-damaged", &["diff", "sound.jsonl", "damaged.jsonl"]);
    check("diff-stdin-twice", &["diff", "-", "-", "--json"]);
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

#[test]
fn a_conclusion_is_traced_to_tool_results() {
    let sound =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sound.jsonl")).unwrap();
    let quoting = sound
        .replace("running 3 tests", "lib.rs:88: max_retries = 37")
        .replace("All three pass.", "It is lib.rs:88: max_retries = 37.");
    for (name, args) in [
        ("why", vec!["why", "-", "17"]),
        ("why-text", vec!["why", "-", "--text", "max_retries"]),
        ("why-json", vec!["why", "-", "17", "--json"]),
        ("why-graph", vec!["why", "-", "17", "--graph", "dot"]),
    ] {
        golden(name, &transcript(program(&args).write_stdin(quoting.as_bytes()), &args));
    }
    check("why-paraphrase", &["why", "sound.jsonl", "17", "--all"]);
    check("why-call", &["why", "sound.jsonl", "10"]);
    check("why-no-conclusion", &["why", "sound.jsonl", "11"]);
    check("why-rewound", &["why", "rewound.jsonl", "16"]);
    check("why-not-cited", &["why", "rewound.jsonl", "9"]);
    check("why-at", &["why", "searched.jsonl", "--text", "e", "--at", "14"]);
    check("why-not-yet", &["why", "sound.jsonl", "17", "--at", "9"]);
    check("why-no-text", &["why", "sound.jsonl", "--text", "nobody said that", "--json"]);
}

#[test]
fn rules_are_checked_and_explained() {
    check("verify", &["verify", "sound.jsonl"]);
    check("verify-two-writers", &["verify", "two-writers.jsonl"]);
    check("verify-at", &["verify", "crashed.jsonl.zstd", "--at", "3"]);
    check("verify-json", &["verify", "crashed.jsonl.zstd", "--json"]);
    check("verify-rules", &["verify", "--rules"]);
    check("verify-target", &["verify", "sound.jsonl", "--target", "v4"]);
    check_in_root("verify-all", &["verify", "--all"]);
    check("verify-no-root", &["verify", "--all", "--root", "no-such-folder"]);
}

#[test]
fn the_exposure_of_a_text_is_told() {
    check("exposure", &["exposure", "compacted.v4.jsonl", "5"]);
    check("exposure-at", &["exposure", "compacted.v4.jsonl", "3", "--at", "9"]);
    for (name, text) in
        [("prompt", "harbour book"), ("reasoning", "ledger of moorings"), ("tool-name", "harbour_book")]
    {
        check(&format!("exposure-{name}"), &["exposure", "rewound.jsonl", "--text", text]);
    }
    check("exposure-only-in-log", &["exposure", "sound.jsonl", "10"]);
    check("exposure-empty", &["exposure", "rewound.jsonl", "12"]);
    check("exposure-blank", &["exposure", "rewound.jsonl", "--text", " "]);
    check("exposure-no-event", &["exposure", "compacted.v4.jsonl", "99", "--json"]);
    check("exposure-json", &["exposure", "sound.jsonl", "--text", "the", "--json"]);
}
