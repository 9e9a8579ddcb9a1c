//! Faults that people reported in public: each input, and what a good tool says of it.

mod shared;

use dsh_log::fault::{Code, Severity};
use dsh_log::finding::Finding;
use dsh_log::format::kind::Kind;
use dsh_log::json::Raw;
use dsh_log::log::closers::Outcome as CallOutcome;
use dsh_log::log::verdict::Outcome;
use dsh_log::log::{Log, ReadOptions};
use dsh_log::position::{FileOffset, FrameNo};
use dsh_log::seq::Seq;
use dsh_log::storage::encode;
use dsh_log::storage::source::Source;
use dsh_log::view::messages;
use dsh_log::view::moment::Moment;
use dsh_log::view::transcript::told;
use std::ops::ControlFlow;

fn input(test: &str, name: &str) -> Option<Log> {
    let root = shared::folder(test)?.join("reports/inputs").join(name);
    let files = ["session.jsonl.zstd", "session.jsonl"].map(|file| root.join(file));
    let file = files.into_iter().find(|f| f.is_file()).unwrap();
    Some(read(Source::open(&file).unwrap()))
}

fn read(source: Source) -> Log {
    Log::read(source, &ReadOptions::default()).unwrap()
}

fn memory(text: &str) -> Log {
    read(Source::memory("session.jsonl", text.as_bytes().to_vec()))
}

/// The valid log that the inputs are changes of, as lines.
fn base(test: &str) -> Option<Vec<String>> {
    let path = shared::folder(test)?.join("reports/inputs/BASE/session.jsonl");
    Some(std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect())
}

fn find(log: &Log, code: Code) -> &Finding {
    let found = log.findings().list().iter().find(|f| f.code == code);
    found.unwrap_or_else(|| panic!("no {code:?} in {:#?}", log.findings().list()))
}

fn assert_quiet(log: &Log) {
    let loud: Vec<_> = log.findings().list().iter().filter(|f| f.severity != Severity::Notes).collect();
    assert!(loud.is_empty(), "{loud:#?}");
    assert!(log.verdict().outcome.opens());
}

fn transcript(log: &Log) -> String {
    let mut out = String::new();
    told::of_log(log, Moment::Balanced, |row| {
        out.push_str(&String::from_utf8_lossy(&row.to_json()));
        ControlFlow::Continue(())
    })
    .unwrap();
    out
}

#[test]
fn h01_two_writers_are_named_with_both_events_and_the_fork_point() {
    let Some(log) = input("h01", "H01-same-seq-after-end-seed") else { return };
    assert_eq!(log.verdict().outcome, Outcome::Refuses);
    let doubled = find(&log, Code::TwoWriters);
    assert_eq!(doubled.place.seq, Some(Seq(12)));
    for word in ["session/end-seed", "agent/inbox/spliced", "fork point at 12"] {
        assert!(doubled.message.contains(word), "{}", doubled.message);
    }
    let island = log.islands()[0];
    assert_eq!((island.first, island.last), (12, 18));
    assert_eq!(log.index().events(), 13, "none of the two histories is chosen silently");
}

#[test]
fn h02_a_whole_log_in_one_frame_is_readable_and_the_layout_rule_is_named() {
    let Some(log) = input("h02", "H02-whole-log-in-one-frame") else { return };
    assert_eq!(log.verdict().class, Some("container:header-frame"));
    assert_eq!(find(&log, Code::HeaderFrame).place.frame, Some(FrameNo(0)));
    assert_eq!(log.index().events(), 12);
}

#[test]
fn h03_an_empty_call_id_is_named_with_its_seq() {
    let Some(log) = input("h03", "H03-empty-call-id") else { return };
    assert_eq!(log.verdict().class, Some("message"));
    let seq = log.index().entries().iter().find(|e| e.kind == Kind::ToolResult).unwrap().seq;
    assert_eq!(find(&log, Code::MessageShape).place.seq, Some(seq));
    assert_eq!(find(&log, Code::EmptyCallId).place.seq, Some(seq));
}

#[test]
fn h04_a_newer_event_type_is_not_called_corrupt_and_the_rest_is_readable() {
    let Some(log) = input("h04", "H04-event-type-from-newer-build") else { return };
    assert_eq!(log.verdict().outcome, Outcome::Unsupported);
    let finding = find(&log, Code::UnknownEventType);
    assert_eq!(finding.place.seq, Some(Seq(2)));
    assert!(finding.message.contains("written by a newer harness") && !finding.message.contains("corrupt"));
    assert_eq!(log.index().events(), 13);
    assert_eq!(messages::count(&log, Moment::Balanced).unwrap(), 4);
}

