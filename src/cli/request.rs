//! From `TURN.STEP` to the moment at which that request was made.

use super::env::Env;
use super::exit::Failure;
use dsh_log::error::{Error, ErrorKind};
use dsh_log::log::Log;
use dsh_log::view::moment::Moment;
use dsh_log::view::requests::{self, RequestName};

/// The state that the request saw: the log right before it.
///
/// Errors: `no-such-request`, and `ambiguous` where a log holds two steps of one number.
pub(crate) fn moment_of(log: &Log, name: RequestName, env: &Env) -> Result<Moment, Failure> {
    let list = requests::list(log);
    let found = requests::find(&list, name);
    let shown = match name.attempt {
        Some(n) => format!("{}.{}#{n}", name.turn, name.step),
        None => format!("{}.{}", name.turn, name.step),
    };
    let fail = |code, message: String| -> Failure {
        Error::new(ErrorKind::Usage, code, message).at_path(log.source().path()).into()
    };
    match &found[..] {
        [] => {
            let last = list.last().map_or(String::new(), |last| format!("; the last one is {last}"));
            Err(fail(
                "no-such-request",
                format!("no request {shown}: the log holds {} requests{last}", list.len()),
            ))
        }
        [request] => {
            if request.one_of_many && name.attempt.is_none() {
                env.note(&format!("{shown} had {} attempts; shown is the last one", request.attempt));
            }
            match request.upto {
                Some(upto) => Ok(Moment::After(upto)),
                None => Err(fail("no-such-request", format!("nothing stands before request {shown}"))),
            }
        }
        several => {
            let seqs: Vec<String> = several.iter().map(|r| r.first.to_string()).collect();
            let message = format!(
                "{shown} names {} requests, at the events {}; use --at with the event before one",
                several.len(),
                seqs.join(", ")
            );
            Err(fail("ambiguous", message))
        }
    }
}
