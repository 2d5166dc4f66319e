//! Walks the frames of a segment file in order and verifies each checksum.

use std::path::Path;

use crate::log::frame::{FORMAT, FrameHeader, FrameStart, Framing};
use crate::storage::{DiskFile, widen};
use crate::{Error, ErrorKind, Result};

/// Reads whole frames from `offset` up to `end`, reading the file in pieces.
pub(super) struct FrameReader<'a> {
    file: &'a dyn DiskFile,
    path: &'a Path,
    framing: Framing,
    buffer: Vec<u8>,
    // Invariant: buffer[consumed..filled] are the bytes of the file from `offset` on.
    filled: usize,
    consumed: usize,
    offset: u64,
    end: u64,
    piece_bytes: usize,
}

/// The bytes at the current offset.
pub(super) enum FoundFrame<'a> {
    /// A whole frame that starts at `offset`.
    Frame { offset: u64, header: FrameHeader, payload: &'a [u8] },
    /// No whole frame: `reason` names what was expected and found. The reader stays at its offset.
    Bad { offset: u64, reason: String },
    /// The end that was given.
    End,
}

/// Where a reader starts and stops, and how much it reads at once. Units: bytes.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub start: u64,
    pub end: u64,
    /// The first and every further piece read from the file, unless a frame is larger.
    pub piece_bytes: usize,
}

impl<'a> FrameReader<'a> {
    pub fn new(file: &'a dyn DiskFile, path: &'a Path, framing: Framing, span: Span) -> FrameReader<'a> {
        let Span { start, end, piece_bytes } = span;
        FrameReader {
            file,
            path,
            framing,
            buffer: Vec::new(),
            filled: 0,
            consumed: 0,
            offset: start,
            end,
            piece_bytes,
        }
    }

    /// The next frame.
    ///
    /// Errors: `Io` if the file cannot be read; `NewerFormat` for a whole frame of a newer format.
    pub fn next(&mut self) -> Result<FoundFrame<'_>> {
        let offset = self.offset;
        let remaining = self.end.saturating_sub(offset);
        if remaining == 0 {
            return Ok(FoundFrame::End);
        }
        let bad = |reason: String| Ok(FoundFrame::Bad { offset, reason });
        if !self.fill(self.framing.header_bytes())? {
            let header_bytes = self.framing.header_bytes();
            return bad(format!("{remaining} bytes, less than a frame header of {header_bytes}"));
        }
        let header = match self.framing.decode(self.held()) {
            FrameStart::Header(header) => header,
            FrameStart::Bad(reason) => return bad(reason),
        };
        let Some(bytes) = header.frame_bytes() else {
            return bad(format!("a payload length of {}, which no record has", header.length));
        };
        if !self.fill(bytes)? {
            return bad(format!("a frame of {bytes} bytes of which only {remaining} are there"));
        }
        let checksum = self.framing.checksum(self.held().get(..bytes).unwrap_or_default());
        if checksum != header.checksum {
            return bad(format!("checksum expected {:08x}, found {checksum:08x}", header.checksum));
        }
        if self.framing.is_newer(&header) {
            return Err(newer_frame(self.path, offset, &header));
        }
        let payload = self.consumed + header.header_bytes..self.consumed + bytes;
        self.consumed += bytes;
        self.offset += widen(bytes);
        Ok(FoundFrame::Frame { offset, header, payload: self.buffer.get(payload).unwrap_or_default() })
    }

    /// The bytes of the file from `offset` on that are in the buffer.
    fn held(&self) -> &[u8] {
        self.buffer.get(self.consumed..self.filled).unwrap_or_default()
    }

    /// Fills the buffer with at least `bytes` after `consumed`; false if the file ends earlier.
    fn fill(&mut self, bytes: usize) -> Result<bool> {
        let held = self.filled - self.consumed;
        if held >= bytes {
            return Ok(true);
        }
        let remaining = self.end - self.offset;
        if widen(bytes) > remaining {
            return Ok(false);
        }
        self.buffer.copy_within(self.consumed..self.filled, 0);
        self.consumed = 0;
        self.filled = held;
        let wanted = bytes.max(self.piece_bytes).min(usize::try_from(remaining).unwrap_or(usize::MAX));
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
        let piece = self.buffer.get_mut(held..wanted).unwrap_or_default();
        let count = self
            .file
            .read_at(piece, self.offset + widen(held))
            .map_err(|error| Error::io(format!("{}: read at {}", self.path.display(), self.offset), error))?;
        self.filled += count;
        Ok(self.filled >= bytes)
    }
}

fn newer_frame(path: &Path, offset: u64, header: &FrameHeader) -> Error {
    let text = format!(
        "{}: offset {offset}, position {}: expected a frame of format {FORMAT} at most, found format {} with flags \
         {:04x}; open it with a newer version of Annals",
        path.display(),
        header.position,
        header.format,
        header.flags
    );
    Error::new(ErrorKind::NewerFormat, text)
}
