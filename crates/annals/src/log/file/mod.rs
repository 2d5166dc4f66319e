//! Keeps the log in a folder of segment files and survives torn writes.
//!
//! One writer holds the `lock` file. Any number of readers, in this process and in others, read at the same time; they
//! see a record only after it is synced. The layout of all files is in `docs/formats.md`, section "File log".

mod address;
mod frames;
mod index;
mod scan;
mod segment;

mod writer;

mod listing;
mod manifest;
mod mark;
mod recovery;

mod follower;

mod copy;
mod sent;
mod rewrite;
mod verify;
mod file_options;
mod unfinished;

use file_options::check_options;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};

use super::frame::FORMAT;
use super::identity::LogId;
use super::{
    Appended, Call, Log, ReadBatch, ReadLimit, Rewrite, Verified, check_append, check_next, check_read,
};
use crate::storage::{Disk, RealDisk, widen};
use crate::{Error, ErrorKind, Position, Result};
use follower::Follower;
use manifest::Manifest;
use segment::{OpenFiles, Segment};
use writer::SegmentWriter;

pub(crate) use address::FrameAddress;
pub use copy::copy_to_files;
pub(crate) use copy::is_vacant_log;
pub use file_options::FileOptions;
pub(crate) use recovery::LOCK_FILE_NAME;
pub(crate) use sent::{
    LogPart, SegmentPlan, begin_received, finish_received, receive_log_file, send_log, spoil_received,
};
pub use verify::SegmentInfo;

/// A reader may meet a rewritten log at most this often in a row; more often means that another program changes the
/// folder.
const STALE_RETRIES_MAX: usize = 100;

/// A log in a folder of segment files.
///
/// ```
/// use annals::Position;
/// use annals::log::{FileLog, Log, ReadLimit};
///
/// let folder = tempfile::tempdir().unwrap();
/// let log = FileLog::open(folder.path())?;
/// log.append(Position(1), &[b"first"])?;
///
/// let follower = FileLog::open_read_only(folder.path())?;
/// assert_eq!(follower.read(Position(1), ReadLimit::ONE)?, [b"first".to_vec()]);
/// # Ok::<(), annals::Error>(())
/// ```
pub struct FileLog {
    folder: PathBuf,
    name: String,
    files: OpenFiles,
    listing: RwLock<Listing>,
    // The last durable position. Stored after the index contains it, so that a reader of the tail finds its record.
    tail: AtomicU64,
    role: Role,
    // A frame that a checkpoint knows, for segments that are found later.
    address: Option<FrameAddress>,
    // True while a thread rewrites the log: two of them would write the same files.
    is_rewriting: AtomicBool,
}

/// The segments in force.
#[derive(Clone, Default)]
struct Listing {
    manifest: Manifest,
    // Shape: ascending, dense; all but the last are sealed. Empty only in a follower of an empty log.
    segments: Vec<Arc<Segment>>,
}

enum Role {
    Writer(Mutex<SegmentWriter>),
    Follower(Mutex<Follower>),
}

impl FileLog {
    /// Opens the log in `folder` for writing, creating it if there is none.
    ///
    /// Recovers from a power cut: it keeps or cuts an append call that was not acknowledged, in both cases the whole
    /// call.
    /// Errors: `Locked` if another writer has the log open; `Corrupted`, `Gap` or `NewerFormat` for damaged files, and
    /// then it changes nothing; `NoRoom`; `Io`.
    pub fn open(folder: impl AsRef<Path>) -> Result<FileLog> {
        FileLog::open_with(folder, FileOptions::default())
    }

    /// As [`FileLog::open`], with options.
    pub fn open_with(folder: impl AsRef<Path>, options: FileOptions) -> Result<FileLog> {
        FileLog::open_on(Arc::new(RealDisk), folder, options)
    }

    /// As [`FileLog::open_with`], on any disk.
    pub fn open_on(disk: Arc<dyn Disk>, folder: impl AsRef<Path>, options: FileOptions) -> Result<FileLog> {
        FileLog::open_from(disk, folder.as_ref(), options, None)
    }

