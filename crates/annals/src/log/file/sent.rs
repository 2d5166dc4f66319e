//! Sends a copy of a log as files, one after the other, and receives such files: the copy never is on the disk of the
//! sender.

use std::io::Read;
use std::path::Path;

use super::FileOptions;
use super::copy::{clear, finish};
use super::manifest::{MANIFEST_FILE_NAME, Manifest};
use super::mark::{DURABLE_FILE_NAME, Durable};
use super::segment::{SegmentName, io_error, new_salt};
use super::unfinished::COPYING_FILE_NAME;
use crate::log::frame::{
    FORMAT, FRAME_HEADER_BYTES, FramePlace, SEGMENT_HEADER_BYTES, SegmentHeader, encode_frame,
};
use crate::log::{Log, LogId, ReadLimit};
use crate::storage::{Disk, widen};
use crate::{Error, ErrorKind, Position, Result};

/// Units: bytes of a received file that are written together.
const PIECE_BYTES: usize = 256 * 1024;

/// The segments of a copy, and their lengths: the header of a file names its length before its bytes come.
pub(crate) struct SegmentPlan {
    segments: Vec<Planned>,
    last: Position,
}

/// A segment that is not written yet.
struct Planned {
    first: Position,
    previous: Position,
    /// Units: bytes.
    length: u64,
}

impl SegmentPlan {
    /// The plan of an empty log, which has one segment.
    pub fn new() -> SegmentPlan {
        let first = Planned::at(Position(1), Position::ZERO);
        SegmentPlan { segments: vec![first], last: Position::ZERO }
    }

    /// The length of all segments. Units: bytes.
    pub fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.length).sum()
    }

    /// Adds the record at the next position.
    pub fn push(&mut self, record: &[u8]) {
        let frame = widen(FRAME_HEADER_BYTES + record.len());
        let next = self.last.next();
        let full = self.segments.last().filter(|segment| {
            // As in a copy on the disk.
            segment.length > widen(SEGMENT_HEADER_BYTES)
                && segment.length + frame > FileOptions::default().segment_bytes
        });
        if let Some(previous) = full.map(|full| full.first) {
            self.segments.push(Planned::at(next, previous));
        }
        if let Some(segment) = self.segments.last_mut() {
            segment.length += frame;
        }
        self.last = next;
    }
}

impl Planned {
    fn at(first: Position, previous: Position) -> Planned {
        Planned { first, previous, length: widen(SEGMENT_HEADER_BYTES) }
    }
}

