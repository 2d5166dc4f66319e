//! Appends to the active segment: encode, write, sync, tell.

use std::path::Path;
use std::sync::Arc;

use super::index::SparseIndex;
use super::mark::{Durable, DurableFile};
use super::segment::{Segment, SegmentName, new_salt};
use crate::log::frame::{FORMAT, FRAME_HEADER_BYTES, SegmentHeader, encode_call, frames_bytes};
use crate::log::identity::LogId;
use crate::storage::{Disk, DiskFile, DiskLock};
use crate::{Error, ErrorKind, Position, Result};

/// Units: bytes of zeros written ahead of the frames: the first step of a segment, and the largest. Overwriting zeros
/// leaves length and extents of the file as they are, so that a sync has no metadata to write. The append that writes
/// the largest takes as long as eight or nine others; of 4 MiB it would be thirty, and steps of 256 KiB are twice the work.
const RESERVE_BYTES_MIN: u64 = 64 * 1024;
const RESERVE_BYTES_MAX: u64 = 1024 * 1024;

/// Written again and again: zeros of the length of the reserve would be fresh memory each time.
static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];

/// Units: bytes. A larger buffer is given back after the append that needed it.
const BUFFER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Whether appends are accepted.
enum State {
    Open,
    /// A write or a sync failed, as told. Only reopening finds out what is stored.
    Failed(String),
    Closed,
}

/// The one writer of a file log. Lives behind a mutex; whoever holds it may change the active segment.
pub(super) struct Writer {
    state: State,
    active: Arc<Segment>,
    file: Arc<dyn DiskFile>,
    tail: Position,
    /// Units: bytes of the active segment up to the end of its last frame.
    end: u64,
    /// Units: bytes of the file; zeros from `end` on.
    reserved: u64,
    reserve_step: u64,
    buffer: Vec<u8>,
    durable: DurableFile,
    segment_bytes: u64,
    // Dropped when the log is closed, which lets the next writer in.
    lock: Option<Box<dyn DiskLock>>,
}

/// What a writer starts with after recovery.
pub(super) struct WriterStart {
    pub active: Arc<Segment>,
    pub file: Arc<dyn DiskFile>,
    pub tail: Position,
    pub end: u64,
    pub durable: DurableFile,
    pub segment_bytes: u64,
    pub lock: Box<dyn DiskLock>,
}

impl Writer {
    pub fn new(start: WriterStart) -> Writer {
        let WriterStart { active, file, tail, end, durable, segment_bytes, lock } = start;
        Writer {
            state: State::Open,
            active,
            file,
            tail,
            end,
            reserved: end,
            reserve_step: RESERVE_BYTES_MIN,
            buffer: Vec::new(),
            durable,
            segment_bytes,
            lock: Some(lock),
        }
    }

    pub fn tail(&self) -> Position {
        self.tail
    }

    /// Refuses to write unless everything before succeeded.
    ///
    /// Errors: `Unavailable` after a failed write or sync; `Closed`.
    pub fn check_open(&self, name: &str) -> Result<()> {
        match &self.state {
            State::Open => Ok(()),
            State::Failed(cause) => {
                let text = format!(
                    "{name}: expected every write before to be synced, found a failure ({cause}); reopen the log"
                );
                Err(Error::new(ErrorKind::Unavailable, text))
            }
            State::Closed => Err(Error::new(
                ErrorKind::Closed,
                format!("{name}: expected an open log, found it closed; open it"),
            )),
        }
    }

