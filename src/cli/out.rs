//! Standard output: buffered, and through a pager when it is a terminal and the text is long.

use crate::render::clean::escaped;
use crate::render::pager::Pager;
use std::ffi::OsString;
use std::io::{self, BufWriter, Stdout, Write};

/// Standard output, where the bytes of a log may go to a terminal.
pub(crate) struct Out {
    to: To,
    /// Whether acting characters are made visible. Text has none by then; JSON, and what is stored, may.
    terminal: bool,
}

/// Where data goes.
enum To {
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
    pub(crate) fn new(pager: Option<OsString>, rows: usize, terminal: bool) -> Out {
        let to = match pager {
            Some(pager) => To::Held { text: Vec::new(), lines: 0, rows, pager },
            None => To::direct(),
        };
        Out { to, terminal }
    }

    /// Hands on what is still held, and waits for the reader of a pager.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.to.finish()
    }
}

impl Write for Out {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if self.terminal {
            self.to.write_all(&escaped(piece))?;
            return Ok(piece.len());
        }
        self.to.write(piece)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl To {
    fn direct() -> To {
        To::Direct(BufWriter::with_capacity(64 << 10, io::stdout()))
    }

    fn finish(&mut self) -> io::Result<()> {
        match self {
            To::Direct(out) => out.flush(),
            To::Held { text, .. } => {
                let mut out = io::stdout();
                let text = std::mem::take(text);
                out.write_all(&text)?;
                out.flush()
            }
            To::Paged(pager) => pager.finish(),
        }
    }

    /// Starts the pager with what is held; without one the text goes out directly.
    fn page(&mut self) -> io::Result<()> {
        let To::Held { text, pager, .. } = self else { return Ok(()) };
        let (text, pager) = (std::mem::take(text), std::mem::take(pager));
        *self = Pager::start(&pager).map_or_else(|_| To::direct(), To::Paged);
        self.write_all(&text)
    }
}

impl Write for To {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        match self {
            To::Direct(out) => out.write(piece),
            To::Paged(pager) => pager.write(piece),
            To::Held { text, lines, rows, .. } => {
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
            To::Direct(out) => out.flush(),
            To::Held { .. } => Ok(()),
            To::Paged(pager) => pager.flush(),
        }
    }
}
