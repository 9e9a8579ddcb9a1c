//! The document of `state`.

use dsh_log::json::write::Object;
use dsh_log::view::state::{Child, Pending, Scheduled, State};

/// All that was in force, each with the event that set it.
pub(crate) fn document(state: &State) -> Vec<u8> {
    let mut out = Object::new().text("schema", b"dsh-log/state@1");
    if let Some((seq, place)) = state.open {
        let open = Object::new().int("seq", seq.0).int_if("turn", place.turn).int_if("step", place.step);
        out = out.raw("openTurn", &open.end());
    }
    out = out.text_if("headerAgentPreset", state.header_preset.as_deref().map(str::as_bytes));
    for set in &state.set {
        let value = Object::new()
            .int("seq", set.seq.0)
            .int("time", set.time)
            .text("type", set.kind.name().as_bytes())
            .bool("inherited", set.inherited)
            .raw("data", &set.data);
        let rounds = state.goal_rounds.filter(|_| set.name == "goal");
        out = out.raw(set.name, &value.int_if("roundsStarted", rounds).end());
    }
    let inbox = Object::new()
        .list("nextTurn", state.inbox.next_turn.iter().map(pending))
        .list("nextStep", state.inbox.next_step.iter().map(pending))
        .list("broken", state.inbox.broken.iter().map(|seq| seq.to_string()));
    out.raw("inbox", &inbox.end())
        .list("schedule", state.schedule.active.iter().map(scheduled))
        .list("children", state.children.iter().map(child))
        .end()
}

fn pending(pending: &Pending) -> Vec<u8> {
    Object::new()
        .int("seq", pending.seq.0)
        .text("id", pending.id.as_bytes())
        .text("source", pending.source.as_bytes())
        .text("words", pending.words.as_bytes())
        .end()
}

fn scheduled(record: &Scheduled) -> Vec<u8> {
    Object::new()
        .int("seq", record.seq.0)
        .int("touchedSeq", record.touched.0)
        .text_if("acceptedAt", record.accepted_at.as_deref().map(str::as_bytes))
        .raw("record", &record.record)
        .end()
}

fn child(child: &Child) -> Vec<u8> {
    Object::new()
        .int("seq", child.seq.0)
        .text_if("id", child.id.as_deref().map(str::as_bytes))
        .text_if("label", child.label.as_deref().map(str::as_bytes))
        .text("status", child.status.as_bytes())
        .end()
}