#[test]
fn h05_a_run_of_zeros_is_measured_and_read_past() {
    let Some(log) = input("h05", "H05-nul-run-mid-file") else { return };
    assert_eq!(log.verdict().outcome, Outcome::Refuses);
    let zeros = find(&log, Code::NulRun);
    assert!(zeros.message.contains("300 zero bytes"));
    assert!(zeros.place.byte.is_some_and(|FileOffset(byte)| byte > 0));
    assert_eq!(log.index().events(), 12, "nothing is missing across the run");
    assert!(log.islands().is_empty());
}

#[test]
fn h06_a_record_glued_to_a_stub_is_found() {
    let Some(log) = input("h06", "H06-stub-glued-to-next-record") else { return };
    assert!(find(&log, Code::GluedRecord).message.contains("stub of 70 bytes"));
    assert_eq!(log.index().events(), 12);
}

#[test]
fn h07_line_separators_inside_strings_split_nothing() {
    let Some(log) = input("h07", "H07-line-separators-inside-strings") else { return };
    assert_quiet(&log);
    assert_eq!(log.index().events(), 12);
}

#[test]
fn h08_three_calls_and_one_result_get_two_closers_of_the_right_class() {
    let Some(log) = input("h08", "H08-three-calls-one-result") else { return };
    let closers = log.closers();
    assert_eq!(closers.iter().map(|c| c.seq).collect::<Vec<_>>(), [9, 10, 11, 12]);
    let outcome = |n: usize| closers[n].answers.as_ref().unwrap();
    assert_eq!((outcome(0).1, outcome(0).0.call_seq), (CallOutcome::Unknown, Some(6)));
    assert_eq!((outcome(1).1, outcome(1).0.call_seq), (CallOutcome::NotStarted, None));
    assert_eq!((closers[2].kind, closers[3].kind), (Kind::StepEnd, Kind::TurnEnd));
}

#[test]
fn h09_the_transcript_keeps_what_the_model_no_longer_sees() {
    let Some(log) = input("h09", "H09-human-transcript-vs-model-surface") else { return };
    assert!(transcript(&log).contains("One file: a.txt."));
    let first = messages::list(&log, Moment::Balanced).unwrap().remove(0).0;
    assert_eq!(first, Seq(20));
}

#[test]
fn h10_inherited_events_are_marked_in_a_fork() {
    let Some(log) = input("h10", "H10-fork-counted-twice/child") else { return };
    assert_quiet(&log);
    assert_eq!(log.inherited(), 12);
}

#[test]
fn h11_twenty_thousand_frames_are_read() {
    let Some(log) = input("h11", "H11-twenty-thousand-frames") else { return };
    assert_quiet(&log);
    assert_eq!(log.frames(), 20_003);
}

#[test]
fn a_run_length_block_is_a_sound_frame() {
    let Some(mut lines) = base("rle") else { return };
    let pad = "x".repeat(256 << 10);
    lines[7] = lines[7].replace("a.txt", &pad);
    let mut file = encode::frame(format!("{}\n", lines[0]).as_bytes()).unwrap();
    file.extend(encode::frame(format!("{}\n", lines[1..].join("\n")).as_bytes()).unwrap());
    let log = read(Source::memory("session.jsonl.zstd", file));
    assert_quiet(&log);
    assert_eq!(log.index().events(), 12);
}

