//! Copies any log into files, online: a consistent backup while appends continue.

use super::unfinished::COPYING_FILE_NAME;
use std::io;
use std::path::Path;

use super::manifest::{MANIFEST_FILE_NAME, Manifest};
use super::mark::{DURABLE_FILE_NAME, Durable, DurableFile};
use super::rewrite::SegmentBuilder;
use super::segment::{SegmentName, io_error};
use super::{FileLog, FileOptions, STALE_RETRIES_MAX};
use crate::log::{Log, LogId, ReadLimit};
use crate::storage::{Disk, UNFINISHED_SUFFIX};
use crate::{Error, ErrorKind, Position, Result};

impl FileLog {
    /// Copies all records up to `upto` into the folder `target` on the same disk: see [`copy_to_files`].
    pub fn copy_to(&self, target: impl AsRef<Path>, upto: Position) -> Result<()> {
        copy_to_files(self, self.files.disk(), target.as_ref(), upto)
    }
}

/// Copies all records of any log up to `upto` into the folder `target`; [`FileLog::open`] opens the copy. The copy is a
/// log of its own, with another [`LogId`].
///
/// The copy is durable on return. Appends, reads and rewriting continue meanwhile. A copy that was interrupted is
/// never taken for a shorter log: opening it fails as `Corrupted`, and the next copy into its folder replaces it.
/// Errors: `NotFound` if `upto` is beyond the tail; `AlreadyExists` if `target` holds a log; `NoRoom`; as
/// [`Log::read`].
pub fn copy_to_files(from: &dyn Log, disk: &dyn Disk, target: &Path, upto: Position) -> Result<()> {
    let tail = from.tail()?;
    if upto > tail {
        let text =
            format!("{}: copy up to {upto}: expected at most the tail {tail}; copy less", from.describe());
        return Err(Error::new(ErrorKind::NotFound, text));
    }
    disk.create_folder(target).map_err(|error| io_error(target, "create the folder", error))?;
    for _ in 0..STALE_RETRIES_MAX {
        clear(&from.describe(), disk, target)?;
        // Order: the file that marks the copy as unfinished is durable before all others.
        let begun = disk.create(&target.join(COPYING_FILE_NAME)).and_then(|_| disk.sync_folder(target));
        begun.map_err(|error| io_error(target, "begin the copy", error))?;
        let generation = from.generation();
        copy_segments(from, disk, target, upto)?;
        // Another process may have rewritten the log meanwhile: then the records would come from both logs.
        if from.generation() == generation {
            return finish(disk, target, upto);
        }
    }
    let text = format!("{}: the log is rewritten faster than it can be copied; retry", from.describe());
    Err(Error::new(ErrorKind::Unavailable, text))
}

fn copy_segments(from: &dyn Log, disk: &dyn Disk, target: &Path, upto: Position) -> Result<()> {
    let Manifest { log_id, generation } = Manifest { log_id: LogId::random(), generation: 0 };
    let start = |first: Position, previous: Position| {
        let name = SegmentName { first, generation };
        SegmentBuilder::create(disk, target.join(name.file_name()), name, previous, log_id)
    };
    let segment_bytes = FileOptions::default().segment_bytes;
    let (mut first, mut builder) = (Position(1), start(Position(1), Position::ZERO)?);
    while builder.last() < upto {
        let next = builder.last().next();
        let records = from.read(next, ReadLimit::default())?;
        if records.is_empty() {
            let text = format!("{}: expected a record at {next}, found none", from.describe());
            return Err(Error::new(ErrorKind::Gap, text));
        }
        let wanted = usize::try_from(upto.0 - builder.last().0).unwrap_or(usize::MAX);
        for record in records.iter().take(wanted) {
            if builder.is_begun() && builder.bytes_with(record) > segment_bytes {
                let previous = std::mem::replace(&mut first, builder.last().next());
                let full = std::mem::replace(&mut builder, start(first, previous)?);
                full.finish()?;
            }
            builder.push(record)?;
        }
    }
    builder.finish()?;
    let written = Manifest { log_id, generation }.write(disk, target);
    written.map_err(|error| io_error(target, "write the manifest", error))?;
    DurableFile::create(disk, target, Durable { position: upto, generation, log_id })?;
    Ok(())
}

/// Completes the copy, so that it opens.
pub(super) fn finish(disk: &dyn Disk, target: &Path, upto: Position) -> Result<()> {
    let copying = target.join(COPYING_FILE_NAME);
    let finished =
        disk.sync_folder(target).and_then(|()| disk.remove(&copying)).and_then(|()| disk.sync_folder(target));
    finished.map_err(|error| io_error(target, &format!("finish the copy up to {upto}"), error))
}

/// Removes an interrupted copy from `target`.
///
/// Errors: `AlreadyExists` if there is a log; `Io`.
pub(super) fn clear(from: &str, disk: &dyn Disk, target: &Path) -> Result<()> {
    let names = disk.list(target).map_err(|error| io_error(target, "list", error))?;
    let is_own = |name: &String| {
        let marks = [DURABLE_FILE_NAME, MANIFEST_FILE_NAME];
        marks.contains(&name.as_str()) || SegmentName::parse(name).is_some()
    };
    if !names.iter().any(|name| name == COPYING_FILE_NAME) {
        let Some(taken) = names.iter().find(|name| is_own(name)) else { return Ok(()) };
        let text = format!(
            "{from}: copy to {}: expected a folder without a log, found {taken}; choose another folder",
            target.display()
        );
        return Err(Error::new(ErrorKind::AlreadyExists, text));
    }
    let is_unfinished = |name: &String| name.ends_with(UNFINISHED_SUFFIX);
    let copied = names.iter().filter(|name| is_own(name) || is_unfinished(name));
    // Order: last, so that an interrupted clearing is still recognised as an interrupted copy.
    let copying = COPYING_FILE_NAME.to_owned();
    for name in copied.chain([&copying]) {
        let path = target.join(name);
        disk.remove(&path).map_err(|error| io_error(&path, "remove", error))?;
    }
    Ok(())
}

/// True if `folder` holds nothing, or an interrupted copy.
pub(crate) fn is_vacant_log(disk: &dyn Disk, folder: &Path) -> io::Result<bool> {
    match disk.list(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
        Ok(names) => Ok(names.is_empty() || names.iter().any(|name| name == COPYING_FILE_NAME)),
    }
}
