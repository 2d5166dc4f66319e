//! Answers as lines of JSON (`Accept: application/x-ndjson`). The server sends lines while it finds them, so that an
//! answer of any length takes little memory, and waits for a slow client.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use annals::{Cancel, Snapshot};
use annals_json::{Form, JsonText};
use axum::body::Body;
use http::Response;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use hyper::body::Bytes;
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::documents::with_position;
use crate::access::Principal;
use crate::bounds::Bounds;
use crate::bounds::peers::{Kind, enter};
use crate::bounds::sending;
use crate::protocol::header_text::texts;
use crate::protocol::names::NDJSON;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::Call;
use crate::request::door::Door;
use crate::request::offset::Offset;

/// Items looked up together.
pub const BATCH_ITEMS_MAX: usize = 500;
/// Lines are sent together once they have this size. Units: bytes.
pub const CHUNK_BYTES: usize = 64 << 10;
/// Chunks that wait for the client; when there are more, the work waits.
const CHUNKS_MAX: usize = 4;
/// If there is no room for a longer line, it is dropped and made again when there is room. Units: bytes.
const LINE_BYTES_LONG: usize = CHUNK_BYTES;
/// Lines are sent at the latest after this time.
const CHUNK_TIME: Duration = Duration::from_millis(100);

/// True if the client asks for lines of JSON.
pub fn are_wanted(call: &Call) -> bool {
    accepts(call, NDJSON)
}

/// True if the client accepts this media type by name.
pub fn accepts(call: &Call, wanted: &str) -> bool {
    texts(&call.headers, &ACCEPT).flat_map(|value| value.split(',')).any(|range| {
        let media_type = range.split(';').next().unwrap_or_default();
        media_type.trim().eq_ignore_ascii_case(wanted)
    })
}

/// The receiver of the lines of an answer.
pub struct Lines {
    buffer: JsonText,
    flushed: Instant,
    is_begun: bool,
    /// True if an error cuts the answer off, instead of being reported on its own line.
    is_cut: bool,
    sender: Sender<Result<Bytes, Problem>>,
    runtime: Handle,
    bounds: Arc<Bounds>,
    door: Arc<Door>,
    /// The client: the answer ends when it does not stand any more.
    principal: Arc<Principal>,
    has_ended: bool,
    /// A client that reads nothing for this time is cut off.
    patience: Duration,
}

impl Lines {
    /// Room for the stored bytes of items looked up together. Units: bytes.
    pub fn batch_bytes(&self) -> usize {
        self.bounds.limits.page_bytes_max
    }

    /// Adds a line; waits while the client has enough to read.
    ///
    /// Errors: if the client has gone, or takes nothing for too long.
    pub fn line(&mut self, line: &impl Form) -> Result<(), Problem> {
        let before = self.buffer.bytes_count();
        line.write(&mut self.buffer);
        self.buffer.end_line();
        if self.buffer.bytes_count() - before > LINE_BYTES_LONG {
            return self.long_line(line, before);
        }
        if self.buffer.bytes_count() >= CHUNK_BYTES || self.flushed.elapsed() >= CHUNK_TIME {
            return self.flush();
        }
        Ok(())
    }

    /// Adds a part of an answer that has no lines.
    ///
    /// Errors: as [`Lines::line`].
    pub fn part(&mut self, text: &[u8]) -> Result<(), Problem> {
        self.buffer.json(text);
        if self.buffer.bytes_count() >= CHUNK_BYTES { self.flush() } else { Ok(()) }
    }

    /// Adds the last line of an answer that has more: how to get the rest.
    pub fn next(&mut self, next: Option<String>) -> Result<(), Problem> {
        next.map_or(Ok(()), |next| self.line(&json!({ "next": next })))
    }

    /// Sends a long line, which is in the buffer behind other lines. If there is no room for it, the thread drops it,
    /// waits for room, and writes it again: while it waits the line takes no memory.
    fn long_line(&mut self, line: &impl Form, before: usize) -> Result<(), Problem> {
        let length = self.buffer.bytes_count();
        if let Some(room) = sending::try_room(&self.bounds, length) {
            return self.flush_with(room);
        }
        self.buffer.cut(before);
        self.flush()?;
        let room = self.wait_for_room(length)?;
        line.write(&mut self.buffer);
        self.buffer.end_line();
        self.flush_with(room)
    }

    fn flush(&mut self) -> Result<(), Problem> {
        let room = match sending::try_room(&self.bounds, self.buffer.bytes_count()) {
            Some(room) => room,
            None => self.wait_for_room(self.buffer.bytes_count())?,
        };
        self.flush_with(room)
    }

    fn flush_with(&mut self, room: OwnedSemaphorePermit) -> Result<(), Problem> {
        if let Err(problem) = self.door.access.check_standing(&self.principal)
            && !std::mem::replace(&mut self.has_ended, true)
        {
            // Only the line with the problem follows.
            drop(self.buffer.take());
            return Err(problem);
        }
        let chunk = sending::bytes_with(Bytes::from(self.buffer.take()), room);
        self.flushed = Instant::now();
        self.is_begun = true;
        self.send(Ok(chunk))
    }

    /// Waits until other answers are sent and there is room.
    fn wait_for_room(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
        let waiting = tokio::time::timeout(self.patience, sending::room(&self.bounds, bytes));
        self.runtime.block_on(waiting).map_err(|_| {
            Problem::busy("answers: too many bytes wait for their clients to read them; try again later")
        })
    }

