//! What differs between the generations of the format, as data. Every fold asks here; no other
//! place compares version numbers.

use super::kind::Kind;
use crate::fault::Stage;

/// How a generation says which events were inherited from a parent (generations 1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inherited {
    /// The header's `seedLength`.
    SeedLength,
    /// The last `session/end-seed` with `inherited: true`, announced by the header's `isSeeded`.
    TaggedEndSeed,
}

/// At which point an envelope that breaks the rules is met (v0 section 5.2, generations 1.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvelopeCheck {
    /// When the events are put together: in a tail that is cut it does no harm.
    WithEvents,
    /// While rows are read: in a tail the row is cut.
    WithRows,
}

/// Where the system prompt of a request stands (generations 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemPrompt {
    /// In `request/header`.
    InHeader,
    /// In the message list, as `system/message` events.
    InMessages,
}

/// The shape of the message of a tool result (generations 2.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolResultShape {
    /// Role `user`, the content wrapped in one `tool-result` block.
    Wrapped,
    /// Role `tool`, the content bare.
    Bare,
}

/// Which result answers a pending call (v0 section 12.1, v4 section 9.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answering {
    /// Any result with the call's id.
    ById,
    /// An appended result with the call's id, turn and step.
    AppendedInStep,
}

/// What a fork may cut through, and what it appends (v0 section 13, v4 section 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForkRule {
    /// Closed prefixes only; a plain end-seed unless the prefix ends with one.
    ClosedPlainSeed,
    /// Closed prefixes only; always a tagged end-seed.
    ClosedTaggedSeed,
    /// Any prefix; a tagged end-seed at the boundary's time, then closers.
    OpenTaggedSeed,
}

/// Which row faults a generation's scanner knows beyond the envelope (generations 1.8, v4 2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowRules {
    /// None.
    Envelope,
    /// The hard and late rules of generation 3.
    Generation3,
    /// The row admission of generation 4.
    Generation4,
}

/// Which image blocks `image/offload` counts (generations 3.3, v4 section 6.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageCount {
    /// Depth first, inside `tool-result` blocks too.
    Nested,
    /// Blocks of the content array only.
    TopLevel,
}

