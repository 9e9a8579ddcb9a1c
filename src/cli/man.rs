//! `dsh-log man`: the manual, from the definitions that the program itself parses with.

use super::env::Env;
use super::exit::Exit;
use super::{Outcome, examples};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use dsh_log::error::{Error, ErrorKind};
use std::io::{self, Write};

/// Print the manual page of the program or of a command
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The command; without it the page of the program
    name: Option<String>,
    /// Print the names of all pages
    #[arg(long, conflicts_with = "name")]
    list: bool,
}

/// Exit codes and their meaning.
const EXIT_STATUS: [(&str, &str); 8] = [
    ("0", "Done."),
    ("1", "The check that was asked for found something."),
    ("2", "The arguments make no sense."),
    ("3", "The log is damaged: the harness refuses it. A view shows what can be read."),
    (
        "4",
        "The log is of a format, or holds an event type, that is not known. A view shows what can be read.",
    ),
    ("5", "A file could not be read or written."),
    ("6", "Another process owns the session, or the file changed meanwhile."),
    ("7", "Refused on purpose: it would break a rule or lose records."),
];

/// Environment variables and what they do.
const ENVIRONMENT: [(&str, &str); 7] = [
    ("DSH_HOME", "The harness's directory; sessions lie in `sessions` below it."),
    ("DSH_LOG_PAGER", "The pager for long output on a terminal, before PAGER; empty or `cat` for none."),
    ("PAGER", "The pager where DSH_LOG_PAGER is not set; `less -FRX` where neither is."),
    ("NO_COLOR", "When set and not empty, no colours unless --color=always."),
    ("CLICOLOR_FORCE", "When set and neither empty nor 0, colours off a terminal too."),
    ("COLUMNS", "The width that text is fitted to, unless --width says."),
    ("TZ", "The zone that times are shown in, unless --utc."),
];

/// Files and what they are.
const FILES: [(&str, &str); 3] = [
    ("~/.dsh/sessions", "The root where sessions are looked for, unless DSH_HOME or --root says otherwise."),
    ("ROOT/PROJECT/SESSION/session.jsonl.zstd", "The log of a session of format 0; raw ones lack `.zstd`."),
    ("ROOT/PROJECT/SESSION/session.vN.jsonl.zstd", "The log of a session of format N."),
];

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let mut program = super::definition();
    // Gives the commands their whole names and the options they inherit.
    program.build();
    let pages: Vec<&clap::Command> =
        program.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help").collect();
    let mut out = env.out();
    if args.list {
        writeln!(out, "dsh-log")?;
        pages.iter().try_for_each(|page| writeln!(out, "dsh-log-{}", page.get_name()))?;
        return Ok(Exit::Done);
    }
    let Some(name) = &args.name else {
        render(&program, "dsh-log", &mut *out)?;
        return Ok(Exit::Done);
    };
    let name = name.strip_prefix("dsh-log-").unwrap_or(name);
    let Some(page) = pages.iter().find(|page| page.get_name() == name) else {
        let error = Error::new(ErrorKind::Usage, "no-such-page", format!("no manual page for `{name}`"));
        return Err(error.hint("dsh-log man --list").into());
    };
    render(page, &format!("dsh-log-{name}"), &mut *out)?;
    Ok(Exit::Done)
}

/// What the generator puts before every section; once is enough.
const PREAMBLE: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";

fn render(command: &clap::Command, title: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Vec::new();
    sections(command, title, &mut page)?;
    let page = String::from_utf8_lossy(&page).replace(PREAMBLE, "");
    out.write_all(PREAMBLE.as_bytes())?;
    // No line ends with a blank: a page is kept under version control.
    page.lines().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}

fn sections(command: &clap::Command, title: &str, out: &mut dyn Write) -> io::Result<()> {
    let has_pages = command.get_subcommands().any(|c| !c.is_hide_set());
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let man = Man::new(command.clone().name(title.to_owned()))
        .title(title.to_uppercase())
        .source(concat!("dsh-log ", env!("CARGO_PKG_VERSION")))
        .manual("DeepSeek Harness session logs");
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    if has_pages {
        man.render_subcommands_section(out)?;
    }
    list("EXIT STATUS", &EXIT_STATUS, out)?;
    list("ENVIRONMENT", &ENVIRONMENT, out)?;
    list("FILES", &FILES, out)?;
    verbatim("EXAMPLES", examples.strip_prefix(examples::HEADING).unwrap_or(&examples), out)
}

fn list(heading: &str, entries: &[(&str, &str)], out: &mut dyn Write) -> io::Result<()> {
    let mut page = Roff::default();
    page.control("SH", [heading]);
    for (term, meaning) in entries {
        page.control("TP", []);
        page.text([clap_mangen::roff::bold(*term)]);
        page.text([roman(*meaning)]);
    }
    page.to_writer(out)
}

/// Lines that stay as they are.
fn verbatim(heading: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Roff::default();
    page.control("SH", [heading]);
    page.control("nf", []);
    text.lines().for_each(|line| _ = page.text([roman(line.strip_prefix("  ").unwrap_or(line))]));
    page.control("fi", []);
    page.to_writer(out)
}
