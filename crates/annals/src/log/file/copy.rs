//! Copies a log online: a consistent backup while appends go on.

use std::io;
use std::path::Path;
use std::sync::PoisonError;

use super::FileLog;
use super::mark::{DURABLE_FILE_NAME, Durable, DurableFile};
use super::replace::SegmentBuilder;
use super::segment::{io_error, new_salt, parse_segment_file_name, segment_file_name};
use crate::log::{Log, ReadLimit};
use crate::{Error, ErrorKind, Position, Result};

impl FileLog {
    /// Copies all records up to `upto` into the folder `target`, from which [`FileLog::open`] opens them.
    ///
    /// The copy is durable on return. Appends and reads go on meanwhile; replacing a segment waits. A copy that was
    /// cut short is refused as `Corrupted` when opened, never taken for a shorter log.
    /// Errors: `NotFound` if `upto` is beyond the tail; `AlreadyExists` if `target` holds a log; as [`Log::read`].
    pub fn copy_to(&self, target: impl AsRef<Path>, upto: Position) -> Result<()> {
        let target = target.as_ref();
        let tail = self.tail()?;
        if upto > tail {
            let text =
                format!("{}: copy up to {upto}: expected at most the tail {tail}; copy less", self.name);
            return Err(Error::new(ErrorKind::NotFound, text));
        }
        let _maintenance = self.maintenance.lock().unwrap_or_else(PoisonError::into_inner);
        let disk = self.files.disk();
        disk.create_folder(target).map_err(|error| io_error(target, "create the folder", error))?;
        self.check_vacant(target)?;
        // Order: the promise of the records comes before the records, so a copy cut short does not look complete.
        DurableFile::create(disk, target, Durable { position: upto, generation: u64::from(new_salt()) })?;
        let mut previous = Position::ZERO;
        for segment in self.segments_snapshot() {
            if segment.first() > upto && previous != Position::ZERO {
                break;
            }
            let last = segment.sealed_last().map_or(upto, |last| last.min(upto));
            self.copy_segment(target, segment.first(), previous, last)?;
            previous = segment.first();
        }
        disk.sync_folder(target).map_err(|error| io_error(target, "sync the folder", error))
    }

    fn copy_segment(&self, target: &Path, first: Position, previous: Position, last: Position) -> Result<()> {
        let path = target.join(segment_file_name(first));
        let mut builder = SegmentBuilder::create(self.files.disk(), path, first, previous)?;
        while builder.last() < last {
            let missing = last.0 - builder.last().0;
            let records_max =
                usize::try_from(missing).unwrap_or(usize::MAX).min(ReadLimit::default().records);
            let limit = ReadLimit { records: records_max, ..ReadLimit::default() };
            for record in self.read(builder.last().next(), limit)? {
                builder.push(&record)?;
            }
        }
        builder.finish().map(|_| ())
    }

    fn check_vacant(&self, target: &Path) -> Result<()> {
        let names: io::Result<Vec<String>> = self.files.disk().list(target);
        let names = names.map_err(|error| io_error(target, "list", error))?;
        let taken =
            names.iter().find(|name| *name == DURABLE_FILE_NAME || parse_segment_file_name(name).is_some());
        let Some(taken) = taken else { return Ok(()) };
        let text = format!(
            "{}: copy to {}: expected a folder without a log, found {taken}; choose another folder",
            self.name,
            target.display()
        );
        Err(Error::new(ErrorKind::AlreadyExists, text))
    }
}
