//! What the harness would do on opening the log.

use crate::fault::{Code, Severity, Stage};
use crate::finding::Finding;
use crate::format::dialect::Dialect;
use crate::json::write::Object;

/// What happens when the harness that wrote this generation opens the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It opens as it is.
    Opens,
    /// It opens, and on resume a tail is cut or an open turn is closed first.
    OpensAfterRepair,
    /// It is refused as damaged.
    Refuses,
    /// It is refused as written by another version.
    Unsupported,
}

impl Outcome {
    /// The stable name used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Opens => "opens",
            Outcome::OpensAfterRepair => "opens-after-repair",
            Outcome::Refuses => "refuses",
            Outcome::Unsupported => "unsupported",
        }
    }

    /// Whether the log opens, repaired or not.
    #[must_use]
    pub fn opens(self) -> bool {
        matches!(self, Outcome::Opens | Outcome::OpensAfterRepair)
    }
}

/// The bytes that repair would drop from the tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The first byte of the file that goes.
    pub from: u64,
    /// How many bytes go.
    pub bytes: u64,
    /// How many whole events in them continue the log, and are written again.
    pub recovered: u64,
    /// How many whole records in them do not, and would be lost.
    pub lost_records: u64,
}

/// The verdict, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What happens.
    pub outcome: Outcome,
    /// The class of a refusal, in the harness's terms.
    pub class: Option<&'static str>,
    /// The finding that decides a refusal.
    pub reason: Option<Finding>,
    /// What repair would cut.
    pub cut: Option<Cut>,
}

/// Whether a fault means "written by another version" and not "damaged".
#[must_use]
pub fn is_unsupported(code: Code) -> bool {
    matches!(code, Code::FormatNewer | Code::FormatOlder | Code::UnknownEventType | Code::RowRetiredType)
}

/// The finding that decides, by the generation's order of stages; of one stage the first met, and
/// where events are put together the earliest event.
#[must_use]
pub fn deciding<'a>(findings: &'a [Finding], dialect: &Dialect) -> Option<&'a Finding> {
    findings.iter().filter(|finding| finding.severity == Severity::Refuses).min_by_key(|finding| {
        let stage = finding.code.stage();
        let seq = finding.place.seq.filter(|_| stage == Stage::Events);
        (dialect.rank(stage), seq)
    })
}

impl Verdict {
    /// The JSON of the product page: `outcome, class?, reason?`.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        Object::new()
            .text("outcome", self.outcome.name().as_bytes())
            .text_if("class", self.class.map(str::as_bytes))
            .text_if("reason", self.reason.as_ref().map(|r| r.to_string().into_bytes()).as_deref())
            .end()
    }
}
