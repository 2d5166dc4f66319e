//! Opens a log for writing: lock, read what is there, cut what a power cut tore, make the rest durable.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::FileOptions;
use super::index::SparseIndex;
use super::mark::{DURABLE_FILE_NAME, Durable, DurableFile};
use super::scan::{SegmentView, Tear, damaged, find_later_call, scan};
use super::segment::{
    BUILDING_SUFFIX, Segment, io_error, new_salt, open_file, parse_segment_file_name, read_header,
    read_start, segment_file_name,
};
use super::writer::{WriterStart, create_segment};
use crate::log::disk::{Access, Disk, DiskFile, DiskLock};
use crate::log::frame::{SEGMENT_HEADER_BYTES, SegmentHeader, SegmentStart};
use crate::{Error, ErrorKind, Position, Result};

const LOCK_FILE_NAME: &str = "lock";

/// Units: bytes rewritten at once.
const REWRITE_PIECE_BYTES: usize = 1024 * 1024;

/// What a writer finds and starts with.
pub(super) struct Recovered {
    pub segments: Vec<Arc<Segment>>,
    pub start: WriterStart,
}

/// Opens the log in `folder`. Nothing is changed before everything found is known to be in order.
pub(super) fn recover(disk: &dyn Disk, folder: &Path, options: FileOptions) -> Result<Recovered> {
    disk.create_folder(folder).map_err(|error| io_error(folder, "create the folder", error))?;
    let lock = acquire(disk, folder)?;
    remove_unfinished(disk, folder)?;
    let marked = read_durable(disk, folder)?;
    let mut segments = find_segments(disk, folder, Position(u64::MAX), LastHeader::MayBeTorn)?;
    let Some(found_last) = segments.pop() else {
        check_marked(folder, marked, Position::ZERO)?;
        return start_empty(disk, folder, options, marked, lock);
    };
    let (last, required_tail) = match found_last {
        FoundSegment::Whole(segment) => (segment, None),
        FoundSegment::Torn { first, tear } => {
            // Creating the next segment was cut short, before anything was appended to it.
            if marked.is_some_and(|marked| marked.position >= first) {
                return Err(damaged(&folder.join(segment_file_name(first)), &tear));
            }
            let before = segments.pop();
            let last = match before {
                Some(FoundSegment::Whole(segment)) => Some(segment),
                _ => None,
            };
            let path = folder.join(segment_file_name(first));
            let Some(last) = last else {
                disk.remove(&path).map_err(|error| io_error(&path, "remove", error))?;
                return start_empty(disk, folder, options, marked, lock);
            };
            (last, Some((first, path)))
        }
    };
    let file = open_file(disk, &last.path, Access::Write)?;
    // What is in the page cache is not necessarily on the disk: the process before may have ended before its sync.
    file.sync_all().map_err(|error| io_error(&last.path, "sync", error))?;
    let index = scan_last(&*file, &last)?;
    let (tail, end) = (index.last, index.end);
    check_marked(folder, marked, tail)?;
    if let Some((next_first, path)) = required_tail {
        if tail.next() != next_first {
            let reason = format!("the end, but a segment was started at position {next_first}");
            return Err(damaged(&last.path, &Tear { offset: end, position: tail.next(), reason }));
        }
        disk.remove(&path).map_err(|error| io_error(&path, "remove", error))?;
    }
    make_durable(&*file, &last, &index, marked)
        .map_err(|error| io_error(&last.path, "make durable", error))?;
    let generation = marked.map_or_else(new_generation, |marked| marked.generation);
    let durable = DurableFile::create(disk, folder, Durable { position: tail, generation })?;
    last.update_index(|slot| *slot = index);

    let mut all: Vec<Arc<Segment>> = segments.into_iter().map(FoundSegment::expect_whole).collect();
    all.push(last.clone());
    let start =
        WriterStart { active: last, file, tail, end, durable, segment_bytes: options.segment_bytes, lock };
    Ok(Recovered { segments: all, start })
}

