//! Packed chunk rows: one line for a run of delta chunks (v0 section 6).

use super::packed::{Packed, Tally};
use super::parts::Parts;
use crate::json::Raw;
use crate::json::write::Object;
use crate::seq::MAX_SAFE;

/// Which members of a row are handed on. All of them are deltas of one block in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Members {
    /// All.
    All,
    /// The first and the last, and where time goes back the two beside that.
    Edges,
}

/// A row that is sound: what it stands for.
#[derive(Clone, Copy, Debug)]
pub struct ChunkRow<'a> {
    /// Which kind.
    pub packed: Packed,
    /// The seq of the first member.
    pub seq0: u64,
    /// The time of the first member.
    pub time0: i64,
    /// The time of the last member.
    pub last_time: i64,
    /// How many members; at least 1.
    pub members: u64,
    turn: Raw<'a>,
    step: Raw<'a>,
    index: Raw<'a>,
    id: Option<Raw<'a>>,
    name: Option<Raw<'a>>,
    steps: Raw<'a>,
    payload: Raw<'a>,
}

/// The head of a packed row whose payload was tallied: seq, time of the first and the last member,
/// members. `None` where the general way must look.
#[must_use]
pub fn tallied(tally: &Tally, parts: &Parts<'_>) -> Option<(u64, i64, i64, u64)> {
    let plain = [parts.seq, parts.time, parts.ignorable, parts.op, parts.sources, parts.foreign_key];
    if plain.iter().any(Option::is_some) {
        return None;
    }
    let seq0 = parts.seq0?.count()?;
    let time0 = parts.time0?.safe_int()?;
    let last_time = time0 + tally.elapsed;
    // Running times can only leave the range of safe integers where this margin does not hold.
    let far = tally.steps.checked_mul(999_999_999)?;
    let sound = time0.unsigned_abs().checked_add(far)? <= MAX_SAFE && seq0 + (tally.members - 1) <= MAX_SAFE;
    sound.then_some((seq0, time0, last_time, tally.members))
}

/// Why a row is malformed: the rule of v0 section 6.2 and what it asks.
pub type Malformed = &'static str;

impl<'a> ChunkRow<'a> {
    /// Reads a row whose tag is known. Errors name the rule that it breaks.
    pub fn parse(packed: Packed, parts: &Parts<'a>) -> Result<ChunkRow<'a>, Malformed> {
        let plain = [parts.seq, parts.time, parts.ignorable, parts.op, parts.sources];
        let (Some(seq0), Some(time0), Some(data)) = (parts.seq0, parts.time0, parts.data) else {
            return Err("M1: a packed row lacks a key");
        };
        if parts.foreign_key.is_some() || plain.iter().any(Option::is_some) {
            return Err("M1: a packed row has another key");
        }
        let seq0 = seq0.count().ok_or("M2: seq0 is no seq")?;
        let time0 = time0.safe_int().ok_or("M3: time0 is no time")?;
        if !data.is_object() {
            return Err("M4: the data of a packed row is no object");
        }
        let [turn, step, index, steps, payload, id, name] =
            data.get_all(["turn", "step", "index", "dt", packed.payload(), "id", "name"]);
        let (Some(turn), Some(step), Some(index), Some(steps), Some(payload)) =
            (turn, step, index, steps, payload)
        else {
            return Err("M5: the data of a packed row lacks a key");
        };
        let tool_call = packed == Packed::ToolCall;
        if tool_call != id.is_some() || (!tool_call && name.is_some()) || has_foreign_key(data, packed) {
            return Err("M5: the data of a packed row has the wrong keys");
        }
        let is_text = |value: Option<Raw<'_>>| value.is_none_or(|v| v.kind() == crate::json::Kind::String);
        if !is_text(id) || !is_text(name) {
            return Err("M6: id or name of a packed row is no string");
        }
        if [turn, step, index].iter().any(|v| v.kind() != crate::json::Kind::Number) {
            return Err("M7: turn, step or index of a packed row is no number");
        }
        let members = count_texts(payload)?;
        let last_time = end_time(time0, steps, members)?;
        if seq0 + (members - 1) > MAX_SAFE {
            return Err("M11: the last seq of a packed row is too large");
        }
        Ok(ChunkRow { packed, seq0, time0, last_time, members, turn, step, index, id, name, steps, payload })
    }

    /// Hands on members as an event's seq, time and data, in order.
    ///
    /// `each` returns whether to go on.
    pub fn expand(&self, which: Members, mut each: impl FnMut(u64, i64, &[u8]) -> bool) {
        let step = |step: Option<Raw<'_>>| step.and_then(Raw::safe_int).unwrap_or(0);
        let mut time = self.time0;
        let mut steps = self.steps.elements();
        let mut ahead = step(steps.next());
        for (n, text) in self.payload.elements().enumerate() {
            let (since, next) = if n == 0 { (0, ahead) } else { (ahead, step(steps.next())) };
            time += since;
            ahead = next;
            let is_edge = n == 0 || n as u64 + 1 == self.members || since < 0 || next < 0;
            let wanted = which == Members::All || is_edge;
            if wanted && !each(self.seq0 + n as u64, time, &self.member(text)) {
                return;
            }
        }
    }

    /// The times of the members, in order.
    pub fn times(&self) -> impl Iterator<Item = i64> + '_ {
        let steps = self.steps.elements().map(|step| step.safe_int().unwrap_or(0));
        std::iter::once(0).chain(steps).scan(self.time0, |time, step| {
            *time = time.saturating_add(step);
            Some(*time)
        })
    }

