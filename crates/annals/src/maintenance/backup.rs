//! Backup, restore and verification: copies of the log at one position.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::contents::{
    DamagedContent, Holder, copy_contents, name_instances, named_contents, remove_others, verify_contents,
};
use super::folder::{CONTENT, contents_in, log_folder, open_log};
use super::recover::load_with;
use crate::contents::{Contents, no_contents};
use crate::graph::Graph;
use crate::graph::indexed::Indexed;
use crate::log::{FileOptions, Log, append_copy, copy_to_files, is_vacant_log};
use crate::memory::Memory;
use crate::model::Sha256;
use crate::options::Options;
use crate::repository::{Inner, Repository};
use crate::storage::{Disk, MemoryStore, RealDisk, Store};
use crate::{Error, ErrorKind, Position, Result};

/// The size of a copied or verified repository.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Contents that the source could not give, so that the copy lacks them.
    pub unreadable: Vec<DamagedContent>,
}

/// Most attempts to copy a repository that is compacted during each of them.
const ATTEMPTS_MAX: usize = 10;

impl Repository {
    /// Copies the repository as it is now into a new folder, durably, while writers and readers continue. The copy is
    /// itself a repository: you can open it, and restore from it. The report names contents that could not be read: the
    /// copy has all others. If another process compacts the repository meanwhile, the copy begins again.
    ///
    /// Errors: `AlreadyExists` if `target` exists and is not empty; `Corrupted` if a record is damaged; `Closed` if the
    /// repository is closed meanwhile; `NoRoom`; `Io`; `InvalidArgument` if versions name contents and there is no store.
    pub fn backup(&self, target: impl AsRef<Path>) -> Result<BackupReport> {
        let inner = self.inner();
        let on_disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let disk = inner.folder.as_ref().map_or(&on_disk, |folder| folder.disk());
        let mut position = self.try_snapshot()?.position();
        let contents = contents_to_copy(inner, position)?;
        let copying =
            Copying { contents: &contents, holder: Holder(Some(inner)), disk, target: target.as_ref() };
        // Order: once, before anything is written, so that a later attempt removes only what this call has written.
        check_vacant(&**copying.disk, copying.target)?;
        let (mut reopened, mut copied) = (None, HashSet::new());
        for attempt in 1.. {
            let log: &Arc<dyn Log> = reopened.as_ref().unwrap_or(inner.committer.source().log());
            // Order: first, because the log notices another generation while it is read.
            let generation = log.generation();
            let outcome = copying.copy(&**log, position, &mut copied);
            let is_whole = outcome.as_ref().is_ok_and(|report| report.unreadable.is_empty());
            // Another process copies to the same folder.
            let is_taken = outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::AlreadyExists);
            if is_whole || is_taken || attempt == ATTEMPTS_MAX {
                return outcome;
            }
            // A compaction replaces the log, and removes contents that only its predecessor names.
            let newer = match &inner.folder {
                Some(folder) => folder.reopen_log()?,
                None => Arc::clone(log),
            };
            if newer.generation() == generation {
                return outcome;
            }
            copying.clear_log()?;
            // Order: with the purges, whose changes the compaction has removed.
            position = newer.tail()?;
            reopened = Some(newer);
        }
        unreachable!("the last attempt returns")
    }
}

/// The contents that a copy up to `position` is made from. A log alone has none.
///
/// Errors: `InvalidArgument` if a version names one all the same; those of the log.
pub(super) fn contents_to_copy(inner: &Inner, position: Position) -> Result<Contents> {
    if let Some(contents) = &inner.committer.contents {
        return Ok(contents.clone());
    }
    let log = inner.committer.source().log();
    match named_contents(&**log, Position(1), position)?.is_empty() {
        true => Ok(Contents::new(Arc::new(MemoryStore::new()))),
        false => Err(no_contents()),
    }
}

/// Copies a backup (or any repository without a writer) into a new folder, and verifies it.
///
/// Errors: as [`Repository::backup`]; those of [`verify`].
pub fn restore(backup: impl AsRef<Path>, target: impl AsRef<Path>) -> Result<BackupReport> {
    restore_with(backup, target, &Options::default())
}

/// As [`restore`], within the memory budget of `options`, and telling `on_replay` how far the check of the copy is; their other
/// fields are ignored.
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
    let position = log.tail()?;
    let copying = Copying { contents: &contents, holder: Holder(None), disk: &disk, target: target.as_ref() };
    check_vacant(&**copying.disk, copying.target)?;
    copying.copy(&log, position, &mut HashSet::new())?;
    verify_on(disk, target, options)
}

/// Copies a backup (or any repository without a writer) into an empty log and its store of contents, and verifies them.
/// If it fails, the log may have the first records: empty it before the next attempt.
///
/// Errors: `AlreadyExists` if the log has records; `InvalidArgument` if versions name contents and there is no store;
/// those of [`Repository::backup`] and [`verify_log`].
pub fn restore_into(
    backup: impl AsRef<Path>,
    log: &dyn Log,
    contents: Option<Arc<dyn Store>>,
    options: &Options,
) -> Result<BackupReport> {
    if log.tail()? > Position::ZERO {
        let text = format!(
            "{}: expected an empty log, found {} records; choose another",
            log.describe(),
            log.tail()?
        );
        return Err(Error::new(ErrorKind::AlreadyExists, text));
    }
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let stored = open_log(&disk, backup.as_ref(), options.of_files(), true)?;
    let position = stored.tail()?;
    // Order: contents first, because a log whose records name contents counts as whole.
    let named = named_contents(&stored, Position(1), position)?;
    if let Some(store) = &contents {
        let from = Contents::new(contents_in(&disk, backup.as_ref()));
        let copied = copy_contents(
            &from,
            &Contents::new(Arc::clone(store)),
            &named,
            &mut HashSet::new(),
            &Holder(None),
        )?;
        if let Some(first) = copied.first() {
            return Err(Error::new(ErrorKind::Corrupted, first.problem.clone()));
        }
    } else if !named.is_empty() {
        return Err(no_contents());
    }
    append_copy(&stored, log, position)?;
    verify_log(log, contents, options)
}

