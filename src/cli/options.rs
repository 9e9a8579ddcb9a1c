//! Options that all commands share.

use super::exit::Failure;
use clap::{Args, ValueEnum};
use dsh_log::error::{Error, ErrorKind};
use dsh_log::log::Log;
use dsh_log::seq::Seq;
use dsh_log::view::moment::Moment;
use std::ffi::OsString;
use std::path::PathBuf;

/// When text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Options of the whole program.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Print one JSON document, and errors as JSON too
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Colour,
    /// Fit text and tables to that many columns
    #[arg(long, global = true, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(20..))]
    pub(crate) width: Option<u16>,
    /// Show times in UTC instead of the local zone
    #[arg(long, global = true)]
    pub(crate) utc: bool,
    /// Where sessions lie; default $DSH_HOME/sessions, else ~/.dsh/sessions
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Pass over records longer than that, such as 64M or 1G
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_record: Option<u64>,
    /// Print nothing of a log that the harness would refuse
    #[arg(long, global = true)]
    pub(crate) strict: bool,
    /// Do not use a pager
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// No warnings and hints, only errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// Which log, and as of when.
#[derive(Args, Clone, Debug)]
pub(crate) struct LogArgs {
    /// A log file, a session directory, a session id or its beginning, `@latest`, or `-`
    pub(crate) session: OsString,
    /// As it stood right after that event
    #[arg(long, value_name = "SEQ", conflicts_with = "stored")]
    pub(crate) at: Option<u64>,
    /// As stored, without the events that repair would append to close an open turn
    #[arg(long)]
    pub(crate) stored: bool,
}

impl LogArgs {
    /// The state that is asked for.
    ///
    /// Errors when `--at` names an event that is not stored.
    pub(crate) fn moment(&self, log: &Log) -> Result<Moment, Failure> {
        match self.at {
            Some(seq) => after(log, seq),
            None => Ok(if self.stored { Moment::Stored } else { Moment::Balanced }),
        }
    }
}

/// Which log, and as of when, for what stored events alone tell.
#[derive(Args, Clone, Debug)]
pub(crate) struct PastArgs {
    /// A log file, a session directory, a session id or its beginning, `@latest`, or `-`
    pub(crate) session: OsString,
    /// As it stood right after that event
    #[arg(long, value_name = "SEQ")]
    pub(crate) at: Option<u64>,
}

impl PastArgs {
    /// The state that is asked for; errors as those of [`LogArgs::moment`].
    pub(crate) fn moment(&self, log: &Log) -> Result<Moment, Failure> {
        self.at.map_or(Ok(Moment::Stored), |seq| after(log, seq))
    }

    /// The last event that may count, before it is known whether there is such an event.
    pub(crate) fn upto(&self) -> Seq {
        Seq(self.at.unwrap_or(u64::MAX))
    }
}

/// Right after a stored event.
pub(crate) fn after(log: &Log, seq: u64) -> Result<Moment, Failure> {
    let (first, next) = (log.index().first_seq(), log.index().next_seq());
    if Seq(seq) >= first && Seq(seq) < next {
        return Ok(Moment::After(Seq(seq)));
    }
    Err(no_such_event(log, Seq(seq), Moment::Stored))
}

/// There is no such event at a moment.
pub(crate) fn no_such_event(log: &Log, seq: Seq, moment: Moment) -> Failure {
    let (first, last) = (log.index().first_seq().0, log.index().next_seq().0.checked_sub(1));
    let message = match (moment, last.filter(|last| *last >= first)) {
        (_, None) => format!("no event {seq}: the log holds no events"),
        (Moment::After(now), _) if now < seq => {
            format!("no event {seq} yet: --at {now} asks of the events {first} to {now}")
        }
        (_, Some(last)) => format!("no event {seq}: the log holds the events {first} to {last}"),
    };
    Error::new(ErrorKind::Usage, "no-such-event", message).at_path(log.source().path()).into()
}

/// A text to look for: a blank one is everywhere.
pub(crate) fn parse_words(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a blank text says nothing".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

/// A number of bytes with an optional unit of 1024: `64M`, `1G`, `4096`.
fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no size, expected digits and optionally K, M or G");
    let upper = text.to_ascii_uppercase();
    let plain = upper.strip_suffix('B').unwrap_or(&upper);
    let plain = plain.strip_suffix('I').unwrap_or(plain);
    let (digits, shift) = match plain.as_bytes().last() {
        Some(b'K') => (&plain[..plain.len() - 1], 10),
        Some(b'M') => (&plain[..plain.len() - 1], 20),
        Some(b'G') => (&plain[..plain.len() - 1], 30),
        _ => (plain, 0),
    };
    let n: u64 = digits.trim_end().parse().map_err(|_| wrong())?;
    n.checked_mul(1 << shift).filter(|n| *n > 0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_units() {
        for (text, bytes) in [("1", 1), ("4k", 4096), ("64M", 64 << 20), ("1GiB", 1 << 30), ("2 MB", 2 << 20)]
        {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "0", "M", "1T", "-1", "1.5G", "99999999999G", "ü"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
