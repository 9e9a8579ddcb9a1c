//! One line of a log, judged alone: its envelope and what its content says.

use super::chunk_rows::{self, ChunkRow, Packed, Tally};
use super::detail::{self, Detail};
use super::dialect::Dialect;
use super::kind::Kind;
use crate::fault::Code;
use crate::json::jumps::Jumps;
use crate::json::raw::Unchecked;
use crate::json::{self, Raw, SyntaxFault, text};
use std::borrow::Cow;
use std::ops::Range;

/// The members of a record's envelope as stored; of duplicate keys the last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts<'a> {
    /// `type`
    pub type_name: Option<Raw<'a>>,
    /// `seq`
    pub seq: Option<Raw<'a>>,
    /// `time`
    pub time: Option<Raw<'a>>,
    /// `data`
    pub data: Option<Raw<'a>>,
    /// `ignorable`
    pub ignorable: Option<Raw<'a>>,
    /// `surfaceOp`
    pub op: Option<Raw<'a>>,
    /// `sourceEventSeqs`
    pub sources: Option<Raw<'a>>,
    /// The value of a key that no record has.
    pub foreign_key: Option<Raw<'a>>,
    /// `seq0` of a packed row.
    pub seq0: Option<Raw<'a>>,
    /// `time0` of a packed row.
    pub time0: Option<Raw<'a>>,
    /// What stands in the data of a packed row, when one pass could tell.
    pub tally: Option<Tally>,
}

impl Parts<'_> {
    /// The type as one of the known kinds.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self.type_name.and_then(Raw::text) {
            Some(name) => Kind::of(&name),
            None => Kind::Unknown,
        }
    }

    /// Whether the record is marked ignorable.
    #[must_use]
    pub fn is_ignorable(&self) -> bool {
        self.ignorable.is_some_and(Raw::is_true)
    }
}

/// A fault that one record shows without regard to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowFault {
    /// Which.
    pub code: Code,
    /// What is wrong, lower case, without place.
    pub message: String,
}

impl RowFault {
    /// A fault with its message.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> RowFault {
        RowFault { code, message: message.into() }
    }
}

/// What a line turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One event.
    Event,
    /// A packed chunk row with that many members.
    Packed(u64),
    /// Not a record; the line's detail says why.
    Unparsable,
    /// The literal `null`.
    Null,
    /// A JSON value that is no object.
    NotAnObject,
    /// Longer than the limit on records, and not read.
    TooLong,
}

/// One line, judged alone.
#[derive(Clone, Debug)]
pub struct Row {
    /// What the line is.
    pub form: Form,
    /// The event's type; of an old shape the type it is upgraded to.
    pub kind: Kind,
    /// The `seq` (or `seq0`) it states, when that is a number.
    pub seq: Option<f64>,
    /// Its time, and the last member's of a packed row; epoch milliseconds.
    pub time: i64,
    /// See [`Row::time`].
    pub last_time: i64,
    /// Whether it is a chunk event that ends an attempt.
    pub ends_attempt: bool,
    /// What folds and checks need beyond that; nothing for plain chunks.
    pub detail: Option<Box<Detail>>,
}

impl Row {
    /// A line that is no record.
    #[must_use]
    pub fn bad(form: Form, message: &str) -> Row {
        let detail =
            Detail { faults: vec![RowFault::new(Code::LineUnparsable, message)], ..Detail::default() };
        Row {
            form,
            kind: Kind::Unknown,
            seq: None,
            time: 0,
            last_time: 0,
            ends_attempt: false,
            detail: Some(Box::new(detail)),
        }
    }

    /// Whether it decodes to at least one event-like value.
    #[must_use]
    pub fn is_record(&self) -> bool {
        matches!(self.form, Form::Event | Form::Packed(_))
    }

    /// How many events it stands for.
    #[must_use]
    pub fn members(&self) -> u64 {
        match self.form {
            Form::Packed(n) => n,
            _ => 1,
        }
    }

    /// The first fault with that code.
    #[must_use]
    pub fn fault(&self, code: Code) -> Option<&RowFault> {
        self.detail.as_ref()?.faults.iter().find(|fault| fault.code == code)
    }
}

/// What judging a line needs to know besides the line.
#[derive(Clone, Copy, Debug)]
pub struct RowContext<'a> {
    /// The generation.
    pub dialect: &'static Dialect,
    /// The session's id in WTF-8, for ids that old shapes are given.
    pub session_id: &'a [u8],
    /// Whether the version is one we know; of a newer log only envelopes are read.
    pub known: bool,
}

