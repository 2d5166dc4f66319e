//! Puts a file in place completely or not at all.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use super::disk::{Access, Disk, DiskFile};
use super::stream::FileWriter;

/// The suffix of a file that is being written. A leftover has no meaning and may be removed.
pub(crate) const UNFINISHED_SUFFIX: &str = ".building";

/// Units: bytes written together. Longer pieces are written without a copy.
const PIECE_BYTES: usize = 256 << 10;

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
    build_whole(disk, folder, name, write)?;
    // Sync the folder too: on ext4 a new name can be lost without it.
    disk.sync_folder(folder)
}

/// The same, but the caller makes the name durable.
pub(super) fn build_whole(
    disk: &dyn Disk,
    folder: &Path,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let building = format!("{name}{UNFINISHED_SUFFIX}");
    build_named(disk, folder, &building, |_, _| Ok(false), |out| write(out).map(|()| name.to_owned()))
        .map(drop)
}

/// The same under the name that `write` returns, with `building` as the name meanwhile. `is_there` gets the name and the
/// number of bytes, before the name is given. Shape: true unless it found such a file.
pub(super) fn build_named(
    disk: &dyn Disk,
    folder: &Path,
    building: &str,
    is_there: impl FnOnce(&str, u64) -> io::Result<bool>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<String>,
) -> io::Result<bool> {
    let building = folder.join(building);
    let file = create_anew(disk, &building)?;
    let written = (|| {
        let mut out = BufWriter::with_capacity(PIECE_BYTES, FileWriter::new(Arc::clone(&file)));
        let name = write(&mut out)?;
        // Order: durable before it has the name.
        out.flush()?;
        let is_new = !is_there(&name, file.len()?)?;
        disk.rename(&building, &folder.join(name)).map(|()| is_new)
    })();
    if written.is_err() {
        // A file that cannot be removed takes room but does no other harm.
        let _ = disk.remove(&building);
    }
    written
}

/// Creates a file in place of a leftover of a crash.
fn create_anew(disk: &dyn Disk, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
    match disk.create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            disk.remove(path)?;
            disk.create(path)
        }
        created => created,
    }
}

/// The length of the file of this name. Units: bytes.
///
/// Errors: `NotFound`.
pub(super) fn length_of(disk: &dyn Disk, folder: &Path, name: &str) -> io::Result<u64> {
    disk.open(&folder.join(name), Access::Read)?.len()
}
