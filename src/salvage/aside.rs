//! The file of everything that is not in the new session: one JSON value a line, in file order, each
//! with its place.

use super::base64;
use super::record::{At, Fate, Record, Run, Why};
use super::scan::Scan;
use super::stand::{text_bytes, text_of};
use crate::json::write::Object;
use crate::position::{FrameNo, TextOffset};
use crate::storage::source::Source;
use crate::storage::text::TextReader;
use std::io::{self, Write};

/// How many bytes of a run stand on one line.
const PART: u64 = 768 << 10;

/// Writes the file; `header` says whether the stored header is among what is put aside.
pub(super) fn write(source: &Source, scan: &Scan, header: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut reader = TextReader::new(source, &scan.map);
    if let Some((at, _, _)) = scan.header.filter(|_| header) {
        let object = place(scan, At::Text(at)).text("reason", b"header-rebuilt");
        line(out, value(object, "header", &scan.header_text))?;
    }
    let mut runs = scan.runs.iter().peekable();
    for record in scan.records.iter().filter(|record| record.fate != Fate::Kept) {
        let byte = scan.file_byte(At::Text(record.text));
        while let Some(run) = runs.next_if(|run| is_before(scan, run, record.text, byte)) {
            write_run(source, scan, &mut reader, run, out)?;
        }
        write_record(scan, &mut reader, record, out)?;
    }
    for run in runs {
        write_run(source, scan, &mut reader, run, out)?;
    }
    Ok(())
}

fn is_before(scan: &Scan, run: &Run, text: u64, byte: u64) -> bool {
    match run.at {
        At::Text(at) => at < text,
        At::File(_) => scan.file_byte(run.at) < byte,
    }
}

fn write_record(
    scan: &Scan,
    reader: &mut TextReader<'_>,
    record: &Record,
    out: &mut dyn Write,
) -> io::Result<()> {
    let text = text_of(reader, record).map_err(io::Error::other)?;
    let object = place(scan, At::Text(record.text))
        .int("seq", record.seq)
        .text("reason", record.fate.name().as_bytes());
    line(out, value(object, "record", &text))
}

fn write_run(
    source: &Source,
    scan: &Scan,
    reader: &mut TextReader<'_>,
    run: &Run,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut done = 0;
    while done < run.bytes {
        let bytes = PART.min(run.bytes - done);
        let at = match run.at {
            At::File(at) => At::File(at + done),
            At::Text(at) => At::Text(at + done),
        };
        let object = place(scan, at)
            .int_if("seq", run.seq)
            .text("reason", run.why.name().as_bytes())
            .bool("stored", matches!(at, At::File(_)));
        if run.why == Why::Zeros {
            // Zero bytes say no more than how many they are.
            return line(out, object.int("zeros", run.bytes).end());
        }
        let content = match at {
            At::File(at) => {
                let mut content = vec![0; bytes as usize];
                let got = source.read_at(at, &mut content).map_err(io::Error::other)?;
                content.truncate(got);
                content
            }
            At::Text(at) => text_bytes(reader, at, bytes)?,
        };
        line(out, object.int("bytes", bytes).text("base64", &base64::encode(&content)).end())?;
        done += bytes;
    }
    Ok(())
}

/// The members that every line begins with: the byte of the file, and for text the frame and the
/// place in all decoded text.
fn place(scan: &Scan, at: At) -> Object {
    let object = Object::new().int("byte", scan.file_byte(at));
    match at {
        At::File(_) => object,
        At::Text(text) => {
            let frame = scan.map.frame_of(TextOffset(text)).map(|FrameNo(n)| n);
            object.int_if("frame", frame).int("textByte", text)
        }
    }
}

/// Adds stored JSON as it is; where it is no Unicode as base64.
fn value(object: Object, name: &str, text: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(text) {
        Ok(_) => object.raw(name, text).end(),
        Err(_) => object.text("base64", &base64::encode(text)).end(),
    }
}

fn line(out: &mut dyn Write, mut text: Vec<u8>) -> io::Result<()> {
    text.push(b'\n');
    out.write_all(&text)
}
