//! A log read with a question in mind: the conclusion is guessed at before, so that its words are looked
//! for while the log is read, and the log is decoded once.
//!
//! The guess decides nothing. Once the log has been read the conclusion is found in it as ever; where
//! that is another one, the bodies are read again.

use super::looked::Looked;
use super::needle::{Needle, Scratch};
use super::target::{self, Asked, Target};
use super::why::{self, Question, Why};
use super::words;
use crate::error::Result;
use crate::format::dialect::Dialect;
use crate::format::event::Event;
use crate::format::glean::{Glean, Gleaned};
use crate::format::kind::Kind;
use crate::log::glimpse::Glimpse;
use crate::log::{Log, ReadOptions};
use crate::seq::Seq;
use crate::storage::source::Source;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// How much of the end of a file is looked through for a text before the log is read.
const LOOK_BACK: u64 = 8 << 20;

/// A log and what was asked of it.
pub struct Aimed {
    log: Log,
    asked: Asked,
    aim: Option<Aim>,
}

impl Aimed {
    /// Reads a log to ask about a conclusion; see [`Log::read_watched`].
    pub fn read(
        source: Source,
        asked: Asked,
        options: &ReadOptions,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Aimed> {
        let aim = Aim::at(&source, &asked)?;
        let glean = aim.as_ref().map(|aim| aim as &dyn Glean);
        let log = Log::read_gleaning(source, options, progress, glean)?;
        Ok(Aimed { log, asked, aim })
    }

    /// The log.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The conclusion that is asked about; errors as those of [`target::of`].
    pub fn target(&self) -> Result<Target> {
        target::of(&self.log, &self.asked)
    }

    /// As [`why::ask_on`].
    pub fn ask(&self, target: Target) -> Result<(Why, Question)> {
        match &self.aim {
            Some(aim) if aim.text == target.text && aim.focus == target.focus && aim.seq == target.seq => {
                why::ask_with(&self.log, target, aim.needle.clone(), true)
            }
            _ => why::ask_on(&self.log, target),
        }
    }
}

/// The conclusion that is guessed at, its words made ready.
struct Aim {
    seq: Seq,
    text: String,
    focus: Option<Range<usize>>,
    needle: Needle,
    spare: Mutex<Vec<Scratch>>,
}

impl fmt::Debug for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aim").field("seq", &self.seq).finish_non_exhaustive()
    }
}

impl Aim {
    fn at(source: &Source, asked: &Asked) -> Result<Option<Aim>> {
        let Some(mut glimpse) = Glimpse::new(source)? else { return Ok(None) };
        let found = match asked {
            Asked::Seq(seq) => {
                let text = glimpse.at(*seq, |event| {
                    let concludes = target::concludes(event.kind, event.op.is_replace());
                    concludes.then(|| words::of_conclusion(event))
                })?;
                text.flatten().map(|text| (*seq, text, None))
            }
            Asked::Text(wanted, upto) => glimpse.last(LOOK_BACK, |event| {
                if event.kind != Kind::AssistantMessage || event.op.is_replace() || event.seq > *upto {
                    return None;
                }
                let text = words::of_conclusion(event);
                let focus = target::focus(&text, wanted)?;
                Some((event.seq, text, Some(focus)))
            })?,
        };
        Ok(found.map(|(seq, text, focus)| {
            let needle = Needle::new(text.clone(), focus.clone());
            Aim { seq, text, focus, needle, spare: Mutex::default() }
        }))
    }
}

impl Glean for Aim {
    fn wants(&self, kind: Kind) -> bool {
        matches!(
            kind,
            Kind::SystemMessage
                | Kind::DeveloperMessage
                | Kind::UserMessage
                | Kind::AssistantMessage
                | Kind::ToolResult
                | Kind::ToolCall
                | Kind::CodeDispatch
                | Kind::PtcDispatch
        )
    }

