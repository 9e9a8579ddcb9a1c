use super::*;
use crate::log::ReadOptions;
use crate::storage::source::Source;

fn log() -> Log {
    let lines = [
        r#"{"type":"session","version":0,"id":"a","createdAt":1,"delegationDepth":0}"#,
        r#"{"type":"turn/start","seq":0,"time":10,"data":{"turn":1}}"#,
        r#"{"type":"text-chunks","seq0":1,"time0":20,"data":{"turn":1,"step":1,"index":0,"dt":[1,1],"texts":["a","b","c"]}}"#,
        r#"{"type":"tool/call","seq":4,"time":30,"data":{"turn":1,"step":1,"callId":"c1","name":"bash","arguments":"{\"x\":\"caf\u00e9\"}"}}"#,
        r#"{"type":"turn/end","seq":5,"time":40,"data":{"turn":1,"reason":{"kind":"completed"}}}"#,
    ];
    let text = lines.join("\n") + "\n";
    Log::read(Source::memory("log", text.into_bytes()), &ReadOptions::default()).unwrap()
}

fn seqs(filter: &Filter<'_>) -> Vec<u64> {
    let mut out = Vec::new();
    each(&log(), filter, |found| -> crate::error::Result<()> {
        out.push(found.seq.0);
        Ok(())
    })
    .unwrap();
    out
}

#[test]
fn a_packed_row_is_wanted_when_any_event_in_it_is_of_that_time() {
    let cases = [(22..=22, vec![1]), (21..=30, vec![1, 4]), (23..=29, vec![]), (i64::MIN..=20, vec![0, 1])];
    for (times, wanted) in cases {
        assert_eq!(seqs(&Filter { times: times.clone(), ..Filter::default() }), wanted, "{times:?}");
    }
}

#[test]
fn conditions_narrow_together() {
    let tool = |name: &[u8]| name.starts_with(b"tool/");
    let chunk = |name: &[u8]| name == b"assistant/chunk";
    let cafe = |line: &[u8]| memchr::memmem::find(line, "\"x\":\"café\"".as_bytes()).is_some();
    let all = Filter::default;
    assert_eq!(seqs(&all()), [0, 1, 4, 5]);
    assert_eq!(seqs(&Filter { expand: true, ..all() }), [0, 1, 2, 3, 4, 5]);
    assert_eq!(seqs(&Filter { kind: Some(&tool), ..all() }), [4]);
    assert_eq!(seqs(&Filter { kind: Some(&chunk), ..all() }), [1]);
    assert_eq!(seqs(&Filter { seqs: 2..=4, ..all() }), [1, 4]);
    assert_eq!(seqs(&Filter { seqs: 2..=4, expand: true, ..all() }), [2, 3, 4]);
    assert_eq!(seqs(&Filter { times: 20..=30, ..all() }), [1, 4]);
    assert_eq!(seqs(&Filter { turns: Some(2..=3), ..all() }), [0_u64; 0]);
    assert_eq!(seqs(&Filter { call: Some("c1".into()), ..all() }), [4]);
    assert_eq!(seqs(&Filter { text: Some(&cafe), ..all() }), [4]);
}
