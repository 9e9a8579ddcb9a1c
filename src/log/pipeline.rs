//! Work done in parallel and folded in order, with a bounded amount in flight.

use crate::error::Result;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// How many results of one job may wait for the fold.
const WAITING: usize = 4;

/// As many threads as were asked for; for 0 as many as there are cores, at most 8.
#[must_use]
pub fn threads(asked: usize) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, usize::from).min(8),
        n => n,
    }
}

/// Runs `work` over the jobs on `threads` threads and folds what they give in the jobs' order.
///
/// `next` hands out jobs one at a time; `work` may give several results for a job, and learns from
/// its sink whether to go on. The fold runs on the calling thread; when it breaks, the run ends.
pub fn run<J: Send, R: Send, S>(
    threads: usize,
    mut next: impl FnMut() -> Result<Option<J>>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, J, &mut dyn FnMut(R) -> bool) + Sync,
    mut fold: impl FnMut(R) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let Some(first) = next()? else { return Ok(()) };
    let Some(second) = next()? else {
        // One job is no reason to start threads.
        let mut outcome = Ok(ControlFlow::Continue(()));
        work(&mut state(), first, &mut |result| {
            if matches!(outcome, Ok(ControlFlow::Continue(()))) {
                outcome = fold(result);
            }
            matches!(outcome, Ok(ControlFlow::Continue(())))
        });
        return outcome.map(drop);
    };
    let (queue, jobs) = sync_channel::<(J, SyncSender<R>)>(threads);
    let jobs = &Mutex::new(jobs);
    let (state, work) = (&state, &work);
    // The closure owns the queue, so that its end is what lets the workers go.
    std::thread::scope(move |scope| {
        for _ in 0..threads {
            scope.spawn(move || {
                let mut state = state();
                while let Some((job, results)) = take(jobs) {
                    work(&mut state, job, &mut |result| results.send(result).is_ok());
                }
            });
        }
        let mut waiting = VecDeque::new();
        let mut ready = VecDeque::from([first, second]);
        let mut outcome = Ok(());
        'jobs: loop {
            while waiting.len() < threads * 2 {
                let job = match ready.pop_front() {
                    Some(job) => job,
                    None => match next() {
                        Ok(Some(job)) => job,
                        Ok(None) => break,
                        Err(e) => {
                            outcome = Err(e);
                            break;
                        }
                    },
                };
                let (results, folded) = sync_channel(WAITING);
                if queue.send((job, results)).is_err() {
                    break;
                }
                waiting.push_back(folded);
            }
            let Some(results) = waiting.pop_front().filter(|_| outcome.is_ok()) else { break };
            // Jobs are taken in order, so the first one waiting is being worked on or done.
            for result in results {
                match fold(result) {
                    Ok(ControlFlow::Continue(())) => {}
                    Ok(ControlFlow::Break(())) => break 'jobs,
                    Err(e) => {
                        outcome = Err(e);
                        break;
                    }
                }
            }
        }
        outcome
    })
}

fn take<J, R>(jobs: &Mutex<Receiver<(J, SyncSender<R>)>>) -> Option<(J, SyncSender<R>)> {
    jobs.lock().ok()?.recv().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_folded_in_the_order_of_the_jobs() {
        let mut jobs = 0..500_u64;
        let mut seen = Vec::new();
        run(
            3,
            || Ok(jobs.next()),
            || (),
            |(), job, give| {
                for part in 0..job % 7 {
                    if !give((job, part)) {
                        return;
                    }
                }
            },
            |result| {
                seen.push(result);
                Ok(ControlFlow::Continue(()))
            },
        )
        .unwrap();
        let wanted: Vec<_> = (0..500).flat_map(|job| (0..job % 7).map(move |part| (job, part))).collect();
        assert_eq!(seen, wanted);
    }

    #[test]
    fn an_error_of_the_fold_ends_the_run_without_hanging() {
        let error = || crate::error::Error::new(crate::error::ErrorKind::Usage, "stop", "stop");
        let mut jobs = 0..1000;
        let outcome = run(2, || Ok(jobs.next()), || (), |(), job, give| while give(job) {}, |_| Err(error()));
        assert!(outcome.is_err());
    }

    #[test]
    fn a_fold_that_breaks_ends_the_run_without_an_error_and_without_hanging() {
        for count in [1, 1000] {
            let mut jobs = 0..count;
            let mut folded = 0;
            let fold = |_| {
                folded += 1;
                Ok(if folded == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            };
            run(2, || Ok(jobs.next()), || (), |(), job, give| while give(job) {}, fold).unwrap();
            assert_eq!(folded, 3);
        }
    }
}
