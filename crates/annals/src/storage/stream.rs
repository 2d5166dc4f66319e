//! Writes an open file from its start to its end.

use std::io::{self, Write};
use std::sync::Arc;

use super::disk::{DiskFile, widen};

/// The written bytes are synced in pieces of this length, so that no sync takes long. Units: bytes.
const SYNC_BYTES: u64 = 32 << 20;

/// Writes a file in order. Flushing makes its bytes durable.
pub(super) struct FileWriter {
    file: Arc<dyn DiskFile>,
    offset: u64,
    /// Units: bytes that are durable; `None` before the first sync, which makes the file durable.
    synced: Option<u64>,
}

impl FileWriter {
    pub(super) fn new(file: Arc<dyn DiskFile>) -> FileWriter {
        FileWriter { file, offset: 0, synced: None }
    }
}

impl Write for FileWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_at(bytes, self.offset)?;
        self.offset += widen(bytes.len());
        if self.offset - self.synced.unwrap_or(0) >= SYNC_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.synced != Some(self.offset) {
            self.file.sync_data()?;
            self.synced = Some(self.offset);
        }
        Ok(())
    }
}
