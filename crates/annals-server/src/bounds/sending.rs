//! Answers that are being sent: their room until their last byte is on the socket, and whether the client reads them.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant as Clock};

use annals::Receipt;
use axum::body::Body;
use http::{Response, StatusCode};
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Bytes;
use serde_json::{Value as Json, json};
use smallvec::SmallVec;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::limits::DOWNLOADS_MAX;
use super::peers::{Kind, Peer, Share, enter};
use crate::protocol::problem::{Outcome, Problem};
use crate::reporting::request_log::Entry;
use crate::request::door::Door;

/// Answers are handed to the socket in parts of this size. A smaller answer takes no room of its own: its request holds
/// a permit, and their number is bounded. Units: bytes.
pub const PART_BYTES: usize = 16 << 10;
/// The smallest size that an answer without a permit of a request counts for: that of its stream. Units: bytes.
const ASIDE_BYTES_MIN: usize = 1 << 10;
/// No part of the answer is due, because the server has none ready.
const NOTHING_DUE: u64 = u64::MAX;

/// Room for an answer, or a place among a bounded number: released when its last byte is sent.
pub type Permits = SmallVec<[Permit; 2]>;

/// Room of the server, or the share of it that a client uses.
pub enum Permit {
    /// Of the server.
    Room(#[expect(dead_code, reason = "it is held until it is dropped")] OwnedSemaphorePermit),
    /// Of one client.
    Share(#[expect(dead_code, reason = "it is held until it is dropped")] Share),
}

impl From<OwnedSemaphorePermit> for Permit {
    fn from(permit: OwnedSemaphorePermit) -> Permit {
        Permit::Room(permit)
    }
}

impl From<Share> for Permit {
    fn from(share: Share) -> Permit {
        Permit::Share(share)
    }
}

/// Permits in a response. All clones share them.
#[derive(Clone, Default)]
struct Held(Arc<Mutex<Permits>>);

/// Marks a response to a write: the server must not refuse it any more. This short body is sent if there is no room.
#[derive(Clone)]
struct Written(Bytes);

/// Makes an answer hold a permit until it is sent.
pub fn hold(response: &mut Response<Body>, permit: impl Into<Permit>) {
    let held: &mut Held = response.extensions_mut().get_or_insert_default();
    held.0.lock().unwrap_or_else(PoisonError::into_inner).push(permit.into());
}

/// Marks the answer of an admitted request: it has its room.
#[derive(Clone, Copy)]
pub struct Admitted;

/// Marks an answer, and makes it hold the permit of its request until it is sent. A streamed answer has permits of its
/// own, and may run without end.
pub fn admitted(mut response: Response<Body>, permit: OwnedSemaphorePermit) -> Response<Body> {
    response.extensions_mut().insert(Admitted);
    if response.body().size_hint().exact().is_some() {
        hold(&mut response, permit);
    }
    response
}

/// Marks the answer to a write: if there is no room for it, the receipt is sent instead.
pub fn written(response: Response<Body>, receipt: &Receipt) -> Response<Body> {
    written_in_short(response, || receipt_to_json(receipt))
}

/// The same with another short answer.
pub fn written_in_short(mut response: Response<Body>, short: impl FnOnce() -> Json) -> Response<Body> {
    if length_of(&response) > PART_BYTES {
        response.extensions_mut().insert(Written(short().to_string().into()));
    }
    response
}

/// The JSON form of a receipt.
pub fn receipt_to_json(receipt: &Receipt) -> Json {
    json!({ "position": receipt.position.0, "instant": receipt.instant.to_string() })
}

/// Gives an answer room among all that are being sent, unless it is small, has room already, or is streamed.
///
/// Errors: `busy` if there is no room.
pub fn admit(door: &Door, mut response: Response<Body>) -> Outcome {
    let length = length_of(&response);
    if length <= PART_BYTES || response.extensions().get::<Held>().is_some() {
        return Ok(response);
    }
    if let Some(permit) = try_room(door, length) {
        hold(&mut response, permit);
        return Ok(response);
    }
    or_short(response, || {
        Problem::busy(
            "answers: too many bytes wait for their clients to read them; ask for less, or try again later",
        )
    })
}

/// The same within the share of a client, and with its share of the requests until the answer is sent.
///
/// Errors: `busy` if there is no room.
pub fn admit_to(door: &Door, peer: &Arc<Peer>, request: Share, response: Response<Body>) -> Outcome {
    let mut response = admit(door, response)?;
    let length = length_of(&response);
    if length > PART_BYTES {
        match peer.take(Kind::AnswerBytes, length, door.limits.answers_bytes_max) {
            Ok(share) => hold(&mut response, share),
            Err(problem) => response = or_short(response, || problem)?,
        }
    }
    // A streamed answer has permits of its own, and may run without end.
    if response.body().size_hint().exact().is_some() {
        hold(&mut response, request);
    }
    Ok(response)
}

/// A short answer instead of that to a write, for which there is no room.
fn or_short(response: Response<Body>, problem: impl FnOnce() -> Problem) -> Outcome {
    let Some(Written(short)) = response.extensions().get::<Written>() else { return Err(problem()) };
    let body = Body::from(short.clone());
    Ok(response.map(|_| body))
}

/// Room for this many bytes, if there is any now. A larger answer than all the room is sent alone.
pub fn try_room(door: &Door, bytes: usize) -> Option<OwnedSemaphorePermit> {
    Arc::clone(&door.gates.answer_bytes).try_acquire_many_owned(weight(door, bytes)).ok()
}

/// The same, but waits for room.
pub async fn room(door: &Door, bytes: usize) -> OwnedSemaphorePermit {
    let gate: Arc<Semaphore> = Arc::clone(&door.gates.answer_bytes);
    gate.acquire_many_owned(weight(door, bytes)).await.expect("gates are never closed")
}

/// Room for a piece of a content; waits for it. It is beside the room of all other answers: those that ask for room and do
/// not wait would find none while pieces wait.
pub async fn room_of_piece(door: &Door, bytes: usize) -> OwnedSemaphorePermit {
    let gate = Arc::clone(&door.gates.piece_bytes);
    let weight = u32::try_from(bytes.min(door.limits.pieces_bytes_max())).unwrap_or(u32::MAX);
    gate.acquire_many_owned(weight).await.expect("gates are never closed")
}

/// A place among the contents that are sent.
///
/// Errors: `busy` if all are taken, or the client has its share.
pub fn place_of_download(door: &Door, peer: &Arc<Peer>) -> Result<(OwnedSemaphorePermit, Share), Problem> {
    enter(&door.gates.downloads, (peer, Kind::Downloads, DOWNLOADS_MAX), || {
        format!("{DOWNLOADS_MAX} contents are being sent; try again later")
    })
}

fn weight(door: &Door, bytes: usize) -> u32 {
    u32::try_from(bytes.min(door.limits.answers_bytes_max)).unwrap_or(u32::MAX)
}

/// Gives room to an answer without a permit of a request: a refusal, or an answer to operators. Without room, the
/// answer is only its head.
pub fn admit_aside(door: &Door, mut response: Response<Body>) -> Response<Body> {
    let bytes = length_of(&response).max(ASIDE_BYTES_MIN);
    let count = u32::try_from(bytes).unwrap_or(u32::MAX);
    match Arc::clone(&door.gates.aside_bytes).try_acquire_many_owned(count) {
        Ok(permit) => admitted(response, permit),
        Err(_) => {
            response = response.map(|_| Body::empty());
            if response.status().is_success() {
                *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            }
            response
        }
    }
}

/// Length of an answer, if it is known before it is sent. Units: bytes.
fn length_of(response: &Response<Body>) -> usize {
    response.body().size_hint().exact().map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX))
}

