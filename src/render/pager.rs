//! A pager that reads what is written.

use std::ffi::OsStr;
use std::io::{self, BufWriter, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

/// A running pager.
pub(crate) struct Pager {
    child: Child,
    /// None once all is written.
    text: Option<BufWriter<ChildStdin>>,
}

impl Pager {
    /// Starts a command line, through the shell as git does.
    pub(crate) fn start(command: &OsStr) -> io::Result<Pager> {
        let mut shell = if cfg!(windows) { Command::new("cmd") } else { Command::new("sh") };
        let shell = shell.arg(if cfg!(windows) { "/C" } else { "-c" }).arg(command);
        let mut child = shell.stdin(Stdio::piped()).spawn()?;
        let text = child.stdin.take().map(BufWriter::new);
        Ok(Pager { child, text })
    }

    /// Ends the text and waits until the reader is done with it.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        let written = self.text.take().map_or(Ok(()), |mut text| text.flush());
        self.child.wait()?;
        written
    }
}

impl Write for Pager {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.text.as_mut().map_or(Err(io::ErrorKind::BrokenPipe.into()), |text| text.write(piece))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.text.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for Pager {
    /// A pager must not be left behind, or it and the shell would read the same keyboard.
    fn drop(&mut self) {
        let _ = self.finish();
    }
}
