//! Backup, restore and verification: copies of the log at one position.

use std::io;
use std::path::Path;
use std::sync::{Arc, PoisonError};

use super::contents::{copy_contents, named_contents, verify_contents};
use super::folder::{CONTENT, contents_in, log_folder, open_log};
use crate::contents::Contents;
use crate::graph::Graph;
use crate::graph::indexed::Indexed;
use crate::log::{FileLog, FileOptions, Log, is_vacant_log};
use crate::memory::Memory;
use crate::options::Options;
use crate::repository::{Repository, load_with};
use crate::storage::{Disk, RealDisk};
use crate::{Error, ErrorKind, Position, Result};

/// The size of a copied or verified repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupReport {
    /// Its last position.
    pub position: Position,
    /// How many records.
    pub records_count: u64,
    /// Units: bytes of the log's segments.
    pub bytes: u64,
    /// Contents that versions name.
    pub contents_count: u64,
    /// Units: bytes of these contents.
    pub contents_bytes: u64,
}

impl Repository {
    /// Copies the repository as it is now into a new folder, durably, while writers and readers continue. The copy is
    /// itself a repository: you can open it, and restore from it.
    ///
    /// Errors: `AlreadyExists` if `target` exists and is not empty; `InvalidArgument` for a repository without a
    /// folder; `Corrupted` if a record is damaged; `NoRoom`; `Io`.
    pub fn backup(&self, target: impl AsRef<Path>) -> Result<BackupReport> {
        let Some(folder) = &self.inner().folder else {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "backup: expected a repository in a folder, found one on a log alone; export it",
            ));
        };
        let _one = self.inner().maintenance.lock().unwrap_or_else(PoisonError::into_inner);
        let contents = self.contents()?;
        copy(folder.log(), &contents, self.snapshot().position(), folder.disk(), target.as_ref())
    }
}

/// Copies a backup (or any repository without a writer) into a new folder, and verifies it.
///
/// Errors: as [`Repository::backup`]; those of [`verify`].
pub fn restore(backup: impl AsRef<Path>, target: impl AsRef<Path>) -> Result<BackupReport> {
    restore_with(backup, target, &Options::default())
}

/// As [`restore`], within the memory budget of `options`; their other fields are ignored.
pub fn restore_with(
    backup: impl AsRef<Path>,
    target: impl AsRef<Path>,
    options: &Options,
) -> Result<BackupReport> {
    restore_on(Arc::new(RealDisk), backup, target, options)
}

/// As [`restore_with`], on any disk.
pub fn restore_on(
    disk: Arc<dyn Disk>,
    backup: impl AsRef<Path>,
    target: impl AsRef<Path>,
    options: &Options,
) -> Result<BackupReport> {
    let log = open_log(&disk, backup.as_ref(), options.of_files(), true)?;
    let contents = Contents::new(contents_in(&disk, backup.as_ref()));
    copy(&log, &contents, log.tail()?, &disk, target.as_ref())?;
    verify_on(disk, target, options)
}

/// Reads every record of a repository's folder, checks it, replays it into an empty graph, and re-reads every content
/// that a version names. Changes nothing.
///
/// Errors: `Corrupted`, `Gap` or `NewerFormat` for the first damage; `NotFound` if there is no repository;
/// `Unavailable` if a power cut left records that only a writer can check.
pub fn verify(folder: impl AsRef<Path>) -> Result<BackupReport> {
    verify_with(folder, &Options::default())
}

/// As [`verify`], within the memory budget of `options`; their other fields are ignored.
pub fn verify_with(folder: impl AsRef<Path>, options: &Options) -> Result<BackupReport> {
    verify_on(Arc::new(RealDisk), folder, options)
}

/// As [`verify_with`], on any disk.
pub fn verify_on(disk: Arc<dyn Disk>, folder: impl AsRef<Path>, options: &Options) -> Result<BackupReport> {
    let memory = Arc::new(Memory::new(options.memory_bytes_max));
    memory.check()?;
    let log = open_log(&disk, folder.as_ref(), options.of_files(), true)?;
    let verified = log.verify()?;
    let spill = options.spill(None, &memory);
    let (Indexed { graph, .. }, _) = load_with(&log, &memory, None, || {
        let empty = Graph { generation: log.generation(), ..Graph::with_spill(spill.as_ref()) };
        Ok(Indexed::new(empty, Arc::default()))
    })?;
    let contents = Contents::new(contents_in(&disk, folder.as_ref()));
    let (contents_count, contents_bytes) =
        verify_contents(&contents, &named_contents(&log, Position(1), graph.position)?)?;
    Ok(BackupReport {
        position: graph.position,
        records_count: verified.records_count,
        bytes: verified.bytes,
        contents_count,
        contents_bytes,
    })
}

fn copy(
    log: &FileLog,
    contents: &Contents,
    position: Position,
    disk: &Arc<dyn Disk>,
    target: &Path,
) -> Result<BackupReport> {
    let log_path = log_folder(target);
    let io = |operation: &str, source| Error::of_disk(operation, source).with("path", target.display());
    if !is_vacant(&**disk, target, &log_path).map_err(|source| io("list the folder to copy to", source))? {
        return Err(Error::new(
            ErrorKind::AlreadyExists,
            format!("{}: expected an empty folder; choose another", target.display()),
        ));
    }
    // Order: contents first, because a copy with a log counts as whole.
    let named = named_contents(log, Position(1), position)?;
    let copied_contents = Contents::new(contents_in(disk, target));
    let (contents_count, contents_bytes) = copy_contents(contents, &copied_contents, &named)?;
    log.copy_to(&log_path, position)?;
    let copied = FileLog::open_read_only_on(log.disk(), &log_path, FileOptions::default())?;
    let bytes = copied.segments()?.iter().map(|segment| segment.bytes).sum();
    Ok(BackupReport { position, records_count: position.0, bytes, contents_count, contents_bytes })
}

/// True if `target` is empty or holds only an interrupted copy.
fn is_vacant(disk: &dyn Disk, target: &Path, log_path: &Path) -> io::Result<bool> {
    let names = match disk.list(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        other => other?,
    };
    let is_part =
        |name: &String| name == CONTENT || log_path.file_name().is_some_and(|log| log == name.as_str());
    if names.iter().all(is_part) { is_vacant_log(disk, log_path) } else { Ok(false) }
}
