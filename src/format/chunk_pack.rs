//! Packing: runs of chunk events in one batch become packed rows (v0 section 6.1).
//!
//! An event is packed only when the row gives it back byte for byte; anything else is written as it
//! stands.

use super::chunk_rows::event_text;
use crate::json::write::Object;
use crate::json::{Kind, Raw};
use crate::seq::MAX_SAFE;
use std::io::{self, Write};

/// The shortest run that becomes a row.
const SHORTEST: usize = 3;

/// The row types: tag, type of the member chunks, key of their words, and of the row's.
const TAGS: [(&str, &str, &str, &str); 3] = [
    ("text-chunks", "text-delta", "text", "texts"),
    ("reasoning-chunks", "reasoning-delta", "text", "texts"),
    ("tool-call-chunks", "tool-call-delta", "argumentsDelta", "args"),
];

/// A chunk event that a row can hold, its values as stored.
struct Chunk<'a> {
    seq: u64,
    time: i64,
    tag: usize,
    /// `turn`, `step`, `index`, `id`, `name`: what all members of a row share.
    shared: [Option<Raw<'a>>; 5],
    words: Raw<'a>,
}

impl<'a> Chunk<'a> {
    /// Reads an event; `None` when it is not packable.
    fn of(line: &'a [u8]) -> Option<Chunk<'a>> {
        // Most lines are no chunks: one look spares the parsing.
        if !line.starts_with(b"{\"type\":\"assistant/chunk\"") {
            return None;
        }
        let event = Raw::parse(line).ok()?;
        let [seq, time, data] = event.get_all(["seq", "time", "data"]);
        let (seq, time) = (seq?.count()?, time?.safe_int()?);
        let [turn, step, chunk] = data?.get_all(["turn", "step", "chunk"]);
        let kind = chunk?.get("type")?;
        let tag = TAGS.iter().position(|tag| kind.is(tag.1))?;
        let [index, id, name, words] = chunk?.get_all(["index", "id", "name", TAGS[tag].2]);
        let is = |value: &Option<Raw<'_>>, wanted| value.as_ref().is_some_and(|value| value.kind() == wanted);
        let numbers = [&turn, &step, &index].into_iter().all(|value| is(value, Kind::Number));
        let texts = [&id, &name].into_iter().all(|value| value.is_none() || is(value, Kind::String));
        if !numbers || !texts || !is(&words, Kind::String) || (tag == 2) != id.is_some() {
            return None;
        }
        let chunk = Chunk { seq, time, tag, shared: [turn, step, index, id, name], words: words? };
        // Other keys, another order, another spelling: what the row would not give back.
        (chunk.text() == line).then_some(chunk)
    }

    /// The event as a row gives it back.
    fn text(&self) -> Vec<u8> {
        let [turn, step, index, id, name] = self.shared.map(|value| value.map(Raw::bytes));
        let chunk = Object::new()
            .text("type", TAGS[self.tag].1.as_bytes())
            .raw_if("index", index)
            .raw_if("id", id)
            .raw_if("name", name)
            .raw(TAGS[self.tag].2, self.words.bytes());
        let data = Object::new().raw_if("turn", turn).raw_if("step", step).raw("chunk", &chunk.end()).end();
        event_text(self.seq, self.time, &data)
    }
}

/// The chunks of a batch that may become one row.
#[derive(Default)]
pub struct Run {
    lines: Vec<Vec<u8>>,
    last: Option<Last>,
    /// `dt` of the row.
    steps: Vec<String>,
    words: Vec<Vec<u8>>,
    /// `seq0` and `time0` of the row.
    first: (u64, i64),
}

/// What the next member must continue.
struct Last {
    seq: u64,
    time: i64,
    tag: usize,
    shared: [Option<Vec<u8>>; 5],
}

impl Run {
    /// Takes the next line of the batch; lines that are not held go out.
    pub fn take(&mut self, line: &[u8], out: &mut dyn Write) -> io::Result<()> {
        let Some(chunk) = Chunk::of(line) else {
            self.flush(out)?;
            out.write_all(line)?;
            return out.write_all(b"\n");
        };
        let shared = chunk.shared.map(|value| value.map(|value| value.bytes().to_vec()));
        let continues = self.last.as_ref().is_some_and(|last| {
            let near = (chunk.time - last.time).unsigned_abs() <= MAX_SAFE;
            near && last.tag == chunk.tag && last.seq + 1 == chunk.seq && last.shared == shared
        });
        if !continues {
            self.flush(out)?;
        }
        match &self.last {
            Some(last) => self.steps.push((chunk.time - last.time).to_string()),
            None => {
                self.first = (chunk.seq, chunk.time);
                self.steps.clear();
                self.words.clear();
            }
        }
        self.lines.push(line.to_vec());
        self.words.push(chunk.words.bytes().to_vec());
        self.last = Some(Last { seq: chunk.seq, time: chunk.time, tag: chunk.tag, shared });
        Ok(())
    }

