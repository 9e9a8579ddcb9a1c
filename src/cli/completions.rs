//! `dsh-log completions`: a script that completes commands and options in a shell.

use super::env::Env;
use super::exit::Exit;
use super::{Outcome, examples};
use clap_complete::Shell;
use std::io::Write;

/// Print a script that completes commands and options in a shell
///
/// Where it goes depends on the shell; the examples show the usual places.
#[derive(clap::Args)]
#[command(after_help = examples::COMPLETIONS)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

/// Runs the command.
pub(crate) fn run(args: &Args, env: &Env) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::definition(), "dsh-log", &mut script);
    env.out().write_all(&script)?;
    Ok(Exit::Done)
}
