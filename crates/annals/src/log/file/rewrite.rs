//! Rewrites sealed segments beside the ones in force: compaction uses this to remove purged instances.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use super::index::SparseIndex;
use super::manifest::Manifest;
use super::segment::{Segment, SegmentName, io_error, new_salt};
use super::{FileLog, Listing, segment_of};
use crate::log::frame::{FORMAT, FRAME_HEADER_BYTES, FramePlace, SegmentHeader, encode_frame};
use crate::log::{
    Appended, Call, Log, LogId, RECORD_BYTES_MAX, ReadBatch, ReadLimit, Rewrite, RewriteRecord,
    RewriteReport, Rewritten, check_read, refuse_prepared,
};
use crate::storage::{Disk, DiskFile, widen};
use crate::{Error, ErrorKind, Position, Result};

/// Units: bytes written together.
const BUILD_PIECE_BYTES: usize = 1024 * 1024;

/// Units: bytes. A segment built from records is refused beyond; offsets in an index have 32 bits.
const BUILT_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;

/// Writes a whole segment from records. Each record becomes an append call of its own.
pub(super) struct SegmentBuilder {
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    header: SegmentHeader,
    index: SparseIndex,
    // Not yet written; its place in the file is `written`.
    buffer: Vec<u8>,
    written: u64,
}

impl SegmentBuilder {
    /// Starts a segment in the new file `path`.
    pub fn create(
        disk: &dyn Disk,
        path: PathBuf,
        name: SegmentName,
        previous: Position,
        log_id: LogId,
    ) -> Result<SegmentBuilder> {
        let file = disk.create(&path).map_err(|error| io_error(&path, "create", error))?;
        let SegmentName { first, generation } = name;
        let header = SegmentHeader { format: FORMAT, salt: new_salt(), first, previous, log_id, generation };
        let index = SparseIndex::new(first, header.bytes());
        Ok(SegmentBuilder { path, file, header, index, buffer: header.encode(), written: 0 })
    }

    /// The position of the last record.
    pub fn last(&self) -> Position {
        self.index.last
    }

    /// True if it has a record.
    pub fn is_begun(&self) -> bool {
        self.index.end > self.header.bytes()
    }

    /// The length of the segment with one more record. Units: bytes.
    pub fn bytes_with(&self, record: &[u8]) -> u64 {
        self.index.end + widen(FRAME_HEADER_BYTES + record.len())
    }

    /// Adds the record at the next position.
    ///
    /// Errors: `TooLarge`; `NoRoom`; `Io`.
    pub fn push(&mut self, record: &[u8]) -> Result<()> {
        let end = self.bytes_with(record);
        if record.len() > RECORD_BYTES_MAX || end > BUILT_BYTES_MAX {
            let text = format!(
                "{}: position {}: expected a record of at most {RECORD_BYTES_MAX} and a segment of at most \
                 {BUILT_BYTES_MAX} bytes, found {} and {}; write less",
                self.path.display(),
                self.last().next(),
                record.len(),
                end
            );
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        let place = FramePlace { position: self.last().next(), index: 0, is_last: true };
        encode_frame(&mut self.buffer, self.header.framing(), place, record);
        self.index.push(place.position, end - self.index.end);
        if self.buffer.len() >= BUILD_PIECE_BYTES {
            self.flush().map_err(|error| io_error(&self.path, "write", error))?;
        }
        Ok(())
    }

    /// Writes and syncs the rest. The name is not yet durable.
    pub fn finish(mut self) -> Result<Built> {
        let finished = self.flush().and_then(|()| self.file.sync_all());
        finished.map_err(|error| io_error(&self.path, "write", error))?;
        Ok(Built { path: self.path, header: self.header, index: self.index })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_at(&self.buffer, self.written)?;
        self.written += widen(self.buffer.len());
        self.buffer.clear();
        Ok(())
    }
}

/// A segment that was rewritten.
pub(super) struct Built {
    pub path: PathBuf,
    pub header: SegmentHeader,
    pub index: SparseIndex,
}

impl Rewrite for FileLog {
    fn seal(&self) -> Result<Position> {
        self.roll()?;
        let last = self.listing().segments.iter().filter_map(|segment| segment.sealed_last()).max();
        Ok(last.unwrap_or_default())
    }

