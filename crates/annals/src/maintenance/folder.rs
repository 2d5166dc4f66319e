//! The folder of a repository: the meaning of the names in it.
//!
//! `log/` segments of the log · `checkpoints/` checkpoints · `content/` contents by their SHA-256 · `spilled/` looks empty: long values of a repository with a
//! memory budget, in files without names.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::checkpoint::Checkpoints;
use crate::log::{FileLog, FileOptions, FrameAddress, LOCK_FILE_NAME, Log};
use crate::storage::{Disk, DiskStore, Store, UNNAMED_SUFFIX};
use crate::{Error, ErrorKind, Result};

/// The mark of an interrupted compaction by an earlier version.
const COMPACTING_1: &str = "compacting";

/// Name of the folder of checkpoints.
const CHECKPOINTS: &str = "checkpoints";

/// Name of the folder of the log.
pub(crate) const LOG: &str = "log";

/// Name of the folder of contents.
pub(crate) const CONTENT: &str = "content";

/// The folder of a repository, opened.
pub(crate) struct Folder {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    checkpoints: Checkpoints,
    log: Arc<dyn Log>,
    /// A problem at opening that stopped nothing.
    warning: Option<String>,
}

impl Folder {
    /// Opens the log in the folder `path`.
    ///
    /// Errors: those of [`FileLog`]; `Gap` if there are contents or checkpoints and no log; `Unavailable` if a version before log
    /// format 2 was interrupted during a compaction.
    pub(crate) fn open(
        disk: &Arc<dyn Disk>,
        path: &Path,
        options: FileOptions,
        is_read_only: bool,
    ) -> Result<Folder> {
        let checkpoints = checkpoints_in(disk, path);
        let newest = checkpoints.newest_address();
        let address = newest.and_then(|(position, address)| FrameAddress::decode(position, &address));
        let log = open_log_from(disk, path, options, is_read_only, address)?;
        let mut folder =
            Folder { disk: Arc::clone(disk), path: path.to_path_buf(), checkpoints, log, warning: None };
        if !is_read_only {
            let removed = folder.checkpoints.remove_stale(&*folder.log);
            // If they cannot be listed, loading reports it.
            let is_listed = folder.checkpoints.newest_position().is_ok();
            folder.warning = removed.err().filter(|_| is_listed).map(|error| {
                format!("checkpoints from before a compaction may be left and hold what was purged: {error}")
            });
            folder.remove_spilled();
        }
        Ok(folder)
    }

    pub(crate) fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    pub(crate) fn log(&self) -> &Arc<dyn Log> {
        &self.log
    }

    /// The log as it is on the disk now, for reading.
    ///
    /// Errors: those of [`open_log`].
    pub(crate) fn reopen_log(&self) -> Result<Arc<dyn Log>> {
        open_log(&self.disk, &self.path, FileOptions::default(), true)
    }

    /// True if a writer may have the repository open now.
    pub(crate) fn may_have_writer(&self) -> bool {
        self.disk.is_locked(&log_folder(&self.path).join(LOCK_FILE_NAME)).unwrap_or(true)
    }

    /// The checkpoints, and the problem at opening, if there was one.
    pub(crate) fn checkpoints(&self) -> (Checkpoints, Option<String>) {
        (self.checkpoints.clone(), self.warning.clone())
    }

    /// Removes files that a crash left between their creation and the removal of their name. No other process writes
    /// here now.
    fn remove_spilled(&self) {
        let folder = self.spilled();
        for name in self.disk.list(&folder).unwrap_or_default() {
            if name.ends_with(UNNAMED_SUFFIX) {
                // A file that cannot be removed takes room but does no other harm.
                let _ = self.disk.remove(&folder.join(name));
            }
        }
    }

    /// The store of contents in the folder.
    pub(crate) fn contents(&self) -> Arc<dyn Store> {
        contents_in(&self.disk, &self.path)
    }

