//! Appends to the active segment: encode, write, sync, publish.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::index::SparseIndex;
use super::mark::{Durable, DurableFile};
use super::segment::{Segment, SegmentName, new_salt};
use crate::log::frame::{FORMAT, FRAME_HEADER_BYTES, SegmentHeader, encode_call, frames_bytes};
use crate::log::identity::LogId;
use crate::log::{Call, Token};
use crate::storage::{Access, Disk, DiskFile, DiskLock, put_whole, widen};
use crate::{Error, ErrorKind, Position, Result};

/// Units: bytes of zeros written ahead of the frames: the first step of a segment, and the largest. Overwriting zeros
/// does not change length and extents of the file, so a sync has no metadata to write. The append that writes the
/// largest step takes as long as eight or nine others. With steps of 4 MiB it would be thirty; steps of 256 KiB cost
/// twice the work.
const RESERVE_BYTES_MIN: u64 = 64 * 1024;
const RESERVE_BYTES_MAX: u64 = 1024 * 1024;

/// One static buffer: allocating zeros of the length of the reserve would touch fresh memory each time.
static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];

/// Units: bytes. A larger buffer is freed after the append that needed it.
const BUFFER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Whether appends are accepted.
enum State {
    Open,
    /// A sync failed, or a write that could not be undone; the text is the reason. Only reopening finds out what is
    /// stored.
    Failed(String),
    Closed,
}

/// The one writer of a file log. A mutex guards it; the thread that holds the mutex may change the active segment.
pub(super) struct SegmentWriter {
    state: State,
    active: Arc<Segment>,
    file: Arc<dyn DiskFile>,
    tail: Position,
    /// The first position of the latest call, and its token.
    latest: Option<(Position, Token)>,
    /// Units: bytes of the active segment up to the end of its last frame.
    end: u64,
    /// Units: bytes of the file; zeros from `end` on.
    reserved: u64,
    /// Units: bytes of the next reserve. `None` after the disk refused one, until a probe finds room or the next segment
    /// starts.
    reserve_step: Option<u64>,
    buffer: Vec<u8>,
    durable: DurableFile,
    segment_bytes: u64,
    // Dropped when the log is closed, which lets the next writer in.
    lock: Option<Box<dyn DiskLock>>,
}

/// The state from which a writer starts after recovery.
pub(super) struct WriterStart {
    pub active: Arc<Segment>,
    pub file: Arc<dyn DiskFile>,
    pub tail: Position,
    pub end: u64,
    pub durable: DurableFile,
    pub segment_bytes: u64,
    pub lock: Box<dyn DiskLock>,
}

impl SegmentWriter {
    pub fn new(start: WriterStart) -> SegmentWriter {
        let WriterStart { active, file, tail, end, durable, segment_bytes, lock } = start;
        SegmentWriter {
            state: State::Open,
            active,
            file,
            tail,
            latest: None,
            end,
            reserved: end,
            reserve_step: Some(RESERVE_BYTES_MIN),
            buffer: Vec::new(),
            durable,
            segment_bytes,
            lock: Some(lock),
        }
    }

    pub fn tail(&self) -> Position {
        self.tail
    }

    /// Refuses to write unless every earlier write succeeded or was undone.
    ///
    /// Errors: `Unavailable` after a failed sync; `Closed`.
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