#[test]
fn packed_rows_count_as_their_members() {
    let Some(mut lines) = base("rows") else { return };
    lines.truncate(10);
    lines.push(r#"{"type":"text-chunks","seq0":9,"time0":1787000000100,"data":{"turn":1,"step":2,"index":0,"dt":[1,1],"texts":["One"," file",": a.txt."]}}"#.into());
    for (n, line) in base("rows").unwrap()[10..].iter().enumerate() {
        lines.push(line.replace(&format!("\"seq\":{}", 9 + n), &format!("\"seq\":{}", 12 + n)));
    }
    let log = memory(&(lines.join("\n") + "\n"));
    assert_quiet(&log);
    assert_eq!(
        (log.index().entries().len(), log.index().events(), log.index().next_seq()),
        (13, 15, Seq(15))
    );
}

#[test]
fn look_alike_keys_raise_no_finding() {
    let Some(mut lines) = base("keys") else { return };
    lines.push(r#"{"type":"session/title","seq":12,"time":1787000000200,"data":{"title":"t","messageSeqs":[1],"source":{"kind":"fallback"}}}"#.into());
    lines[7] = lines[7].replace(r#""step":1,"#, r#""step":1,"meta":{"source":{"kind":"zzz"},"version":2},"#);
    let log = memory(&(lines.join("\n") + "\n"));
    assert_quiet(&log);
    assert_eq!(log.index().events(), 13);
}

#[test]
fn a_log_whose_first_frame_is_gone_is_read_without_inventing_a_header() {
    let Some(lines) = base("headless") else { return };
    for lost in [0, 4] {
        let batches = lines[1 + lost..].chunks(4).map(|batch| batch.join("\n") + "\n");
        let file: Vec<u8> = batches.flat_map(|batch| encode::frame(batch.as_bytes()).unwrap()).collect();
        let log = read(Source::memory("session.jsonl.zstd", file));
        assert!(log.header().is_none() && log.verdict().outcome == Outcome::Refuses);
        let index = log.index();
        assert_eq!(
            (index.first_seq(), index.next_seq()),
            (Seq(lost as u64), Seq(12)),
            "{:#?}",
            log.findings()
        );
        assert!(log.findings().list().iter().all(|f| f.code != Code::LineSeq), "{:#?}", log.findings());
    }
}

#[test]
fn a_rewind_marker_answers_nothing_and_opens_nothing() {
    let Some(mut lines) = base("rewind") else { return };
    lines.push(r#"{"type":"assistant/message","seq":12,"time":1787000000300,"data":{"turn":null,"step":0,"message":{"id":"m-r","role":"assistant","source":{"kind":"model","provider":"p","model":"m"},"content":[]}},"surfaceOp":{"op":"replace","start":9,"end":9},"sourceEventSeqs":[9]}"#.into());
    let log = memory(&(lines.join("\n") + "\n"));
    assert_quiet(&log);
    let nodes: Vec<u64> = log.surface().nodes().map(|n| n.seq).collect();
    assert_eq!((nodes, log.closers().len()), (vec![1, 4, 6, 12], 0));
}

#[test]
fn a_newer_format_is_read_as_far_as_it_goes_and_no_line_of_it_is_called_wrong() {
    let text = concat!(
        r#"{"type":"session","version":9,"id":"n","createdAt":1}"#,
        "\n",
        r#"{"type":"turn/start","seq":0,"time":1,"data":{"turn":1}}"#,
        "\n{\"type\":\"shape/we-do-not-know\",\"at\":1}\nnot even json\n"
    );
    let log = memory(text);
    assert_eq!(log.verdict().outcome, Outcome::Unsupported);
    let codes: Vec<Code> = log.findings().list().iter().map(|f| f.code).collect();
    assert_eq!((codes, log.index().events()), (vec![Code::FormatNewer], 1));
}

#[test]
fn every_blocker_is_listed_and_not_only_the_first() {
    let Some(mut lines) = base("blockers") else { return };
    for (n, event) in [
        r#""type":"request/header-delta","#,
        r#""type":"future/thing","#,
        r#""type":"user/message","surfaceOp":"append","#,
    ]
    .iter()
    .enumerate()
    {
        lines.push(format!(r#"{{{event}"seq":{},"time":1787000000300,"data":{{"x":1}}}}"#, 12 + n));
    }
    let log = memory(&(lines.join("\n") + "\n"));
    let refusing: Vec<Code> =
        log.findings().list().iter().filter(|f| f.severity == Severity::Refuses).map(|f| f.code).collect();
    for code in [Code::RetiredHeaderDelta, Code::UnknownEventType, Code::MessageShape] {
        assert!(refusing.contains(&code), "{refusing:?}");
    }
}

#[test]
fn citations_as_ranges_survive_in_the_stored_text() {
    let Some(mut lines) = base("ranges") else { return };
    // Of a key written twice the last counts.
    lines[10] = lines[10].strip_suffix('}').unwrap().to_owned() + r#","sourceEventSeqs":[[2,4],6]}"#;
    let log = memory(&(lines.join("\n") + "\n"));
    // The harness of generation 0 does not know ranges; views read them.
    assert!(find(&log, Code::SurfaceProvenance).message.contains("written by 0.1.2 or newer"));
    assert_eq!(log.index().events(), 12);
    let mut bodies = dsh_log::log::visit::Bodies::new(&log);
    let line = bodies.stored_line(Seq(9)).unwrap().unwrap().to_vec();
    assert!(Raw::parse(&line).unwrap().get("sourceEventSeqs").unwrap().bytes() == b"[[2,4],6]");
}