/// The envelope of a line, checked as it is walked; `jumps` is scratch that the parts refer to.
///
/// Errors are rows that say what the line is instead.
pub fn envelope<'a>(line: &'a [u8], jumps: &'a mut Jumps) -> Result<Parts<'a>, Row> {
    jumps.clear();
    let Some(mut walk) = Unchecked::object(line) else {
        return Err(match Raw::parse(line) {
            Ok(value) if value.is_null() => Row::bad(Form::Null, "the line is `null`"),
            Ok(value) => Row::bad(Form::NotAnObject, &format!("the line is {}", value.kind().name())),
            Err(_) if line.iter().all(|b| json::scan::is_blank(*b)) => {
                Row::bad(Form::Unparsable, "the line is blank")
            }
            Err(e) => Row::bad(Form::Unparsable, &syntax_message(e)),
        });
    };
    let syntax = |e| Row::bad(Form::Unparsable, &syntax_message(e));
    let mut members: [Option<Range<usize>>; SLOTS] = Default::default();
    let mut tally = None;
    let mut packed = None;
    loop {
        let member = walk.member(|key, text, start| {
            if let Some(packed) = packed.filter(|_| key == b"\"data\"")
                && let Some((end, found)) = Tally::of(text, start, packed)
            {
                tally = Some(found);
                return Ok(end);
            }
            json::scan::value_end_noting(text, start, jumps)
        });
        let Some(member) = member.map_err(syntax)? else { break };
        let slot = slot_of(&line[member.key]);
        if slot == TYPE {
            packed = Packed::of_tag(&line[member.value.clone()]);
        }
        members[slot] = Some(member.value);
    }
    walk.finish().map_err(syntax)?;
    let jumps = &*jumps;
    let [type_name, seq, time, data, op, sources, ignorable, seq0, time0, foreign_key] =
        members.map(|range| range.map(|range| Raw::noted(line, range, jumps)));
    Ok(Parts { type_name, seq, time, data, ignorable, op, sources, foreign_key, seq0, time0, tally })
}

const TYPE: usize = 0;
const SLOTS: usize = 10;

/// Which part a key names; the last slot is for keys that no record has.
fn slot_of(key: &[u8]) -> usize {
    const NAMES: [&str; SLOTS - 1] =
        ["type", "seq", "time", "data", "surfaceOp", "sourceEventSeqs", "ignorable", "seq0", "time0"];
    let inner = &key[1..key.len() - 1];
    let spelt = json::text::decode(inner);
    NAMES.iter().position(|name| name.as_bytes() == &*spelt).unwrap_or(SLOTS - 1)
}

fn syntax_message(e: SyntaxFault) -> String {
    format!("not JSON: {} at byte {} of the line", e.what, e.offset)
}

impl Parts<'_> {
    /// Whether a key stands there that no event has.
    #[must_use]
    pub fn has_foreign_key(&self) -> bool {
        self.foreign_key.is_some() || self.seq0.is_some() || self.time0.is_some()
    }
}

/// Judges one line (without its newline).
#[must_use]
pub fn parse(line: &[u8], context: &RowContext<'_>) -> Row {
    parse_with(line, context, &mut Jumps::default())
}

/// As [`parse`], with scratch that is used again for the next line.
#[must_use]
pub fn parse_with(line: &[u8], context: &RowContext<'_>, jumps: &mut Jumps) -> Row {
    let text = text::stored(line);
    let parts = match envelope(&text, jumps) {
        Ok(parts) => parts,
        Err(row) => return row,
    };
    if context.dialect.chunk_rows
        && let Some(packed) = parts.type_name.and_then(Packed::of)
    {
        if let Some(head) = parts.tally.and_then(|tally| chunk_rows::tallied(&tally, &parts)) {
            return packed_row(head);
        }
        return match ChunkRow::parse(packed, &parts) {
            Ok(row) => packed_row((row.seq0, row.time0, row.last_time, row.members)),
            Err(why) => Row::bad(Form::Unparsable, why),
        };
    }
    let kind = parts.kind();
    let time = parts.time.and_then(Raw::safe_int).unwrap_or(0);
    let mut row = Row {
        form: Form::Event,
        kind,
        seq: parts.seq.and_then(Raw::number),
        time,
        last_time: time,
        ends_attempt: false,
        detail: None,
    };
    if context.known {
        let invalid_utf8 = matches!(text, Cow::Owned(_));
        detail::judge(&mut row, &parts, invalid_utf8, context);
    }
    row
}