    /// As [`SegmentWriter::check_open`]; also refuses if the lock file was removed and another writer could therefore start.
    ///
    /// Errors: `Unavailable`, from then on always; `Closed`.
    pub fn check_held(&mut self, name: &str) -> Result<()> {
        self.check_open(name)?;
        match self.lock.as_ref().map_or(Ok(true), |lock| lock.is_held()) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let error = std::io::Error::other("the lock file was removed, another writer may be at work");
                Err(self.fail(name, "look at the lock", error))
            }
            Err(error) => Err(self.fail(name, "look at the lock", error)),
        }
    }

    /// True if `records` do not fit into the active segment, so that another one must be started.
    pub fn must_roll(&self, records: &[&[u8]]) -> bool {
        self.end > self.active.header.bytes() && self.end + frames_bytes(records) > self.segment_bytes
    }

    /// True if `call` is the latest one, which was durable before.
    pub fn is_latest(&self, call: &Call<'_>) -> bool {
        self.latest == Some((call.at, call.token))
    }

    /// Writes and syncs the records of `call` after the tail. It acknowledges nothing before both succeeded.
    ///
    /// Errors: `NoRoom` or `Io` if the write failed and was undone; the log stays usable. `Unavailable` if the sync
    /// failed, or the write could not be undone; all later appends then fail the same way.
    pub fn append(&mut self, name: &str, call: &Call<'_>) -> Result<()> {
        let records = call.records;
        self.buffer.clear();
        encode_call(&mut self.buffer, self.active.header.framing(), self.tail.next(), records);
        let end = self.end + widen(self.buffer.len());
        if let Err(error) = self.file.write_at(&self.buffer, self.end) {
            return Err(self.undo_write(name, error));
        }
        if let Err(error) = self.file.sync_data().and_then(|()| self.check_name()) {
            return Err(self.fail(name, "append", error));
        }
        self.end = end;
        self.active.update_index(|index| {
            for record in records {
                index.push(index.last.next(), widen(FRAME_HEADER_BYTES + record.len()));
            }
        });
        self.tail = Position(self.tail.0 + widen(records.len()));
        self.latest = Some((call.at, call.token));
        if self.buffer.capacity() > BUFFER_BYTES_MAX {
            self.buffer = Vec::new();
        }
        let durable = Durable { position: self.tail, ..self.durable.value() };
        if let Err(error) = self.durable.write(durable) {
            // The records are durable, so this call succeeds; but followers would not see any later record.
            self.state = State::Failed(format!("write the durable position: {error}"));
        }
        self.reserve();
        Ok(())
    }

    /// Fails if the file was removed: bytes written to it are lost.
    fn check_name(&self) -> std::io::Result<()> {
        if self.file.has_name()? {
            return Ok(());
        }
        Err(std::io::Error::new(
            std::io::ErrorKind::NotFound,
            "the segment's file was removed while it was written; put the folder back from a backup",
        ))
    }

    /// Cuts the bytes of a failed write after the last frame, so that the outcome is known and the log stays usable.
    fn undo_write(&mut self, name: &str, error: io::Error) -> Error {
        // Order: sync before reporting the error. Otherwise a power cut could bring back frames that were refused.
        let cut = self.file.set_len(self.end).and_then(|()| self.file.sync_data());
        if let Err(failure) = cut {
            return self.fail(name, &format!("undo a write that failed ({error})"), failure);
        }
        self.reserved = self.end;
        self.refuse(name, "append", error)
    }

    /// The error of an operation that failed and was undone.
    fn refuse(&self, name: &str, operation: &str, error: io::Error) -> Error {
        let kind = ErrorKind::of_failed_write(&error);
        let remedy = if kind == ErrorKind::NoRoom { "make room" } else { "look after the disk" };
        let text = format!(
            "{name}: {operation} after position {}: nothing was written; {remedy}, then try again",
            self.tail
        );
        Error::new(kind, text).caused_by(error)
    }

    /// Checks for room after the last frame by writing zeros, which the next appends overwrite.
    ///
    /// Errors: `NoRoom` or `Io` if there is none; as [`SegmentWriter::check_open`].
    pub fn probe(&mut self, name: &str) -> Result<()> {
        self.check_held(name)?;
        let reserved = self.reserved.max(self.end + RESERVE_BYTES_MIN);
        if let Err(error) = self.write_zeros(reserved) {
            return Err(self.refuse(name, "look for room", error));
        }
        self.reserve_step.get_or_insert(RESERVE_BYTES_MIN);
        Ok(())
    }

    /// Writes zeros after the last frame, so that the next appends only overwrite.
    fn reserve(&mut self) {
        let Some(step) = self.reserve_step.filter(|_| self.end > self.reserved) else { return };
        let reserved = (self.end + step).min(self.segment_bytes);
        if reserved > self.end {
            self.reserve_step = Some((step * 2).min(RESERVE_BYTES_MAX));
            // Reserving only saves time. If the disk has no room for it, the next frames may still fit; their own write
            // and sync show whether they do.
            let _ = self.write_zeros(reserved);
        }
    }

    /// Writes zeros from the last frame up to `reserved`, durably. If that fails, nothing is reserved any more.
    fn write_zeros(&mut self, reserved: u64) -> io::Result<()> {
        let mut pieces = (self.end..reserved).step_by(ZEROS.len());
        let written = pieces.try_for_each(|at| {
            let rest = usize::try_from(reserved - at).unwrap_or(usize::MAX);
            self.file.write_at(ZEROS.get(..rest).unwrap_or(&ZEROS), at)
        });
        // Order: after the sync of the frames, and with a separate sync, even if only some zeros were written. Some
        // file systems report a full disk only during a sync. With a separate sync, the sync of frames fails only if
        // there is no room for frames, never because of zeros that no record needs. The log may continue after this
        // sync has failed: the system takes the lost zeros for written, but the next append overwrites their pages,
        // which makes them dirty again, and recovery cuts all bytes after the frames.
        let synced = self.file.sync_data();
        let result = written.and(synced);
        (self.reserved, self.reserve_step) = match result {
            Ok(()) => (reserved, self.reserve_step),
            Err(_) => (self.end, None),
        };
        result
    }

    /// Seals the active segment and starts the next one.
    ///
    /// Shape: the new segment.
    /// Errors: `NoRoom` or `Io` if the next segment could not be created and was removed; the log continues in the
    /// active one. `Unavailable` if anything else fails; all later appends then fail the same way.
    pub fn roll(
        &mut self,
        name: &str,
        disk: &dyn Disk,
        folder: &Path,
        log_id: LogId,
    ) -> Result<Arc<Segment>> {
        // Order: the sealed segment is durable before the next one has a name, so that a reader that finds the next one
        // knows that this one is complete.
        let sealed = self.file.set_len(self.end).and_then(|()| self.file.sync_all());
        if let Err(error) = sealed {
            return Err(self.fail(name, "seal the segment", error));
        }
        self.reserved = self.end;
        let first = self.tail.next();
        let segment_name = SegmentName { first, generation: 0 };
        let made = make_segment(disk, folder, segment_name, self.active.first(), log_id);
        let (segment, file) = match made {
            Ok(made) => made,
            Err(Unmade::Removed(error)) => return Err(self.refuse(name, "start a segment", error)),
            Err(Unmade::Left(error)) => return Err(self.fail(name, "start a segment", error)),
        };
        // Sync the folder too: on ext4 a new name can be lost without it.
        if let Err(error) = file.sync_all().and_then(|()| disk.sync_folder(folder)) {
            return Err(self.fail(name, "start a segment", error));
        }
        self.active.seal(self.tail);
        self.active = segment.clone();
        self.file = file;
        self.end = self.active.header.bytes();
        self.reserved = self.end;
        self.reserve_step = Some(RESERVE_BYTES_MIN);
        Ok(segment)
    }

    /// Publishes to followers that the log was rewritten.
    pub fn note_rewritten(&mut self, generation: u64) -> std::io::Result<()> {
        self.durable.write(Durable { generation, ..self.durable.value() })
    }

    /// Cuts the reserved zeros, syncs everything and releases the lock for the next writer.
    ///
    /// Errors: `Unavailable` if the log had failed before; `NoRoom`; `Io`.
    pub fn close(&mut self, name: &str) -> Result<()> {
        if let State::Closed = self.state {
            return Ok(());
        }
        let checked = self.check_held(name);
        let closed = checked.and_then(|()| {
            let closed = self.file.set_len(self.end).and_then(|()| self.file.sync_all());
            closed
                .and_then(|()| self.durable.sync())
                .map_err(|error| Error::of_disk(format!("{name}: close"), error))
        });
        self.state = State::Closed;
        self.lock = None;
        closed
    }

    /// Refuses every later append. Never retry a failed sync: the system may have dropped the pages it could not write,
    /// and the next sync would succeed without them.
    /// Source: <https://wiki.postgresql.org/wiki/Fsync_Errors>.
    pub fn fail(&mut self, name: &str, operation: &str, error: io::Error) -> Error {
        self.state = State::Failed(format!("{operation}: {error}"));
        let text = format!(
            "{name}: {operation} after position {}: the outcome is unknown; reopen the log",
            self.tail
        );
        Error::new(ErrorKind::Unavailable, text).caused_by(error)
    }
}