    fn glean(&self, event: &Event<'_>, dialect: &Dialect) -> Gleaned {
        // What comes behind the conclusion is no source of it.
        if event.seq >= self.seq {
            return Arc::new(Looked::default());
        }
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = spare().pop().unwrap_or_else(|| self.needle.scratch());
        let looked = Looked::of(event, dialect, &self.needle, &mut scratch);
        spare().push(scratch);
        Arc::new(looked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A turn in which a file was read and an answer given, then what `behind` says.
    fn log(behind: &str) -> Source {
        let events = [
            ("turn/start", "", r#"{"turn":1}"#),
            ("step/start", "", r#"{"turn":1,"step":1}"#),
            ("tool/call", "", r#"{"turn":1,"step":1,"callId":"c","name":"read","arguments":"{}"}"#),
            (
                "tool/result",
                r#","sourceEventSeqs":[2],"surfaceOp":"append""#,
                r#"{"turn":1,"step":1,"message":{"id":"r","role":"user","source":{"kind":"tool","callId":"c"},"content":[{"type":"tool-result","toolCallId":"c","content":[{"type":"text","text":"max_sockets = 4711"}]}]}}"#,
            ),
        ];
        let mut text =
            String::from(r#"{"type":"session","version":0,"id":"a","createdAt":1,"delegationDepth":0}"#);
        for (seq, (kind, more, data)) in events.iter().enumerate() {
            text += &format!("\n{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":1,\"data\":{data}{more}}}");
        }
        Source::memory("log", format!("{text}\n{}\n{behind}", answer(4, "max_sockets is 4711")).into_bytes())
    }

    fn answer(seq: u64, text: &str) -> String {
        format!(
            r#"{{"type":"assistant/message","seq":{seq},"time":1,"data":{{"turn":1,"step":1,"message":{{"id":"m{seq}","role":"assistant","source":{{"kind":"model","provider":"p","model":"m"}},"content":[{{"type":"text","text":"{text}"}}]}}}},"surfaceOp":"append"}}"#
        )
    }

    fn read(behind: &str, asked: Asked) -> Aimed {
        Aimed::read(log(behind), asked, &ReadOptions::default(), &mut |_| {}).unwrap()
    }

    fn found(aimed: &Aimed) -> Vec<(u64, Option<String>)> {
        let (why, _) = aimed.ask(aimed.target().unwrap()).unwrap();
        why.evidence.into_iter().filter(|e| e.supports).map(|e| (e.seq, e.tool)).collect()
    }

    const NOW: Seq = Seq(u64::MAX);

    #[test]
    fn of_an_earlier_moment_the_last_answer_up_to_it_is_meant() {
        let later = answer(5, "sockets are open");
        let asked = |upto| Asked::Text("sockets".to_owned(), upto);
        for (upto, seq) in [(NOW, 5), (Seq(5), 5), (Seq(4), 4)] {
            let aimed = read(&format!("{later}\n"), asked(upto));
            assert_eq!(aimed.aim.as_ref().map(|aim| aim.seq), Some(Seq(seq)));
            assert_eq!(aimed.target().unwrap().seq, Seq(seq));
        }
        assert_eq!(read("", asked(Seq(3))).target().unwrap_err().code, "no-such-text");
    }

    #[test]
    fn the_words_are_looked_for_while_the_log_is_read() {
        for asked in [Asked::Seq(Seq(4)), Asked::Text("sockets".to_owned(), NOW)] {
            let aimed = read("", asked);
            assert_eq!(aimed.aim.as_ref().map(|aim| aim.seq), Some(Seq(4)));
            assert_eq!(aimed.log.gleaned::<Looked>().unwrap().count(), 3);
            assert_eq!(found(&aimed), [(3, Some("read".to_owned()))]);
        }
    }

    #[test]
    fn an_answer_that_is_no_part_of_the_log_is_not_asked_about() {
        // Behind a gap the harness reads no further; a look from the end meets it first.
        let aimed =
            read(&format!("{}\n", answer(9, "max_sockets is 12")), Asked::Text("sockets".to_owned(), NOW));
        assert_eq!(aimed.aim.as_ref().map(|aim| aim.seq), Some(Seq(9)));
        assert_eq!(aimed.target().unwrap().seq, Seq(4));
        assert_eq!(found(&aimed), [(3, Some("read".to_owned()))]);
    }
}