fn start_empty(
    disk: &dyn Disk,
    folder: &Path,
    options: FileOptions,
    marked: Option<Durable>,
    lock: DiskLock,
) -> Result<Recovered> {
    // Order: the durable position is there before the first segment, so a reader never finds a log without it.
    let generation = marked.map_or_else(new_generation, |marked| marked.generation);
    let durable = DurableFile::create(disk, folder, Durable { position: Position::ZERO, generation })?;
    let created = create_segment(disk, folder, Position(1), Position::ZERO);
    let (active, file) = created.map_err(|error| io_error(folder, "start a segment", error))?;
    let start = WriterStart {
        active: active.clone(),
        file,
        tail: Position::ZERO,
        end: SEGMENT_HEADER_BYTES as u64,
        durable,
        segment_bytes: options.segment_bytes,
        lock,
    };
    Ok(Recovered { segments: vec![active], start })
}

fn acquire(disk: &dyn Disk, folder: &Path) -> Result<DiskLock> {
    let path = folder.join(LOCK_FILE_NAME);
    let lock = disk.lock(&path).map_err(|error| io_error(&path, "lock", error))?;
    lock.ok_or_else(|| {
        let text = format!(
            "file log {}: expected to be the only writer, found another one holding {}; close it, or open read-only",
            folder.display(),
            path.display()
        );
        Error::new(ErrorKind::Locked, text)
    })
}

/// Removes segments whose rewriting was cut short; the originals are still in place.
fn remove_unfinished(disk: &dyn Disk, folder: &Path) -> Result<()> {
    let names = disk.list(folder).map_err(|error| io_error(folder, "list", error))?;
    for name in names {
        let is_ours =
            name.strip_suffix(BUILDING_SUFFIX).is_some_and(|name| parse_segment_file_name(name).is_some());
        if is_ours {
            let path = folder.join(name);
            disk.remove(&path).map_err(|error| io_error(&path, "remove", error))?;
        }
    }
    Ok(())
}

/// The `durable` file as it is now; `None` if it is missing or not whole.
pub(super) fn read_durable(disk: &dyn Disk, folder: &Path) -> Result<Option<Durable>> {
    let path = folder.join(DURABLE_FILE_NAME);
    let file = match disk.open(&path, Access::Read) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_error(&path, "open", error)),
    };
    Durable::read(&*file).map_err(|error| io_error(&path, "read", error))
}

/// A segment found by its name.
pub(super) enum FoundSegment {
    Whole(Arc<Segment>),
    /// The last segment, whose header was not completely written, and nothing after it.
    Torn {
        first: Position,
        tear: Tear,
    },
}

impl FoundSegment {
    pub fn expect_whole(self) -> Arc<Segment> {
        match self {
            FoundSegment::Whole(segment) => segment,
            FoundSegment::Torn { .. } => unreachable!("only the last segment may be torn"),
        }
    }
}

/// Whether the last header may be incomplete: to the writer, yes; to a reader of durable records, no.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LastHeader {
    MayBeTorn,
    IsWhole,
}

/// The segments of `folder` that start at `upto` or before, each knowing its last position except the last.
///
/// Errors: `Gap` if one is missing; `Corrupted` or `NewerFormat` for a header; `NotFound` if there is no folder.
pub(super) fn find_segments(
    disk: &dyn Disk,
    folder: &Path,
    upto: Position,
    last_header: LastHeader,
) -> Result<Vec<FoundSegment>> {
    let names = disk.list(folder).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let text = format!("expected a log in {}, found no folder; look at the path", folder.display());
            Error::new(ErrorKind::NotFound, text)
        }
        _ => io_error(folder, "list", error),
    })?;
    let mut firsts: Vec<Position> = names.iter().filter_map(|name| parse_segment_file_name(name)).collect();
    firsts.retain(|&first| first <= upto);
    firsts.sort_unstable();
    let mut found: Vec<FoundSegment> = Vec::with_capacity(firsts.len());
    let mut before: Option<Arc<Segment>> = None;
    for (number, &first) in firsts.iter().enumerate() {
        let path = folder.join(segment_file_name(first));
        let file = open_file(disk, &path, Access::Read)?;
        let may_be_torn = last_header == LastHeader::MayBeTorn && number + 1 == firsts.len();
        if may_be_torn && let Some(tear) = torn_header(&*file, &path, first)? {
            found.push(FoundSegment::Torn { first, tear });
            continue;
        }
        let header = read_header(&*file, &path, first)?;
        check_chain(folder, &header, before.as_deref())?;
        let segment = Arc::new(Segment::found(path, header));
        if let Some(before) = before.replace(segment.clone()) {
            before.seal(Position(first.0 - 1));
        }
        found.push(FoundSegment::Whole(segment));
    }
    Ok(found)
}

