//! Reads a whole log: header, segments in parallel, the fold in order, then the verdict.

use super::closers::Closer;
use super::index::{Entry, Flags, Index};
use super::opening::Opening;
use super::pass::Pass;
use super::reader::{Island, Sums};
use super::surface::Surface;
use super::turns::Turns;
use super::verdict::Verdict;
use crate::error::Result;
use crate::finding::Findings;
use crate::format::dialect::{Dialect, Inherited};
use crate::format::glean::{Glean, Gleaned};
use crate::format::header::Header;
use crate::format::row::RowContext;
use crate::limits::Limits;
use crate::position::{FileOffset, Place, TextOffset};
use crate::seq::Seq;
use crate::storage::container::{Container, Segment, Segments};
use crate::storage::source::Source;
use crate::storage::text::{TextMap, TextReader};
use std::any::Any;

/// How to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// Bounds on what an input can make us allocate.
    pub limits: Limits,
    /// How many threads decode; 0 = as many as there are cores, at most 8.
    pub threads: usize,
}

/// A log that has been read: a compact index over bytes that stay on disk.
pub struct Log {
    pub(super) source: Source,
    pub(super) map: TextMap,
    pub(super) container: Container,
    pub(super) header: Option<Header>,
    pub(super) dialect: &'static Dialect,
    pub(super) known: bool,
    pub(super) sums: Sums,
    pub(super) findings: Findings,
    pub(super) islands: Vec<Island>,
    pub(super) closers: Vec<Closer>,
    pub(super) verdict: Verdict,
    pub(super) frames: u64,
    pub(super) lines: u64,
    pub(super) torn_from: Option<u64>,
    pub(super) accepted_end: u64,
    /// As in [`ReadOptions`].
    pub(super) threads: usize,
    /// What a view took on the way; `None` when nothing, or not from every event that it wants.
    pub(super) gleaned: Option<Vec<(Seq, Gleaned)>>,
}

impl Log {
    /// Reads a log. Damage gives findings; errors mean that the file could not be read.
    pub fn read(source: Source, options: &ReadOptions) -> Result<Log> {
        Log::read_watched(source, options, &mut |_| {})
    }

    /// As [`Log::read`]; `progress` is told now and then how many bytes of the file are done.
    pub fn read_watched(source: Source, options: &ReadOptions, progress: &mut dyn FnMut(u64)) -> Result<Log> {
        Log::read_gleaning(source, options, progress, None)
    }

    /// As [`Log::read_watched`]; `glean` takes from events what a view needs, see [`Log::gleaned`].
    pub fn read_gleaning(
        source: Source,
        options: &ReadOptions,
        progress: &mut dyn FnMut(u64),
        glean: Option<&dyn Glean>,
    ) -> Result<Log> {
        let container = Container::of(&source)?;
        let mut segments = Segments::new(&source, container);
        let opening = Opening::read(&source, &mut segments, container, &options.limits)?;
        let id = opening.reading.header.as_ref().map(|h| h.id.clone()).unwrap_or_default();
        let (dialect, known) = (opening.reading.dialect, opening.reading.known);
        let context = RowContext { dialect, session_id: &id, known, glean };
        let has_parent = opening.reading.header.as_ref().is_some_and(|h| h.parent_session.is_some());
        let mut pass = Pass::new(&context, options, container, has_parent);
        pass.open(&opening, &context);
        let torn = pass.segments(&source, &mut segments, &context, options, progress)?;
        pass.end(&source, &segments, torn.as_ref(), &context)?;
        let mut log = pass.into_log(source, container, opening.reading, segments_end(&torn), options)?;
        log.check_gleaned(glean);
        Ok(log)
    }
}

fn segments_end(torn: &Option<Segment>) -> Option<u64> {
    torn.as_ref().map(|segment| segment.start)
}

impl Log {
    /// What was gleaned from the event at a seq; `None` when it was not, so that the body must be read.
    #[must_use]
    pub fn gleaned_at<T: Any>(&self, seq: Seq) -> Option<&T> {
        let list = self.gleaned.as_deref()?;
        let at = list.binary_search_by_key(&seq, |(seq, _)| *seq).ok()?;
        list[at].1.downcast_ref()
    }