/// Bytes that release something when the last of them is sent.
pub fn bytes_with<G: Send + Sync + 'static>(bytes: Bytes, guard: G) -> Bytes {
    struct With<G> {
        bytes: Bytes,
        _guard: G,
    }
    impl<G> AsRef<[u8]> for With<G> {
        fn as_ref(&self) -> &[u8] {
            &self.bytes
        }
    }
    Bytes::from_owner(With { bytes, _guard: guard })
}

/// The answers of one connection that are not sent yet.
#[derive(Default)]
pub struct Outbox {
    answers: Mutex<Vec<Weak<Answering>>>,
    /// Permits of answers that were handed over completely, but may not have been written yet.
    handed_over: Mutex<Permits>,
}

impl Outbox {
    /// Notes that everything handed over is written.
    pub fn note_flushed(&self) {
        self.handed_over.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// True if all answers are sent.
    pub fn is_empty(&self) -> bool {
        let is_lost = |answer: &Weak<Answering>| answer.strong_count() == 0;
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).iter().all(is_lost)
            && self.handed_over.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// True if the client has not read a due part of one of the answers for this time. Other traffic, such as pings,
    /// does not count.
    pub fn is_stuck(&self, age: Duration) -> bool {
        let known = || self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let answers: Vec<Arc<Answering>> = known().iter().filter_map(Weak::upgrade).collect();
        // Order: after the lock is released, because dropping the last reference to an answer takes it.
        answers.iter().any(|answer| answer.is_stuck(age))
    }

    /// The body of an answer, which releases its permits once it is written.
    pub fn send(
        self: &Arc<Outbox>,
        mut response: Response<Body>,
        guard: impl Send + Sync + 'static,
    ) -> Response<Parts> {
        let mut permits = Permits::new();
        if let Some(Held(held)) = response.extensions_mut().remove() {
            permits.append(&mut held.lock().unwrap_or_else(PoisonError::into_inner));
        }
        let answering = Arc::new(Answering {
            outbox: Arc::clone(self),
            permits,
            start: Clock::now(),
            due: AtomicU64::new(0),
            entry: response.extensions_mut().remove(),
            _guard: Box::new(guard),
        });
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&answering));
        response.map(|body| Parts { body, rest: Bytes::new(), answering })
    }
}

