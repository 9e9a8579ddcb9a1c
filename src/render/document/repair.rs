//! The document of `repair`.

use dsh_log::json::write::Object;
use dsh_log::repair::plan::Mended;
use dsh_log::repair::{Applied, Plan, Undo, WrittenPlan};
use dsh_log::view::summary::OpenCall;

/// The plan, and with `applied` what became of it.
pub(crate) struct Document {
    out: Object,
}

impl Document {
    /// What is planned.
    pub(crate) fn of(
        plan: &Plan,
        applied: bool,
        unknown: &[&OpenCall],
        sidecar: Option<&std::path::Path>,
    ) -> Document {
        let cut = plan.cut.map_or_else(
            || b"null".to_vec(),
            |cut| {
                Object::new()
                    .int("from", cut.from)
                    .int("bytes", cut.bytes)
                    .int("lostRecords", cut.lost_records)
                    .text_if(
                        "sidecar",
                        sidecar.map(|p| p.to_string_lossy().into_owned().into_bytes()).as_deref(),
                    )
                    .end()
            },
        );
        let verify = unknown.iter().map(|call| {
            Object::new()
                .text("callId", call.call_id.as_bytes())
                .text("name", call.name.as_bytes())
                .text("arguments", call.arguments.as_bytes())
                .int("seq", call.seq.0)
                .end()
        });
        let out = Object::new()
            .text("schema", b"dsh-log/repair@1")
            .text("path", plan.path.to_string_lossy().as_bytes())
            .bool("applied", applied)
            .raw("cut", &cut)
            .int("recovered", plan.recovered)
            .list("appended", &plan.appended)
            .list("verifyByHand", verify)
            .text_if("mends", plan.mended.map(|mended| name(mended).as_bytes()))
            .raw("verdictBefore", &plan.before.to_json());
        Document { out }
    }

    /// Adds what `--plan` needs to carry out exactly this.
    #[must_use]
    pub(crate) fn planned(mut self, plan: &Plan, at: i64) -> Document {
        self.out = self.out.raw("plan", &WrittenPlan::of(plan, at).to_json());
        self
    }

    /// Adds the outcome.
    #[must_use]
    pub(crate) fn applied(mut self, applied: &Applied) -> Document {
        self.out = self
            .out
            .raw("verdictAfter", &applied.after.to_json())
            .text("output", applied.path.to_string_lossy().as_bytes());
        self
    }

    /// The text.
    pub(crate) fn end(self) -> Vec<u8> {
        self.out.end()
    }
}

fn name(mended: Mended) -> &'static str {
    match mended {
        Mended::Padding => "padding",
        Mended::EndSeed => "end-seed",
    }
}

/// A repair taken back, or what would be.
pub(crate) fn undone(undo: &Undo, applied: bool) -> Vec<u8> {
    let restored =
        Object::new().int("from", undo.keep).int("bytes", undo.returns).int("removed", undo.goes).end();
    Object::new()
        .text("schema", b"dsh-log/repair@1")
        .text("path", undo.path.to_string_lossy().as_bytes())
        .bool("applied", applied)
        .raw("restored", &restored)
        .text("sidecar", undo.sidecar.to_string_lossy().as_bytes())
        .end()
}
