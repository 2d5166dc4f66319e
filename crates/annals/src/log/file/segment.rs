//! One segment file: its name, its header, its open handle and its index.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

use super::address::FrameAddress;
use super::frames::{FoundFrame, FrameReader, Span};
use super::index::SparseIndex;
use super::scan::{SegmentView, Tear, damaged, scan};
use crate::log::frame::{FORMAT, FrameHeader, SEGMENT_HEADER_BYTES, SegmentHeader, SegmentStart};
use crate::log::identity::LogId;
use crate::log::{ReadBatch, ReadLimit};
use crate::storage::{Access, Disk, DiskFile, widen};
use crate::{Error, ErrorKind, Position, Result};

/// Units: bytes read together: for one record, and at most for many.
const READ_PIECE_BYTES: usize = 16 * 1024;
const READ_PIECE_BYTES_MAX: usize = 256 * 1024;

/// The suffix that earlier versions gave to a segment file while they built it.
pub(super) const BUILDING_SUFFIX: &str = ".tmp";

const SEGMENT_SUFFIX: &str = ".seg";

/// The first position of a segment file, and the generation of the log that wrote it.
///
/// Shape: ordered by position, then by generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SegmentName {
    pub first: Position,
    pub generation: u64,
}

impl SegmentName {
    pub fn of(header: &SegmentHeader) -> SegmentName {
        SegmentName { first: header.first, generation: header.generation }
    }

    /// The name of the file: 20 digits, so that names sort as positions do, and ten more once it was rewritten.
    pub fn file_name(self) -> String {
        match self.generation {
            0 => format!("{:020}{SEGMENT_SUFFIX}", self.first.0),
            generation => format!("{:020}-{generation:010}{SEGMENT_SUFFIX}", self.first.0),
        }
    }

    /// The meaning of a segment file's name; `None` for any other name.
    pub fn parse(name: &str) -> Option<SegmentName> {
        let stem = name.strip_suffix(SEGMENT_SUFFIX)?;
        let (first, generation) =
            stem.split_once('-').map_or((stem, None), |(first, rest)| (first, Some(rest)));
        let number = |text: &str, digits: usize| {
            let is_ours = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<u64>().ok().filter(|&number| is_ours && number > 0)
        };
        let first = Position(number(first, 20)?);
        let generation = generation.map_or(Some(0), |text| number(text, 10))?;
        Some(SegmentName { first, generation })
    }
}

