//! Every fault code, once: its name, its class in the harness's terms, and what it means.

/// At which stage of opening the harness meets a fault. The order of stages differs between
/// generations and stands in the [dialect](crate::format::dialect).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// The walk over the container's frames.
    Container,
    /// Header, decoding and lines, in file order.
    Rows,
    /// The seed markers against the header.
    Markers,
    /// Rules between events.
    Relations,
    /// Id and place.
    Identity,
    /// Retired vocabulary, one stage for each kind, over the whole log.
    RetiredDelta,
    /// See [`Stage::RetiredDelta`].
    RetiredMode,
    /// See [`Stage::RetiredDelta`].
    RetiredFallback,
    /// Legacy shapes and message shape.
    Shape,
    /// Event types.
    Vocabulary,
    /// The closers of an open turn.
    Closers,
    /// The header in full.
    HeaderFull,
    /// Envelope, request header, message again, surface.
    Events,
    /// Nothing the harness looks at.
    Beside,
}

macro_rules! faults {
    ($($code:ident $name:literal $class:literal $stage:ident $meaning:literal)*) => {
        /// What is wrong or noteworthy, as a type; see [`Code::meaning`] for each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $(#[doc = $meaning] $code,)* }

        impl Code {
            /// All codes, in the order of this file.
            pub const ALL: &'static [Code] = &[$(Code::$code,)*];

            /// The stable name used in JSON and in `verify --rules`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Code::$code => $name,)* }
            }

            /// The class of the refusal in the harness's terms; empty where it does not refuse.
            #[must_use]
            pub fn class(self) -> &'static str {
                match self { $(Code::$code => $class,)* }
            }

            /// The stage at which the harness meets it.
            #[must_use]
            pub fn stage(self) -> Stage {
                match self { $(Code::$code => Stage::$stage,)* }
            }

            /// One line for people: what it means.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Code::$code => $meaning,)* }
            }
        }
    };
}

