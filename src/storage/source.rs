//! Where a log's bytes come from: positioned reads and the identity of what is read.
//!
//! Reads are positioned and not mapped: the harness truncates a file when it rolls back a failed
//! write, and a mapped read of bytes that are gone kills the process.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What a file was when it was looked at; equal identities mean nothing changed.
///
/// Corresponds to the harness's revision of a raw artifact (format v0, section 2.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Time of the last change of content, nanoseconds since the epoch.
    pub modified: i128,
    /// Time of the last change of the inode, nanoseconds since the epoch.
    pub changed: i128,
}

impl Identity {
    #[cfg(unix)]
    pub(super) fn of(meta: &std::fs::Metadata) -> Identity {
        use std::os::unix::fs::MetadataExt;
        let nanos = |s: i64, n: i64| i128::from(s) * 1_000_000_000 + i128::from(n);
        Identity {
            device: meta.dev(),
            inode: meta.ino(),
            bytes: meta.len(),
            modified: nanos(meta.mtime(), meta.mtime_nsec()),
            changed: nanos(meta.ctime(), meta.ctime_nsec()),
        }
    }

    #[cfg(not(unix))]
    pub(super) fn of(meta: &std::fs::Metadata) -> Identity {
        let modified = meta
            .modified()
            .ok()
            .and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok())
            .map_or(0, |d| d.as_nanos() as i128);
        Identity { bytes: meta.len(), modified, ..Identity::default() }
    }

    /// The identity of the file at a path.
    pub fn of_path(path: &Path) -> Result<Identity> {
        let meta = std::fs::metadata(path).map_err(|e| Error::io("read", path, e))?;
        Ok(Identity::of(&meta))
    }
}

enum Backing {
    File(File),
    Memory(Vec<u8>),
}

/// The bytes of one log, as long as they were when it was opened.
pub struct Source {
    path: PathBuf,
    backing: Backing,
    identity: Identity,
}

impl Source {
    /// Opens a file for reading.
    pub fn open(path: &Path) -> Result<Source> {
        let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
        let meta = file.metadata().map_err(|e| Error::io("read", path, e))?;
        if meta.is_dir() {
            return Err(Error::io("read", path, io::Error::from(io::ErrorKind::IsADirectory)));
        }
        if !meta.is_file() {
            // A pipe or a device has no positions: keep it in a file without a name.
            return Source::spool(path, file);
        }
        let identity = Identity::of(&meta);
        Ok(Source { path: path.to_owned(), backing: Backing::File(file), identity })
    }

    /// The same source as if it ended after `bytes` bytes.
    pub fn upto(&self, bytes: u64) -> Result<Source> {
        let bytes = bytes.min(self.bytes());
        let backing = match &self.backing {
            Backing::File(file) => {
                Backing::File(file.try_clone().map_err(|e| Error::io("open", &self.path, e))?)
            }
            Backing::Memory(all) => {
                let upto = usize::try_from(bytes).unwrap_or(usize::MAX).min(all.len());
                Backing::Memory(all[..upto].to_vec())
            }
        };
        let identity = Identity { bytes, ..self.identity };
        Ok(Source { path: self.path.clone(), backing, identity })
    }

    /// The bytes from `from` to `to` as a stream.
    #[must_use]
    pub fn part(&self, from: u64, to: u64) -> Part<'_> {
        Part { source: self, at: from, to: to.max(from) }
    }

    /// Takes a stream, through a temporary file so that memory does not grow with it.
    pub fn spool(name: &Path, mut from: impl Read) -> Result<Source> {
        let to_error = |e| Error::io("read", name, e);
        let mut file = tempfile::tempfile().map_err(to_error)?;
        io::copy(&mut from, &mut file).map_err(to_error)?;
        file.flush().map_err(to_error)?;
        file.seek(SeekFrom::Start(0)).map_err(to_error)?;
        let identity = Identity::of(&file.metadata().map_err(to_error)?);
        Ok(Source { path: name.to_owned(), backing: Backing::File(file), identity })
    }

    /// Bytes in memory.
    #[must_use]
    pub fn memory(name: &str, bytes: Vec<u8>) -> Source {
        let identity = Identity { bytes: bytes.len() as u64, ..Identity::default() };
        Source { path: name.into(), backing: Backing::Memory(bytes), identity }
    }

    /// The path it was opened by, or a name for what has none.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the file was when it was opened.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// How many bytes there were when it was opened. Bytes that a live writer adds later belong to
    /// a later reading.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.identity.bytes
    }

    /// Reads at `offset` until `buf` is full or the log ends; how much was read.
    ///
    /// Errors when the file cannot be read. A file that was cut short since it was opened gives
    /// fewer bytes.
    pub fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize> {
        let left = self.bytes().saturating_sub(offset);
        let wanted = buf.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let buf = &mut buf[..wanted];
        match &self.backing {
            Backing::Memory(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                buf.copy_from_slice(&bytes[start..start + wanted]);
                Ok(wanted)
            }
            Backing::File(file) => {
                let mut done = 0;
                while done < buf.len() {
                    match positioned(file, &mut buf[done..], offset + done as u64) {
                        Ok(0) => break,
                        Ok(n) => done += n,
                        Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                        Err(e) => return Err(Error::io("read", &self.path, e)),
                    }
                }
                Ok(done)
            }
        }
    }
}

/// A part of a source as a stream.
pub struct Part<'a> {
    source: &'a Source,
    at: u64,
    to: u64,
}

impl Read for Part<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.to - self.at).unwrap_or(usize::MAX);
        let wanted = out.len().min(left);
        let got = self.source.read_at(self.at, &mut out[..wanted]).map_err(io::Error::other)?;
        self.at += got as u64;
        Ok(got)
    }
}

#[cfg(unix)]
fn positioned(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buf, offset)
}

#[cfg(windows)]
fn positioned(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buf, offset)
}

/// A window over a source that moves forward with the reader, for structure that is read in small
/// pieces.
pub struct Window<'a> {
    source: &'a Source,
    start: u64,
    held: Vec<u8>,
}

const WINDOW_BYTES: usize = 256 << 10;

impl<'a> Window<'a> {
    /// A window that holds nothing yet.
    #[must_use]
    pub fn new(source: &'a Source) -> Window<'a> {
        Window { source, start: 0, held: Vec::new() }
    }

    /// The bytes at `offset`: `wanted` of them, or fewer where the log ends.
    pub fn get(&mut self, offset: u64, wanted: usize) -> Result<&[u8]> {
        let end = self.start + self.held.len() as u64;
        if offset < self.start || offset + wanted as u64 > end {
            // A short log gets a short window: listing reads thousands of them.
            let left = usize::try_from(self.source.bytes().saturating_sub(offset)).unwrap_or(usize::MAX);
            self.held.resize(WINDOW_BYTES.max(wanted).min(left), 0);
            let got = self.source.read_at(offset, &mut self.held)?;
            self.held.truncate(got);
            self.start = offset;
        }
        let from = (offset - self.start) as usize;
        let to = (from + wanted).min(self.held.len());
        Ok(&self.held[from..to])
    }
}
