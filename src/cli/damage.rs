//! What a view says of a log that is damaged, and how far it can be trusted.

use super::env::Env;
use super::exit::{Exit, Failure};
use dsh_log::error::{Error, ErrorKind, shell_word};
use dsh_log::fault::Severity;
use dsh_log::finding::Finding;
use dsh_log::log::Log;
use dsh_log::log::verdict::Outcome;

/// How many findings are named.
const NAMED: usize = 10;

/// The exit code of showing a log as it is.
pub(crate) fn exit_of(log: &Log) -> Exit {
    match log.verdict().outcome {
        Outcome::Opens | Outcome::OpensAfterRepair => Exit::Done,
        Outcome::Refuses => Exit::Corrupt,
        Outcome::Unsupported => Exit::Unsupported,
    }
}

/// With `--strict` an error when the harness would refuse the log.
pub(crate) fn refuse_strictly(log: &Log, env: &Env) -> Result<(), Failure> {
    if env.strict && exit_of(log) != Exit::Done {
        return Err(refusal(log).into());
    }
    Ok(())
}

/// Names on standard error what is wrong with the log, and gives the exit code of a view of what
/// can be read.
///
/// Errors with `--strict` when the harness would refuse the log; so it is called before any output.
pub(crate) fn judge_view(log: &Log, env: &Env) -> Result<Exit, Failure> {
    refuse_strictly(log, env)?;
    let verdict = log.verdict();
    let exit = exit_of(log);
    let path = log.source().path().display();
    if let Some(reason) = verdict.reason.as_ref().filter(|_| exit != Exit::Done) {
        env.warn(&format!("{path}: {reason}"));
    }
    let others: Vec<&Finding> = log
        .findings()
        .list()
        .iter()
        .filter(|finding| finding.severity != Severity::Notes && Some(*finding) != verdict.reason.as_ref())
        .collect();
    for finding in others.iter().take(NAMED) {
        env.warn(&format!("{path}: {finding}"));
    }
    if others.len() > NAMED {
        let word = shell_word(log.source().path());
        env.note(&format!("{} more in `dsh-log inspect {word} --json`", others.len() - NAMED));
    }
    if exit != Exit::Done {
        env.warn(&format!("{path}: the harness refuses this log; shown is {}", readable(log)));
    }
    Ok(exit)
}

fn readable(log: &Log) -> String {
    let index = log.index();
    match index.next_seq().0.checked_sub(1) {
        Some(last) if index.events() > 0 => {
            format!("what can be read without a hole: the events {} to {last}", index.first_seq())
        }
        _ => "nothing, since no event can be read".to_owned(),
    }
}

/// The refusal of the harness as an error.
fn refusal(log: &Log) -> Error {
    let verdict = log.verdict();
    let kind = match verdict.outcome {
        Outcome::Unsupported => ErrorKind::Unsupported,
        _ => ErrorKind::Corrupt,
    };
    let error = match &verdict.reason {
        Some(reason) => {
            let plain = Finding { place: Default::default(), ..reason.clone() };
            Error::new(kind, reason.code.name(), plain.to_string()).at(reason.place)
        }
        None => Error::new(kind, verdict.outcome.name(), "the harness refuses this log"),
    };
    error.at_path(log.source().path()).hint("without --strict, what can be read is shown")
}