/// Reads every record of a repository's folder, checks it, replays it into an empty graph, and re-reads every content
/// that a version names. Changes nothing.
///
/// Errors: `Corrupted`, `Gap` or `NewerFormat` for the first damage; `NotFound` if there is no repository;
/// `Unavailable` if a power cut left records that only a writer can check.
pub fn verify(folder: impl AsRef<Path>) -> Result<BackupReport> {
    verify_with(folder, &Options::default())
}

/// As [`verify`], within the memory budget of `options`, and telling `on_replay` how far it is; their other fields are ignored.
pub fn verify_with(folder: impl AsRef<Path>, options: &Options) -> Result<BackupReport> {
    verify_on(Arc::new(RealDisk), folder, options)
}

/// As [`verify_with`], on any disk.
pub fn verify_on(disk: Arc<dyn Disk>, folder: impl AsRef<Path>, options: &Options) -> Result<BackupReport> {
    let log = open_log(&disk, folder.as_ref(), options.of_files(), true)?;
    verify_log(&log, Some(contents_in(&disk, folder.as_ref())), options)
}

/// As [`verify_with`], for any log and the store of its contents, if it has one.
pub fn verify_log(
    log: &dyn Log,
    contents: Option<Arc<dyn Store>>,
    options: &Options,
) -> Result<BackupReport> {
    let memory = Arc::new(Memory::new(options.memory_bytes_max));
    memory.check()?;
    let verified = log.verify()?;
    let spill = options.spill(None, &memory);
    let (Indexed { graph, .. }, _) = load_with(log, &memory, options.on_replay.as_ref(), || {
        let empty = Graph { generation: log.generation(), ..Graph::with_spill(spill.as_ref()) };
        Ok(Indexed::new(empty, Arc::default()))
    })?;
    let contents = Contents::elsewhere(contents.unwrap_or_else(|| Arc::new(MemoryStore::new())));
    let (contents_count, contents_bytes) =
        verify_contents(&contents, &named_contents(log, Position(1), graph.position)?)?;
    Ok(BackupReport {
        position: graph.position,
        records_count: verified.records_count,
        bytes: verified.bytes,
        contents_count,
        contents_bytes,
        unreadable: Vec::new(),
    })
}

/// A copy that is being made.
struct Copying<'c> {
    contents: &'c Contents,
    holder: Holder<'c>,
    disk: &'c Arc<dyn Disk>,
    target: &'c Path,
}

impl Copying<'_> {
    /// Copies everything up to a position. `copied` has the contents that are in the copy already.
    fn copy(&self, log: &dyn Log, position: Position, copied: &mut HashSet<Sha256>) -> Result<BackupReport> {
        let Copying { disk, target, .. } = *self;
        let log_path = log_folder(target);
        // Order: contents first, because a copy with a log counts as whole.
        let named = named_contents(log, Position(1), position)?;
        let copied_contents = Contents::new(contents_in(disk, target));
        let mut unreadable = copy_contents(self.contents, &copied_contents, &named, copied, &self.holder)?;
        remove_others(&copied_contents, &named)?;
        name_instances(log, position, &mut unreadable)?;
        if let (Holder(None), Some(first)) = (&self.holder, unreadable.first()) {
            return Err(Error::new(ErrorKind::Corrupted, first.problem.clone()));
        }
        let _held = self.holder.hold()?;
        copy_to_files(log, &**disk, &log_path, position)?;
        let bytes = open_log(disk, target, FileOptions::default(), true)?.bytes_up_to(position);
        let lacks = |sha256| unreadable.iter().any(|damage| damage.sha256 == sha256);
        let sizes = named.iter().filter(|(sha256, _)| !lacks(**sha256)).map(|(_, size)| *size);
        let (contents_count, contents_bytes) =
            sizes.fold((0, 0), |(count, bytes), size| (count + 1, bytes + size));
        let records_count = position.0;
        Ok(BackupReport { position, records_count, bytes, contents_count, contents_bytes, unreadable })
    }

    /// Removes the log of an attempt that is made again. The contents stay: they are proved.
    fn clear_log(&self) -> Result<()> {
        let log_path = log_folder(self.target);
        let names = match self.disk.list(&log_path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            names => names.map_err(|source| self.io("list an interrupted copy", source))?,
        };
        for name in names {
            let removed = self.disk.remove(&log_path.join(name));
            removed.map_err(|source| self.io("remove an interrupted copy", source))?;
        }
        Ok(())
    }

    fn io(&self, operation: &str, source: io::Error) -> Error {
        Error::of_disk(operation, source).with("path", self.target.display())
    }
}

/// Errors: `AlreadyExists` if the target holds something else than an interrupted copy.
pub(crate) fn check_vacant(disk: &dyn Disk, target: &Path) -> Result<()> {
    let vacant = is_vacant(disk, target, &log_folder(target));
    let listed = |source| Error::of_disk("list the folder to copy to", source).with("path", target.display());
    if vacant.map_err(listed)? {
        return Ok(());
    }
    let text = format!("{}: expected an empty folder; choose another", target.display());
    Err(Error::new(ErrorKind::AlreadyExists, text))
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
