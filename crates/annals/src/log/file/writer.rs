//! Appends to the active segment: encode, write, sync, tell.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::index::SparseIndex;
use super::mark::{Durable, DurableFile};
use super::segment::{Segment, SegmentName, new_salt};
use crate::log::frame::{FORMAT, FRAME_HEADER_BYTES, SegmentHeader, encode_call, frames_bytes};
use crate::log::identity::LogId;
use crate::storage::{Access, Disk, DiskFile, DiskLock, put_whole, widen};
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
    /// A sync failed, or a write that could not be undone, as told. Only reopening finds out what is stored.
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
    /// Units: bytes of the next reserve. `None` after the disk refused one, until a probe finds room or the next segment
    /// starts.
    reserve_step: Option<u64>,
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

    /// Refuses to write unless everything before succeeded or was undone.
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
    /// Errors: `NoRoom` or `Io` if the write failed and nothing of it is left; the log goes on. `Unavailable` if the
    /// sync failed, or the write could not be undone; from then on always.
    pub fn append(&mut self, name: &str, records: &[&[u8]]) -> Result<()> {
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
        if self.buffer.capacity() > BUFFER_BYTES_MAX {
            self.buffer = Vec::new();
        }
        let durable = Durable { position: self.tail, ..self.durable.value() };
        if let Err(error) = self.durable.write(durable) {
            // The records are durable, so this call succeeds; but followers would no longer learn of any.
            self.state = State::Failed(format!("write the durable position: {error}"));
        }
        self.reserve();
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

    /// Cuts what a failed write has left behind the last frame, so that the outcome is known and the log can go on.
    fn undo_write(&mut self, name: &str, error: io::Error) -> Error {
        // Order: synced before anybody is told. Otherwise a power cut could bring back frames that were refused.
        let cut = self.file.set_len(self.end).and_then(|()| self.file.sync_data());
        if let Err(failure) = cut {
            return self.fail(name, &format!("undo a write that failed ({error})"), failure);
        }
        self.reserved = self.end;
        self.refuse(name, "append", error)
    }

    /// Tells that an operation failed and nothing of it is left.
    fn refuse(&self, name: &str, operation: &str, error: io::Error) -> Error {
        let kind = ErrorKind::of_failed_write(&error);
        let remedy = if kind == ErrorKind::NoRoom { "make room" } else { "look after the disk" };
        let text = format!(
            "{name}: {operation} after position {}: nothing was written; {remedy}, then try again",
            self.tail
        );
        Error::new(kind, text).caused_by(error)
    }

    /// Tries whether there is room after the last frame, with zeros that the next appends overwrite.
    ///
    /// Errors: `NoRoom` or `Io` if there is none; as [`Writer::check_open`].
    pub fn probe(&mut self, name: &str) -> Result<()> {
        self.check_open(name)?;
        let reserved = self.reserved.max(self.end + RESERVE_BYTES_MIN);
        if let Err(error) = self.write_zeros(reserved) {
            return Err(self.refuse(name, "look for room", error));
        }
        self.reserve_step.get_or_insert(RESERVE_BYTES_MIN);
        Ok(())
    }

    /// Has zeros after the last frame, so that the next appends only overwrite.
    fn reserve(&mut self) {
        let Some(step) = self.reserve_step.filter(|_| self.end > self.reserved) else { return };
        let reserved = (self.end + step).min(self.segment_bytes);
        if reserved > self.end {
            self.reserve_step = Some((step * 2).min(RESERVE_BYTES_MAX));
            // Reserving only saves time. If the disk has no room for it, the next frames may still fit; whether they do is
            // told by their own write and sync.
            let _ = self.write_zeros(reserved);
        }
    }

    /// Has zeros from the last frame up to `reserved`, durably. If that fails, nothing is reserved any more.
    fn write_zeros(&mut self, reserved: u64) -> io::Result<()> {
        let mut pieces = (self.end..reserved).step_by(ZEROS.len());
        let written = pieces.try_for_each(|at| {
            let rest = usize::try_from(reserved - at).unwrap_or(usize::MAX);
            self.file.write_at(ZEROS.get(..rest).unwrap_or(&ZEROS), at)
        });
        // Order: after the frames were synced, and with a sync of its own, also if only some zeros were written. There are
        // file systems that tell only during a sync that there is no room: the sync of frames then fails for want of
        // room for frames, never for zeros that no record needs. The log may go on after this sync has failed: the
        // system takes the lost zeros for written, but the next append overwrites their pages, which makes them dirty
        // again, and recovery cuts whatever stands behind the frames.
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
    /// Shape: the segment started.
    /// Errors: `NoRoom` or `Io` if the next segment could not be made and nothing of it is left; the log goes on in
    /// the active one. `Unavailable` if anything else fails; from then on always.
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

    /// Tells followers that the log was rewritten.
    pub fn note_rewritten(&mut self, generation: u64) -> std::io::Result<()> {
        self.durable.write(Durable { generation, ..self.durable.value() })
    }

    /// Cuts what was reserved, syncs everything and lets the next writer in.
    ///
    /// Errors: `Unavailable` if the log had failed before; `NoRoom`; `Io`.
    pub fn close(&mut self, name: &str) -> Result<()> {
        if let State::Closed = self.state {
            return Ok(());
        }
        let checked = self.check_open(name);
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

    /// From now on every append is refused. Never retry a failed sync: the system may have dropped the pages it
    /// could not write, and the next sync would succeed without them.
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

/// Puts a segment without anything in it in place of what has its name, durably.
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
    /// Nothing of it is left, not even after a power cut.
    Removed(io::Error),
    /// Half of it may be there.
    Left(io::Error),
}

/// Creates a segment without anything in it, not yet durable.
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
        // Order: synced before anything more is appended to the segment before. If the name came back after a power
        // cut, it would say that the segment before ended earlier than it does.
        _ => disk.sync_folder(folder),
    }
}
