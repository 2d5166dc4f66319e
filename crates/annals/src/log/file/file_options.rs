//! Options of the files of a log.

use crate::{Error, ErrorKind, Result};

/// Units: bytes. Bounds of [`FileOptions::segment_bytes`].
pub(crate) const SEGMENT_BYTES_MIN: u64 = 4 * 1024;

pub(crate) const SEGMENT_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Options for opening a file log.
#[derive(Clone, Copy, Debug)]
pub struct FileOptions {
    /// Units: bytes of one segment file, 4 KiB to 1 GiB. An append that does not fit starts a new segment; one that
    /// is larger than a segment gets a segment of its own.
    pub segment_bytes: u64,
    /// Verify every frame of every segment on opening.
    ///
    /// Off by default. A torn write can only be in the last segment, because a segment is synced before the next one is
    /// created; so opening always scans the last one. A medium can decay anywhere and at any time; so every read
    /// verifies the frames it reads, the first read of a segment verifies all of it, and
    /// [`Log::verify`](crate::log::Log::verify) verifies everything. Opening a large log then costs one segment, not
    /// the log.
    pub verify_sealed: bool,
    /// How many segment files are open for reading at once; when there are more, the log closes the one opened first.
    pub open_files_max: usize,
}

impl Default for FileOptions {
    /// Segments of 64 MiB, sealed ones verified when first read, 256 open files.
    fn default() -> FileOptions {
        FileOptions { segment_bytes: 64 * 1024 * 1024, verify_sealed: false, open_files_max: 256 }
    }
}

pub(crate) fn check_options(options: FileOptions) -> Result<()> {
    if (SEGMENT_BYTES_MIN..=SEGMENT_BYTES_MAX).contains(&options.segment_bytes) {
        return Ok(());
    }
    let found = options.segment_bytes;
    let text =
        format!("expected segments of {SEGMENT_BYTES_MIN} to {SEGMENT_BYTES_MAX} bytes, found {found}");
    Err(Error::new(ErrorKind::InvalidArgument, text))
}
