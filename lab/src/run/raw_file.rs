//! A file for durable writes without a repository.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::outcome::Outcome;

/// Size at which the file starts over. Units: bytes.
const FILE_BYTES: u64 = 64 << 20;

/// A file with allocated blocks, so that a sync writes data only. It starts over when it is full.
pub struct RawFile {
    file: File,
    offset: u64,
}

impl RawFile {
    /// Creates it, full of zeros and synced.
    ///
    /// Errors: those of the file system, with the path and what the file needs.
    pub fn create(path: &Path) -> Outcome<RawFile> {
        let needs = format!("{}: needs {} MiB for durable writes", path.display(), FILE_BYTES >> 20);
        Ok(RawFile::filled(path).map_err(|error| format!("{needs}: {error}"))?)
    }

    fn filled(path: &Path) -> std::io::Result<RawFile> {
        let file = File::create(path)?;
        let zeros = vec![0; 1 << 20];
        for offset in (0..FILE_BYTES).step_by(zeros.len()) {
            file.write_all_at(&zeros, offset)?;
        }
        file.sync_all()?;
        Ok(RawFile { file, offset: 0 })
    }

    /// Writes and syncs.
    pub fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if self.offset + bytes.len() as u64 > FILE_BYTES {
            self.offset = 0;
        }
        self.file.write_all_at(bytes, self.offset)?;
        self.file.sync_data()?;
        self.offset += bytes.len() as u64;
        Ok(())
    }
}