faults! {
    FrameMagic "frame-magic" "container:magic" Container "bytes where a zstd frame must start are not a zstd frame"
    FrameReserved "frame-reserved" "container:reserved" Container "a zstd frame uses a reserved bit or block type"
    FrameWindow "frame-window" "container:frame" Rows "a zstd frame asks for a larger window than a streaming decoder allows"
    FrameUndecodable "frame-undecodable" "container:frame" Rows "a whole zstd frame cannot be decoded, or its checksum differs"
    HeaderAbsent "header-absent" "header:absent" Rows "there is no whole header line"
    HeaderFrame "header-frame" "container:header-frame" Rows "the first zstd frame is not exactly the header line"
    HeaderNotJson "header-not-json" "header:not-json" Rows "the header line is not JSON"
    FormatNewer "format-newer" "format:version" Rows "the log was written by a newer harness, in a format this tool does not know"
    FormatOlder "format-older" "format:version" Rows "the header names a format version below 0"
    HeaderShape "header-shape" "header:shape" Rows "the header line is not a session header of its generation"
    HeaderRetiredFields "header-retired-fields" "header:retired-fields" Rows "the header holds a retired field"
    LineUnparsable "line-unparsable" "lines:unparsable" Rows "a line is not a JSON record"
    LineSeq "line-seq" "lines:seq" Rows "a record's seq is not the next one"
    LineNull "line-null" "lines:null" Rows "a line is `null`, on which the harness of this generation crashes"
    LineUnterminated "line-unterminated" "lines:torn-record-in-complete-frame" Rows "the complete frames end inside a record"
    RecordTooLarge "record-too-large" "limit" Rows "a record is longer than the limit in force and was passed over"
    RowEnvelope "row-envelope" "lines:envelope" Rows "a record's envelope is not that of its generation"
    RowLate "row-marker" "lines:marker" Rows "a record's surface marker, sources or payload break the row rules of its generation"
    RowHard "row-admission" "lines:admission" Rows "a record of a kind or shape that its generation does not admit, even in a torn tail"
    RowRetiredType "row-retired-type" "format:event-type" Rows "an event type retired before this generation"
    EndSeedShape "end-seed-shape" "lines:end-seed" Rows "the data of a session/end-seed is not an object"
    SeedMarkerMissing "seed-marker-missing" "header:seed-marker" Markers "the header says seeded and no tagged session/end-seed follows"
    SeedMarkerUnexpected "seed-marker-unexpected" "header:seed-marker" Markers "the header says not seeded and a tagged session/end-seed follows"
    Identity "identity" "identity" Identity "the header's id or cwd cannot name the place of a session"
    RetiredHeaderDelta "retired-header-delta" "legacy:header-delta" RetiredDelta "the retired event type request/header-delta"
    RetiredModeSet "retired-mode-set" "legacy:mode-set" RetiredMode "the retired event type mode/set"
    RetiredHeaderFallback "retired-header-fallback" "legacy:header-fallback" RetiredFallback "a request/header with the retired reason fallback"
    LegacyMalformed "legacy-malformed" "legacy:malformed" Shape "a record of an old shape that is malformed"
    MessageShape "message-shape" "message" Shape "a message lacks its id, role, source or content"
    DataRule "data-rule" "data" Shape "the data of an event breaks a rule that is checked on reading"
    UnknownEventType "unknown-event-type" "format:event-type" Vocabulary "an event type that is unknown and not marked ignorable: written by a newer harness"
    CloserFold "closer-fold" "closers" Closers "data on which the harness crashes while it looks for an open turn"
    CloserMalformed "closer-malformed" "message" Closers "a closer for the open turn would not be a valid event"
    HeaderCwd "header-cwd" "header:cwd" HeaderFull "the header's cwd is not an absolute path"
    HeaderParentSession "header-parent-session" "header:parentSession" HeaderFull "the header's parentSession is not a string"
    HeaderSeedLength "header-seed-length" "header:seedLength" HeaderFull "the header's seedLength is not a count"
    Envelope "envelope" "envelope" Events "an event has a key it must not have, or lacks one, or a value of the wrong kind"
    RequestHeader "request-header" "request-header" Events "a request/header without a valid config"
    SurfaceOp "surface-op" "surface:op" Events "a surface marker is missing, out of place or malformed"
    SurfaceProvenance "surface-provenance" "surface:provenance" Events "the list of source events is out of place, malformed or incomplete"
    SurfaceRange "surface-range" "surface:range" Events "a replacement names events that are not on the surface in that order, or may not replace them"
    Projection "projection" "surface:projection" Events "an image/offload names what it cannot offload"
    SettlementShape "settlement-shape" "data" Events "an assistant event lacks its turn, step or stream"
    RelData "rel-data" "relations" Relations "an event's data or a message slot in it is missing or malformed (N1, N2, N5)"
    RelDelivery "rel-delivery" "relations" Relations "a delivery marker that does not fit its log (N3)"
    RelCatalog "rel-catalog" "relations" Relations "a subagent catalogue entry that is malformed or repeated (N4)"
    RelPlacement "rel-placement" "relations" Relations "an event outside the turn or step it must stand in (N6, N13, N18)"
    RelCompaction "rel-compaction" "relations" Relations "a compaction event out of order, or a turn that ends or starts inside a compaction (N7, N26 to N30)"
    RelSurface "rel-surface" "relations" Relations "a surface event that breaks the rules on order, cover or the system head (N8)"
    RelTurn "rel-turn" "relations" Relations "a turn starts or ends out of order, or ends with unanswered calls (N9, N10)"
    RelStep "rel-step" "relations" Relations "a step starts or ends out of order, or ends with unanswered calls (N11, N12)"
    RelCall "rel-call" "relations" Relations "a tool call that was not advertised so, or twice (N13, N14)"
    RelResult "rel-result" "relations" Relations "a tool result that answers no call, or a repair that is not the exact one (N15, N16)"
    RelTools "rel-tools" "relations" Relations "a tool change that names no such definition (N17)"
    RelDispatch "rel-dispatch" "relations" Relations "a nested dispatch without its start, its parent or its root (N19)"
    RelRetry "rel-retry" "relations" Relations "a retry out of order (N20, N21)"
    RelTitle "rel-title" "relations" Relations "a title whose messages do not fit (N22, N23)"
    RelCommand "rel-command" "relations" Relations "a command event without its run, or an id used twice (N24, N25)"
    TornTail "torn-tail" "" Beside "the last bytes are what a crash left of an unfinished write"
    OpenTurn "open-turn" "" Beside "the last turn was never closed"
    OpenCompaction "open-compaction" "" Beside "the last compaction was never closed, so closers must be followed by a session/end-seed"
    RecordsBehind "records-behind" "" Beside "readable records stand behind damage"
    NulRun "nul-run" "" Beside "a run of zero bytes, as a crashed write leaves behind"
    GluedRecord "glued-record" "" Beside "a whole record stands behind a stub on one line"
    TwoWriters "two-writers" "" Beside "one seq stands twice: two writers went on from the same place"
    EmptyCallId "empty-call-id" "" Beside "a tool call or result without an id"
    InvalidUtf8 "invalid-utf8" "" Beside "bytes that are not UTF-8, which the harness reads as U+FFFD"
    LowerGeneration "lower-generation-newer" "" Beside "an older generation of this session was written after the newer one began"
    ForkOfFormat "foreign-lineage" "" Beside "shapes of another generation or of a fork of the harness under this version number"
    PlaceMismatch "place-mismatch" "identity" Identity "the file does not lie where its own header says"
    InvTurn "inv-turn" "" Beside "a turn starts or ends out of order, or has another number than the next (I2, I3)"
    InvStep "inv-step" "" Beside "a step starts or ends out of order, or has another number than the next (I4, I5)"
    InvPlacement "inv-placement" "" Beside "an event outside of the turn or step it must stand in (I5 to I8)"
    InvResult "inv-result" "" Beside "a tool result that answers no open call of its step (I6)"
    UnansweredCall "unanswered-call" "" Beside "a step or turn was closed with tool calls that have no result (I10, I11)"
    RepeatedId "repeated-id" "" Beside "one call id or message id stands for two things (I13)"
    InvCompaction "inv-compaction" "" Beside "a compaction event out of order, or with another id or span than its bracket (C1 to C8)"
    InvCheckpoint "inv-checkpoint" "" Beside "a checkpoint or a pruned result does not directly follow its record, or covers another span (C9, C10)"
    InvCommand "inv-command" "" Beside "a command event without its run, or an id used twice (K1 to K3)"
    InvApproval "inv-approval" "" Beside "an approval asked or decided out of order, or malformed (A1, A2)"
    InvHook "inv-hook" "" Beside "a hook event outside its turn, or a result without its invocation (H1 to H4)"
    InvDispatch "inv-dispatch" "" Beside "a nested dispatch without its parent, with another root, or not started and settled once (D1 to D3)"
    InvRetry "inv-retry" "" Beside "a retry out of order, outside its step, or malformed (R1 to R4)"
    InvTitle "inv-title" "" Beside "a title that names messages where it must not, or none where it must (T1)"
    InvInbox "inv-inbox" "" Beside "an inbox splice out of bounds, or one message pending twice (IN1)"
    InvWorkflow "inv-workflow" "" Beside "a workflow event outside its run, or one that is malformed (F1 to F5)"
    InvSetting "inv-setting" "" Beside "a todo list, mode or policy with a value that the harness does not know (A3, T2 to T4)"
    InvGoal "inv-goal" "" Beside "a goal's change or round that does not follow from the goal before it (G)"
    InvTeam "inv-team" "" Beside "a record of the session's own team that does not follow from those before it (TM1)"
    InvTimeContext "inv-time-context" "" Beside "a time context out of its place in a step, or with another text than its section (TC1)"
    InvCut "inv-cut" "" Beside "a compaction separates a call from its result (C11)"
    InvSchedule "inv-schedule" "" Beside "a schedule change that names no active record, uses an id twice or is malformed (SC1)"
    StreamGrammar "stream-grammar" "" Beside "the chunks of an attempt break their grammar (SG1)"
    UpgradeRefused "upgrade-refused" "" Beside "the upgrade to the generation that was asked for would refuse this"
    TimeBackwards "time-backwards" "" Beside "an event's time is before that of the event ahead of it"
}

/// How the harness takes a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The log does not open.
    Refuses,
    /// The log opens; bytes are dropped from its tail.
    Cuts,
    /// The log opens; worth an eye all the same.
    Warns,
    /// A fact, nothing wrong.
    Notes,
}

impl Severity {
    /// The stable name used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Severity::Refuses => "refuses",
            Severity::Cuts => "cuts",
            Severity::Warns => "warns",
            Severity::Notes => "notes",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_meanings_are_sentences_without_a_full_stop() {
        let names: HashSet<_> = Code::ALL.iter().map(|code| code.name()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        for code in Code::ALL {
            assert!(!code.meaning().ends_with('.') && code.meaning().len() > 10, "{code:?}");
        }
    }
}
