//! Backup, restore and verification: copies of the log at one position.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use crate::folder::log_folder;
use crate::graph::Graph;
use crate::log::{FileLog, Log};
use crate::memory::Memory;
use crate::options::Options;
use crate::recover;
use crate::repository::Repository;
use crate::{Error, ErrorKind, Position, Result};

/// What was copied or verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupReport {
    /// The last position in it.
    pub position: Position,
    /// How many records.
    pub records_count: u64,
    /// Units: bytes of the log's segments.
    pub bytes: u64,
}

impl Repository {
    /// Copies the repository as it is now into a new folder, durably, while writers and readers go on. The copy is
    /// itself a repository: it opens, and it can be restored from.
    ///
    /// Errors: `AlreadyExists` if `target` is there and not empty; `InvalidArgument` for a repository without a
    /// folder; `Corrupted` if a record on the way is damaged; `Io`.
    pub fn backup(&self, target: impl AsRef<Path>) -> Result<BackupReport> {
        let Some(folder) = &self.inner().folder else {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "backup: expected a repository in a folder, found one on a log alone; export it",
            ));
        };
        let _one = self.inner().maintenance.lock().unwrap_or_else(PoisonError::into_inner);
        copy(folder.log(), self.snapshot().position(), target.as_ref())
    }
}

/// Copies a backup (or any repository that nobody writes) into a new folder, and verifies it.
///
/// Errors: as [`Repository::backup`]; whatever [`verify`] finds.
pub fn restore(backup: impl AsRef<Path>, target: impl AsRef<Path>) -> Result<BackupReport> {
    restore_with(backup, target, &Options::default())
}

/// As [`restore`], within the memory budget of `options`; nothing else of them counts.
pub fn restore_with(
    backup: impl AsRef<Path>,
    target: impl AsRef<Path>,
    options: &Options,
) -> Result<BackupReport> {
    let log = FileLog::open_read_only(log_folder(backup.as_ref()))?;
    copy(&log, log.tail()?, target.as_ref())?;
    verify_with(target, options)
}

/// Reads every record of a repository's folder, checks it, and replays it from nothing. Changes nothing.
///
/// Errors: `Corrupted`, `Gap` or `NewerFormat` for what is found first; `NotFound` if there is no repository.
pub fn verify(folder: impl AsRef<Path>) -> Result<BackupReport> {
    verify_with(folder, &Options::default())
}

/// As [`verify`], within the memory budget of `options`; nothing else of them counts.
pub fn verify_with(folder: impl AsRef<Path>, options: &Options) -> Result<BackupReport> {
    let memory = Arc::new(Memory::new(options.memory_bytes_max));
    memory.check()?;
    let log = FileLog::open_read_only(log_folder(folder.as_ref()))?;
    let verified = log.verify()?;
    let mut graph = Graph::with_spill(options.spill(None, &memory).as_ref());
    recover::replay(&log, &mut graph, &memory, None)?;
    Ok(BackupReport {
        position: graph.position,
        records_count: verified.records_count,
        bytes: verified.bytes,
    })
}

fn copy(log: &FileLog, position: Position, target: &Path) -> Result<BackupReport> {
    let io = |operation: &str, source| Error::io(operation.to_owned(), source).with("path", target.display());
    std::fs::create_dir_all(target).map_err(|source| io("create the folder to copy to", source))?;
    let mut entries = std::fs::read_dir(target).map_err(|source| io("list the folder to copy to", source))?;
    if entries.next().is_some() {
        return Err(Error::new(
            ErrorKind::AlreadyExists,
            format!("{}: expected an empty folder; choose another", target.display()),
        ));
    }
    // Half a copy is of no use, and would be in the way of the next try.
    log.copy_to(log_folder(target), position).inspect_err(|_| {
        let _ = std::fs::remove_dir_all(log_folder(target));
    })?;
    // Sync the names of the new folders, or they can be lost although the files in them are not.
    for folder in
        [target, target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))]
    {
        std::fs::File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|source| io("sync the folder copied to", source))?;
    }
    let copied = FileLog::open_read_only(log_folder(target))?;
    let bytes = copied.segments()?.iter().map(|segment| segment.bytes).sum();
    Ok(BackupReport { position, records_count: position.0, bytes })
}