    /// Refuses to write once the lock file was removed where that lets another writer in.
    ///
    /// Errors: `Unavailable`, from then on always.
    pub fn check_lock(&mut self, name: &str) -> Result<()> {
        match self.lock.as_ref().map_or(Ok(true), |lock| lock.is_held()) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let error = std::io::Error::other("the lock file was removed, another writer may be at work");
                Err(self.fail(name, "look at the lock", error))
            }
            Err(error) => Err(self.fail(name, "look at the lock", error)),
        }
    }

    /// True if `records` do not fit the active segment and another one must be started before.
    pub fn must_roll(&self, records: &[&[u8]]) -> bool {
        self.end > self.active.header.bytes() && self.end + frames_bytes(records) > self.segment_bytes
    }

    /// Writes and syncs `records` after the tail. Nothing is acknowledged before both succeeded.
    ///
    /// Errors: `Unavailable` if either fails; from then on always.
    pub fn append(&mut self, name: &str, records: &[&[u8]]) -> Result<()> {
        self.buffer.clear();
        encode_call(&mut self.buffer, self.active.header.framing(), self.tail.next(), records);
        let end = self.end + self.buffer.len() as u64;
        let written = self.file.write_at(&self.buffer, self.end).and_then(|()| {
            self.reserve(end);
            self.file.sync_data()
        });
        if let Err(error) = written.and_then(|()| self.check_name()) {
            return Err(self.fail(name, "append", error));
        }
        self.end = end;
        self.active.update_index(|index| {
            for record in records {
                index.push(index.last.next(), (FRAME_HEADER_BYTES + record.len()) as u64);
            }
        });
        self.tail = Position(self.tail.0 + records.len() as u64);
        if self.buffer.capacity() > BUFFER_BYTES_MAX {
            self.buffer = Vec::new();
        }
        let durable = Durable { position: self.tail, ..self.durable.value() };
        if let Err(error) = self.durable.write(durable) {
            // The records are durable, so this call succeeds; but followers would no longer learn of any.
            self.state = State::Failed(format!("write the durable position: {error}"));
        }
        Ok(())
    }

    /// What was written to a file that was removed is lost.
    fn check_name(&self) -> std::io::Result<()> {
        if self.file.has_name()? {
            return Ok(());
        }
        Err(std::io::Error::new(
            std::io::ErrorKind::NotFound,
            "the segment's file was removed while it was written; put the folder back from a backup",
        ))
    }

    /// Has zeros after `end`, so that the next appends only overwrite.
    fn reserve(&mut self, end: u64) {
        if end <= self.reserved {
            return;
        }
        let reserved = (end + self.reserve_step).min(self.segment_bytes.max(end));
        self.reserve_step = (self.reserve_step * 2).min(RESERVE_BYTES_MAX);
        let mut pieces = (end..reserved).step_by(ZEROS.len());
        let written = pieces.try_for_each(|at| {
            let bytes = ZEROS.len().min((reserved - at) as usize);
            self.file.write_at(&ZEROS[..bytes], at)
        });
        // Reserving only saves time. If the disk has no room for it, the frames before may still fit; whether they
        // do is told by their own write and sync.
        self.reserved = if written.is_ok() { reserved } else { end };
    }

    /// Seals the active segment and starts the next one.
    ///
    /// Shape: the segment started.
    /// Errors: `Unavailable` if anything fails; from then on always.
    pub fn roll(
        &mut self,
        name: &str,
        disk: &dyn Disk,
        folder: &Path,
        log_id: LogId,
    ) -> Result<Arc<Segment>> {
        // Order: the sealed segment is durable before the next one has a name, so whoever finds a next one knows
        // that the one before is complete.
        let sealed = self.file.set_len(self.end).and_then(|()| self.file.sync_all());
        if let Err(error) = sealed {
            return Err(self.fail(name, "seal the segment", error));
        }
        let first = self.tail.next();
        let segment_name = SegmentName { first, generation: 0 };
        let (segment, file) = match create_segment(disk, folder, segment_name, self.active.first(), log_id) {
            Ok(created) => created,
            Err(error) => return Err(self.fail(name, "start a segment", error)),
        };
        self.active.seal(self.tail);
        self.active = segment.clone();
        self.file = file;
        self.end = self.active.header.bytes();
        self.reserved = self.end;
        self.reserve_step = RESERVE_BYTES_MIN;
        Ok(segment)
    }

    /// Tells followers that the log was rewritten.
    pub fn note_rewritten(&mut self, generation: u64) -> std::io::Result<()> {
        self.durable.write(Durable { generation, ..self.durable.value() })
    }

    /// Cuts what was reserved, syncs everything and lets the next writer in.
    ///
    /// Errors: `Unavailable` if the log had failed before; `Io`.
    pub fn close(&mut self, name: &str) -> Result<()> {
        if let State::Closed = self.state {
            return Ok(());
        }
        let checked = self.check_open(name);
        let closed = checked.and_then(|()| {
            let closed = self.file.set_len(self.end).and_then(|()| self.file.sync_all());
            closed
                .and_then(|()| self.durable.sync())
                .map_err(|error| Error::io(format!("{name}: close"), error))
        });
        self.state = State::Closed;
        self.lock = None;
        closed
    }

    /// From now on every append is refused. Never retry a failed sync: the system may have dropped the pages it
    /// could not write, and the next sync would succeed without them.
    /// Source: <https://wiki.postgresql.org/wiki/Fsync_Errors>.
    pub fn fail(&mut self, name: &str, operation: &str, error: std::io::Error) -> Error {
        self.state = State::Failed(format!("{operation}: {error}"));
        let text = format!(
            "{name}: {operation} after position {}: the outcome is unknown; reopen the log",
            self.tail
        );
        Error::new(ErrorKind::Unavailable, text).caused_by(error)
    }
}

/// Creates a segment that is durable before anything is appended to it.
pub(super) fn create_segment(
    disk: &dyn Disk,
    folder: &Path,
    name: SegmentName,
    previous: Position,
    log_id: LogId,
) -> std::io::Result<(Arc<Segment>, Arc<dyn DiskFile>)> {
    let path = folder.join(name.file_name());
    let SegmentName { first, generation } = name;
    let header = SegmentHeader { format: FORMAT, salt: new_salt(), first, previous, log_id, generation };
    let file = disk.create(&path)?;
    file.write_at(&header.encode(), 0)?;
    file.sync_all()?;
    // Sync the folder too: on ext4 a new name can be lost without it.
    disk.sync_folder(folder)?;
    let index = SparseIndex::new(first, header.bytes());
    Ok((Arc::new(Segment::indexed(path, header, index)), file))
}