/// Tells a header that was never completely written from a damaged one: frames follow only a synced header.
fn torn_header(file: &dyn DiskFile, path: &Path, first: Position) -> Result<Option<Tear>> {
    let SegmentStart::Bad(reason) = read_start(file, path)? else { return Ok(None) };
    let bytes = file.len().map_err(|error| io_error(path, "length", error))?;
    if bytes > SEGMENT_HEADER_BYTES as u64 {
        return Ok(None);
    }
    Ok(Some(Tear { offset: 0, position: first, reason: format!("a segment header with {reason}") }))
}

/// Each header names the first position of the segment before.
fn check_chain(folder: &Path, header: &SegmentHeader, before: Option<&Segment>) -> Result<()> {
    let found = before.map_or(Position::ZERO, Segment::first);
    let is_start = header.first == Position(1);
    if header.previous == found && (before.is_some() != is_start) {
        return Ok(());
    }
    let missing = segment_file_name(if is_start { header.first } else { header.previous });
    let text = format!(
        "file log {}: segment {} expected {missing} before it, found {}; restore the missing segment from a backup",
        folder.display(),
        segment_file_name(header.first),
        before.map_or_else(|| "none".to_string(), |before| segment_file_name(before.first()))
    );
    Err(Error::new(ErrorKind::Gap, text))
}

/// Scans the last segment. A tear is what a power cut left, unless a later append call proves it was acknowledged.
fn scan_last(file: &dyn DiskFile, last: &Segment) -> Result<SparseIndex> {
    let end = file.len().map_err(|error| io_error(&last.path, "length", error))?;
    let mut index = last.empty_index();
    let view = SegmentView { file, path: &last.path, header: &last.header };
    let Some(tear) = scan(view, &mut index, Position(u64::MAX), end)? else { return Ok(index) };
    match find_later_call(view, &tear, end)? {
        None => Ok(index),
        Some((offset, position)) => Err(damaged(&last.path, &tear).with(
            "acknowledged",
            format!("the frame at offset {offset}, position {position}, was written later"),
        )),
    }
}

/// What was acknowledged must be there.
fn check_marked(folder: &Path, marked: Option<Durable>, tail: Position) -> Result<()> {
    match marked {
        Some(marked) if marked.position > tail => {
            let text = format!(
                "file log {}: expected records up to {}, which were acknowledged, found only up to {tail}; restore \
                 from a backup, or remove {DURABLE_FILE_NAME} to accept the loss",
                folder.display(),
                marked.position
            );
            Err(Error::new(ErrorKind::Corrupted, text))
        }
        _ => Ok(()),
    }
}

/// Cuts what is torn, and writes again what may be in the page cache only: after a failed sync the system takes the
/// pages for written, and syncing them once more would write nothing.
/// Source: <https://wiki.postgresql.org/wiki/Fsync_Errors>.
fn make_durable(
    file: &dyn DiskFile,
    last: &Segment,
    index: &SparseIndex,
    marked: Option<Durable>,
) -> io::Result<()> {
    if file.len()? > index.end {
        file.set_len(index.end)?;
    }
    let mut offset = match marked {
        Some(marked) if marked.position == index.last && marked.position >= last.first() => index.end,
        Some(marked) if marked.position >= last.first() => index.find(marked.position.next()).0,
        _ => 0,
    };
    let mut piece = vec![0; REWRITE_PIECE_BYTES.min((index.end - offset) as usize)];
    while offset < index.end {
        let wanted = piece.len().min((index.end - offset) as usize);
        if file.read_at(&mut piece[..wanted], offset)? < wanted {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the file became shorter while it was opened",
            ));
        }
        file.write_at(&piece[..wanted], offset)?;
        offset += wanted as u64;
    }
    file.sync_all()
}

fn new_generation() -> u64 {
    u64::from(new_salt())
}
