//! Opens a log for writing: locks it, reads its files, cuts the calls that a power cut tore, and makes the rest
//! durable.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::address::FrameAddress;
use super::file_options::FileOptions;
use super::index::SparseIndex;
use super::listing::{FoundSegment, LastHeader, find_segments, names_in_force};
use super::manifest::{MANIFEST_FILE_NAME, Manifest, missing_manifest};
use super::mark::{DURABLE_FILE_NAME, Durable, DurableFile};
use super::scan::{Behind, SegmentView, Tear, damaged, find_later_call, scan};
use super::segment::{BUILDING_SUFFIX, Segment, SegmentName, io_error, open_file};
use super::unfinished::refuse_unfinished_copy;
use super::writer::{WriterStart, put_segment};
use crate::log::identity::LogId;
use crate::storage::{Access, Disk, DiskFile, DiskLock, UNFINISHED_SUFFIX, widen};
use crate::{Error, ErrorKind, Position, Result};

pub(crate) const LOCK_FILE_NAME: &str = "lock";

/// A reader that checks for a writer holds the lock for a moment, so a writer tries this often.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Units: bytes written together.
const REWRITE_PIECE_BYTES: usize = 1024 * 1024;

/// The state after recovery, from which a writer starts.
pub(super) struct Recovered {
    pub manifest: Manifest,
    pub segments: Vec<Arc<Segment>>,
    pub start: WriterStart,
}

/// The parameters of one opening for writing.
struct Opening<'o> {
    disk: &'o dyn Disk,
    folder: &'o Path,
    options: FileOptions,
    lock: Box<dyn DiskLock>,
    manifest: Manifest,
    marked: Option<Durable>,
    address: Option<&'o FrameAddress>,
}

/// Opens the log in `folder`. It changes nothing before it has checked all files.
///
/// The address is that of a frame before the end of the log: only from there on the last segment is read.
pub(super) fn recover(
    disk: &dyn Disk,
    folder: &Path,
    options: FileOptions,
    address: Option<&FrameAddress>,
) -> Result<Recovered> {
    disk.create_folder(folder).map_err(|error| io_error(folder, "create the folder", error))?;
    let lock = acquire(disk, folder)?;
    refuse_unfinished_copy(disk, folder)?;
    let found = Manifest::read(disk, folder)?;
    let marked = read_durable(disk, folder)?;
    check_mark_of(folder, marked, found)?;
    let segments = find_segments(disk, folder, found, Position(u64::MAX), LastHeader::MayBeTorn)?;
    let manifest = found.unwrap_or_else(|| Manifest { log_id: LogId::random(), generation: 0 });
    let opening = Opening { disk, folder, options, lock, manifest, marked, address };
    let recovered = opening.recover(segments)?;
    remove_leftovers(disk, folder, manifest)?;
    Ok(recovered)
}