    /// As [`FileLog::open_on`], with the address of a frame: the frames before it are read and verified only when they
    /// are asked for. An address of another log, or of a frame that is not there, changes nothing.
    pub(crate) fn open_from(
        disk: Arc<dyn Disk>,
        folder: &Path,
        options: FileOptions,
        address: Option<FrameAddress>,
    ) -> Result<FileLog> {
        check_options(options)?;
        let address = address.filter(|_| !options.verify_sealed);
        let recovered = recovery::recover(&*disk, folder, options, address.as_ref())?;
        let tail = recovered.start.tail;
        let format = recovered.start.active.header.format;
        let writer = Role::Writer(Mutex::new(SegmentWriter::new(recovered.start)));
        let log = FileLog::assemble(disk, folder, options, writer, address);
        log.publish(Listing { manifest: recovered.manifest, segments: recovered.segments }, tail);
        if format < FORMAT {
            // All frames of a segment have its format.
            log.roll()?;
        }
        if options.verify_sealed {
            log.index_sealed()?;
        }
        Ok(log)
    }

    /// Opens the log in `folder` for reading beside its writer. It never writes, and looks for new records on each
    /// call.
    ///
    /// Errors: `NotFound` if there is no log; `Unavailable` if its `durable` file is missing, or if no writer is at
    /// work and there are records beyond the durable position, as after a power cut: opening the log with a writer
    /// resolves this; `Corrupted`, `Gap` or `NewerFormat` for damaged files; `Io`.
    pub fn open_read_only(folder: impl AsRef<Path>) -> Result<FileLog> {
        FileLog::open_read_only_on(Arc::new(RealDisk), folder, FileOptions::default())
    }

    /// As [`FileLog::open_read_only`], on any disk and with options.
    pub fn open_read_only_on(
        disk: Arc<dyn Disk>,
        folder: impl AsRef<Path>,
        options: FileOptions,
    ) -> Result<FileLog> {
        FileLog::open_read_only_from(disk, folder.as_ref(), options, None)
    }

    /// As [`FileLog::open_read_only_on`], with the address of a frame: see [`FileLog::open_from`].
    pub(crate) fn open_read_only_from(
        disk: Arc<dyn Disk>,
        folder: &Path,
        options: FileOptions,
        address: Option<FrameAddress>,
    ) -> Result<FileLog> {
        check_options(options)?;
        unfinished::refuse_unfinished_copy(&*disk, folder)?;
        let follower = Role::Follower(Mutex::default());
        let address = address.filter(|_| !options.verify_sealed);
        let log = FileLog::assemble(disk, folder, options, follower, address);
        log.refresh(false)?;
        log.check_nothing_hidden()?;
        if options.verify_sealed {
            log.index_sealed()?;
        }
        Ok(log)
    }

    fn assemble(
        disk: Arc<dyn Disk>,
        folder: &Path,
        options: FileOptions,
        role: Role,
        address: Option<FrameAddress>,
    ) -> FileLog {
        FileLog {
            folder: folder.to_path_buf(),
            name: format!("file log {}", folder.display()),
            files: OpenFiles::new(disk, options.open_files_max),
            listing: RwLock::default(),
            tail: AtomicU64::new(0),
            role,
            address,
            is_rewriting: AtomicBool::new(false),
        }
    }

    /// Seals the active segment and starts a new one, so that the sealed one can be rewritten. Does nothing if the
    /// active one is empty.
    ///
    /// Errors: `ReadOnly`; `Closed`; `NoRoom` or `Io` if there is no room for another segment, and then nothing
    /// changed; `Unavailable` after a failed sync, now or earlier.
    pub fn roll(&self) -> Result<()> {
        let mut writer = self.writer("roll")?;
        writer.check_held(&self.name)?;
        if self.active().is_some_and(|active| active.first() > writer.tail()) {
            return Ok(());
        }
        self.start_segment(&mut writer)
    }

    /// Syncs everything and releases the lock for the next writer. Reading continues. Dropping the log closes it, too.
    ///
    /// Errors: `Unavailable` if a write or sync had failed; `NoRoom`; `Io`. The log is closed even after an error.
    pub fn close(&self) -> Result<()> {
        match &self.role {
            Role::Follower(_) => Ok(()),
            Role::Writer(_) => self.writer("close")?.close(&self.name),
        }
    }