/// One generation of the format.
#[derive(Debug)]
pub struct Dialect {
    /// The version in the header.
    pub version: u32,
    /// The harness release whose verdict counts, for messages.
    pub judged_by: &'static str,
    /// The stages of opening, in the order of this generation.
    pub stages: &'static [Stage],
    /// How inherited events are marked.
    pub inherited: Inherited,
    /// Whether header keys beyond the known ones refuse.
    pub strict_header: bool,
    /// Whether packed chunk rows exist.
    pub chunk_rows: bool,
    /// When an envelope fault is met.
    pub envelope: EnvelopeCheck,
    /// Whether a literal `null` line or null data crashes the harness.
    pub crashes_on_null: bool,
    /// Row rules beyond the envelope.
    pub rows: RowRules,
    /// Whether old record shapes are upgraded in memory.
    pub legacy_shapes: bool,
    /// Types that a later release of the same generation added: unknown to the verdict, read by
    /// the views.
    pub later_vocabulary: &'static [Kind],
    /// The surface types.
    pub surface: &'static [Kind],
    /// The names of a replacement's ends.
    pub ends: [&'static str; 2],
    /// Whether the ends must be below the event's own seq (and never `-0`).
    pub ends_below_own: bool,
    /// Whether a replacement's run is looked at before its source list.
    pub range_before_sources: bool,
    /// Whether `sourceEventSeqs` may hold `[start, end]` pairs by the verdict; views read them in
    /// every generation.
    pub source_ranges: bool,
    /// Whether assistant messages may carry `sourceEventSeqs`.
    pub assistant_sources: bool,
    /// Whether an unknown ignorable event may carry surface keys.
    pub ignorable_surface_keys: bool,
    /// Whether `-0` is refused in times and sources.
    pub refuses_negative_zero: bool,
    /// Whether the system message at the head of the surface is protected.
    pub protected_head: bool,
    /// Where the system prompt stands.
    pub system_prompt: SystemPrompt,
    /// The shape of tool results.
    pub tool_result: ToolResultShape,
    /// Which result answers a call.
    pub answering: Answering,
    /// What a fork does.
    pub fork: ForkRule,
    /// Whether rules between events are enforced when a log opens.
    pub relations: bool,
    /// Which images `image/offload` counts.
    pub images: ImageCount,
    /// Whether assistant text is stored as `assistant/chunk` events (and not in streams).
    pub chunk_events: bool,
    /// The versions of team records that can stand in a log: those of its own writers, and those that
    /// an upgrade left as they were.
    pub team_versions: &'static [u64],
    /// Whether a `todo/write` must stand inside a turn.
    pub todo_in_turn: bool,
    /// Whether a session that is written has a lock file.
    pub lock_file: bool,
}

use Kind::{AssistantMessage, DeveloperMessage, SystemMessage, ToolResult, UserMessage};

// What 0.1.2 added while it still called its format 0.
const V0_LATER: &[Kind] = &[Kind::ModelSelection, Kind::SubagentModelSelectionPolicy, Kind::DeliveryAccepted];
const V2_LATER: &[Kind] = &[Kind::FeedbackMessagePut, Kind::FeedbackMessageDelete];

const STAGES_V0: &[Stage] = &[
    Stage::Container,
    Stage::Rows,
    Stage::Identity,
    Stage::RetiredDelta,
    Stage::RetiredMode,
    Stage::RetiredFallback,
    Stage::Shape,
    Stage::Vocabulary,
    Stage::Closers,
    Stage::HeaderFull,
    Stage::Events,
];
const STAGES_V2: &[Stage] = &[
    Stage::Container,
    Stage::Rows,
    Stage::Markers,
    Stage::Identity,
    Stage::Vocabulary,
    Stage::Shape,
    Stage::Closers,
    Stage::HeaderFull,
    Stage::Events,
];
const STAGES_V4: &[Stage] = &[
    Stage::Container,
    Stage::Rows,
    Stage::Markers,
    Stage::Relations,
    Stage::Identity,
    Stage::Vocabulary,
    Stage::Shape,
    Stage::Closers,
    Stage::HeaderFull,
    Stage::Events,
];

const GENERATION_0: Dialect = Dialect {
    version: 0,
    judged_by: "0.1.1-rc.2",
    stages: STAGES_V0,
    inherited: Inherited::SeedLength,
    strict_header: false,
    chunk_rows: true,
    envelope: EnvelopeCheck::WithEvents,
    crashes_on_null: true,
    rows: RowRules::Envelope,
    legacy_shapes: true,
    later_vocabulary: V0_LATER,
    surface: &[UserMessage, AssistantMessage, ToolResult],
    ends: ["start", "end"],
    ends_below_own: false,
    range_before_sources: true,
    source_ranges: false,
    assistant_sources: true,
    ignorable_surface_keys: false,
    refuses_negative_zero: false,
    protected_head: false,
    system_prompt: SystemPrompt::InHeader,
    tool_result: ToolResultShape::Wrapped,
    answering: Answering::ById,
    fork: ForkRule::ClosedPlainSeed,
    relations: false,
    images: ImageCount::Nested,
    chunk_events: true,
    team_versions: &[1],
    todo_in_turn: true,
    lock_file: false,
};

const GENERATION_1: Dialect = Dialect {
    version: 1,
    judged_by: "the upgrade from format 1",
    strict_header: true,
    later_vocabulary: &[],
    source_ranges: true,
    todo_in_turn: false,
    lock_file: true,
    ..GENERATION_0
};

const GENERATION_2: Dialect = Dialect {
    version: 2,
    judged_by: "the upgrade from format 2",
    stages: STAGES_V2,
    inherited: Inherited::TaggedEndSeed,
    chunk_rows: false,
    envelope: EnvelopeCheck::WithRows,
    crashes_on_null: false,
    legacy_shapes: false,
    later_vocabulary: V2_LATER,
    ignorable_surface_keys: true,
    refuses_negative_zero: true,
    fork: ForkRule::ClosedTaggedSeed,
    chunk_events: false,
    team_versions: &[1, 2],
    ..GENERATION_1
};

const GENERATION_3: Dialect = Dialect {
    version: 3,
    judged_by: "0.1.6",
    rows: RowRules::Generation3,
    later_vocabulary: &[],
    surface: &[SystemMessage, UserMessage, AssistantMessage, ToolResult],
    ends: ["startSeq", "endSeq"],
    ends_below_own: true,
    range_before_sources: false,
    assistant_sources: false,
    protected_head: true,
    system_prompt: SystemPrompt::InMessages,
    ..GENERATION_2
};

const GENERATION_4: Dialect = Dialect {
    version: 4,
    judged_by: "0.2.1",
    stages: STAGES_V4,
    rows: RowRules::Generation4,
    surface: &[SystemMessage, DeveloperMessage, UserMessage, AssistantMessage, ToolResult],
    tool_result: ToolResultShape::Bare,
    answering: Answering::AppendedInStep,
    fork: ForkRule::OpenTaggedSeed,
    relations: true,
    images: ImageCount::TopLevel,
    ..GENERATION_3
};

static KNOWN: [Dialect; 5] = [GENERATION_0, GENERATION_1, GENERATION_2, GENERATION_3, GENERATION_4];

impl Dialect {
    /// The generation of that version, when it is one we know.
    #[must_use]
    pub fn of(version: u32) -> Option<&'static Dialect> {
        KNOWN.get(version as usize)
    }

