//! A file that refuses to go on when the repository is being closed, so that closing does not wait for a large graph.

use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// What is written is synced in pieces of this length, so that no sync that cannot be called off takes long. Units: bytes.
const SYNC_BYTES: usize = 32 << 20;

/// Errors: of every write once `is_stopping` is set. Not `Interrupted`, after which callers try again.
pub(super) struct Stoppable<'s> {
    file: File,
    is_stopping: &'s AtomicBool,
    unsynced_bytes: usize,
}

impl<'s> Stoppable<'s> {
    pub(super) fn new(file: File, is_stopping: &'s AtomicBool) -> Stoppable<'s> {
        Stoppable { file, is_stopping, unsynced_bytes: 0 }
    }

    /// Makes the file durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.check()?;
        self.file.sync_all()
    }

    fn check(&self) -> io::Result<()> {
        if self.is_stopping.load(Ordering::SeqCst) {
            return Err(io::Error::other("the repository is being closed"));
        }
        Ok(())
    }
}

impl Write for Stoppable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check()?;
        let written = self.file.write(bytes)?;
        self.unsynced_bytes += written;
        if self.unsynced_bytes >= SYNC_BYTES {
            self.unsynced_bytes = 0;
            self.file.sync_data()?;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
