//! Replaces sealed segments: the way in which compaction removes what was purged.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use super::FileLog;
use super::index::SparseIndex;
use super::segment::{BUILDING_SUFFIX, Segment, io_error, new_salt, segment_file_name};
use crate::log::RECORD_BYTES_MAX;
use crate::log::disk::{Disk, DiskFile};
use crate::log::frame::{FRAME_HEADER_BYTES, FramePlace, SEGMENT_HEADER_BYTES, SegmentHeader, encode_frame};
use crate::{Error, ErrorKind, Position, Result};

/// Units: bytes written at once.
const BUILD_PIECE_BYTES: usize = 1024 * 1024;

/// Units: bytes. A segment built from records is refused beyond; offsets in an index have 32 bits.
const BUILT_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;

/// Writes a whole segment from records. Each record becomes an append call of its own.
pub(super) struct SegmentBuilder {
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    header: SegmentHeader,
    index: SparseIndex,
    // Not yet written, from `written` on.
    buffer: Vec<u8>,
    written: u64,
}

impl SegmentBuilder {
    /// Starts a segment in the new file `path`.
    pub fn create(
        disk: &dyn Disk,
        path: PathBuf,
        first: Position,
        previous: Position,
    ) -> Result<SegmentBuilder> {
        let file = disk.create(&path).map_err(|error| io_error(&path, "create", error))?;
        let header = SegmentHeader { salt: new_salt(), first, previous };
        let index = SparseIndex::new(first, SEGMENT_HEADER_BYTES as u64);
        Ok(SegmentBuilder { path, file, header, index, buffer: header.encode().to_vec(), written: 0 })
    }

    /// The last position taken.
    pub fn last(&self) -> Position {
        self.index.last
    }

    /// Takes the record at the next position.
    ///
    /// Errors: `TooLarge`; `Io`.
    pub fn push(&mut self, record: &[u8]) -> Result<()> {
        let bytes = (FRAME_HEADER_BYTES + record.len()) as u64;
        if record.len() > RECORD_BYTES_MAX || self.index.end + bytes > BUILT_BYTES_MAX {
            let text = format!(
                "{}: position {}: expected a record of at most {RECORD_BYTES_MAX} and a segment of at most \
                 {BUILT_BYTES_MAX} bytes, found {} and {}; write less",
                self.path.display(),
                self.last().next(),
                record.len(),
                self.index.end + bytes
            );
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        let place = FramePlace { position: self.last().next(), index: 0, is_last: true };
        encode_frame(&mut self.buffer, self.header.seed(), place, record);
        self.index.push(place.position, bytes);
        if self.buffer.len() >= BUILD_PIECE_BYTES {
            self.flush().map_err(|error| io_error(&self.path, "write", error))?;
        }
        Ok(())
    }

    /// Writes and syncs the rest. The name is not yet durable.
    pub fn finish(mut self) -> Result<(SegmentHeader, SparseIndex)> {
        let finished = self.flush().and_then(|()| self.file.sync_all());
        finished.map_err(|error| io_error(&self.path, "write", error))?;
        Ok((self.header, self.index))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_at(&self.buffer, self.written)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

impl FileLog {
    /// Gives the sealed segment that starts at `first` other records for the same positions.
    ///
    /// Reads and appends go on meanwhile; a read sees the old or the new record. After a power cut the segment is
    /// either the old or the new one. The append calls of the old one are forgotten.
    /// Shape: `records` are `(position, bytes)`, from `first` to the last position of the segment, dense.
    /// Errors: `NotFound` if no segment starts at `first`; `InvalidArgument` if it is not sealed or `records` are
    /// not exactly its positions; whatever `records` yields; `TooLarge`; `ReadOnly`; `Io`. In all these cases the
    /// segment is as before. `Unavailable` if the new name could not be made durable: reopen the log.
    pub fn replace_segment(
        &self,
        first: Position,
        records: impl IntoIterator<Item = Result<(Position, Vec<u8>)>>,
    ) -> Result<()> {
        let _maintenance = self.maintenance.lock().unwrap_or_else(PoisonError::into_inner);
        self.writer("replace a segment")?.check_open(&self.name)?;
        let (old, last) = self.sealed_segment(first)?;
        let disk = self.files.disk();
        let building = self.folder.join(segment_file_name(first) + BUILDING_SUFFIX);
        let built = self.build(&building, &old, last, records);
        let (header, index) = built.inspect_err(|_| {
            // What cannot be removed now is removed when the log is opened next time.
            let _ = disk.remove(&building);
        })?;
        let segment = Arc::new(Segment::indexed(old.path.clone(), header, index));
        segment.seal(last);
        self.swap(&building, segment).map_err(|error| io_error(&building, "rename", error))?;
        let synced = disk.sync_folder(&self.folder);
        let mut writer = self.writer("replace a segment")?;
        synced
            .and_then(|()| writer.note_replaced())
            .map_err(|error| writer.fail(&self.name, "replace", error))
    }

    fn build(
        &self,
        path: &Path,
        old: &Segment,
        last: Position,
        records: impl IntoIterator<Item = Result<(Position, Vec<u8>)>>,
    ) -> Result<(SegmentHeader, SparseIndex)> {
        let wrong = |expected: String, found: String| {
            let text = format!(
                "{}: replace segment {}: expected {expected}, found {found}; give every position of the segment once",
                self.name,
                old.first()
            );
            Error::new(ErrorKind::InvalidArgument, text)
        };
        // A leftover of a replacement that failed is in the way of creating the file.
        let _ = self.files.disk().remove(path);
        let mut builder =
            SegmentBuilder::create(self.files.disk(), path.to_path_buf(), old.first(), old.header.previous)?;
        for record in records {
            let (position, bytes) = record?;
            let expected = builder.last().next();
            if position != expected || position > last {
                return Err(wrong(format!("position {expected} of {last}"), format!("position {position}")));
            }
            builder.push(&bytes)?;
        }
        if builder.last() != last {
            return Err(wrong(
                format!("positions up to {last}"),
                format!("the end after {}", builder.last()),
            ));
        }
        builder.finish()
    }

    fn sealed_segment(&self, first: Position) -> Result<(Arc<Segment>, Position)> {
        let found = self.segments_snapshot().into_iter().find(|segment| segment.first() == first);
        let Some(segment) = found else {
            let text =
                format!("{}: expected a segment that starts at {first}, found none; list them", self.name);
            return Err(Error::new(ErrorKind::NotFound, text));
        };
        let Some(last) = segment.sealed_last() else {
            let text = format!(
                "{}: segment {first}: expected a sealed segment, found the active one; roll",
                self.name
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        };
        Ok((segment, last))
    }

    /// Gives the name of the segment to the file that was built, and its place in the list to `segment`.
    fn swap(&self, building: &Path, segment: Arc<Segment>) -> io::Result<()> {
        // Invariant: whoever holds the list finds under each name the file that the list means. A reader waits for
        // one rename, at most once per replaced segment.
        let mut segments = self.segments.write().unwrap_or_else(PoisonError::into_inner);
        self.files.disk().rename(building, &segment.path)?;
        let place = segments.iter_mut().find(|old| old.first() == segment.first());
        *place.expect("segments are never removed") = segment;
        Ok(())
    }
}
