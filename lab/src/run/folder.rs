//! The folder that a command writes to.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::outcome::Outcome;

/// A new folder in `parent`, which is created if it does not exist, or in the present folder. Dropping it removes it.
///
/// Errors: those of the file system, with the path.
pub fn make_folder(parent: Option<&Path>) -> Outcome<TempDir> {
    let parent = parent.unwrap_or(Path::new("."));
    let cannot = |error| format!("folder {}: cannot be made or written to: {error}", parent.display());
    fs::create_dir_all(parent).map_err(cannot)?;
    Ok(tempfile::Builder::new().prefix("annals-lab-").tempdir_in(parent).map_err(cannot)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_made_in_one_that_is_not_there_and_what_cannot_hold_one_is_named() {
        let parent = tempfile::tempdir().unwrap();
        let folder = make_folder(Some(&parent.path().join("new/inner"))).unwrap();
        assert!(folder.path().starts_with(parent.path().join("new/inner")) && folder.path().is_dir());
        let file = parent.path().join("file");
        fs::write(&file, "").unwrap();
        let error = make_folder(Some(&file)).unwrap_err().to_string();
        assert!(error.contains(&file.display().to_string()), "{error}");
    }
}
