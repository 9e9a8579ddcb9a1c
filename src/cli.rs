//! The command line: global options, the list of commands, and the way from arguments to exit code.
//!
//! A command is a variant of [`Command`], a line in [`Command::run`] and a file of its name.

mod children;
mod compactions;
mod completions;
mod convert;
mod damage;
mod diff;
mod env;
mod events;
mod examples;
mod exit;
mod exposure;
mod fork;
mod header;
mod input;
mod inspect;
mod ls;
mod man;
mod messages;
mod options;
mod out;
mod place;
mod repair;
mod request;
mod request_name;
mod salvage;
mod schema;
mod show;
mod state;
mod stats;
mod surface;
mod timeline;
mod tools;
mod transcript;
mod usage;
mod verify;
mod why;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use env::Env;
use exit::{Exit, Failure};
use options::Global;
use std::ffi::OsString;
use std::process::ExitCode;

/// What a command ends with.
pub(crate) type Outcome = Result<Exit, Failure>;

#[derive(Parser)]
#[command(
    name = "dsh-log",
    version,
    about = "Read, trust, explain and mend the session logs of DeepSeek Harness",
    long_about = "Read, trust, explain and mend the session logs of DeepSeek Harness.\n\n\
        A SESSION is a log file, a session directory, a session id or its unique beginning, \
        `@latest`, or `-` for standard input. Logs of the formats 0 to 4 are read, in zstd and raw \
        containers, whatever their file is called. Reading never changes a log.",
    after_help = examples::MAIN,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Inspect(inspect::Args),
    Repair(repair::Args),
    Salvage(salvage::Args),
    Convert(convert::Args),
    Surface(surface::Args),
    Header(header::Args),
    Fork(fork::Args),
    Ls(ls::Args),
    Messages(messages::Args),
    Transcript(transcript::Args),
    Schema(schema::Args),
    Request(request::Args),
    Show(show::Args),
    Events(events::Args),
    Tools(tools::Args),
    Timeline(timeline::Args),
    Stats(stats::Args),
    State(state::Args),
    Compactions(compactions::Args),
    Diff(diff::Args),
    Why(why::Args),
    Exposure(exposure::Args),
    Verify(verify::Args),
    Completions(completions::Args),
    #[command(hide = true)]
    Man(man::Args),
}

impl Command {
    fn run(&self, env: &Env) -> Outcome {
        match self {
            Command::Inspect(args) => inspect::run(args, env),
            Command::Repair(args) => repair::run(args, env),
            Command::Salvage(args) => salvage::run(args, env),
            Command::Convert(args) => convert::run(args, env),
            Command::Surface(args) => surface::run(args, env),
            Command::Header(args) => header::run(args, env),
            Command::Fork(args) => fork::run(args, env),
            Command::Ls(args) => ls::run(args, env),
            Command::Messages(args) => messages::run(args, env),
            Command::Transcript(args) => transcript::run(args, env),
            Command::Schema(args) => schema::run(args, env),
            Command::Request(args) => request::run(args, env),
            Command::Show(args) => show::run(args, env),
            Command::Events(args) => events::run(args, env),
            Command::Tools(args) => tools::run(args, env),
            Command::Timeline(args) => timeline::run(args, env),
            Command::Stats(args) => stats::run(args, env),
            Command::State(args) => state::run(args, env),
            Command::Compactions(args) => compactions::run(args, env),
            Command::Diff(args) => diff::run(args, env),
            Command::Why(args) => why::run(args, env),
            Command::Exposure(args) => exposure::run(args, env),
            Command::Verify(args) => verify::run(args, env),
            Command::Completions(args) => completions::run(args, env),
            Command::Man(args) => man::run(args, env),
        }
    }
}

/// The definition that parsing, help, man pages and completions are made from.
pub(crate) fn definition() -> clap::Command {
    Cli::command()
}

/// Runs the program.
pub(crate) fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    let early = usage::Early::of(&args);
    let matches = definition().color(early.colour).try_get_matches_from(args);
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(e) => return usage::answer(&e, early.json),
    };
    let env = Env::new(&cli.global, |name| std::env::var_os(name));
    let outcome = cli.command.run(&env).and_then(|exit| {
        env.out().finish()?;
        Ok(exit)
    });
    exit::conclude(outcome, &env)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_definition_is_sound() {
        super::definition().debug_assert();
    }
}