    /// The folder of the log.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn start_segment(&self, writer: &mut SegmentWriter) -> Result<()> {
        let segment = writer.roll(&self.name, self.files.disk(), &self.folder, self.id())?;
        // Order: the sync comes first, so that readers do not wait for the disk. For a moment the last segment in their
        // listing is sealed.
        self.listing.write().unwrap_or_else(PoisonError::into_inner).segments.push(segment);
        Ok(())
    }

    fn writer(&self, operation: &str) -> Result<MutexGuard<'_, SegmentWriter>> {
        match &self.role {
            Role::Follower(_) => {
                let text = format!(
                    "{}: {operation}: expected a writer, found it opened read-only; open it",
                    self.name
                );
                Err(Error::new(ErrorKind::ReadOnly, text))
            }
            Role::Writer(writer) => writer.lock().map_err(|_| {
                let text =
                    format!("{}: {operation}: a thread panicked while writing; reopen the log", self.name);
                Error::new(ErrorKind::Unavailable, text)
            }),
        }
    }

    /// Errors: those of the disk; `NoRoom` and `Io` only if nothing of the call is left.
    fn append_valid(&self, call: &Call<'_>) -> Result<Appended> {
        let mut writer = self.writer("append")?;
        writer.check_held(&self.name)?;
        if writer.is_latest(call) {
            return Ok(Appended::Stored);
        }
        if let Some(outcome) = check_next(self, call.at, writer.tail()) {
            return Ok(outcome);
        }
        if writer.must_roll(call.records) {
            self.start_segment(&mut writer)?;
        }
        writer.append(&self.name, call)?;
        self.tail.store(writer.tail().0, Ordering::Release);
        Ok(Appended::Stored)
    }

    fn known_tail(&self) -> Position {
        Position(self.tail.load(Ordering::Acquire))
    }

    /// Shows `listing` and then `tail` to readers.
    fn publish(&self, listing: Listing, tail: Position) {
        *self.listing.write().unwrap_or_else(PoisonError::into_inner) = listing;
        self.tail.store(tail.0, Ordering::Release);
    }

    fn listing(&self) -> Listing {
        self.listing.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn active(&self) -> Option<Arc<Segment>> {
        self.listing.read().unwrap_or_else(PoisonError::into_inner).segments.last().cloned()
    }

    /// The segment that holds `position`, which is not beyond the tail.
    fn segment_of(&self, position: Position) -> Result<Arc<Segment>> {
        let listing = self.listing.read().unwrap_or_else(PoisonError::into_inner);
        segment_of(&listing.segments, position)
    }

    /// Tells segments that were found which of their frames is known.
    fn note_address(&self, segments: &[Arc<Segment>]) {
        self.address.iter().for_each(|address| segments.iter().for_each(|segment| segment.note(address)));
    }

    fn index_sealed(&self) -> Result<()> {
        for segment in self.listing().segments {
            segment.ask_index(&self.files, segment.first(), |_| ())?;
        }
        Ok(())
    }

    /// Called when a segment turns out to be rewritten: makes sure that the next attempt finds its successor.
    fn renew(&self, retries: &mut usize) -> Result<()> {
        *retries += 1;
        if *retries > STALE_RETRIES_MAX {
            let text = format!(
                "{}: a segment was rewritten {STALE_RETRIES_MAX} times while it was read, or its file is missing; look \
                 which program changes the folder",
                self.name
            );
            return Err(Error::new(ErrorKind::Unavailable, text));
        }
        match &self.role {
            // The writer lists the successor before it removes the file.
            Role::Writer(_) => {}
            Role::Follower(_) => self.refresh(true)?,
        }
        Ok(())
    }
}

