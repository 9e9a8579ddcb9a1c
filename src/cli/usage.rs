//! Arguments that make no sense, and calls for help: said before there is an [`super::env::Env`].

use super::env::say;
use super::exit::{code_of, to_json};
use clap::ColorChoice;
use clap::error::ErrorKind as Wrong;
use dsh_log::error::{Error, ErrorKind};
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

/// What must be known of the arguments before they are parsed: how to say that they are wrong.
pub(crate) struct Early {
    /// Whether errors are JSON.
    pub(crate) json: bool,
    /// Whether help is coloured.
    pub(crate) colour: ColorChoice,
}

impl Early {
    /// Looks over the arguments, as far as they are options.
    pub(crate) fn of(args: &[OsString]) -> Early {
        let options: Vec<&str> =
            args.iter().skip(1).filter_map(|arg| arg.to_str()).take_while(|arg| *arg != "--").collect();
        // The last one counts; its value stands behind `=` or is the next argument.
        let mut colours =
            options.iter().enumerate().rev().filter_map(|(at, arg)| match arg.strip_prefix("--color")? {
                "" => options.get(at + 1).copied(),
                rest => rest.strip_prefix('='),
            });
        let colour = match colours.next() {
            Some("always") => ColorChoice::Always,
            Some("never") => ColorChoice::Never,
            _ => ColorChoice::Auto,
        };
        Early { json: options.contains(&"--json"), colour }
    }
}

/// Prints help, version or what is wrong with the arguments.
pub(crate) fn answer(error: &clap::Error, json: bool) -> ExitCode {
    if !error.use_stderr() {
        return match error.print() {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => code_of(ErrorKind::Io).into(),
            _ => ExitCode::SUCCESS,
        };
    }
    if json {
        say(&String::from_utf8_lossy(&to_json(&as_error(error))));
    } else {
        let _ = error.print();
    }
    code_of(ErrorKind::Usage).into()
}

fn as_error(error: &clap::Error) -> Error {
    let text = error.render().to_string();
    let message = match error.kind() {
        Wrong::DisplayHelpOnMissingArgumentOrSubcommand => "no command is given",
        // The first paragraph is the message, the others are usage and tips.
        _ => text.split("\n\n").next().unwrap_or_default(),
    };
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    Error::new(ErrorKind::Usage, "usage", message).hint("dsh-log --help")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn early(args: &[&str]) -> Early {
        Early::of(&args.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_seen_before_parsing() {
        assert!(early(&["dsh-log", "ls", "--json"]).json && !early(&["dsh-log", "ls", "--", "--json"]).json);
        assert_eq!(early(&["dsh-log", "--color", "never"]).colour, ColorChoice::Never);
        assert_eq!(early(&["dsh-log", "--color=never", "--color=always"]).colour, ColorChoice::Always);
        assert_eq!(early(&["dsh-log", "--color"]).colour, ColorChoice::Auto);
    }
}
