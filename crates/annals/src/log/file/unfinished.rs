//! Copies of a log that were never finished.

use super::segment::io_error;
use crate::storage::{Access, Disk};
use crate::{Error, ErrorKind, Result};
use std::io;
use std::path::Path;

/// Exists while a copy is being made. A log with this file in its folder does not open.
pub(crate) const COPYING_FILE_NAME: &str = "copying";

/// Refuses a folder with an interrupted copy.
///
/// Errors: `Corrupted`; `Io`.
pub(crate) fn refuse_unfinished_copy(disk: &dyn Disk, folder: &Path) -> Result<()> {
    let path = folder.join(COPYING_FILE_NAME);
    match disk.open(&path, Access::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(io_error(&path, "open", error)),
        Ok(_) => {
            let text = format!(
                "{}: expected a whole log, found a copy that was cut short; make the copy again, into the same folder",
                path.display()
            );
            Err(Error::new(ErrorKind::Corrupted, text))
        }
    }
}