impl Log for FileLog {
    fn tail(&self) -> Result<Position> {
        if let Role::Follower(_) = self.role {
            self.refresh(false)?;
        }
        Ok(self.known_tail())
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        if let Err(error) = check_append(self, call) {
            return Appended::Refused(error);
        }
        match self.append_valid(call) {
            Ok(outcome) => outcome,
            // After `NoRoom` and `Io` the file was cut back to its last record, durably.
            Err(error) => match error.kind() {
                ErrorKind::NoRoom | ErrorKind::Io | ErrorKind::Closed | ErrorKind::ReadOnly => {
                    Appended::Refused(error)
                }
                _ => Appended::Lost(error),
            },
        }
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        check_read(self, from)?;
        if from > self.known_tail() && matches!(self.role, Role::Follower(_)) {
            self.refresh(false)?;
        }
        let tail = self.known_tail();
        let mut batch = ReadBatch::new(limit);
        let mut retries = 0;
        let mut next = from;
        while next <= tail && !batch.is_full() {
            if !self.segment_of(next)?.read(&self.files, next, tail, &mut batch)? {
                self.renew(&mut retries)?;
            }
            next = Position(from.0 + widen(batch.records_count()));
        }
        Ok(batch.into_records())
    }

    fn probe(&self) -> Result<()> {
        let Role::Writer(writer) = &self.role else { return Ok(()) };
        match writer.try_lock() {
            Ok(mut writer) => writer.probe(&self.name),
            // The append in progress will show whether there is room, and a disk that hangs must not block the caller.
            Err(TryLockError::WouldBlock) => {
                let text = format!("{}: look for room: a write is under way; ask again", self.name);
                Err(Error::new(ErrorKind::Busy, text))
            }
            Err(TryLockError::Poisoned(_)) => {
                let text =
                    format!("{}: look for room: a thread panicked while writing; reopen the log", self.name);
                Err(Error::new(ErrorKind::Unavailable, text))
            }
        }
    }

    fn describe(&self) -> String {
        self.name.clone()
    }

    fn id(&self) -> LogId {
        self.listing.read().unwrap_or_else(PoisonError::into_inner).manifest.log_id
    }

    fn generation(&self) -> u64 {
        self.listing.read().unwrap_or_else(PoisonError::into_inner).manifest.generation
    }

    fn rewritten_since(&self, since: u64) -> Position {
        let listing = self.listing.read().unwrap_or_else(PoisonError::into_inner);
        // Segments with new records are of generation zero.
        let rewritten = listing.segments.iter().filter(|segment| segment.header.generation > since);
        // A follower lists no segment without records, so it may not know where the last one ends.
        let last = rewritten.map(|segment| segment.sealed_last().unwrap_or_else(|| self.known_tail())).max();
        last.unwrap_or(Position::ZERO)
    }

    fn bytes_up_to(&self, position: Position) -> u64 {
        let segments = self.segments().unwrap_or_default();
        let whole: u64 =
            segments.iter().filter(|segment| segment.last <= position).map(|segment| segment.bytes).sum();
        let part = segments.iter().any(|segment| segment.first <= position && position < segment.last);
        let part =
            part.then(|| self.segment_of(position).ok()?.known_bytes_up_to(&self.files, position)).flatten();
        whole + part.unwrap_or(0)
    }

    fn address_of(&self, position: Position) -> Vec<u8> {
        let segment = self.segment_of(position).ok();
        let address = segment.and_then(|segment| segment.address_of(&self.files, position));
        address.map(|address| address.encode()).unwrap_or_default()
    }

    fn verify(&self) -> Result<Verified> {
        self.verify_segments()
    }

    fn close(&self) -> Result<()> {
        FileLog::close(self)
    }

    fn as_rewrite(&self) -> Option<&dyn Rewrite> {
        Some(self)
    }
}

/// The segment that holds `position`. Errors: `Gap` if it is before the first segment.
fn segment_of(segments: &[Arc<Segment>], position: Position) -> Result<Arc<Segment>> {
    let after = segments.partition_point(|segment| segment.first() <= position);
    let segment = after.checked_sub(1).and_then(|at| segments.get(at));
    segment.cloned().ok_or_else(|| {
        let text = format!("position {position}: expected a segment with it, found none; run `annals check`");
        Error::new(ErrorKind::Gap, text)
    })
}

impl Drop for FileLog {
    fn drop(&mut self) {
        // Everything acknowledged is durable already, so a failure here loses nothing, and a drop cannot report it.
        let _ = self.close();
    }
}

impl fmt::Debug for FileLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileLog").field("folder", &self.folder).field("tail", &self.known_tail()).finish()
    }
}
