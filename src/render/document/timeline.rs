//! The document of `timeline`.

use dsh_log::json::write::Object;
use dsh_log::view::timeline::{self, Sort, Stretch};

/// The stretches and what they add up to.
pub(crate) fn document(rows: &[Stretch], only_sums: bool) -> Vec<u8> {
    let sums = timeline::sums(rows);
    let sums = Sort::ALL.iter().filter_map(|sort| {
        let sum = sums.get(sort)?;
        let out = Object::new().text("kind", sort.name().as_bytes()).int("count", sum.count);
        Some(out.int("millis", sum.millis).int("wallMillis", sum.wall).end())
    });
    let out = Object::new().text("schema", b"dsh-log/timeline@1");
    let out = if only_sums { out } else { out.list("rows", rows.iter().map(row)) };
    out.list("totals", sums).end()
}

fn row(row: &Stretch) -> Vec<u8> {
    Object::new()
        .text("kind", row.sort.name().as_bytes())
        .text("name", row.name.as_bytes())
        .int("seq", row.seq.0)
        .int_if("turn", row.turn)
        .int("from", row.from)
        .int("to", row.to)
        .int("millis", row.millis())
        .int_if("firstTokenMillis", row.first_token)
        .bool("ended", row.ended)
        .end()
}