/// A random number for a new segment.
pub(super) fn new_salt() -> u32 {
    let [a, b, c, d, ..] = RandomState::new().hash_one(0u8).to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Opens segment files on first use and keeps a bounded number of them open.
pub(super) struct OpenFiles {
    disk: Arc<dyn Disk>,
    files_max: usize,
    // In the order of opening; the oldest is closed first.
    opened: Mutex<VecDeque<Weak<Segment>>>,
}

impl OpenFiles {
    pub fn new(disk: Arc<dyn Disk>, files_max: usize) -> OpenFiles {
        OpenFiles { disk, files_max: files_max.max(1), opened: Mutex::default() }
    }

    pub fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    /// The open file of `segment`; `None` if the log was rewritten and the file is gone, or its name belongs to another
    /// file.
    pub fn open(&self, segment: &Arc<Segment>) -> Result<Option<Arc<dyn DiskFile>>> {
        let mut slot = segment.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &*slot {
            return Ok(Some(file.clone()));
        }
        let file = match self.disk.open(&segment.path, Access::Read) {
            // The log was rewritten and the file was removed.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|error| io_error(&segment.path, "open", error))?,
        };
        match read_start(&*file, &segment.path)? {
            SegmentStart::Whole(header) if header == segment.header => {}
            _ => return Ok(None),
        }
        *slot = Some(file.clone());
        drop(slot);
        self.note(segment);
        Ok(Some(file))
    }

    /// Counts `segment` as open and closes the oldest beyond the bound.
    fn note(&self, segment: &Arc<Segment>) {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.push_back(Arc::downgrade(segment));
        while opened.len() > self.files_max {
            let oldest = opened.pop_front().and_then(|oldest| oldest.upgrade());
            // Order: no thread locks a slot while it waits for `opened`, so locking a slot here cannot deadlock.
            if let Some(oldest) = oldest.filter(|oldest| !Arc::ptr_eq(oldest, segment)) {
                *oldest.file.lock().unwrap_or_else(PoisonError::into_inner) = None;
            }
        }
    }
}

/// One segment file.
pub(super) struct Segment {
    pub path: PathBuf,
    pub header: SegmentHeader,
    // Set once the segment is sealed: its last position, known from the segment after it.
    sealed_last: OnceLock<Position>,
    // Set when a caller first asks for the length of a sealed segment. Units: bytes.
    sealed_bytes: OnceLock<u64>,
    // A frame that a checkpoint knows, and its offset.
    known: OnceLock<(Position, u64)>,
    // None until a sealed segment is read for the first time. It may begin at the known frame.
    index: RwLock<Option<SparseIndex>>,
    // None while closed. A thread that opens it checks that it is still the same file.
    file: Mutex<Option<Arc<dyn DiskFile>>>,
}

impl Segment {
    /// A segment found by its name, of which only the header is known.
    pub fn found(path: PathBuf, header: SegmentHeader) -> Segment {
        Segment {
            path,
            header,
            sealed_last: OnceLock::new(),
            sealed_bytes: OnceLock::new(),
            known: OnceLock::new(),
            index: RwLock::new(None),
            file: Mutex::new(None),
        }
    }

    /// A segment whose frames are known.
    pub fn indexed(path: PathBuf, header: SegmentHeader, index: SparseIndex) -> Segment {
        let segment = Segment::found(path, header);
        *segment.index.write().unwrap_or_else(PoisonError::into_inner) = Some(index);
        segment
    }

    pub fn first(&self) -> Position {
        self.header.first
    }

    /// The last position, once the segment is sealed.
    pub fn sealed_last(&self) -> Option<Position> {
        self.sealed_last.get().copied()
    }

    /// Seals this segment: its last record is at `last`.
    pub fn seal(&self, last: Position) {
        let _ = self.sealed_last.set(last);
    }

    /// Units: bytes of header and frames of a sealed segment. Asks the disk once.
    pub fn sealed_bytes(&self, disk: &dyn Disk) -> Result<u64> {
        if let Some(bytes) = self.sealed_bytes.get() {
            return Ok(*bytes);
        }
        let file = open_file(disk, &self.path, Access::Read)?;
        let bytes = file.len().map_err(|error| io_error(&self.path, "length", error))?;
        Ok(*self.sealed_bytes.get_or_init(|| bytes))
    }

    /// An index without frames, to be filled by scanning.
    pub fn empty_index(&self) -> SparseIndex {
        SparseIndex::new(self.first(), self.header.bytes())
    }

    /// Notes the address of a frame, if it is of this segment.
    pub fn note(&self, address: &FrameAddress) {
        if address.segment == self.header {
            let _ = self.known.set((address.position, address.offset));
        }
    }

    /// The index to be filled by scanning for `from` and the positions behind it. It begins at the known frame if that is
    /// not behind `from`, whole, and the last of its append call; the frames before it are then read when they are asked
    /// for. Otherwise it is empty.
    pub fn index_before(&self, file: &dyn DiskFile, from: Position) -> SparseIndex {
        let known = self.known.get().filter(|(position, _)| *position <= from);
        let known = known.and_then(|&(position, offset)| {
            let span = Span { start: offset, end: file.len().ok()?, piece_bytes: READ_PIECE_BYTES };
            match FrameReader::new(file, &self.path, self.header.framing(), span).next() {
                Ok(FoundFrame::Frame { header, .. }) if header.position == position && header.is_last() => {
                    let end = offset + widen(header.frame_bytes()?);
                    Some(SparseIndex::from_frame(self.first(), position, offset..end))
                }
                // Scanning finds what is wrong.
                _ => None,
            }
        });
        known.unwrap_or_else(|| self.empty_index())
    }

    /// Begins the index of a segment that has none, for `from` and the positions behind it.
    pub fn begin_index(&self, file: &dyn DiskFile, from: Position) {
        let mut slot = self.index.write().unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert_with(|| self.index_before(file, from));
    }

    /// The address of the frame of `position`; `None` if no index can begin there, or it cannot be read.
    pub fn address_of(self: &Arc<Self>, files: &OpenFiles, position: Position) -> Option<FrameAddress> {
        let place = self.ask_index(files, position, |index| (index.find(position).0, index.end)).ok()??;
        let (offset, header) = self.frame_in(files, position, place)?;
        let address = FrameAddress { position, segment: self.header, offset };
        (header.is_last() && self.header.format > 1).then_some(address)
    }

    /// Units: bytes up to the end of the frame of `position`; `None` if the index does not have it now.
    pub fn known_bytes_up_to(self: &Arc<Self>, files: &OpenFiles, position: Position) -> Option<u64> {
        let place = {
            let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
            let index = index.as_ref().filter(|index| index.begin <= position && position <= index.last)?;
            (index.find(position).0, index.end)
        };
        let (offset, header) = self.frame_in(files, position, place)?;
        Some(offset + widen(header.frame_bytes()?))
    }

    /// The offset and the header of the frame of `position`, which is between two offsets, the first that of a frame.
    fn frame_in(
        self: &Arc<Self>,
        files: &OpenFiles,
        position: Position,
        (start, end): (u64, u64),
    ) -> Option<(u64, FrameHeader)> {
        let file = files.open(self).ok()??;
        let span = Span { start, end, piece_bytes: READ_PIECE_BYTES };
        let mut frames = FrameReader::new(&*file, &self.path, self.header.framing(), span);
        while let Ok(FoundFrame::Frame { offset, header, .. }) = frames.next() {
            if header.position == position {
                return Some((offset, header));
            }
        }
        None
    }

    /// True unless the segment has an index that does not end at `last`.
    pub fn is_indexed_upto(&self, last: Position) -> bool {
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        index.as_ref().is_none_or(|index| index.last == last)
    }

    /// Lets the writer, a follower or recovery update the index.
    pub fn update_index<R>(&self, update: impl FnOnce(&mut SparseIndex) -> R) -> R {
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        update(index.get_or_insert_with(|| self.empty_index()))
    }

    /// Reads from the index, which finds `from` and the positions behind it. The first call builds it, by verifying the
    /// segment, from the known frame on if that is enough.
    ///
    /// Shape: `None` if the segment was replaced.
    /// Errors: `Corrupted` or `Gap` if the sealed segment is not exactly its positions; `NewerFormat`; `Io`.
    pub fn ask_index<R>(
        self: &Arc<Self>,
        files: &OpenFiles,
        from: Position,
        ask: impl FnOnce(&SparseIndex) -> R,
    ) -> Result<Option<R>> {
        loop {
            let begin = match &*self.index.read().unwrap_or_else(PoisonError::into_inner) {
                Some(index) if index.begin <= from => return Ok(Some(ask(index))),
                index => index.as_ref().map(|index| index.begin),
            };
            let is_there = match begin {
                Some(begin) => self.index_front(files, begin)?,
                None => self.index_sealed(files, from)?,
            };
            if !is_there {
                return Ok(None);
            }
        }
    }

    /// Builds the index of a sealed segment that has none. False if the segment was replaced.
    fn index_sealed(self: &Arc<Self>, files: &OpenFiles, from: Position) -> Result<bool> {
        let mut slot = self.index.write().unwrap_or_else(PoisonError::into_inner);
        if slot.is_none() {
            *slot = self.scan_sealed(files, from)?;
        }
        Ok(slot.is_some())
    }

    /// Adds the frames before `begin`, where the index begins. False if the segment was replaced.
    ///
    /// The writer appends meanwhile: these frames do not change.
    fn index_front(self: &Arc<Self>, files: &OpenFiles, begin: Position) -> Result<bool> {
        let Some(file) = files.open(self)? else { return Ok(false) };
        let end = file.len().map_err(|error| io_error(&self.path, "length", error))?;
        let mut front = self.empty_index();
        let view = SegmentView { file: &*file, path: &self.path, header: &self.header };
        let tear = scan(view, &mut front, begin, end)?;
        if front.last != begin {
            let (offset, position) = (front.end, front.last.next());
            let reason = "the end of the file".to_string();
            return Err(damaged(&self.path, &tear.unwrap_or(Tear { offset, position, reason })));
        }
        self.update_index(|index| index.put_before(front));
        Ok(true)
    }

    /// Reads and verifies the frames of the sealed segment, all or those that are enough to find `from` and the positions
    /// behind it.
    ///
    /// Shape and errors: as [`Segment::ask_index`].
    #[expect(clippy::expect_used, reason = "the active segment has an index, and is not scanned")]
    pub fn scan_sealed(self: &Arc<Self>, files: &OpenFiles, from: Position) -> Result<Option<SparseIndex>> {
        let Some(file) = files.open(self)? else { return Ok(None) };
        let last =
            self.sealed_last().expect("only the active segment has no last position, and it has an index");
        let end = file.len().map_err(|error| io_error(&self.path, "length", error))?;
        let mut index = self.index_before(&*file, from);
        let view = SegmentView { file: &*file, path: &self.path, header: &self.header };
        if let Some(tear) = scan(view, &mut index, Position(u64::MAX), end)? {
            return Err(damaged(&self.path, &tear));
        }
        if index.last != last {
            return Err(wrong_last(&self.path, last, index.last));
        }
        Ok(Some(index))
    }

    /// Offers the records of this segment from `from` to `upto` to `batch`.
    ///
    /// Shape: false if the segment was replaced and nothing was offered.
    /// Errors: `Corrupted` for a frame that is not whole; `NewerFormat`; `Io`.
    pub fn read(
        self: &Arc<Self>,
        files: &OpenFiles,
        from: Position,
        upto: Position,
        batch: &mut ReadBatch,
    ) -> Result<bool> {
        let Some((start, next, end, last)) = self.ask_index(files, from, |index| {
            let (start, next) = index.find(from);
            (start, next, index.end, index.last)
        })?
        else {
            return Ok(false);
        };
        let Some(file) = files.open(self)? else { return Ok(false) };
        let piece_bytes = piece_bytes(batch.limit(), next - start);
        let mut frames =
            FrameReader::new(&*file, &self.path, self.header.framing(), Span { start, end, piece_bytes });
        let mut expected: Option<Position> = None;
        let upto = upto.min(last);
        while expected.is_none_or(|expected| expected <= upto) && !batch.is_full() {
            match frames.next()? {
                FoundFrame::Frame { offset, header, payload } => {
                    let expected_here = expected.unwrap_or(header.position);
                    if header.position != expected_here || header.position > from && expected.is_none() {
                        let reason = format!("position {}", header.position);
                        let position = expected.unwrap_or(from);
                        return Err(damaged(&self.path, &Tear { offset, position, reason }));
                    }
                    if header.position >= from && !batch.offer(payload) {
                        break;
                    }
                    expected = Some(header.position.next());
                }
                FoundFrame::Bad { offset, reason } => {
                    let position = expected.unwrap_or(from);
                    return Err(damaged(&self.path, &Tear { offset, position, reason }));
                }
                FoundFrame::End => {
                    let (position, reason) = (expected.unwrap_or(from), "the end of the file".to_string());
                    return Err(damaged(&self.path, &Tear { offset: end, position, reason }));
                }
            }
        }
        Ok(true)
    }
}

/// How many bytes to read together: enough for one record, or as many as the limit allows.
fn piece_bytes(limit: ReadLimit, step_bytes: u64) -> usize {
    let step_bytes = usize::try_from(step_bytes).unwrap_or(usize::MAX);
    if limit.records <= 1 {
        return step_bytes.min(READ_PIECE_BYTES);
    }
    limit.bytes.saturating_add(step_bytes).min(READ_PIECE_BYTES_MAX)
}

/// Opens the file of a segment.
pub(super) fn open_file(disk: &dyn Disk, path: &Path, access: Access) -> Result<Arc<dyn DiskFile>> {
    disk.open(path, access).map_err(|error| io_error(path, "open", error))
}

/// The start of the file at `path`.
pub(super) fn read_start(file: &dyn DiskFile, path: &Path) -> Result<SegmentStart> {
    let mut bytes = [0; SEGMENT_HEADER_BYTES];
    let count = file.read_at(&mut bytes, 0).map_err(|error| io_error(path, "read the header", error))?;
    Ok(SegmentHeader::decode(bytes.get(..count).unwrap_or_default()))
}

/// The header of a segment that must hold acknowledged records.
///
/// Errors: `Corrupted` if there is none, or it belongs to another name or log; `NewerFormat`; `Io`.
pub(super) fn read_header(
    file: &dyn DiskFile,
    path: &Path,
    name: SegmentName,
    log_id: LogId,
) -> Result<SegmentHeader> {
    let wrong = |text: String| Err(Error::new(ErrorKind::Corrupted, format!("{}: {text}", path.display())));
    match read_start(file, path)? {
        SegmentStart::Whole(header) if SegmentName::of(&header) != name => wrong(format!(
            "expected first position {} and generation {} from the name, found {} and {} in the header; restore \
             the name",
            name.first, name.generation, header.first, header.generation
        )),
        // Segments of format 1 do not name their log.
        SegmentStart::Whole(header) if header.format > 1 && header.log_id != log_id => wrong(format!(
            "expected a segment of the log {log_id}, found one of the log {}; put back the segment that belongs \
             here, or restore from a backup",
            header.log_id
        )),
        SegmentStart::Whole(header) => Ok(header),
        SegmentStart::Newer(format) => {
            let text = format!(
                "{}: expected a segment of format {FORMAT} at most, found {format}; open it with a newer version of \
                 Annals",
                path.display()
            );
            Err(Error::new(ErrorKind::NewerFormat, text))
        }
        SegmentStart::Bad(reason) => Err(damaged(
            path,
            &Tear { offset: 0, position: name.first, reason: format!("a segment header with {reason}") },
        )),
    }
}

fn wrong_last(path: &Path, expected: Position, found: Position) -> Error {
    let kind = if found < expected { ErrorKind::Gap } else { ErrorKind::Corrupted };
    let text = format!(
        "{}: expected the last position {expected}, because the next segment starts after it, found {found}; restore \
         from a backup, or run `annals check`",
        path.display()
    );
    Error::new(kind, text)
}

/// Wraps an error of the disk: `NoRoom` if it is full, otherwise `Io`.
pub(super) fn io_error(path: &Path, operation: &str, error: std::io::Error) -> Error {
    Error::of_disk(format!("{}: {operation}", path.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_others_are_none() {
        let name = |first, generation| SegmentName { first: Position(first), generation };
        assert_eq!(name(1, 0).file_name(), "00000000000000000001.seg");
        assert_eq!(name(7, 12).file_name(), "00000000000000000007-0000000012.seg");
        for known in [name(1, 0), name(42, 1), name(u64::MAX, 9_999_999_999)] {
            assert_eq!(SegmentName::parse(&known.file_name()), Some(known));
        }
        for other in [
            "1.seg",
            "00000000000000000000.seg",
            "00000000000000000001.seg.tmp",
            "+0000000000000000001.seg",
            "00000000000000000001-1.seg",
            "00000000000000000001-0000000000.seg",
            "00000000000000000001-.seg",
        ] {
            assert_eq!(SegmentName::parse(other), None, "{other}");
        }
    }
}