/// Writes an empty segment in place of the file that has its name, durably.
pub(super) fn put_segment(
    disk: &dyn Disk,
    folder: &Path,
    name: SegmentName,
    previous: Position,
    log_id: LogId,
) -> io::Result<(Arc<Segment>, Arc<dyn DiskFile>)> {
    let header = new_header(name, previous, log_id);
    put_whole(disk, folder, &name.file_name(), |out| out.write_all(&header.encode()))?;
    let path = folder.join(name.file_name());
    let file = disk.open(&path, Access::Write)?;
    Ok((Arc::new(Segment::indexed(path, header, SparseIndex::new(name.first, header.bytes()))), file))
}

fn new_header(name: SegmentName, previous: Position, log_id: LogId) -> SegmentHeader {
    let SegmentName { first, generation } = name;
    SegmentHeader { format: FORMAT, salt: new_salt(), first, previous, log_id, generation }
}

/// Why a segment could not be made.
enum Unmade {
    /// It was removed completely, even for a power cut.
    Removed(io::Error),
    /// Part of it may exist.
    Left(io::Error),
}

/// Creates an empty segment, not yet durable.
fn make_segment(
    disk: &dyn Disk,
    folder: &Path,
    name: SegmentName,
    previous: Position,
    log_id: LogId,
) -> std::result::Result<(Arc<Segment>, Arc<dyn DiskFile>), Unmade> {
    let path = folder.join(name.file_name());
    let header = new_header(name, previous, log_id);
    let created = disk.create(&path).and_then(|file| file.write_at(&header.encode(), 0).map(|()| file));
    match created {
        Ok(file) => {
            let index = SparseIndex::new(name.first, header.bytes());
            Ok((Arc::new(Segment::indexed(path, header, index)), file))
        }
        // Another file has the name, and it is not ours.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Unmade::Removed(error)),
        Err(error) => Err(match remove_durably(disk, folder, &path) {
            Ok(()) => Unmade::Removed(error),
            Err(_) => Unmade::Left(error),
        }),
    }
}

/// Removes a name, if it is there.
fn remove_durably(disk: &dyn Disk, folder: &Path, path: &Path) -> io::Result<()> {
    match disk.remove(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        // Order: synced before the next append to the segment before. If a power cut brought the name back, it would
        // claim that the segment before ended earlier than it does.
        _ => disk.sync_folder(folder),
    }
}
