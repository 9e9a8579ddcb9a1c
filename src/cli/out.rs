//! Standard output: buffered, and through a pager when it is a terminal and the text is long.

use crate::render::pager::Pager;
use std::ffi::OsString;
use std::io::{self, BufWriter, Stdout, Write};

/// Where data goes.
pub(crate) enum Out {
    /// To standard output.
    Direct(BufWriter<Stdout>),
    /// Kept until it is known whether it fits the screen.
    Held {
        /// What was written.
        text: Vec<u8>,
        /// The lines of it so far.
        lines: usize,
        /// The lines of the screen.
        rows: usize,
        /// The pager to start when it does not fit.
        pager: OsString,
    },
    /// To a pager.
    Paged(Pager),
}

impl Out {
    /// Standard output; with a pager, for text that is longer than `rows` lines.
    pub(crate) fn new(pager: Option<OsString>, rows: usize) -> Out {
        match pager {
            Some(pager) => Out::Held { text: Vec::new(), lines: 0, rows, pager },
            None => Out::direct(),
        }
    }

    fn direct() -> Out {
        Out::Direct(BufWriter::with_capacity(64 << 10, io::stdout()))
    }

    /// Hands on what is still held, and waits for the reader of a pager.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        match self {
            Out::Direct(out) => out.flush(),
            Out::Held { text, .. } => {
                let mut out = io::stdout();
                let text = std::mem::take(text);
                out.write_all(&text)?;
                out.flush()
            }
            Out::Paged(pager) => pager.finish(),
        }
    }

    /// Starts the pager with what is held; without one the text goes out directly.
    fn page(&mut self) -> io::Result<()> {
        let Out::Held { text, pager, .. } = self else { return Ok(()) };
        let (text, pager) = (std::mem::take(text), std::mem::take(pager));
        *self = Pager::start(&pager).map_or_else(|_| Out::direct(), Out::Paged);
        self.write_all(&text)
    }
}

impl Write for Out {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        match self {
            Out::Direct(out) => out.write(piece),
            Out::Paged(pager) => pager.write(piece),
            Out::Held { text, lines, rows, .. } => {
                text.extend_from_slice(piece);
                *lines += memchr::memchr_iter(b'\n', piece).count();
                if *lines >= *rows {
                    self.page()?;
                }
                Ok(piece.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Out::Direct(out) => out.flush(),
            Out::Held { .. } => Ok(()),
            Out::Paged(pager) => pager.flush(),
        }
    }
}
