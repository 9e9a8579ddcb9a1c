//! From one line to a row: the envelope, old shapes, and all that can be said of the record alone.

use super::chunk_rows::{self, ChunkRow};
use super::detail::Detail;
use super::dialect::{Dialect, Inherited};
use super::event::Event;
use super::kind::Kind;
use super::legacy::{self, Upgrade};
use super::packed::{Packed, Tally};
use super::parts::{Parts, RowFault};
use super::row::{Form, Row, RowContext};
use super::slim::slim;
use super::surface_op::SurfaceOp;
use super::{admission, gather, relations, row_faults};
use crate::fault::Code;
use crate::json::jumps::{Jumps, Notes};
use crate::json::unchecked::Unchecked;
use crate::json::{self, Raw, SyntaxFault, text};
use crate::seq::Seq;
use std::borrow::Cow;
use std::ops::Range;

/// The envelope of a line, checked as it is walked; `jumps` is scratch that the parts refer to.
///
/// Errors are rows that say what the line is instead.
pub fn envelope<'a>(line: &'a [u8], jumps: &'a mut Jumps) -> Result<Parts<'a>, Row> {
    let layout = Layout::of(line, jumps)?;
    Ok(layout.parts(line, jumps.notes()))
}

/// Where the members of an envelope stand in its line: what can be kept beside a line and turned into
/// parts later, without walking the line again.
#[derive(Clone, Debug)]
pub struct Layout {
    members: [Option<Range<usize>>; SLOTS],
    tally: Option<Tally>,
}

impl Layout {
    /// Walks a line, checking it; `jumps` gets its notes. Errors are rows that say what the line is
    /// instead.
    pub fn of(line: &[u8], jumps: &mut Jumps) -> Result<Layout, Row> {
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
        Ok(Layout { members, tally })
    }

    /// The parts of the line that this is the layout of, with the notes of its walk.
    #[must_use]
    pub fn parts<'a>(&self, line: &'a [u8], notes: Notes<'a>) -> Parts<'a> {
        let [type_name, seq, time, data, op, sources, ignorable, seq0, time0, foreign_key] =
            self.members.clone().map(|range| range.map(|range| Raw::noted(line, range, notes)));
        let tally = self.tally;
        Parts { type_name, seq, time, data, ignorable, op, sources, foreign_key, seq0, time0, tally }
    }
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
        gleaned: None,
    };
    if context.known {
        let invalid_utf8 = matches!(text, Cow::Owned(_));
        judge(&mut row, &parts, invalid_utf8, context);
    }
    if let Some(glean) = context.glean.filter(|glean| glean.wants(row.kind)) {
        row.gleaned =
            event(&row, &parts, &text, context.dialect).map(|event| glean.glean(&event, context.dialect));
    }
    row
}

/// The event of a row, as far as its line tells; `None` for one of an old shape.
fn event<'a>(row: &Row, parts: &Parts<'a>, text: &'a [u8], dialect: &Dialect) -> Option<Event<'a>> {
    if row.detail.as_ref().is_some_and(|detail| detail.legacy) {
        return None;
    }
    let event = Event::of_parts(parts, row.kind, text, dialect)?;
    Some(Event { seq: Seq(row.seq.unwrap_or(0.0).max(0.0) as u64), time: row.time, ..event })
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
        gleaned: None,
    }
}

/// Fills in a row's detail and, for an old shape, its kind.
fn judge(row: &mut Row, parts: &Parts<'_>, invalid_utf8: bool, context: &RowContext<'_>) {
    let dialect = context.dialect;
    let mut detail = Detail::default();
    detail.faults.extend(admission::hard_fault(parts, row.kind, dialect));
    row_faults::envelope(row.kind, parts, dialect, &mut detail);
    detail.faults.extend(admission::late_fault(parts, row.kind, dialect));
    let mut data = parts.data;
    let upgraded;
    if dialect.legacy_shapes {
        row_faults::retired(row.kind, data, &mut detail);
        upgraded = upgrade(row, parts, context, &mut detail);
        if let Some(text) = &upgraded {
            data = Raw::parse(text).ok();
        }
    }
    gather::parts(row.kind, data, dialect, &mut detail);
    if dialect.relations && dialect.knows(row.kind) && relations::takes_part(row.kind) {
        detail.relation = data.map(|data| slim(row.kind, data).into());
    }
    if row.kind == Kind::EndSeed
        && dialect.inherited == Inherited::TaggedEndSeed
        && !data.is_some_and(Raw::is_object)
    {
        detail
            .faults
            .push(RowFault::new(Code::EndSeedShape, "the data of a session/end-seed is not an object"));
    }
    if let Some(data) = data {
        row.ends_attempt = row.kind == Kind::AssistantChunk && is_finish(data);
    }
    row_faults::vocabulary(row.kind, parts, data, dialect, &mut detail);
    row_faults::crash(row.kind, data, dialect, &mut detail);
    row_faults::events(row, parts, data, dialect, &mut detail);
    detail.invalid_utf8 = invalid_utf8;
    if !gather::is_plain(row.kind) || !detail.faults.is_empty() || detail.invalid_utf8 {
        row.detail = Some(Box::new(detail));
    }
}

fn is_finish(data: Raw<'_>) -> bool {
    data.path(&["chunk", "type"]).is_some_and(|t| t.is("finish"))
}

/// The data of a record of an old shape as the harness upgrades it in memory.
fn upgrade(
    row: &mut Row,
    parts: &Parts<'_>,
    context: &RowContext<'_>,
    detail: &mut Detail,
) -> Option<Vec<u8>> {
    let op = SurfaceOp::parse(parts.op, context.dialect);
    let seq = row.seq.filter(|n| *n >= 0.0).unwrap_or(0.0) as u64;
    match legacy::upgrade(row.kind, parts.data?, op, context.session_id, seq) {
        Upgrade::Current => None,
        Upgrade::Malformed(why) => {
            detail.faults.push(RowFault::new(Code::LegacyMalformed, why));
            None
        }
        Upgrade::Rewritten { kind, data, inherits_id_from } => {
            row.kind = kind;
            detail.legacy = true;
            detail.inherits_id_from = inherits_id_from;
            Some(data)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(line: &str) -> Row {
        let dialect = Dialect::of(0).unwrap();
        parse(line.as_bytes(), &RowContext { dialect, session_id: b"s", known: true, glean: None })
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
        let detail =
            parse(line, &RowContext { dialect, session_id: b"s", known: true, glean: None }).detail.unwrap();
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
            gather::is_same_result(Raw::parse(&a).unwrap(), Raw::parse(&b).unwrap(), dialect)
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
