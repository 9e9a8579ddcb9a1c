//! The document of `diff`.

use super::header::change;
use dsh_log::json::write::Object;
use dsh_log::view::diff::alignment::Pair;
use dsh_log::view::diff::divergence::Own;
use dsh_log::view::diff::moves::Move;
use dsh_log::view::diff::{Diff, Field, Side, Since};

/// The whole comparison.
pub(crate) fn document(diff: &Diff, sides: [Side<'_>; 2]) -> Vec<u8> {
    let [first, second] = [0, 1].map(|n| side(sides[n], diff.since[n], diff.divergence.own[n].as_ref()));
    let common = Object::new()
        .int("events", diff.divergence.common)
        .int("turns", diff.divergence.turns)
        .int("differsFrom", diff.divergence.at.0)
        .end();
    Object::new()
        .text("schema", b"dsh-log/diff@1")
        .bool("same", diff.is_same())
        .text("relation", diff.kinship.name().as_bytes())
        .raw("first", &first)
        .raw("second", &second)
        .list("headerLine", diff.header.iter().map(field))
        .raw("common", &common)
        .list("settings", diff.settings.iter().map(change))
        .list("moves", diff.pairs.iter().map(|pair| moves(*pair, &diff.moves)))
        .end()
}

fn side(side: Side<'_>, since: Since, own: Option<&Own>) -> Vec<u8> {
    let log = side.log;
    let id = log.header().map(|header| header.shown_id());
    let since = Object::new()
        .int("events", since.events)
        .int("turns", since.turns)
        .int("requests", since.requests)
        .int("calls", since.calls)
        .int("failures", since.failures)
        .end();
    Object::new()
        .text_if("id", id.as_deref().map(str::as_bytes))
        .text("path", log.source().path().display().to_string().as_bytes())
        .int_if("format", log.is_known_format().then_some(log.dialect().version))
        .int("events", side.moment.events(log))
        .int("inherited", log.inherited())
        .raw_if("differs", own.map(differs).as_deref())
        .raw("since", &since)
        .end()
}

fn differs(own: &Own) -> Vec<u8> {
    Object::new()
        .int("seq", own.seq.0)
        .text("type", own.kind.as_bytes())
        .int("time", own.time)
        .int_if("turn", own.location.turn)
        .int_if("step", own.location.step)
        .end()
}

fn field(field: &Field) -> Vec<u8> {
    Object::new()
        .text("field", field.name.as_bytes())
        .raw_if("first", field.first.as_deref())
        .raw_if("second", field.second.as_deref())
        .end()
}

fn moves(pair: Pair, moves: &[Vec<Move>; 2]) -> Vec<u8> {
    let (first, second) = match pair {
        Pair::Same(a, b) | Pair::Otherwise(a, b) => (Some(a), Some(b)),
        Pair::First(a) => (Some(a), None),
        Pair::Second(b) => (None, Some(b)),
    };
    let [first, second] =
        [(first, &moves[0]), (second, &moves[1])].map(|(at, list)| at.and_then(|at| list.get(at)).map(one));
    Object::new()
        .text("how", pair.name().as_bytes())
        .raw_if("first", first.as_deref())
        .raw_if("second", second.as_deref())
        .end()
}

fn one(m: &Move) -> Vec<u8> {
    let filled = |text: &'_ str| (!text.is_empty()).then(|| text.as_bytes().to_vec());
    Object::new()
        .text("what", m.what.name().as_bytes())
        .int("seq", m.seq.0)
        .int_if("turn", m.turn)
        .text_if("name", filled(&m.name).as_deref())
        .text_if("words", filled(&m.words).as_deref())
        .text_if("outcome", m.outcome.as_ref().map(|o| o.name().as_bytes()))
        .int_if("resultBytes", m.result_bytes)
        .end()
}