impl Opening<'_> {
    fn recover(self, mut found: Vec<FoundSegment>) -> Result<Recovered> {
        let Opening { disk, folder, marked, address, .. } = self;
        // The creation of the last segment may have been interrupted, before anything was appended to it.
        let torn = match found.pop_if(|last| matches!(last, FoundSegment::Torn { .. })) {
            Some(FoundSegment::Torn { name, tear }) => Some((name, tear)),
            _ => None,
        };
        if let Some((name, tear)) = &torn
            && marked.is_some_and(|marked| marked.position >= name.first)
        {
            return Err(damaged(&folder.join(name.file_name()), tear));
        }
        let mut segments: Vec<Arc<Segment>> = found.into_iter().map(FoundSegment::expect_whole).collect();
        address.iter().for_each(|address| segments.iter().for_each(|segment| segment.note(address)));
        let Some(last) = segments.last().cloned() else {
            check_marked(folder, marked, Position::ZERO)?;
            if let Some((name, tear)) = torn.filter(|(name, _)| name.first > Position(1)) {
                return Err(damaged(&folder.join(name.file_name()), &tear));
            }
            return self.go_on_in_next(segments, Position::ZERO);
        };
        let file = open_file(disk, &last.path, Access::Write)?;
        // Bytes in the page cache are not necessarily on the disk: the process before may have ended before its sync.
        file.sync_all().map_err(|error| io_error(&last.path, "sync", error))?;
        let index = scan_last(&*file, &last, marked)?;
        let (tail, end) = (index.last, index.end);
        check_marked(folder, marked, tail)?;
        if let Some((name, _)) = &torn
            && tail.next() != name.first
        {
            let reason = format!("the end, but a segment was started at position {}", name.first);
            return Err(damaged(&last.path, &Tear { offset: end, position: tail.next(), reason }));
        }
        if tail < last.first() {
            // The segment is empty, and it may have an older format.
            segments.pop();
            return self.go_on_in_next(segments, tail);
        }
        make_durable(&*file, &last, &index, marked)
            .map_err(|error| io_error(&last.path, "make durable", error))?;
        last.update_index(|slot| *slot = index);
        if torn.is_some() {
            last.seal(tail);
            return self.go_on_in_next(segments, tail);
        }
        let durable = self.put_marks(tail)?;
        let (segment_bytes, lock) = (self.options.segment_bytes, self.lock);
        let start = WriterStart { active: last, file, tail, end, durable, segment_bytes, lock };
        Ok(Recovered { manifest: self.manifest, segments, start })
    }

    /// Continues in an empty segment after `segments`. The segment is written even if its file exists: after a failed
    /// sync its name may be in the page cache only. Removing the file instead would not help: a power cut could bring
    /// it back.
    fn go_on_in_next(self, mut segments: Vec<Arc<Segment>>, tail: Position) -> Result<Recovered> {
        // Order: the manifest and the durable position are written before the first segment, so that a reader never
        // finds a log without them.
        let durable = self.put_marks(tail)?;
        let previous = segments.last().map_or(Position::ZERO, |last| last.first());
        let name = SegmentName { first: tail.next(), generation: 0 };
        let put = put_segment(self.disk, self.folder, name, previous, self.manifest.log_id);
        let (active, file) = put.map_err(|error| io_error(self.folder, "start a segment", error))?;
        segments.push(active.clone());
        let end = active.header.bytes();
        let (segment_bytes, lock) = (self.options.segment_bytes, self.lock);
        let start = WriterStart { active, file, tail, end, durable, segment_bytes, lock };
        Ok(Recovered { manifest: self.manifest, segments, start })
    }

    /// Writes the manifest, even if it exists: after a failed sync it may be in the page cache only.
    fn put_marks(&self, position: Position) -> Result<DurableFile> {
        let Manifest { log_id, generation } = self.manifest;
        let written = self.manifest.write(self.disk, self.folder);
        written.map_err(|error| io_error(self.folder, "write the manifest", error))?;
        DurableFile::create(self.disk, self.folder, Durable { position, generation, log_id })
    }
}

fn acquire(disk: &dyn Disk, folder: &Path) -> Result<Box<dyn DiskLock>> {
    let path = folder.join(LOCK_FILE_NAME);
    for tried in 0..LOCK_TRIES {
        if tried > 0 {
            std::thread::sleep(LOCK_PAUSE);
        }
        if let Some(lock) = disk.lock(&path).map_err(|error| io_error(&path, "lock", error))? {
            return Ok(lock);
        }
    }
    let holder = disk.holder(&path).map(|holder| format!(": {holder}")).unwrap_or_default();
    let text = format!(
        "file log {}: expected to be the only writer, found another one holding {}{holder}; close it, or open read-only",
        folder.display(),
        path.display()
    );
    Err(Error::new(ErrorKind::Locked, text))
}

