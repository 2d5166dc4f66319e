//! Room for answers, which they hold until their last byte is on the socket.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use http::{Response, StatusCode};
use http_body::Body as _;
use hyper::body::Bytes;
use serde_json::Value as Json;
use smallvec::SmallVec;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::limits::DOWNLOADS_MAX;
use super::peers::{Kind, Peer, Share, enter};
use super::value::Bounds;
use crate::protocol::problem::{Outcome, Problem};

/// Answers are handed to the socket in parts of this size. A smaller answer takes no room of its own: its request holds
/// a permit, and their number is bounded. Units: bytes.
pub const PART_BYTES: usize = 16 << 10;
/// The smallest size that an answer without a permit of a request counts for: that of its stream. Units: bytes.
const ASIDE_BYTES_MIN: usize = 1 << 10;

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

/// The permits that an answer holds, for the sender of its last byte.
pub fn take_permits(response: &mut Response<Body>) -> Permits {
    let held: Option<Held> = response.extensions_mut().remove();
    held.map_or_else(Permits::new, |Held(held)| {
        std::mem::take(&mut held.lock().unwrap_or_else(PoisonError::into_inner))
    })
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

/// Marks the answer to a write: if there is no room for it, the short answer is sent instead.
pub fn written_in_short(mut response: Response<Body>, short: impl FnOnce() -> Json) -> Response<Body> {
    if length_of(&response) > PART_BYTES {
        response.extensions_mut().insert(Written(short().to_string().into()));
    }
    response
}

/// Gives an answer room among all that are being sent, unless it is small, has room already, or is streamed.
///
/// Errors: `busy` if there is no room.
pub fn admit(bounds: &Bounds, mut response: Response<Body>) -> Outcome {
    let length = length_of(&response);
    if length <= PART_BYTES || response.extensions().get::<Held>().is_some() {
        return Ok(response);
    }
    if let Some(permit) = try_room(bounds, length) {
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
pub fn admit_to(bounds: &Bounds, peer: &Arc<Peer>, request: Share, response: Response<Body>) -> Outcome {
    let mut response = admit(bounds, response)?;
    let length = length_of(&response);
    if length > PART_BYTES {
        match peer.take(Kind::AnswerBytes, length, bounds.limits.answers_bytes_max) {
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
pub fn try_room(bounds: &Bounds, bytes: usize) -> Option<OwnedSemaphorePermit> {
    Arc::clone(&bounds.gates.answer_bytes).try_acquire_many_owned(weight(bounds, bytes)).ok()
}

/// The same, but waits for room.
pub async fn room(bounds: &Bounds, bytes: usize) -> OwnedSemaphorePermit {
    let gate: Arc<Semaphore> = Arc::clone(&bounds.gates.answer_bytes);
    gate.acquire_many_owned(weight(bounds, bytes)).await.expect("gates are never closed")
}

/// Room for a piece of a content; waits for it. It is beside the room of all other answers: those that ask for room and do
/// not wait would find none while pieces wait.
pub async fn room_of_piece(bounds: &Bounds, bytes: usize) -> OwnedSemaphorePermit {
    let gate = Arc::clone(&bounds.gates.piece_bytes);
    let weight = u32::try_from(bytes.min(bounds.limits.pieces_bytes_max())).unwrap_or(u32::MAX);
    gate.acquire_many_owned(weight).await.expect("gates are never closed")
}

/// A place among the contents that are sent.
///
/// Errors: `busy` if all are taken, or the client has its share.
pub fn place_of_download(
    bounds: &Bounds,
    peer: &Arc<Peer>,
) -> Result<(OwnedSemaphorePermit, Share), Problem> {
    enter(&bounds.gates.downloads, (peer, Kind::Downloads, DOWNLOADS_MAX), || {
        format!("{DOWNLOADS_MAX} contents are being sent; try again later")
    })
}

fn weight(bounds: &Bounds, bytes: usize) -> u32 {
    u32::try_from(bytes.min(bounds.limits.answers_bytes_max)).unwrap_or(u32::MAX)
}

/// Gives room to an answer without a permit of a request: a refusal, or an answer to operators. Without room, the
/// answer is only its head.
pub fn admit_aside(bounds: &Bounds, mut response: Response<Body>) -> Response<Body> {
    let bytes = length_of(&response).max(ASIDE_BYTES_MIN);
    let count = u32::try_from(bytes).unwrap_or(u32::MAX);
    match Arc::clone(&bounds.gates.aside_bytes).try_acquire_many_owned(count) {
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
