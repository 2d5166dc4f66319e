//! Scans a segment from its first frame on and judges what stands after the last whole one.

use std::path::Path;

use super::frames::{Found, FrameReader, Span};
use super::index::SparseIndex;
use crate::log::disk::DiskFile;
use crate::log::frame::{FRAME_HEADER_BYTES, FRAME_MAGIC, FrameHeader, SegmentHeader, frame_checksum};
use crate::{Error, ErrorKind, Position, Result};

/// Units: bytes read at once while scanning.
const SCAN_PIECE_BYTES: usize = 1024 * 1024;

/// Units: bytes. A search for later frames verifies at most this many times the searched bytes, so that contents
/// made to look like frames cannot keep a log from opening.
const SEARCH_CHECKSUM_FACTOR: u64 = 16;

/// One segment file and how its frames are verified.
#[derive(Clone, Copy)]
pub(super) struct SegmentView<'a> {
    pub file: &'a dyn DiskFile,
    pub path: &'a Path,
    pub header: &'a SegmentHeader,
}

/// The first bytes after the last whole append call that are no whole append call.
#[derive(Debug)]
pub(super) struct Tear {
    /// Units: bytes from the start of the file to the bad or missing frame.
    pub offset: u64,
    /// The position expected there.
    pub position: Position,
    /// What was expected and found.
    pub reason: String,
}

/// Notes in `index` the whole append calls that follow it in the file, up to position `upto` or byte `end`.
///
/// Shape: the tear if the frames end before both.
/// Errors: `Gap` or `Corrupted` for a whole frame that does not continue the one before, which no power cut
/// leaves; `NewerFormat`; `Io`.
pub(super) fn scan(
    view: SegmentView<'_>,
    index: &mut SparseIndex,
    upto: Position,
    end: u64,
) -> Result<Option<Tear>> {
    let mut call_end = (index.last, index.end);
    let tear = walk(view, index, &mut call_end, upto, end);
    // Also after an error: an index never ends within an append call.
    index.cut(call_end.0, call_end.1);
    tear
}

/// Notes frames in `index`, and in `call_end` the last position and the end of the last whole append call.
fn walk(
    view: SegmentView<'_>,
    index: &mut SparseIndex,
    call_end: &mut (Position, u64),
    upto: Position,
    end: u64,
) -> Result<Option<Tear>> {
    let span = Span { start: index.end, end, piece_bytes: SCAN_PIECE_BYTES };
    let mut frames = FrameReader::new(view.file, view.path, view.header.seed(), span);
    let mut expected_index = 0;
    loop {
        if expected_index == 0 && index.last >= upto {
            return Ok(None);
        }
        match frames.next()? {
            Found::Frame { offset, header, payload } => {
                let expected = index.last.next();
                if header.position != expected || header.index != expected_index {
                    return Err(out_of_order(view.path, offset, &header, expected, expected_index));
                }
                index.push(expected, (FRAME_HEADER_BYTES + payload.len()) as u64);
                if header.is_last() {
                    *call_end = (index.last, index.end);
                    expected_index = 0;
                } else {
                    expected_index += 1;
                }
            }
            Found::Bad { offset, reason } => {
                return Ok(Some(Tear { offset, position: index.last.next(), reason }));
            }
            Found::End if expected_index == 0 => return Ok(None),
            Found::End => {
                let reason = "the end of the file within an append call".to_string();
                return Ok(Some(Tear { offset: index.end, position: index.last.next(), reason }));
            }
        }
    }
}

/// Looks behind a tear for the proof that it was acknowledged: a whole frame of a later append call. Calls are
/// written one after the other, each after the one before was synced, so a power cut cannot leave it.
///
/// Shape: the offset and position of the later frame.
pub(super) fn find_later_call(
    view: SegmentView<'_>,
    tear: &Tear,
    end: u64,
) -> Result<Option<(u64, Position)>> {
    let read = |buffer: &mut [u8], offset: u64| {
        let read = view.file.read_at(buffer, offset);
        read.map_err(|error| Error::io(format!("{}: read at {offset}", view.path.display()), error))
    };
    let seed = view.header.seed();
    let mut checksum_bytes_left = end.saturating_sub(tear.offset).saturating_mul(SEARCH_CHECKSUM_FACTOR);
    let mut piece = vec![0; SCAN_PIECE_BYTES];
    let mut frame = Vec::new();
    let mut offset = tear.offset + 1;
    while offset + FRAME_HEADER_BYTES as u64 <= end {
        let wanted = SCAN_PIECE_BYTES.min((end - offset) as usize);
        let count = read(&mut piece[..wanted], offset)?;
        if count < FRAME_HEADER_BYTES {
            break;
        }
        let starts = count - FRAME_HEADER_BYTES + 1;
        let mut at = 0;
        while let Some(found) = piece[at..starts].iter().position(|&byte| byte == FRAME_MAGIC[0]) {
            at += found;
            if let Some((header, bytes)) = plausible(&piece[at..count], tear, end - offset - at as u64) {
                if bytes > checksum_bytes_left {
                    // It cannot be told any more. Refusing to cut loses nothing.
                    return Ok(Some((offset + at as u64, header.position)));
                }
                checksum_bytes_left -= bytes;
                frame.resize(bytes as usize, 0);
                let count = read(&mut frame, offset + at as u64)?;
                if count == frame.len() && frame_checksum(seed, &frame) == header.checksum {
                    return Ok(Some((offset + at as u64, header.position)));
                }
            }
            at += 1;
        }
        offset += starts as u64;
    }
    Ok(None)
}

/// A header that may be the later frame looked for, and the bytes of its frame.
fn plausible(bytes: &[u8], tear: &Tear, remaining: u64) -> Option<(FrameHeader, u64)> {
    let header = FrameHeader::decode(bytes)?;
    let frame_bytes = header.frame_bytes()? as u64;
    let is_later = header.call_start()? > tear.position;
    (is_later && frame_bytes <= remaining).then_some((header, frame_bytes))
}

fn out_of_order(path: &Path, offset: u64, header: &FrameHeader, expected: Position, index: u32) -> Error {
    let kind = if header.position > expected { ErrorKind::Gap } else { ErrorKind::Corrupted };
    let text = format!(
        "{}: offset {offset}: expected position {expected}, number {index} of its append call, found position {}, \
         number {}; restore from a backup, or run `annals check`",
        path.display(),
        header.position,
        header.index
    );
    Error::new(kind, text)
}

/// The error for a tear where there must be none.
pub(super) fn damaged(path: &Path, tear: &Tear) -> Error {
    let text = format!(
        "{}: offset {}, position {}: expected a whole frame, found {}; restore from a backup, or run `annals check`",
        path.display(),
        tear.offset,
        tear.position,
        tear.reason
    );
    Error::new(ErrorKind::Corrupted, text)
}
