//! What a command may use of the world outside: where it writes, how text looks there, where
//! sessions lie, and the bounds on reading.

use super::exit::Failure;
use super::options::{Colour, Global};
use super::out::Out;
use crate::render::clean::clean_line;
use crate::render::progress::Progress;
use crate::render::style::Style;
use crate::render::time::Zone;
use dsh_log::limits::Limits;
use dsh_log::log::ReadOptions;
use dsh_log::storage::discover;
use std::cell::{RefCell, RefMut};
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

/// The width that text is wrapped to where nothing says how wide it may be.
const PLAIN_WIDTH: usize = 100;

/// The outside.
pub(crate) struct Env {
    /// Whether JSON is asked for.
    pub(crate) json: bool,
    /// Whether a log that the harness would refuse is an error.
    pub(crate) strict: bool,
    /// Whether standard output is a terminal.
    pub(crate) terminal: bool,
    /// How text on standard output is styled.
    pub(crate) style: Style,
    /// How text on standard error is styled.
    pub(crate) err_style: Style,
    /// The columns that text is wrapped to.
    pub(crate) width: usize,
    /// The columns that tables are fitted to; off a terminal only when the user names them.
    pub(crate) table_width: Option<usize>,
    /// The zone times are shown in.
    pub(crate) zone: Zone,
    /// Where sessions lie, when something tells.
    pub(crate) root: Option<PathBuf>,
    /// Whether the user named the root.
    pub(crate) root_is_given: bool,
    /// The user's home, which paths are shortened by.
    pub(crate) home: Option<PathBuf>,
    /// How logs are read.
    pub(crate) reading: ReadOptions,
    quiet: bool,
    out: RefCell<Out>,
}

impl Env {
    /// The outside as options and environment variables say.
    pub(crate) fn new(global: &Global, var: impl Fn(&str) -> Option<OsString>) -> Env {
        let terminal = std::io::stdout().is_terminal();
        let colour = |on_terminal| wants_colour(global.color, on_terminal, &var);
        let given = global.width.map(usize::from);
        let columns = var("COLUMNS").and_then(|n| n.to_str()?.parse().ok()).filter(|n| *n >= 20);
        let measured = terminal_size::terminal_size();
        let screen = measured.filter(|_| terminal).map(|(width, _)| usize::from(width.0));
        let rows = measured.map_or(24, |(_, height)| usize::from(height.0));
        let pager = (terminal && !global.no_pager && !global.json).then(|| pager(&var)).flatten();
        let home = var("HOME").or_else(|| var("USERPROFILE")).filter(|home| !home.is_empty());
        let mut limits = Limits::default();
        limits.record_bytes = global.max_record.unwrap_or(limits.record_bytes);
        Env {
            json: global.json,
            strict: global.strict,
            terminal,
            style: Style::new(colour(terminal)),
            err_style: Style::new(colour(std::io::stderr().is_terminal())),
            width: given.or(columns).or(screen).unwrap_or(PLAIN_WIDTH),
            table_width: given.or(columns.or(screen).filter(|_| terminal)),
            zone: if global.utc { Zone::utc() } else { Zone::local() },
            root: global.root.clone().or_else(|| discover::default_root(&var)),
            root_is_given: global.root.is_some(),
            home: home.map(PathBuf::from),
            reading: ReadOptions { limits, ..ReadOptions::default() },
            quiet: global.quiet,
            out: RefCell::new(Out::new(pager, rows, terminal)),
        }
    }

    /// Standard output, or the pager before it.
    pub(crate) fn out(&self) -> RefMut<'_, Out> {
        self.out.borrow_mut()
    }

    /// Runs work that says how many bytes it has done, and shows that on a terminal when it takes long.
    pub(crate) fn progress<T>(
        &self,
        what: &'static str,
        whole: u64,
        work: impl FnOnce(&mut dyn FnMut(u64)) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if self.quiet || !std::io::stderr().is_terminal() {
            return work(&mut |_| {});
        }
        let mut progress = Progress::new(what, whole);
        work(&mut |done| progress.at(done))
    }

    /// Says on standard error what a reader of the output should know.
    pub(crate) fn warn(&self, text: &str) {
        if !self.quiet {
            say(&format!("{} {}", self.err_style.warn("warning:"), clean_line(text)));
        }
    }

    /// Says on standard error what is neither data nor a warning.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            say(&self.err_style.dim(&clean_line(text)));
        }
    }

    /// Says on standard error what to try next.
    pub(crate) fn hint(&self, text: &str) {
        if !self.quiet {
            say(&format!("{} {}", self.err_style.strong("hint:"), clean_line(text)));
        }
    }
}

/// Writes a line to standard error; where that cannot be written, there is nobody left to tell.
pub(super) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn wants_colour(choice: Colour, terminal: bool, var: &impl Fn(&str) -> Option<OsString>) -> bool {
    let set = |name| var(name).is_some_and(|value| !value.is_empty());
    match choice {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto if set("NO_COLOR") => false,
        Colour::Auto if var("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0") => true,
        Colour::Auto => terminal && var("TERM").is_none_or(|term| term != "dumb"),
    }
}

/// The command line of the pager; an empty one, and `cat`, mean none.
fn pager(var: &impl Fn(&str) -> Option<OsString>) -> Option<OsString> {
    let chosen = var("DSH_LOG_PAGER").or_else(|| var("PAGER")).unwrap_or_else(|| "less -FRX".into());
    (!chosen.is_empty() && chosen != "cat").then_some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colour(choice: Colour, terminal: bool, set: &[(&str, &str)]) -> bool {
        wants_colour(choice, terminal, &|name: &str| {
            set.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into())
        })
    }

    #[test]
    fn colour_is_on_where_it_is_wanted() {
        use Colour::{Always, Auto, Never};
        assert!(colour(Auto, true, &[]) && !colour(Auto, false, &[]));
        assert!(!colour(Auto, true, &[("NO_COLOR", "1")]) && colour(Auto, true, &[("NO_COLOR", "")]));
        assert!(!colour(Auto, true, &[("TERM", "dumb")]));
        assert!(colour(Auto, false, &[("CLICOLOR_FORCE", "1")]));
        assert!(!colour(Auto, false, &[("CLICOLOR_FORCE", "0")]));
        assert!(!colour(Auto, false, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
        assert!(
            colour(Always, false, &[("NO_COLOR", "1")]) && !colour(Never, true, &[("CLICOLOR_FORCE", "1")])
        );
    }

    #[test]
    fn the_pager_is_the_users_choice() {
        let of = |set: &[(&str, &str)]| {
            pager(&|name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()))
        };
        assert_eq!(of(&[]), Some("less -FRX".into()));
        assert_eq!(of(&[("PAGER", "more")]), Some("more".into()));
        assert_eq!(of(&[("PAGER", "more"), ("DSH_LOG_PAGER", "")]), None);
        assert_eq!(of(&[("PAGER", "cat")]), None);
    }
}