/// An answer, from its head until its last byte is handed to the socket.
struct Answering {
    outbox: Arc<Outbox>,
    permits: Permits,
    start: Clock,
    /// Since when the client could have taken the next part. Units: milliseconds after `start`.
    due: AtomicU64,
    /// The entry of the request in the request log.
    entry: Option<Arc<Entry>>,
    _guard: Box<dyn Send + Sync>,
}

impl Answering {
    fn note_taken(&self) {
        let millis = self.start.elapsed().as_millis();
        self.due.store(u64::try_from(millis).unwrap_or(NOTHING_DUE - 1), Ordering::Relaxed);
    }

    fn is_stuck(&self, age: Duration) -> bool {
        let due = self.due.load(Ordering::Relaxed);
        due != NOTHING_DUE && self.start.elapsed() > Duration::from_millis(due) + age
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        let Outbox { answers, handed_over } = &*self.outbox;
        let is_left = |answer: &Weak<Answering>| answer.strong_count() > 0;
        answers.lock().unwrap_or_else(PoisonError::into_inner).retain(is_left);
        handed_over.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.permits);
    }
}

/// The body of an answer in parts; each part keeps the permits of the answer until it is sent.
pub struct Parts {
    body: Body,
    // The rest of the last chunk.
    rest: Bytes,
    answering: Arc<Answering>,
}

impl http_body::Body for Parts {
    type Data = Bytes;
    type Error = axum::Error;

    // hyper polls only when the client takes more.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        while self.rest.is_empty() {
            let poll = Pin::new(&mut self.body).poll_frame(context);
            if poll.is_pending() {
                self.answering.due.store(NOTHING_DUE, Ordering::Relaxed);
            }
            match ready!(poll) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                other => return Poll::Ready(other),
            }
        }
        self.answering.note_taken();
        let length = self.rest.len().min(PART_BYTES);
        if let Some(entry) = &self.answering.entry {
            entry.sent(length);
        }
        let part = self.rest.split_to(length);
        Poll::Ready(Some(Ok(Frame::data(bytes_with(part, Arc::clone(&self.answering))))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        // Invariant: called before the first part.
        self.body.size_hint()
    }
}