    fn rewrite(&self, last: Position, change: &mut RewriteRecord<'_>) -> Result<Box<dyn Rewritten + '_>> {
        self.writer("rewrite")?.check_held(&self.name)?;
        if self.is_rewriting.swap(true, Ordering::SeqCst) {
            let text = format!(
                "{}: rewrite: expected no other rewriting, found one under way; wait for it",
                self.name
            );
            return Err(Error::new(ErrorKind::Busy, text));
        }
        let mut rewritten = RewrittenFiles {
            log: self,
            listing: self.listing(),
            last,
            replaced: Vec::new(),
            report: RewriteReport::default(),
            is_in_place: false,
        };
        let segments = std::mem::take(&mut rewritten.listing.segments);
        let is_sealed = segments.iter().any(|segment| segment.sealed_last() == Some(last));
        if !is_sealed && last != Position::ZERO {
            let text = format!(
                "{}: rewrite up to {last}: expected the last position of a sealed segment; seal the log first",
                self.name
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        rewritten.listing.manifest.generation += 1;
        for segment in segments {
            let wanted = segment.sealed_last().filter(|sealed_last| *sealed_last <= last);
            let records_count =
                if wanted.is_some() { rewritten.count_changed(&segment, change)? } else { 0 };
            let (Some(sealed_last), 1..) = (wanted, records_count) else {
                rewritten.listing.segments.push(segment);
                continue;
            };
            rewritten.report.records_count += records_count;
            rewritten.report.segments_count += 1;
            rewritten.build(segment, sealed_last, change)?;
        }
        Ok(Box::new(rewritten))
    }
}

/// The segments of a log after a rewriting; the rewritten files lie beside the ones in force.
struct RewrittenFiles<'l> {
    log: &'l FileLog,
    listing: Listing,
    last: Position,
    /// Segments in force that the rewriting replaces.
    replaced: Vec<Arc<Segment>>,
    report: RewriteReport,
    is_in_place: bool,
}

impl RewrittenFiles<'_> {
    fn count_changed(&self, segment: &Arc<Segment>, change: &mut RewriteRecord<'_>) -> Result<u64> {
        let mut count = 0;
        self.for_each_record(segment, |position, record| {
            count += u64::from(change(position, record)?.is_some());
            Ok(())
        })?;
        Ok(count)
    }

    /// Rewrites the segment, as `change` asks, into a file beside it.
    fn build(&mut self, segment: Arc<Segment>, last: Position, change: &mut RewriteRecord<'_>) -> Result<()> {
        let Manifest { log_id, generation } = self.listing.manifest;
        let name = SegmentName { first: segment.first(), generation };
        let path = self.log.folder.join(name.file_name());
        let disk = self.log.files.disk();
        // A file of a failed rewriting would prevent the creation of this one.
        let _ = disk.remove(&path);
        let mut builder = SegmentBuilder::create(disk, path, name, segment.header.previous, log_id)?;
        // Listed before the rest, so that the file is removed if the rewriting is not put in place.
        let renewed = Arc::new(Segment::found(builder.path.clone(), builder.header));
        self.listing.segments.push(renewed);
        self.replaced.push(segment.clone());
        self.for_each_record(&segment, |position, record| match change(position, record)? {
            Some(changed) => builder.push(&changed),
            None => builder.push(record),
        })?;
        let Built { path, header, index } = builder.finish()?;
        let renewed = Segment::indexed(path, header, index);
        renewed.seal(last);
        self.listing.segments.pop();
        self.listing.segments.push(Arc::new(renewed));
        Ok(())
    }

    fn for_each_record(
        &self,
        segment: &Arc<Segment>,
        mut take: impl FnMut(Position, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut next = segment.first();
        while segment.sealed_last().is_some_and(|last| next <= last) {
            let records = self.log.read(next, ReadLimit::default())?;
            for record in &records {
                if segment.sealed_last().is_none_or(|last| next > last) {
                    break;
                }
                take(next, record)?;
                next = next.next();
            }
        }
        Ok(())
    }

    fn remove(&self, segments: impl IntoIterator<Item = Arc<Segment>>) {
        let disk = self.log.files.disk();
        for segment in segments {
            // Opening the log next time removes files that cannot be removed now.
            let _ = disk.remove(&segment.path);
        }
        let _ = disk.sync_folder(&self.log.folder);
    }
}

impl Log for RewrittenFiles<'_> {
    fn tail(&self) -> Result<Position> {
        self.log.tail()
    }

    fn append_call(&self, _: &Call<'_>) -> Appended {
        refuse_prepared(self)
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        check_read(self, from)?;
        if from > self.last {
            return self.log.read(from, limit);
        }
        let mut batch = ReadBatch::new(limit);
        let mut next = from;
        while next <= self.last && !batch.is_full() {
            let segment = segment_of(&self.listing.segments, next)?;
            if !segment.read(&self.log.files, next, self.last, &mut batch)? {
                let text = format!("{}: expected its file, found none; retry", segment.path.display());
                return Err(Error::new(ErrorKind::Unavailable, text));
            }
            next = Position(from.0 + widen(batch.records_count()));
        }
        Ok(batch.into_records())
    }

    fn describe(&self) -> String {
        format!("rewritten {}", self.log.name)
    }

    fn id(&self) -> LogId {
        self.listing.manifest.log_id
    }

    fn generation(&self) -> u64 {
        self.listing.manifest.generation
    }
}

impl Rewritten for RewrittenFiles<'_> {
    fn report(&self) -> RewriteReport {
        self.report
    }

