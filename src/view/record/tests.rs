use super::*;
use crate::format::sources::Run;
use crate::log::ReadOptions;
use crate::storage::source::Source;

#[test]
fn an_event_tells_where_it_lies_and_what_took_its_place() {
    let user = |n: u32, op: &str| {
        format!(
            r#"{{"type":"user/message","seq":{n},"time":5,"data":{{"id":"u{n}","role":"user","source":{{"kind":"user"}},"content":[]}},{op}}}"#
        )
    };
    let replaces = |n: u32| {
        user(
            n,
            &format!(
                r#""sourceEventSeqs":[{0}],"surfaceOp":{{"op":"replace","start":{0},"end":{0}}}"#,
                n - 1
            ),
        )
    };
    let head = r#"{"type":"session","version":0,"id":"a","createdAt":1,"delegationDepth":0}"#.to_owned();
    let lines = [head, user(0, r#""surfaceOp":"append""#), replaces(1), replaces(2)];
    let text = lines.join("\n") + "\n";
    let at = text.find(&lines[2]).unwrap() as u64;
    let log = Log::read(Source::memory("log", text.into_bytes()), &ReadOptions::default()).unwrap();
    let first = read(&log, Seq(0), Moment::Balanced).unwrap().unwrap();
    assert_eq!((first.surface, first.chain.as_slice()), (Surface::Shadowed, [1, 2].as_slice()));
    let second = read(&log, Seq(1), Moment::Balanced).unwrap().unwrap();
    let place = second.place.unwrap();
    assert_eq!((place.byte, place.line, place.member), (at, LineNo(3), None));
    assert_eq!(place.byte_end - place.byte, lines[2].len() as u64);
    assert_eq!(second.stored, lines[2].as_bytes());
    assert_eq!((second.replaced.as_slice(), second.chain.as_slice()), ([0].as_slice(), [2].as_slice()));
    assert_eq!(second.cites[0].runs, [Run { first: 0, last: 0 }]);
    assert_eq!((second.cited_by[0].seq, second.cited_by[0].member), (Seq(2), "sourceEventSeqs"));
    assert_eq!(read(&log, Seq(3), Moment::Balanced).unwrap(), None);
}
