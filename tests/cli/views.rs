//! `inspect`, `surface`, `header`, `messages --request` and `schema`.

use super::{check, golden, logs, program, transcript};

#[test]
fn inspect_tells_on_one_screen_what_a_log_is() {
    check("inspect-sound", &["inspect", "sound.jsonl.zstd"]);
    check("inspect-crashed", &["inspect", "crashed.jsonl.zstd", "--events"]);
    check("inspect-compacted", &["inspect", "compacted.v4.jsonl"]);
    check("inspect-torn", &["inspect", "torn.jsonl.zstd"]);
}

#[test]
fn inspect_names_what_is_wrong() {
    check("inspect-damaged", &["inspect", "damaged.jsonl"]);
    check("inspect-two-writers", &["inspect", "two-writers.jsonl"]);
    check("inspect-newer", &["inspect", "newer.jsonl"]);
    let args = ["inspect", "-"];
    golden("inspect-empty", &transcript(program(&args).write_stdin(""), &args));
}

#[test]
fn inspect_prints_one_document() {
    check("inspect-json", &["inspect", "crashed.jsonl.zstd", "--json"]);
    check("inspect-events-json", &["inspect", "torn.jsonl.zstd", "--json", "--events"]);
}

#[test]
fn inspect_refuses_strictly_what_the_harness_refuses() {
    check("inspect-strict", &["inspect", "damaged.jsonl", "--strict"]);
    check("inspect-strict-json", &["inspect", "newer.jsonl", "--strict", "--json"]);
}

#[test]
fn surface_lists_what_the_model_reads() {
    check("surface", &["surface", "compacted.v4.jsonl"]);
    check("surface-history", &["surface", "compacted.v4.jsonl", "--history"]);
    check("surface-at", &["surface", "compacted.v4.jsonl", "--at", "9"]);
    check("surface-json", &["surface", "compacted.v4.jsonl", "--json"]);
    check("surface-crashed", &["surface", "crashed.jsonl.zstd"]);
    check("surface-nothing-replaced", &["surface", "sound.jsonl", "--history"]);
}

#[test]
fn header_shows_what_was_in_force() {
    check("header", &["header", "sound.jsonl"]);
    check("header-json", &["header", "compacted.v4.jsonl", "--json"]);
    check("header-system", &["header", "compacted.v4.jsonl", "--system"]);
    check("header-tools", &["header", "changed.jsonl", "--tools"]);
    check("header-context", &["header", "sound.jsonl", "--context"]);
    check("header-request", &["header", "changed.jsonl", "--request", "2.1"]);
    check("header-first", &["header", "changed.jsonl", "--first"]);
}

#[test]
fn header_shows_what_changed() {
    check("header-history", &["header", "changed.jsonl", "--history"]);
    check("header-history-json", &["header", "changed.jsonl", "--history", "--json"]);
}

#[test]
fn a_log_without_a_header_event_is_no_error() {
    let mut log = logs::Writer::new(0, "bare", "");
    log.event("turn/start", r#"{"turn":1}"#);
    for (name, more) in [
        ("header-none", &[][..]),
        ("header-none-history", &["--history"]),
        ("header-none-system", &["--system"]),
        ("header-none-json", &["--json"]),
    ] {
        let args = [&["header", "-"], more].concat();
        golden(name, &transcript(program(&args).write_stdin(log.text()), &args));
    }
}

#[test]
fn messages_are_those_that_one_request_saw() {
    check("messages-request", &["messages", "sound.jsonl", "--request", "1.2", "--format", "text"]);
    check("messages-no-request", &["messages", "sound.jsonl", "--request", "7.1"]);
}

#[test]
fn schemas_are_listed_and_printed() {
    check("schema", &["schema"]);
    check("schema-messages", &["schema", "messages"]);
    check("schema-unknown", &["schema", "nothing"]);
}
