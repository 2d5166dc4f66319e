//! Puts a file in place completely or not at all.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use super::disk::Disk;
use super::stream::FileWriter;

/// The suffix of a file that is being written. A leftover has no meaning and may be removed.
pub(crate) const UNFINISHED_SUFFIX: &str = ".building";

/// Units: bytes written together.
const PIECE_BYTES: usize = 1 << 20;

/// Writes a file with the bytes that `write` writes, and gives it the name `name` in `folder`, durably, replacing the
/// file that had it.
///
/// After a crash or an error, the name belongs to the old file or to the whole new one.
/// Errors: those of `write` and of the disk. If the last sync failed, it is unknown which file a power cut leaves.
pub(crate) fn put_whole(
    disk: &dyn Disk,
    folder: &Path,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let building = folder.join(format!("{name}{UNFINISHED_SUFFIX}"));
    // A leftover of a crash would prevent the creation of the file.
    match disk.remove(&building) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = disk.create(&building)?;
    let written = (|| {
        let mut out = BufWriter::with_capacity(PIECE_BYTES, FileWriter::new(Arc::clone(&file)));
        write(&mut out)?;
        out.flush()?;
        file.sync_all()?;
        disk.rename(&building, &folder.join(name))
    })();
    if written.is_err() {
        // A file that cannot be removed takes room but does no other harm.
        let _ = disk.remove(&building);
        return written;
    }
    // Sync the folder too: on ext4 a new name can be lost without it.
    disk.sync_folder(folder)
}
