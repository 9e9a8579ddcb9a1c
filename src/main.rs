//! The `dsh-log` program: arguments in `cli`, text for people in `render`, all else in the library.

mod cli;
mod render;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
