//! Where a command writes.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::Outcome;

/// A new folder in `parent`, which is made if it is not there, or in the present folder. It goes when it is dropped.
///
/// Errors: those of the file system, with the path.
pub fn folder_in(parent: Option<&Path>) -> Outcome<TempDir> {
    let parent = parent.unwrap_or(Path::new("."));
    let cannot = |error| format!("folder {}: cannot be made or written to: {error}", parent.display());
    fs::create_dir_all(parent).map_err(cannot)?;
    Ok(tempfile::Builder::new().prefix("annals-lab-").tempdir_in(parent).map_err(cannot)?)
}
