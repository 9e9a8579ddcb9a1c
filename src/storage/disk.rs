//! The door to the disk for everything that must be durable: each step that can fail or be lost in a
//! crash is one call, so that tests can stand in for the disk, fail any step and forget what was not
//! synced.
//!
//! Reading does not go through it: what was written is read back from where it was really put. Nor
//! does the lock, which writes nothing and need not outlive the process.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// The steps that durable writes are made of. What is given here is the real file system.
pub trait Disk {
    /// Creates a file that must not be there, for its owner only.
    fn create(&self, path: &Path) -> io::Result<File> {
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)
    }

    /// Opens a file that is there, to read it and to write at its end.
    fn open_to_append(&self, path: &Path) -> io::Result<File> {
        File::options().read(true).append(true).open(path)
    }

    /// Writes some of the bytes; how many.
    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        let mut file = file;
        file.write(bytes)
    }

    /// Makes a file's content durable.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    /// Makes a file that long.
    fn truncate(&self, file: &File, bytes: u64) -> io::Result<()> {
        file.set_len(bytes)
    }

    /// Gives a file a second name, which must be free.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    /// Gives a file another name, and that name's old file is gone.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    /// Gives a file another name, which must be free.
    fn rename_to_free(&self, from: &Path, to: &Path) -> io::Result<()> {
        tempfile::TempPath::try_from_path(from)?.persist_noclobber(to).map_err(|failed| {
            // Whoever made the file removes it.
            let _ = failed.path.keep();
            failed.error
        })
    }

    /// Removes a name.
    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    /// Makes a directory, private to the user.
    fn make_dir(&self, path: &Path) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }

    /// Makes the names in a directory durable; elsewhere than on Unix there is no such call.
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
    }
}

/// The real disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {}

/// A file that is written through a disk.
pub(super) struct DiskFile<'a> {
    pub(super) disk: &'a dyn Disk,
    pub(super) file: &'a File,
}

impl Write for DiskFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.write(self.file, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