    /// The newest generation we know; it also reads what can be read of newer ones.
    #[must_use]
    pub fn newest() -> &'static Dialect {
        &KNOWN[KNOWN.len() - 1]
    }

    /// The file name of a log of this generation (generations 1.1).
    #[must_use]
    pub fn file_name(&self, zstd: bool) -> String {
        let suffix = if zstd { "jsonl.zstd" } else { "jsonl" };
        match self.version {
            0 => format!("session.{suffix}"),
            n => format!("session.v{n}.{suffix}"),
        }
    }

    /// Whether the harness of the verdict knows this type.
    #[must_use]
    pub fn knows(&self, kind: Kind) -> bool {
        kind.is_in_generation(self.version)
    }

    /// Whether the type is known to a later release of this generation only.
    #[must_use]
    pub fn knows_later(&self, kind: Kind) -> bool {
        self.later_vocabulary.contains(&kind)
    }

    /// Whether events of this type stand on the surface.
    #[must_use]
    pub fn is_surface(&self, kind: Kind) -> bool {
        self.surface.contains(&kind)
    }

    /// The rank of a stage in this generation's order of opening.
    #[must_use]
    pub fn rank(&self, stage: Stage) -> usize {
        self.stages.iter().position(|s| *s == stage).unwrap_or(self.stages.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_generation_has_the_number_of_types_its_page_states() {
        let known = |d: &Dialect| Kind::ALL.iter().filter(|kind| d.knows(**kind)).count();
        assert_eq!(KNOWN.iter().map(known).collect::<Vec<_>>(), [48, 51, 51, 58, 60]);
        for dialect in &KNOWN {
            assert!(dialect.surface.iter().all(|kind| dialect.knows(*kind)));
        }
    }

    #[test]
    fn file_names_carry_the_generation_from_1_on() {
        assert_eq!(KNOWN[0].file_name(true), "session.jsonl.zstd");
        assert_eq!(KNOWN[4].file_name(false), "session.v4.jsonl");
    }
}