    /// Ends the run: it goes out as a row, or as it is when it is short.
    pub fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let lines = std::mem::take(&mut self.lines);
        let Some(last) = self.last.take() else { return Ok(()) };
        if lines.len() < SHORTEST {
            return lines.iter().try_for_each(|line| out.write_all(line).and_then(|()| out.write_all(b"\n")));
        }
        let (tag, _, _, key) = TAGS[last.tag];
        let [turn, step, index, id, name] = last.shared;
        let data = Object::new()
            .raw_if("turn", turn.as_deref())
            .raw_if("step", step.as_deref())
            .raw_if("index", index.as_deref())
            .list("dt", &self.steps)
            .raw_if("id", id.as_deref())
            .raw_if("name", name.as_deref())
            .list(key, &self.words);
        let row = Object::new()
            .text("type", tag.as_bytes())
            .int("seq0", self.first.0)
            .int("time0", self.first.1)
            .raw("data", &data.end());
        out.write_all(&row.end())?;
        out.write_all(b"\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(lines: &[&str]) -> String {
        let mut run = Run::default();
        let mut out = Vec::new();
        for line in lines {
            run.take(line.as_bytes(), &mut out).unwrap();
        }
        run.flush(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn delta(seq: u64, time: i64, text: &str) -> String {
        format!(
            r#"{{"type":"assistant/chunk","seq":{seq},"time":{time},"data":{{"turn":1,"step":1,"chunk":{{"type":"text-delta","index":0,"text":"{text}"}}}}}}"#
        )
    }

    #[test]
    fn three_chunks_become_a_row_and_two_stay() {
        let lines = [delta(4, 10, "a"), delta(5, 8, "b"), delta(6, 9, "c")];
        let all: Vec<&str> = lines.iter().map(String::as_str).collect();
        let row = r#"{"type":"text-chunks","seq0":4,"time0":10,"data":{"turn":1,"step":1,"index":0,"dt":[-2,1],"texts":["a","b","c"]}}"#;
        assert_eq!(packed(&all), format!("{row}\n"));
        assert_eq!(packed(&all[..2]), format!("{}\n{}\n", all[0], all[1]));
    }

    #[test]
    fn a_run_ends_at_a_gap_and_at_what_a_row_would_not_give_back() {
        let odd = delta(6, 9, "c").replace("\"seq\"", " \"seq\"");
        let lines = [delta(4, 1, "a"), delta(5, 1, "b"), odd, delta(8, 1, "d"), delta(9, 1, "e")];
        let all: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(packed(&all), all.join("\n") + "\n");
    }

    #[test]
    fn calls_are_packed_by_id_and_name() {
        let call = |seq: u64, name: &str| {
            format!(
                r#"{{"type":"assistant/chunk","seq":{seq},"time":1,"data":{{"turn":1,"step":1,"chunk":{{"type":"tool-call-delta","index":0,"id":"c"{name},"argumentsDelta":"x"}}}}}}"#
            )
        };
        let name = r#","name":"n""#;
        let lines = [call(0, name), call(1, name), call(2, name), call(3, "")];
        let all: Vec<&str> = lines.iter().map(String::as_str).collect();
        let row = r#"{"type":"tool-call-chunks","seq0":0,"time0":1,"data":{"turn":1,"step":1,"index":0,"dt":[0,0],"id":"c","name":"n","args":["x","x","x"]}}"#;
        assert_eq!(packed(&all), format!("{row}\n{}\n", lines[3]));
    }
}