/// Removes files that no reader of this log needs: of interrupted rewritings and creations, and segments that a
/// rewriting replaced.
fn remove_leftovers(disk: &dyn Disk, folder: &Path, manifest: Manifest) -> Result<()> {
    let names = disk.list(folder).map_err(|error| io_error(folder, "list", error))?;
    let in_force = names_in_force(&names, manifest.generation);
    let mut is_removed = false;
    for name in &names {
        let is_unfinished = name.ends_with(UNFINISHED_SUFFIX)
            || name.strip_suffix(BUILDING_SUFFIX).is_some_and(|name| SegmentName::parse(name).is_some());
        let is_replaced = SegmentName::parse(name).is_some_and(|name| !in_force.contains(&name));
        if is_unfinished || is_replaced {
            let path = folder.join(name);
            disk.remove(&path).map_err(|error| io_error(&path, "remove", error))?;
            is_removed = true;
        }
    }
    if is_removed {
        // The purged bytes are gone once the name of the old file is.
        disk.sync_folder(folder).map_err(|error| io_error(folder, "sync the folder", error))?;
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

/// Refuses the mark of another log.
pub(super) fn check_mark_of(
    folder: &Path,
    marked: Option<Durable>,
    manifest: Option<Manifest>,
) -> Result<()> {
    // Marks of format 1 do not name their log, and have their own count of generations.
    let Some(marked) = marked.filter(|marked| marked.log_id != LogId::NIL) else { return Ok(()) };
    let Some(manifest) = manifest else { return Err(missing_manifest(folder)) };
    let expected = |expected: String, found: String| {
        let text = format!(
            "file log {}: expected the file {DURABLE_FILE_NAME} {expected}, found that {found}; put back the files that \
             belong together, or restore from a backup",
            folder.display(),
        );
        Err(Error::new(ErrorKind::Corrupted, text))
    };
    if marked.log_id != manifest.log_id {
        return expected(format!("of the log {}", manifest.log_id), format!("of the log {}", marked.log_id));
    }
    if marked.generation > manifest.generation {
        // The manifest is durable before the mark has its generation.
        return expected(
            format!("of generation {} at most, as {MANIFEST_FILE_NAME} says", manifest.generation),
            format!("of generation {}", marked.generation),
        );
    }
    Ok(())
}

/// Scans the last segment. A tear is the effect of a power cut, unless a later append call proves that the torn call
/// was acknowledged.
///
/// It begins at the known frame only if the mark covers that: otherwise the frames before it may have to be written again.
fn scan_last(file: &dyn DiskFile, last: &Segment, marked: Option<Durable>) -> Result<SparseIndex> {
    let end = file.len().map_err(|error| io_error(&last.path, "length", error))?;
    let mut index = last.index_before(file, marked.map_or(Position::ZERO, |marked| marked.position));
    let view = SegmentView { file, path: &last.path, header: &last.header };
    let Some(tear) = scan(view, &mut index, Position(u64::MAX), end)? else { return Ok(index) };
    match find_later_call(view, &tear, end)? {
        Behind::NoLaterCall => Ok(index),
        Behind::LaterCall(offset, position) => Err(damaged(&last.path, &tear).with(
            "acknowledged",
            format!("the frame at offset {offset}, position {position}, was written later"),
        )),
        Behind::Unknown => {
            let text = format!(
                "{0}: offset {1}, position {2}: expected a whole frame, found {3}; bytes behind it look like frames of \
                 later records, and format 1 cannot tell whether users stored them. If the power failed, run \
                 `truncate -s {1} {0}` and open the log again; otherwise restore it from a backup",
                last.path.display(),
                tear.offset,
                tear.position,
                tear.reason
            );
            Err(Error::new(ErrorKind::Corrupted, text))
        }
    }
}

/// Checks that all acknowledged records are there.
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

/// Cuts the torn bytes, and writes those bytes again that may be in the page cache only: after a failed sync the system
/// takes the pages for written, and another sync would write nothing.
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
    let mut piece = vec![0; REWRITE_PIECE_BYTES];
    while offset < index.end {
        let wanted = piece.len().min(usize::try_from(index.end - offset).unwrap_or(usize::MAX));
        let piece = piece.get_mut(..wanted).unwrap_or_default();
        if file.read_at(piece, offset)? < wanted {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the file became shorter while it was opened",
            ));
        }
        file.write_at(piece, offset)?;
        offset += widen(wanted);
    }
    file.sync_all()
}