    fn send(&mut self, chunk: Result<Bytes, Problem>) -> Result<(), Problem> {
        let sending = tokio::time::timeout(self.patience, self.sender.send(chunk));
        match self.runtime.block_on(sending) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Problem::door("time-out", "the client has gone".to_owned())),
            Err(_) => Err(Problem::door("time-out", "the client takes nothing".to_owned())),
        }
    }

    /// Sends the remaining lines, or the error that ended the work.
    fn end(&mut self, outcome: Result<(), Problem>) -> Result<(), Problem> {
        match outcome {
            Ok(()) => self.flush(),
            // The server has sent nothing yet: the answer can still be the error.
            Err(problem) if !self.is_begun => self.send(Err(problem)),
            Err(problem) if self.is_cut => Err(problem),
            Err(problem) => {
                self.line(&json!({ "error": problem.to_json() }))?;
                self.flush()
            }
        }
    }
}

/// The source of the body of the answer. Dropping it cancels the work.
struct Sending {
    receiver: Receiver<Result<Bytes, Problem>>,
    is_whole: Arc<AtomicBool>,
    cancel: Cancel,
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// Answers with the lines that `work` writes, a bounded number of such answers at once. An error before the first lines
/// are sent becomes the answer; a later one becomes a line `{"error": …}`.
pub async fn send(
    call: Box<Call>,
    snapshot: Snapshot,
    work: impl FnOnce(&Call, &Snapshot, &mut Lines) -> Result<(), Problem> + Send + 'static,
) -> Outcome {
    send_lines(call, snapshot, false, work).await
}

/// The same, but a later error cuts the answer off, so that no client takes a part for the whole.
pub async fn send_whole(
    call: Box<Call>,
    snapshot: Snapshot,
    work: impl FnOnce(&Call, &Snapshot, &mut Lines) -> Result<(), Problem> + Send + 'static,
) -> Outcome {
    send_lines(call, snapshot, true, work).await
}

async fn send_lines(
    call: Box<Call>,
    snapshot: Snapshot,
    is_cut: bool,
    work: impl FnOnce(&Call, &Snapshot, &mut Lines) -> Result<(), Problem> + Send + 'static,
) -> Outcome {
    let streams_max = call.door.bounds.limits.streams_max;
    let held = enter(&call.door.bounds.gates.streams, (&call.peer, Kind::Streams, streams_max), || {
        format!("{streams_max} answers in lines are being sent; try again later")
    })?;
    let (sender, receiver) = channel(CHUNKS_MAX);
    let (cancel, is_whole) = (Cancel::new(), Arc::new(AtomicBool::new(false)));
    let mut sending = Sending { receiver, is_whole: Arc::clone(&is_whole), cancel: cancel.clone() };
    let mut lines = Lines {
        buffer: JsonText::default(),
        flushed: Instant::now(),
        is_begun: false,
        is_cut,
        sender,
        runtime: Handle::current(),
        bounds: Arc::clone(&call.door.bounds),
        door: Arc::clone(&call.door),
        principal: Arc::clone(&call.principal),
        has_ended: false,
        patience: call.door.bounds.limits.request_time,
    };
    let position = snapshot.position();
    tokio::task::spawn_blocking(move || {
        let _held = held;
        let outcome = work(&call, &snapshot.cancelled_by(&cancel), &mut lines);
        // Order: before the channel is closed, because the client takes that for the end of the answer.
        is_whole.store(lines.end(outcome).is_ok(), Ordering::Release);
        drop(lines);
    });
    let first = match sending.receiver.recv().await {
        Some(first) => first?,
        None => return Err(Problem::panicked()),
    };
    let first = futures_util::stream::once(async { Ok::<_, std::io::Error>(first) });
    let rest = futures_util::stream::unfold(Some(sending), |sending| async {
        let mut sending = sending?;
        match sending.receiver.recv().await {
            Some(chunk) => {
                let chunk = chunk.map_err(|_| std::io::Error::other("an error after the first lines"));
                Some((chunk, Some(sending)))
            }
            None if sending.is_whole.load(Ordering::Acquire) => None,
            // Cut off, so that no client takes it for the whole.
            None => Some((Err(std::io::Error::other("the answer is cut off")), None)),
        }
    });
    // The compression asks once more behind the end, where an unfold panics.
    let chunks = futures_util::StreamExt::fuse(futures_util::StreamExt::chain(first, rest));
    let mut response = Response::new(Body::from_stream(chunks));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(NDJSON));
    Ok(with_position(response, position))
}

/// Sends the items from an offset on, at most `limit`, a batch at a time, and how to get the rest.
///
/// `batch` gets the number of items to skip and the number to write as lines. It returns the number it wrote, which may
/// be smaller, and whether there are more.
pub fn batches(
    lines: &mut Lines,
    offset: Offset,
    limit: usize,
    snapshot: &Snapshot,
    mut batch: impl FnMut(&mut Lines, usize, usize) -> Result<(usize, bool), Problem>,
) -> Result<(), Problem> {
    let mut given = 0;
    while given < limit {
        let count = BATCH_ITEMS_MAX.min(limit - given);
        let (count, has_more) = batch(lines, offset.skipped + given, count)?;
        if !has_more {
            return Ok(());
        }
        given += count;
    }
    lines.next(offset.next(true, limit, snapshot))
}
