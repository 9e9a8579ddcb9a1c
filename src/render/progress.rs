//! One line that tells how far long work is.

use super::number::size;
use std::io::Write;
use std::time::{Duration, Instant};

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often the line is drawn again.
const TICK: Duration = Duration::from_millis(100);

/// The line, on a terminal's standard error.
pub(crate) struct Progress {
    what: &'static str,
    whole: u64,
    started: Instant,
    drawn: Option<Instant>,
}

impl Progress {
    /// Progress over `whole` bytes; nothing is drawn yet.
    pub(crate) fn new(what: &'static str, whole: u64) -> Progress {
        Progress { what, whole, started: Instant::now(), drawn: None }
    }

    /// Draws the line when it is time to.
    pub(crate) fn at(&mut self, done: u64) {
        let now = Instant::now();
        let due = match self.drawn {
            None => now - self.started >= PATIENCE,
            Some(drawn) => now - drawn >= TICK,
        };
        if due {
            self.drawn = Some(now);
            let line = self.line(done, now - self.started);
            // A terminal that is gone needs no progress.
            let _ = write!(std::io::stderr(), "\r\x1b[2K{line}");
        }
    }

    fn line(&self, done: u64, elapsed: Duration) -> String {
        let percent = (done.min(self.whole) * 100).checked_div(self.whole).unwrap_or(100);
        let rate = (done as f64 / elapsed.as_secs_f64().max(0.001)) as u64;
        format!("{} {percent} % of {}, {} a second", self.what, size(self.whole), size(rate))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_share_size_and_rate() {
        let progress = Progress::new("reading", 2_000_000);
        let line = progress.line(500_000, Duration::from_secs(1));
        assert_eq!(line, "reading 25 % of 2.0 MB, 500 kB a second");
        assert_eq!(
            Progress::new("reading", 0).line(0, Duration::ZERO).split(" of").next(),
            Some("reading 100 %")
        );
    }
}
