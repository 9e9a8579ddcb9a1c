//! One thing wrong or noteworthy in a log.

use crate::fault::{Code, Severity};
use crate::json::write::Object;
use crate::limits::Limits;
use crate::position::{FileOffset, FrameNo, LineNo, Place};
use crate::seq::Seq;
use std::collections::BTreeMap;
use std::fmt;

/// A fault at a place: damage is data, not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which fault.
    pub code: Code,
    /// How the harness takes it, here.
    pub severity: Severity,
    /// Where.
    pub place: Place,
    /// What was found and what follows, lower case, without the place.
    pub message: String,
    /// What should stand there, where that is one thing.
    pub expected: Option<String>,
    /// What stands there.
    pub found: Option<String>,
}

impl Finding {
    /// A finding with a message and nothing more.
    #[must_use]
    pub fn new(code: Code, severity: Severity, place: Place, message: impl Into<String>) -> Finding {
        Finding { code, severity, place, message: message.into(), expected: None, found: None }
    }

    /// Adds what was expected and what was found.
    #[must_use]
    pub fn versus(mut self, expected: impl Into<String>, found: impl Into<String>) -> Finding {
        self.expected = Some(expected.into());
        self.found = Some(found.into());
        self
    }

    /// The JSON of the product page: `code, severity, message, byte?, line?, frame?, seq?,
    /// expected?, found?`.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        Object::new()
            .text("code", self.code.name().as_bytes())
            .text("severity", self.severity.name().as_bytes())
            .text("message", self.message.as_bytes())
            .int_if("byte", self.place.byte.map(|FileOffset(n)| n))
            .int_if("line", self.place.line.map(|LineNo(n)| n))
            .int_if("frame", self.place.frame.map(|FrameNo(n)| n))
            .int_if("seq", self.place.seq.map(|Seq(n)| n))
            .text_if("expected", self.expected.as_deref().map(str::as_bytes))
            .text_if("found", self.found.as_deref().map(str::as_bytes))
            .end()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place != Place::default() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.message)?;
        if let (Some(expected), Some(found)) = (&self.expected, &self.found) {
            write!(f, ": expected {expected}, found {found}")?;
        }
        Ok(())
    }
}

/// Findings in the order in which they were met, bounded for each code.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
    counts: BTreeMap<Code, u64>,
}

impl Findings {
    /// Adds one; beyond the bound for its code it is only counted.
    pub fn push(&mut self, finding: Finding, limits: &Limits) {
        let count = self.counts.entry(finding.code).or_default();
        *count += 1;
        if *count <= limits.findings_per_code as u64 {
            self.list.push(finding);
        }
    }

    /// Those that are kept whole.
    #[must_use]
    pub fn list(&self) -> &[Finding] {
        &self.list
    }

    /// Those that are kept whole, to amend.
    pub fn list_mut(&mut self) -> &mut Vec<Finding> {
        &mut self.list
    }

    /// How many of each code were met, those not kept included.
    #[must_use]
    pub fn counts(&self) -> &BTreeMap<Code, u64> {
        &self.counts
    }
}
