//! Scans a segment from its first frame on and judges the bytes after the last whole one.

use std::path::Path;

use super::frames::{FoundFrame, FrameReader, Span};
use super::index::SparseIndex;
use crate::log::frame::{FRAME_MAGIC, FrameHeader, FrameStart, Framing, SegmentHeader};
use crate::storage::{DiskFile, widen};
use crate::{Error, ErrorKind, Position, Result};

/// Units: bytes read together while scanning.
const SCAN_PIECE_BYTES: usize = 1024 * 1024;

/// Units: bytes. Longer files are not segments: an index stores offsets of 32 bits.
const SEGMENT_FILE_BYTES_MAX: u64 = (1 << 32) - 1;

/// Units: bytes. In a segment of format 1 the frame headers have no checksum. A search for later frames verifies at
/// most this many times the searched bytes, because users may have stored bytes that look like many frames.
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
    /// The expectation, and the finding that contradicts it.
    pub reason: String,
}

/// Adds to `index` the whole append calls that follow it in the file, up to position `upto` or byte `end`.
///
/// Shape: the tear if the frames end before both.
/// Errors: `Gap` or `Corrupted` for a whole frame that does not continue the one before, which no power cut causes;
/// `NewerFormat`; `Io`.
pub(super) fn scan(
    view: SegmentView<'_>,
    index: &mut SparseIndex,
    upto: Position,
    end: u64,
) -> Result<Option<Tear>> {
    if end > SEGMENT_FILE_BYTES_MAX {
        let reason = format!("a file of {end} bytes, longer than any segment");
        return Err(damaged(view.path, &Tear { offset: index.end, position: index.last.next(), reason }));
    }
    let mut call_end = (index.last, index.end);
    let tear = walk(view, index, &mut call_end, upto, end);
    // Also after an error: an index always ends with a whole append call.
    index.cut(call_end.0, call_end.1);
    tear
}

/// Adds frames to `index`, and stores in `call_end` the last position and the end of the last whole append call.
fn walk(
    view: SegmentView<'_>,
    index: &mut SparseIndex,
    call_end: &mut (Position, u64),
    upto: Position,
    end: u64,
) -> Result<Option<Tear>> {
    let span = Span { start: index.end, end, piece_bytes: SCAN_PIECE_BYTES };
    let mut frames = FrameReader::new(view.file, view.path, view.header.framing(), span);
    let mut expected_index = 0;
    loop {
        if expected_index == 0 && index.last >= upto {
            return Ok(None);
        }
        match frames.next()? {
            FoundFrame::Frame { offset, header, payload } => {
                let bytes = header.header_bytes + payload.len();
                let expected = index.last.next();
                if header.position != expected || header.index != expected_index {
                    return Err(out_of_order(view.path, offset, &header, expected, expected_index));
                }
                index.push(expected, widen(bytes));
                if header.is_last() {
                    *call_end = (index.last, index.end);
                    expected_index = 0;
                } else {
                    expected_index += 1;
                }
            }
            FoundFrame::Bad { offset, reason } => {
                return Ok(Some(Tear { offset, position: index.last.next(), reason }));
            }
            FoundFrame::End if expected_index == 0 => return Ok(None),
            FoundFrame::End => {
                let reason = "the end of the file within an append call".to_string();
                return Ok(Some(Tear { offset: index.end, position: index.last.next(), reason }));
            }
        }
    }
}

/// The bytes after a tear.
pub(super) enum Behind {
    /// No proof that the torn call was acknowledged.
    NoLaterCall,
    /// A whole frame of a later append call at this offset. The writer writes a call only after the call before is
    /// synced, so a power cut cannot cause this.
    LaterCall(u64, Position),
    /// Too many bytes that look like such a frame, in a segment of format 1.
    Unknown,
}

/// Looks after a tear for the proof that the torn call was acknowledged.
pub(super) fn find_later_call(view: SegmentView<'_>, tear: &Tear, end: u64) -> Result<Behind> {
    let read = |buffer: &mut [u8], offset: u64| {
        let read = view.file.read_at(buffer, offset);
        read.map_err(|error| Error::io(format!("{}: read at {offset}", view.path.display()), error))
    };
    let framing = view.header.framing();
    let header_bytes = framing.header_bytes();
    // A header of format 2 has a checksum that depends on the salt of the segment, which no user knows.
    let mut checksum_bytes_left = match view.header.format {
        1 => end.saturating_sub(tear.offset).saturating_mul(SEARCH_CHECKSUM_FACTOR),
        _ => u64::MAX,
    };
    let mut piece = vec![0; SCAN_PIECE_BYTES];
    let mut frame = Vec::new();
    let mut offset = tear.offset + 1;
    while offset + widen(header_bytes) <= end {
        let wanted = SCAN_PIECE_BYTES.min(usize::try_from(end - offset).unwrap_or(usize::MAX));
        let count = read(piece.get_mut(..wanted).unwrap_or_default(), offset)?;
        if count < header_bytes {
            break;
        }
        let starts = count - header_bytes + 1;
        let found = piece.get(..count).unwrap_or_default();
        for (at, bytes) in found.windows(header_bytes).enumerate() {
            if bytes.first() != FRAME_MAGIC.first() {
                continue;
            }
            let offset = offset + widen(at);
            let Some((header, frame_bytes)) = plausible(framing, bytes, tear, end - offset) else { continue };
            if widen(frame_bytes) > checksum_bytes_left {
                return Ok(Behind::Unknown);
            }
            checksum_bytes_left -= widen(frame_bytes);
            frame.resize(frame_bytes, 0);
            if read(&mut frame, offset)? == frame.len() && framing.checksum(&frame) == header.checksum {
                return Ok(Behind::LaterCall(offset, header.position));
            }
        }
        offset += widen(starts);
    }
    Ok(Behind::NoLaterCall)
}

/// A header that may belong to a later frame, and the bytes of its frame.
fn plausible(framing: Framing, bytes: &[u8], tear: &Tear, remaining: u64) -> Option<(FrameHeader, usize)> {
    let FrameStart::Header(header) = framing.decode(bytes) else { return None };
    let frame_bytes = header.frame_bytes()?;
    let is_later = header.call_start()? > tear.position;
    (is_later && widen(frame_bytes) <= remaining).then_some((header, frame_bytes))
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

/// The error for a tear in a place that must be whole.
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
