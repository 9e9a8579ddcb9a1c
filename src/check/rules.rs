//! Where each rule stands on the format pages, and what the harness does when it is broken.

use crate::fault::Code;
use crate::json::write::Object;

/// The section of the format pages that a code comes from. A code without one does not compile.
#[must_use]
pub fn section(code: Code) -> &'static str {
    use Code as C;
    match code {
        C::FrameMagic | C::FrameReserved | C::FrameWindow | C::FrameUndecodable | C::HeaderFrame => {
            "v0 3.2, 3.3"
        }
        C::HeaderAbsent | C::LineUnterminated | C::TornTail | C::NulRun | C::RecordsBehind => "v0 3.3, 3.4",
        C::HeaderNotJson | C::HeaderShape | C::HeaderRetiredFields | C::HeaderCwd => "v0 4, generations 1.2",
        C::HeaderParentSession | C::HeaderSeedLength => "v0 4, generations 1.2",
        C::FormatNewer | C::FormatOlder => "v0 4, v4 14.1",
        C::LineUnparsable | C::LineSeq | C::LineNull | C::GluedRecord | C::TwoWriters => "v0 3.4, 5.2",
        C::RecordTooLarge => "limits of this tool",
        C::RowEnvelope | C::RowLate | C::RowHard | C::RowRetiredType => "generations 1.8, v4 2.4",
        C::EndSeedShape | C::SeedMarkerMissing | C::SeedMarkerUnexpected => "generations 1.2, 2.13",
        C::Identity | C::PlaceMismatch => "v0 2.4",
        C::RetiredHeaderDelta | C::RetiredModeSet | C::RetiredHeaderFallback | C::LegacyMalformed => "v0 5.3",
        C::MessageShape => "v0 5.5, v4 4.1",
        C::DataRule | C::SettlementShape => "v4 2.4, 2.5",
        C::UnknownEventType => "v0 7, generations 1.6, 1.7",
        C::CloserFold | C::CloserMalformed => "v0 12.1, 12.2",
        C::OpenTurn => "v0 12.1",
        C::OpenCompaction => "v4 9.5",
        C::Envelope => "v0 5.1",
        C::RequestHeader => "v0 5.6",
        C::SurfaceOp | C::SurfaceProvenance | C::SurfaceRange => "v0 9.3, generations 3",
        C::Projection => "generations 3.3",
        C::RelData | C::RelDelivery | C::RelCatalog => "v4 8.1",
        C::RelPlacement | C::RelCompaction | C::RelSurface | C::RelTurn | C::RelStep | C::RelCall => "v4 8.2",
        C::RelResult | C::RelTools | C::RelDispatch | C::RelRetry | C::RelTitle | C::RelCommand => "v4 8.2",
        C::EmptyCallId => "v0 15.1",
        C::InvalidUtf8 => "v0 3.1",
        C::LowerGeneration => "generations 1.1",
        C::ForkOfFormat => "generations 8",
        C::InvTurn | C::InvStep | C::InvPlacement | C::InvResult | C::UnansweredCall => "v0 15.1",
        C::RepeatedId | C::TimeBackwards => "v0 15.1",
        C::InvCompaction | C::InvCheckpoint | C::InvCut => "v0 15.2",
        C::InvCommand | C::InvApproval | C::InvHook | C::InvDispatch | C::InvWorkflow => "v0 15.3",
        C::InvRetry | C::InvTitle => "v0 15.4",
        C::InvSetting => "v0 15.3, 15.4",
        C::InvGoal => "v0 7.3, 15.5",
        C::InvTeam | C::InvTimeContext => "v0 15.6",
        C::InvInbox => "v0 7.2, 15.6",
        C::InvSchedule => "v0 7.4, 15.6",
        C::StreamGrammar => "v0 8.3, 15.6",
        C::UpgradeRefused => "generations 1.5, 9, v4 12",
    }
}

/// The rule as JSON: `code, meaning, section, class?`.
#[must_use]
pub fn to_json(code: Code) -> Vec<u8> {
    let class = Some(code.class()).filter(|class| !class.is_empty());
    Object::new()
        .text("code", code.name().as_bytes())
        .text("meaning", code.meaning().as_bytes())
        .text("section", section(code).as_bytes())
        .text_if("class", class.map(str::as_bytes))
        .end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_explained_with_its_section() {
        for code in Code::ALL {
            assert!(!section(*code).is_empty() && !code.meaning().is_empty(), "{code:?}");
        }
    }
}