    fn put_in_place(mut self: Box<Self>) -> Result<()> {
        let log = self.log;
        let disk = log.files.disk();
        // Order: the names of the new segments are durable before the manifest that needs them.
        disk.sync_folder(&log.folder).map_err(|error| io_error(&log.folder, "sync the folder", error))?;
        let mut writer = log.writer("rewrite")?;
        writer.check_held(&log.name)?;
        let manifest = self.listing.manifest;
        if let Err(error) = manifest.write(disk, &log.folder) {
            // From here on, the files in the folder determine which log is in force.
            self.is_in_place = true;
            return Err(match Manifest::read(disk, &log.folder) {
                Ok(Some(found)) if found.generation < manifest.generation => {
                    self.is_in_place = false;
                    io_error(&log.folder, "write the manifest", error)
                }
                _ => writer.fail(&log.name, "write the manifest", error),
            });
        }
        self.is_in_place = true;
        let mut listing = log.listing.write().unwrap_or_else(PoisonError::into_inner);
        let renewed = std::mem::take(&mut self.listing.segments).into_iter().zip(&mut listing.segments);
        // Records appended since then follow the rewritten segments.
        renewed.for_each(|(renewed, segment)| {
            if segment.header != renewed.header {
                *segment = renewed;
            }
        });
        listing.manifest = manifest;
        drop(listing);
        writer
            .note_rewritten(manifest.generation)
            .map_err(|error| writer.fail(&log.name, "write the durable position", error))?;
        drop(writer);
        let replaced = std::mem::take(&mut self.replaced);
        self.remove(replaced);
        Ok(())
    }
}

impl Drop for RewrittenFiles<'_> {
    fn drop(&mut self) {
        // Remove the files only while this process owns the log: the next writer may have made other files of these
        // names. Opening the log next time removes the rest.
        if !self.is_in_place
            && let Ok(mut writer) = self.log.writer("rewrite")
            && writer.check_held(&self.log.name).is_ok()
        {
            let generation = self.listing.manifest.generation;
            let segments = std::mem::take(&mut self.listing.segments);
            self.remove(segments.into_iter().filter(|segment| segment.header.generation == generation));
        }
        // Order: last, because the next rewriting creates files of the same names.
        self.log.is_rewriting.store(false, Ordering::SeqCst);
    }
}
