//! From `TURN.STEP` to the moment at which that request was made.

use super::env::Env;
use super::exit::Failure;
use dsh_log::error::{Error, ErrorKind, shell_word};
use dsh_log::log::Log;
use dsh_log::view::moment::Moment;
use dsh_log::view::requests::{self, Request, RequestName};

/// The state that the request saw: the log right before it.
///
/// Errors as [`find`], and where nothing stands before the request.
pub(crate) fn moment_of(log: &Log, name: RequestName, env: &Env) -> Result<Moment, Failure> {
    let request = find(log, &requests::list(log), name, env)?;
    request.upto.map(Moment::After).ok_or_else(|| nothing_before(log, &request))
}

/// That a request begins the log.
pub(crate) fn nothing_before(log: &Log, request: &Request) -> Failure {
    let message = format!("nothing stands before request {request}");
    Error::new(ErrorKind::Usage, "no-such-request", message).at_path(log.source().path()).into()
}

/// The request of that name.
///
/// Errors: `no-such-request`, and `ambiguous` where a log holds two steps of one number.
pub(crate) fn find(log: &Log, list: &[Request], name: RequestName, env: &Env) -> Result<Request, Failure> {
    let found = requests::find(list, name);
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
            Ok(*request)
        }
        several => {
            let seqs: Vec<String> = several.iter().map(|r| r.first.to_string()).collect();
            let message =
                format!("{shown} names {} requests, at the events {}", several.len(), seqs.join(", "));
            let path = log.source().path();
            let hint = format!("dsh-log request {} --at {}", shell_word(path), several[0].first);
            Err(Error::new(ErrorKind::Usage, "ambiguous", message).at_path(path).hint(hint).into())
        }
    }
}