    /// The folder for long values of a process that may write here: files that end with the process.
    pub(crate) fn spilled(&self) -> PathBuf {
        self.path.join("spilled")
    }
}

/// Opens the log of the repository in the folder `path`; a writer creates it if it does not exist.
///
/// Errors: as [`Folder::open`].
pub(crate) fn open_log(
    disk: &Arc<dyn Disk>,
    path: &Path,
    options: FileOptions,
    is_read_only: bool,
) -> Result<Arc<dyn Log>> {
    open_log_from(disk, path, options, is_read_only, None)
}

/// The same with the address of a frame, see [`FileLog::open_from`].
fn open_log_from(
    disk: &Arc<dyn Disk>,
    path: &Path,
    options: FileOptions,
    is_read_only: bool,
    address: Option<FrameAddress>,
) -> Result<Arc<dyn Log>> {
    refuse_old_compaction(&**disk, path)?;
    let log_path = log_folder(path);
    if is_read_only {
        return Ok(Arc::new(FileLog::open_read_only_from(Arc::clone(disk), &log_path, options, address)?));
    }
    refuse_lost_log(disk, path)?;
    // This creates missing folders above it, too, durably.
    Ok(Arc::new(FileLog::open_from(Arc::clone(disk), &log_path, options, address)?))
}

fn checkpoints_in(disk: &Arc<dyn Disk>, path: &Path) -> Checkpoints {
    Checkpoints::new(Arc::new(DiskStore::new(Arc::clone(disk), path.join(CHECKPOINTS))))
}

/// The store of contents of the repository at `path`.
pub(crate) fn contents_in(disk: &Arc<dyn Disk>, path: &Path) -> Arc<dyn Store> {
    Arc::new(DiskStore::new(Arc::clone(disk), path.join(CONTENT)))
}

/// The folder of the log of the repository at `path`.
pub(crate) fn log_folder(path: &Path) -> PathBuf {
    path.join(LOG)
}

/// Refuses a folder without a log that has contents or checkpoints: these prove that there was one. A new log would take
/// its place, and the next compaction would remove all contents.
///
/// A log folder with nothing but a lock is the rest of a writer that ended before it had made its first file.
fn refuse_lost_log(disk: &Arc<dyn Disk>, path: &Path) -> Result<()> {
    let log_path = log_folder(path);
    if names_in(&**disk, &log_path)?.iter().any(|name| name != LOCK_FILE_NAME) {
        return Ok(());
    }
    // Checkpoints that cannot be listed prove nothing.
    let newest = checkpoints_in(disk, path).newest_position().ok().flatten();
    let newest = newest.filter(|position| position.0 > 0);
    let has_contents = !names_in(&**disk, &path.join(CONTENT))?.is_empty();
    let (what, folder) = match newest {
        Some(position) => {
            (format!("with records up to {position}, of which there is a checkpoint"), CHECKPOINTS)
        }
        None if has_contents => ("whose records name the contents in the folder".to_owned(), CONTENT),
        None => return Ok(()),
    };
    Err(Error::new(
        ErrorKind::Gap,
        format!(
            "{}: expected a log {what}, found none; put the log back (is it mounted?), or remove {} to start a new \
             repository",
            log_path.display(),
            path.join(folder).display()
        ),
    ))
}

/// The names in a folder; none if it does not exist.
fn names_in(disk: &dyn Disk, folder: &Path) -> Result<Vec<String>> {
    match disk.list(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        names => names.map_err(|source| Error::io("list a folder", source).with("path", folder.display())),
    }
}

fn refuse_old_compaction(disk: &dyn Disk, path: &Path) -> Result<()> {
    let found = disk.list(path).unwrap_or_default().iter().any(|name| name == COMPACTING_1);
    if !found {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Unavailable,
        format!(
            "{}: expected no compaction under way, found one that an earlier version of Annals began; open the \
             repository for writing with that version once, which finishes it",
            path.join(COMPACTING_1).display()
        ),
    ))
}
