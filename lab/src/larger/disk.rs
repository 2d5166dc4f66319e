//! Files on the disk that must not come from the page cache.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{Advice, fadvise};

use crate::outcome::Outcome;

/// A file as large as all payloads, to measure the disk.
pub fn raw_file(path: &Path, bytes: usize) -> Outcome<File> {
    let file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
    let block: Vec<u8> = (0..1 << 20).map(|at: u32| ((at * 31) >> 3) as u8).collect();
    for offset in (0..bytes).step_by(block.len()) {
        file.write_all_at(&block, offset as u64)?;
    }
    Ok(file)
}

/// Writes a file to disk and drops it from the page cache.
pub fn drop_cached(file: &File) -> Outcome<()> {
    file.sync_all()?;
    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}

/// The spill files of this process, which have no names.
pub fn spill_files() -> Outcome<Vec<File>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")?.flatten() {
        let target = std::fs::read_link(entry.path()).unwrap_or_default();
        if target.to_string_lossy().contains(".spill") {
            files.push(File::open(entry.path())?);
        }
    }
    Ok(files)
}