/// A part of the files of a copy.
pub(crate) enum LogPart<'p> {
    /// A file begins: its name, and its length in bytes.
    File(&'p str, u64),
    /// Bytes of the file.
    Bytes(&'p [u8]),
}

/// Sends the files of a copy of a log up to the last position of the plan. The files that make it whole are the last.
///
/// Errors: those of `take` and of [`Log::read`]; `Unavailable` if the log was rewritten meanwhile.
pub(crate) fn send_log(
    from: &dyn Log,
    generation: u64,
    plan: &SegmentPlan,
    take: &mut dyn FnMut(LogPart<'_>) -> Result<()>,
) -> Result<()> {
    let Manifest { log_id, generation: copied } = Manifest { log_id: LogId::random(), generation: 0 };
    let mut records = Vec::new().into_iter();
    let mut next = Position(1);
    let mut buffer = Vec::new();
    for (number, segment) in plan.segments.iter().enumerate() {
        let (first, previous) = (segment.first, segment.previous);
        take(LogPart::File(&SegmentName { first, generation: copied }.file_name(), segment.length))?;
        let header =
            SegmentHeader { format: FORMAT, salt: new_salt(), first, previous, log_id, generation: copied };
        take(LogPart::Bytes(&header.encode()))?;
        let end = plan.segments.get(number + 1).map_or(plan.last.next(), |following| following.first);
        let mut left = segment.length - header.bytes();
        while next < end {
            let record = match records.next() {
                Some(record) => record,
                None => {
                    records = from.read(next, ReadLimit::default())?.into_iter();
                    let missing = || {
                        let text = format!("{}: expected a record at {next}, found none", from.describe());
                        Error::new(ErrorKind::Gap, text)
                    };
                    records.next().ok_or_else(missing)?
                }
            };
            let place = FramePlace { position: next, index: 0, is_last: true };
            buffer.clear();
            encode_frame(&mut buffer, header.framing(), place, &record);
            // A rewritten record has another length than the plan says.
            left = left.checked_sub(widen(buffer.len())).ok_or_else(|| rewritten(from))?;
            take(LogPart::Bytes(&buffer))?;
            next = next.next();
        }
        if left > 0 || from.generation() != generation {
            return Err(rewritten(from));
        }
    }
    let durable = Durable { position: plan.last, generation: copied, log_id }.encode();
    let manifest = Manifest { log_id, generation: copied }.encode();
    for (name, bytes) in [(DURABLE_FILE_NAME, durable), (MANIFEST_FILE_NAME, manifest)] {
        take(LogPart::File(name, widen(bytes.len())))?;
        take(LogPart::Bytes(&bytes))?;
    }
    Ok(())
}

fn rewritten(log: &dyn Log) -> Error {
    let text = format!("{}: the log was rewritten while it was sent; ask again", log.describe());
    Error::new(ErrorKind::Unavailable, text)
}

/// Begins a copy in the folder `target`, whose files come one by one. Until [`finish_received`] it does not open.
///
/// Errors: `AlreadyExists` if `target` holds a log; `NoRoom`; `Io`.
pub(crate) fn begin_received(disk: &dyn Disk, target: &Path) -> Result<()> {
    disk.create_folder(target).map_err(|error| io_error(target, "create the folder", error))?;
    clear("backup", disk, target)?;
    // Order: the file that marks the copy as unfinished is durable before all others.
    let begun = disk.create(&target.join(COPYING_FILE_NAME)).and_then(|_| disk.sync_folder(target));
    begun.map_err(|error| io_error(target, "begin the copy", error))
}

/// Writes a file of the copy, durably.
///
/// Errors: `InvalidArgument` for a name that no file of a log has; `NoRoom`; `Io`, also of reading.
pub(crate) fn receive_log_file(
    disk: &dyn Disk,
    target: &Path,
    name: &str,
    bytes: &mut dyn Read,
) -> Result<()> {
    if ![DURABLE_FILE_NAME, MANIFEST_FILE_NAME].contains(&name) && SegmentName::parse(name).is_none() {
        let text = format!("backup: expected the name of a file of a log, found {name:?}");
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    }
    let path = target.join(name);
    let file = disk.create(&path).map_err(|error| io_error(&path, "create", error))?;
    let (mut piece, mut written) = (vec![0; PIECE_BYTES], 0);
    loop {
        let count = bytes.read(&mut piece).map_err(|error| Error::io("read the backup", error))?;
        let read = piece.get(..count).unwrap_or_default();
        if read.is_empty() {
            break;
        }
        file.write_at(read, written).map_err(|error| io_error(&path, "write", error))?;
        written += widen(count);
    }
    if written == 0 {
        let text = format!("backup: expected the bytes of a file of a log, found none in {name:?}");
        return Err(Error::new(ErrorKind::Corrupted, text));
    }
    file.sync_all().map_err(|error| io_error(&path, "sync", error))
}

/// Completes the copy up to a position, so that it opens.
///
/// Errors: `NoRoom`; `Io`.
pub(crate) fn finish_received(disk: &dyn Disk, target: &Path, upto: Position) -> Result<()> {
    finish(disk, target, upto)
}

/// Marks a copy as unfinished again: it was not what it should be.
///
/// Errors: `NoRoom`; `Io`.
pub(crate) fn spoil_received(disk: &dyn Disk, target: &Path) -> Result<()> {
    let marked = disk.create(&target.join(COPYING_FILE_NAME)).and_then(|_| disk.sync_folder(target));
    marked.map_err(|error| io_error(target, "mark the copy", error))
}