    /// The data of one member (v0 sections 6.2 and 8.3).
    fn member(&self, payload: Raw<'_>) -> Vec<u8> {
        let chunk =
            Object::new().text("type", self.packed.chunk_type().as_bytes()).raw("index", self.index.bytes());
        let chunk = match self.packed {
            Packed::ToolCall => chunk
                .raw_if("id", self.id.map(Raw::bytes))
                .raw_if("name", self.name.map(Raw::bytes))
                .raw("argumentsDelta", payload.bytes()),
            _ => chunk.raw("text", payload.bytes()),
        };
        Object::new()
            .raw("turn", self.turn.bytes())
            .raw("step", self.step.bytes())
            .raw("chunk", &chunk.end())
            .end()
    }
}

fn has_foreign_key(data: Raw<'_>, packed: Packed) -> bool {
    let known = ["turn", "step", "index", "dt", packed.payload(), "id", "name"];
    data.members().any(|(key, _)| !known.iter().any(|name| key.is(name)))
}

fn count_texts(payload: Raw<'_>) -> Result<u64, Malformed> {
    const RULE: Malformed = "M8: the payload of a packed row is no list of strings";
    if !payload.is_array() {
        return Err(RULE);
    }
    let mut members = 0;
    for element in payload.elements() {
        if element.kind() != crate::json::Kind::String {
            return Err(RULE);
        }
        members += 1;
    }
    if members == 0 { Err(RULE) } else { Ok(members) }
}

fn end_time(time0: i64, steps: Raw<'_>, members: u64) -> Result<i64, Malformed> {
    if !steps.is_array() {
        return Err("M9: dt of a packed row is no list of integers");
    }
    let mut time = time0;
    let mut count = 0;
    let mut overflow = false;
    for step in steps.elements() {
        let step = step.safe_int().ok_or("M9: dt of a packed row is no list of integers")?;
        count += 1;
        time = time.saturating_add(step);
        overflow |= time.unsigned_abs() > MAX_SAFE;
    }
    if count != members - 1 {
        return Err("M10: dt of a packed row has the wrong length");
    }
    if overflow {
        return Err("M12: a time of a packed row is too large");
    }
    Ok(time)
}

/// The text of a chunk event, as the writer would store it unpacked.
#[must_use]
pub fn event_text(seq: u64, time: i64, data: &[u8]) -> Vec<u8> {
    Object::new().text("type", b"assistant/chunk").int("seq", seq).int("time", time).raw("data", data).end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::judge;
    use crate::json::jumps::Jumps;

    fn met(which: Members, steps: &str, texts: usize) -> Vec<(u64, i64)> {
        let texts = vec!["\"x\""; texts].join(",");
        let line = format!(
            r#"{{"type":"text-chunks","seq0":5,"time0":100,"data":{{"turn":1,"step":1,"index":0,"dt":[{steps}],"texts":[{texts}]}}}}"#
        );
        let mut jumps = Jumps::default();
        let parts = judge::envelope(line.as_bytes(), &mut jumps).unwrap();
        let row = ChunkRow::parse(Packed::Text, &parts).unwrap();
        let mut met = Vec::new();
        row.expand(which, |seq, time, _| {
            met.push((seq, time));
            true
        });
        met
    }

    #[test]
    fn the_edges_of_a_row_are_its_ends_and_where_time_goes_back() {
        assert_eq!(met(Members::All, "1,1,1", 4), [(5, 100), (6, 101), (7, 102), (8, 103)]);
        assert_eq!(met(Members::Edges, "1,1,1", 4), [(5, 100), (8, 103)]);
        assert_eq!(met(Members::Edges, "1,1,-7,1,1", 6), [(5, 100), (7, 102), (8, 95), (10, 97)]);
        assert_eq!(met(Members::Edges, "", 1), [(5, 100)]);
    }
}
