//! Copies a log online: a consistent backup while appends continue.

use super::unfinished::COPYING_FILE_NAME;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::manifest::{MANIFEST_FILE_NAME, Manifest};
use super::mark::{DURABLE_FILE_NAME, Durable, DurableFile};
use super::rewrite::SegmentBuilder;
use super::segment::{Segment, SegmentName, io_error};
use super::{FileLog, Listing, STALE_RETRIES_MAX};
use crate::log::{Batch, Log, LogId, ReadLimit};
use crate::storage::{Disk, UNFINISHED_SUFFIX};
use crate::{Error, ErrorKind, Position, Result};

impl FileLog {
    /// Copies all records up to `upto` into the folder `target`; [`FileLog::open`] opens the copy. The copy is a log of
    /// its own, with another [`LogId`].
    ///
    /// The copy is durable on return. Appends, reads and rewriting continue meanwhile. A copy that was interrupted is
    /// never taken for a shorter log: opening it fails as `Corrupted`, and the next copy into its folder replaces it.
    /// Errors: `NotFound` if `upto` is beyond the tail; `AlreadyExists` if `target` holds a log; `NoRoom`; as
    /// [`Log::read`].
    pub fn copy_to(&self, target: impl AsRef<Path>, upto: Position) -> Result<()> {
        let target = target.as_ref();
        let tail = self.tail()?;
        if upto > tail {
            let text =
                format!("{}: copy up to {upto}: expected at most the tail {tail}; copy less", self.name);
            return Err(Error::new(ErrorKind::NotFound, text));
        }
        let disk = self.files.disk();
        disk.create_folder(target).map_err(|error| io_error(target, "create the folder", error))?;
        for _ in 0..STALE_RETRIES_MAX {
            self.clear(target)?;
            // Order: the file that marks the copy as unfinished is durable before all others.
            let begun = disk.create(&target.join(COPYING_FILE_NAME)).and_then(|_| disk.sync_folder(target));
            begun.map_err(|error| io_error(target, "begin the copy", error))?;
            // Another process may rewrite the log meanwhile: then the copied segments would come from both logs.
            if self.copy_segments(target, &self.listing(), upto)? {
                return self.finish_copy(target, upto);
            }
            self.refresh(true)?;
        }
        let text = format!("{}: the log is rewritten faster than it can be copied; retry", self.name);
        Err(Error::new(ErrorKind::Unavailable, text))
    }

    /// Shape: false if a segment was rewritten meanwhile.
    fn copy_segments(&self, target: &Path, listing: &Listing, upto: Position) -> Result<bool> {
        let manifest = Manifest { log_id: LogId::random(), generation: 0 };
        let mut previous = Position::ZERO;
        for segment in &listing.segments {
            if segment.first() > upto && previous != Position::ZERO {
                break;
            }
            let last = segment.sealed_last().map_or(upto, |last| last.min(upto));
            if !self.copy_segment(target, segment, previous, last, manifest.log_id)? {
                return Ok(false);
            }
            previous = segment.first();
        }
        let disk = self.files.disk();
        manifest.write(disk, target).map_err(|error| io_error(target, "write the manifest", error))?;
        let Manifest { log_id, generation } = manifest;
        DurableFile::create(disk, target, Durable { position: upto, generation, log_id })?;
        Ok(true)
    }

    /// Shape: false if the segment was rewritten meanwhile.
    fn copy_segment(
        &self,
        target: &Path,
        segment: &Arc<Segment>,
        previous: Position,
        last: Position,
        log_id: LogId,
    ) -> Result<bool> {
        let name = SegmentName { first: segment.first(), generation: 0 };
        let path = target.join(name.file_name());
        let mut builder = SegmentBuilder::create(self.files.disk(), path, name, previous, log_id)?;
        while builder.last() < last {
            let mut batch = Batch::new(ReadLimit::default());
            if !segment.read(&self.files, builder.last().next(), last, &mut batch)? {
                return Ok(false);
            }
            for record in batch.into_records() {
                builder.push(&record)?;
            }
        }
        builder.finish().map(|_| true)
    }

    /// Completes the copy, so that it opens.
    fn finish_copy(&self, target: &Path, upto: Position) -> Result<()> {
        let disk = self.files.disk();
        let copying = target.join(COPYING_FILE_NAME);
        let finished = disk
            .sync_folder(target)
            .and_then(|()| disk.remove(&copying))
            .and_then(|()| disk.sync_folder(target));
        finished.map_err(|error| io_error(target, &format!("finish the copy up to {upto}"), error))
    }

    /// Removes an interrupted copy from `target`.
    ///
    /// Errors: `AlreadyExists` if there is a log; `Io`.
    fn clear(&self, target: &Path) -> Result<()> {
        let disk = self.files.disk();
        let names = disk.list(target).map_err(|error| io_error(target, "list", error))?;
        let is_own = |name: &String| {
            let marks = [DURABLE_FILE_NAME, MANIFEST_FILE_NAME];
            marks.contains(&name.as_str()) || SegmentName::parse(name).is_some()
        };
        if !names.iter().any(|name| name == COPYING_FILE_NAME) {
            let Some(taken) = names.iter().find(|name| is_own(name)) else { return Ok(()) };
            let text = format!(
                "{}: copy to {}: expected a folder without a log, found {taken}; choose another folder",
                self.name,
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
}

/// True if `folder` holds nothing, or an interrupted copy.
pub(crate) fn is_vacant_log(disk: &dyn Disk, folder: &Path) -> io::Result<bool> {
    match disk.list(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
        Ok(names) => Ok(names.is_empty() || names.iter().any(|name| name == COPYING_FILE_NAME)),
    }
}