    /// All that was gleaned, ascending; `None` when it was not gleaned from every event that the view
    /// wants, as with old shapes and records that are too long, or when it is another view's.
    #[must_use]
    pub fn gleaned<T: Any>(&self) -> Option<impl Iterator<Item = (Seq, &T)>> {
        let list = self.gleaned.as_deref()?;
        list.first()?.1.downcast_ref::<T>()?;
        Some(list.iter().filter_map(|(seq, gleaned)| Some((*seq, gleaned.downcast_ref()?))))
    }

    /// Lets go of what was gleaned unless it is complete.
    fn check_gleaned(&mut self, glean: Option<&dyn Glean>) {
        let Some(glean) = glean else {
            self.gleaned = None;
            return;
        };
        let next = self.index().next_seq();
        if let Some(gleaned) = &mut self.gleaned {
            gleaned.retain(|(seq, _)| *seq < next);
        }
        let wanted = |entry: &&Entry| glean.wants(entry.kind) && !entry.flags.has(Flags::PACKED);
        let count = self.index().entries().iter().filter(wanted).count();
        if self.gleaned.as_ref().is_some_and(|gleaned| gleaned.len() != count) {
            self.gleaned = None;
        }
    }

    /// How many threads read it, as in [`ReadOptions`].
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The bytes it was read from.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// How its text is stored.
    #[must_use]
    pub fn container(&self) -> Container {
        self.container
    }

    /// The header; `None` when it is missing or is none.
    #[must_use]
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// The generation whose rules it was read by.
    #[must_use]
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// Whether the version in the header is one we know.
    #[must_use]
    pub fn is_known_format(&self) -> bool {
        self.known
    }

    /// What the harness would do.
    #[must_use]
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// What was found, in the order of reading.
    #[must_use]
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// The closers that repair would append.
    #[must_use]
    pub fn closers(&self) -> &[Closer] {
        &self.closers
    }

    /// The stored records: those that the harness accepts or, of a refused log, those that can be
    /// read from the start without a hole.
    #[must_use]
    pub fn index(&self) -> &Index {
        &self.sums.index
    }

    /// The surface of the stored events.
    #[must_use]
    pub fn surface(&self) -> &Surface {
        &self.sums.surface
    }

    /// The open turn of the stored events.
    #[must_use]
    pub fn turns(&self) -> &Turns {
        &self.sums.turns
    }

    /// What else the stored events add up to.
    #[must_use]
    pub fn sums(&self) -> &Sums {
        &self.sums
    }

    /// Readable records that do not continue the log.
    #[must_use]
    pub fn islands(&self) -> &[Island] {
        &self.islands
    }

    /// How many zstd frames were read, a torn one included; 0 for a raw container.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// How many lines were read, the header included.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// How many bytes of text were decoded.
    #[must_use]
    pub fn text_bytes(&self) -> u64 {
        self.map.text_bytes()
    }

    /// The text offset just after the last accepted line.
    #[must_use]
    pub fn accepted_end(&self) -> TextOffset {
        TextOffset(self.accepted_end)
    }

    /// How many events are inherited from a parent session.
    #[must_use]
    pub fn inherited(&self) -> u64 {
        match self.dialect.inherited {
            Inherited::SeedLength => self.header.as_ref().and_then(|h| h.seed_length).unwrap_or(0),
            Inherited::TaggedEndSeed => self.sums.tagged_seed.unwrap_or(0),
        }
        .min(self.sums.index.events())
    }

    /// Which frame and byte an event stands at.
    #[must_use]
    pub fn place_of(&self, seq: crate::seq::Seq) -> Place {
        let record = self.sums.index.record_of(seq).map(|n| self.sums.index.entries()[n].text);
        Place {
            seq: Some(seq),
            frame: record.and_then(|at| self.map.frame_of(at)),
            byte: record.map(|at| FileOffset(self.map.file_byte(at))),
            line: None,
        }
    }

    /// Whether some frame is so large that reading backwards in it means decoding it again.
    #[must_use]
    pub fn has_large_frames(&self) -> bool {
        self.map.largest_frame() > crate::storage::decode::SMALL_TEXT
    }

    /// Which part of the text each frame holds.
    #[must_use]
    pub fn text_map(&self) -> &TextMap {
        &self.map
    }

    /// A reader over the decoded text.
    #[must_use]
    pub fn text(&self) -> TextReader<'_> {
        TextReader::new(&self.source, &self.map)
    }
}