fn packed_row((seq0, time, last_time, members): (u64, i64, i64, u64)) -> Row {
    Row {
        form: Form::Packed(members),
        kind: Kind::AssistantChunk,
        seq: Some(seq0 as f64),
        time,
        last_time,
        ends_attempt: false,
        detail: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(line: &str) -> Row {
        let dialect = Dialect::of(0).unwrap();
        parse(line.as_bytes(), &RowContext { dialect, session_id: b"s", known: true })
    }

    #[test]
    fn a_line_is_an_event_a_packed_row_or_says_why_not() {
        assert_eq!(row(r#"{"type":"turn/start","seq":3,"time":5,"data":{"turn":1}}"#).form, Form::Event);
        let packed = r#"{"type":"text-chunks","seq0":12,"time0":5,"data":{"turn":1,"step":1,"index":0,"dt":[4,-2],"texts":["a","b","c"]}}"#;
        let packed = row(packed);
        assert_eq!((packed.form, packed.seq, packed.last_time), (Form::Packed(3), Some(12.0), 7));
        assert_eq!(row("null").form, Form::Null);
        assert_eq!(row("[1]").form, Form::NotAnObject);
        assert_eq!(row("").form, Form::Unparsable);
        assert_eq!(row("{").form, Form::Unparsable);
    }

    #[test]
    fn a_record_that_is_not_utf8_is_judged_as_the_harness_decodes_it() {
        let line = b"{\"type\":\"tool/call\",\"seq\":3,\"time\":5,\"data\":{\"callId\":\"\xFF\"}}";
        let dialect = Dialect::of(0).unwrap();
        let detail = parse(line, &RowContext { dialect, session_id: b"s", known: true }).detail.unwrap();
        assert!(detail.invalid_utf8);
        assert_eq!(detail.call_id.as_deref(), Some("\"\u{FFFD}\"".as_bytes()));
    }

    #[test]
    fn an_old_tool_result_that_takes_over_an_id_must_have_the_shape_all_the_same() {
        let result = |content: &str| {
            let line = format!(
                r#"{{"type":"tool/result","seq":2,"time":5,"data":{{"callId":"c","content":{content},"isError":false}},"surfaceOp":{{"op":"replace","start":1,"end":1}},"sourceEventSeqs":[1]}}"#
            );
            row(&line).fault(Code::MessageShape).is_some()
        };
        assert!(!result("[]"));
        assert!(result("7"));
    }

    #[test]
    fn a_result_is_the_same_by_value_whatever_the_order_and_the_last_of_two_members_counts() {
        let same = |a: &str, b: &str| {
            let data = |members: &str, content: &str| {
                format!(
                    r#"{{{members},"message":{{"id":"m","content":[{{"type":"tool-result","content":{content}}}]}}}}"#
                )
            };
            let (a, b) = (data(a, "[]"), data(b, "[1]"));
            let raw = |text: &str| Raw::parse(text.as_bytes()).unwrap().bytes().to_vec();
            let (a, b) = (raw(&a), raw(&b));
            let dialect = Dialect::of(0).unwrap();
            detail::is_same_result(Raw::parse(&a).unwrap(), Raw::parse(&b).unwrap(), dialect)
        };
        assert!(same(r#""turn":1,"step":2,"step":1"#, r#""step":1.0,"turn":1"#));
        assert!(!same(r#""turn":1,"step":1,"step":2"#, r#""turn":1,"step":1"#));
    }

    #[test]
    fn a_packed_row_that_breaks_a_rule_is_unparsable() {
        for (data, rule) in [
            (r#"{"turn":1,"step":1,"index":0,"dt":[],"texts":[]}"#, "M8"),
            (r#"{"turn":1,"step":1,"index":0,"dt":[1],"texts":["a"]}"#, "M10"),
            (r#"{"turn":1,"step":"1","index":0,"dt":[],"texts":["a"]}"#, "M7"),
            (r#"{"turn":1,"step":1,"index":0,"dt":[],"texts":["a"],"x":1}"#, "M5"),
            ("null", "M4"),
        ] {
            let line = format!(r#"{{"type":"text-chunks","seq0":1,"time0":5,"data":{data}}}"#);
            let row = row(&line);
            assert_eq!(row.form, Form::Unparsable);
            assert!(row.detail.unwrap().faults[0].message.starts_with(rule), "{data}");
        }
    }
}
