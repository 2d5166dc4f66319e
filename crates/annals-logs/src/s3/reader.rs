//! Reads an object in order, from any place in it, and asks for the next pieces before they are needed.

use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore};
use tokio::sync::OwnedSemaphorePermit;

use super::bucket::Bucket;
use super::request_failure::RequestFailure;

/// The first piece after each jump. Pieces grow to the largest while a reader goes on. Units: bytes.
const PIECE_BYTES_MIN: u64 = 64 << 10;
const PIECE_BYTES_MAX: u64 = 4 << 20;
/// Pieces that are asked for before they are needed; with the one that is read, a reader has five at most. Without room for
/// more among the readers of the bucket it has the one that it reads, of the smallest size.
const AHEAD_MAX: usize = 4;
/// Tries to get a piece.
const TRIES_MAX: u32 = 3;

/// An object that is being read.
pub(super) struct ObjectReader {
    bucket: Arc<Bucket>,
    key: Path,
    /// Each piece is of this version of the object.
    etag: Option<String>,
    length: u64,
    offset: u64,
    /// The piece that was read last: where it begins, its bytes, and their room.
    piece: (u64, Bytes, Option<OwnedSemaphorePermit>),
    /// The pieces that are asked for, in order.
    ahead: VecDeque<Piece>,
    /// The size of the next piece.
    bytes: u64,
}

/// A piece that is asked for.
struct Piece {
    start: u64,
    end: u64,
    told: Told,
    /// Its room; `None` if the reader needs it at once and there was none.
    held: Option<OwnedSemaphorePermit>,
}

/// The answer to a request for a piece.
type Told = Receiver<Option<object_store::Result<Bytes>>>;

impl ObjectReader {
    pub fn new(bucket: Arc<Bucket>, key: Path, etag: Option<String>, length: u64) -> ObjectReader {
        let (piece, ahead) = ((0, Bytes::new(), None), VecDeque::new());
        ObjectReader { bucket, key, etag, length, offset: 0, piece, ahead, bytes: PIECE_BYTES_MIN }
    }

    /// The rest of the last piece, if the offset is in it.
    fn rest(&self) -> Option<&[u8]> {
        let at = usize::try_from(self.offset.checked_sub(self.piece.0)?).ok()?;
        self.piece.1.get(at..).filter(|rest| !rest.is_empty())
    }

    fn ask_for(&self, start: u64, end: u64) -> Told {
        let (key, etag) = (self.key.clone(), self.etag.clone());
        self.bucket.ask_ahead(end - start, move |objects| async move {
            let options = GetOptions {
                range: Some(GetRange::Bounded(start..end)),
                if_match: etag,
                ..GetOptions::default()
            };
            objects.get_opts(&key, options).await?.bytes().await
        })
    }

    /// Asks for pieces until so many are on their way, from `start` on, as far as there is room.
    fn ask_ahead(&mut self, mut start: u64, wanted: usize) {
        while self.ahead.len() < wanted && start < self.length {
            let end = self.length.min(start.saturating_add(self.bytes));
            let held = self.bucket.hold(end - start);
            if held.is_none() && !self.ahead.is_empty() {
                return;
            }
            if held.is_none() {
                self.bytes = PIECE_BYTES_MIN;
            }
            let end = self.length.min(start.saturating_add(self.bytes));
            let told = self.ask_for(start, end);
            self.ahead.push_back(Piece { start, end, told, held });
            self.bytes = PIECE_BYTES_MAX.min(self.bytes * 2);
            start = end;
        }
    }

    /// Gets the piece that begins at the offset.
    fn next_piece(&mut self) -> io::Result<()> {
        let is_going_on = self.ahead.front().is_some_and(|piece| piece.start == self.offset)
            || self.offset > 0 && self.offset == self.piece.0 + len(&self.piece.1);
        if !is_going_on {
            self.ahead.clear();
            self.bytes = PIECE_BYTES_MIN;
        }
        // Order: first. The next pieces may take its room.
        self.piece = (self.piece.0, Bytes::new(), None);
        let wanted = if is_going_on { AHEAD_MAX + 1 } else { 1 };
        let start = self.ahead.back().map_or(self.offset, |piece| piece.end);
        self.ask_ahead(start, wanted);
        let Some(mut piece) = self.ahead.pop_front() else { return Ok(()) };
        for tried in 1.. {
            match self.bucket.answer(piece.end - piece.start, &piece.told) {
                Ok(bytes) if len(&bytes) == piece.end - piece.start => {
                    self.piece = (piece.start, bytes, piece.held);
                    return Ok(());
                }
                Ok(bytes) => {
                    let (key, expected) = (&self.key, piece.end - piece.start);
                    let text = format!(
                        "{key}: expected {expected} bytes from {}, found {}",
                        piece.start,
                        bytes.len()
                    );
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
                }
                Err(failure) if failure.is_passing() && tried < TRIES_MAX => {
                    piece.told = self.ask_for(piece.start, piece.end);
                }
                // An object that was open is there no more.
                Err(RequestFailure::Missing) => return Err(RequestFailure::Unmet.into_io(self.key.as_ref())),
                Err(failure) => return Err(failure.into_io(self.key.as_ref())),
            }
        }
        Ok(())
    }
}

fn len(bytes: &Bytes) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || self.offset >= self.length {
            return Ok(0);
        }
        if self.rest().is_none() {
            self.next_piece()?;
        }
        let count = self.rest().unwrap_or_default().read(buffer)?;
        self.offset += u64::try_from(count).unwrap_or(u64::MAX);
        Ok(count)
    }
}

impl Seek for ObjectReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::Current(distance) => self.offset.checked_add_signed(distance),
            SeekFrom::End(distance) => self.length.checked_add_signed(distance),
        };
        self.offset = place.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.offset)
    }
}
