//! Request bodies: JSON within bounds.

use std::sync::{Arc, Mutex, PoisonError};

use annals_json::{json_from_slice, tree_bytes};
use axum::body::Body;
use http::HeaderMap;
use serde_json::Value as Json;
use tokio::sync::OwnedSemaphorePermit;

use crate::bounds::Bounds;
use crate::bounds::patience::BodyWait;
use crate::bounds::peers::{Kind, Peer, Share};
use crate::protocol::header_text::{content_length, content_type};
use crate::protocol::problem::Problem;

/// The threads for searches parse larger bodies, so that parsing does not delay other requests. Units: bytes.
pub const SMALL_BODY_BYTES: usize = 64 << 10;

/// The room of a request, and the part of it that counts for the client.
type Held = (OwnedSemaphorePermit, Option<Share>);

/// Room for the body of a request, until the request is done. All clones share one permit.
#[derive(Clone)]
pub struct Room {
    held: Arc<Mutex<Option<Held>>>,
    peer: Arc<Peer>,
}

/// The bytes of a request body.
pub struct Bytes {
    bytes: Vec<u8>,
    room: Room,
}

impl Room {
    /// No room yet, for a request of a client.
    pub fn of(peer: &Arc<Peer>) -> Room {
        Room { held: Arc::default(), peer: Arc::clone(peer) }
    }

    /// Reserves this many bytes for the request, in addition to its present room.
    ///
    /// Errors: `busy` if there is not enough room, or if the client has its share of it.
    pub fn reserve(&self, bounds: &Bounds, bytes: usize) -> Result<(), Problem> {
        self.reserve_as(bounds, bytes, true)
    }

    /// The same for a request of which a client has a bounded number anyway: it does not count for the client's share.
    ///
    /// Errors: `busy` if there is not enough room.
    pub fn reserve_unshared(&self, bounds: &Bounds, bytes: usize) -> Result<(), Problem> {
        self.reserve_as(bounds, bytes, false)
    }

    fn reserve_as(&self, bounds: &Bounds, bytes: usize, is_shared: bool) -> Result<(), Problem> {
        let busy =
            || Problem::busy("bodies: too many bytes are being received or worked on; try again later");
        let count = u32::try_from(bytes).map_err(|_| busy())?;
        let permit =
            Arc::clone(&bounds.gates.body_bytes).try_acquire_many_owned(count).map_err(|_| busy())?;
        let all = bounds.limits.bodies_bytes_max;
        let take = || is_shared.then(|| self.peer.take(Kind::BodyBytes, bytes, all)).transpose();
        match &mut *self.held.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((held, share)) => {
                match share {
                    Some(share) if is_shared => share.grow(bytes, all)?,
                    Some(_) => {}
                    none => *none = take()?,
                }
                held.merge(permit);
            }
            none => *none = Some((permit, take()?)),
        }
        Ok(())
    }
}

impl Bytes {
    /// Receives a body.
    ///
    /// Errors: `unsupported-media-type`; `too-large`; `slow-request`; `busy` if the bodies of all requests together
    /// would be too large.
    pub async fn receive(
        bounds: &Bounds,
        headers: &HeaderMap,
        body: Body,
        room: Room,
    ) -> Result<Bytes, Problem> {
        check_media_type(headers, &["application/json"])?;
        let received = Bytes::receive_any(bounds, headers, body, room).await?;
        // The size of the parsed JSON: many times the size of the text if the JSON consists of small parts.
        let tree_bytes = tree_bytes(&received.bytes);
        if tree_bytes > bounds.limits.bodies_bytes_max.saturating_sub(received.bytes.len()) {
            let bodies_bytes_max = bounds.limits.bodies_bytes_max;
            let text = format!(
                "body: expected at most {bodies_bytes_max} bytes of memory when it is parsed; send it in parts"
            );
            return Err(Problem::too_large(text).with("bytesMax", bodies_bytes_max));
        }
        received.room.reserve(bounds, tree_bytes)?;
        Ok(received)
    }

    /// Receives a body of any media type.
    ///
    /// Errors: `too-large`; `slow-request`; `busy`.
    pub async fn receive_any(
        bounds: &Bounds,
        headers: &HeaderMap,
        body: Body,
        room: Room,
    ) -> Result<Bytes, Problem> {
        let patience = bounds.limits.body_time();
        tokio::time::timeout(patience, Bytes::collect(bounds, headers, body, room)).await.unwrap_or_else(
            |_| {
                let seconds = patience.as_secs_f32();
                Err(Problem::door(
                    "slow-request",
                    format!("body: expected it within {seconds} s; send it faster"),
                ))
            },
        )
    }

    async fn collect(
        bounds: &Bounds,
        headers: &HeaderMap,
        mut body: Body,
        room: Room,
    ) -> Result<Bytes, Problem> {
        let bytes_max = bounds.limits.body_bytes_max;
        if content_length(headers).is_some_and(|length| length > bytes_max as u64) {
            return Err(over(bytes_max));
        }
        let mut wait = BodyWait::new(bounds, Arc::clone(&room.peer));
        let mut received = Bytes { bytes: Vec::new(), room };
        while let Some(frame) = wait.next(&mut body).await? {
            let Ok(data) = frame.into_data() else { continue };
            if received.bytes.len() + data.len() > bytes_max {
                return Err(over(bytes_max));
            }
            received.room.reserve(bounds, data.len())?;
            received.bytes.extend_from_slice(&data);
        }
        Ok(received)
    }

    /// True if the body is small enough to parse on the thread of the connection.
    pub fn is_small(&self) -> bool {
        self.bytes.len() <= SMALL_BODY_BYTES
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// Parses the JSON. Errors: `invalid-argument` with line and column, also for a key that is repeated.
    pub fn json(&self) -> Result<Json, Problem> {
        json_from_slice(&self.bytes).map_err(|fault| {
            Problem::invalid(format!("body: expected JSON: {fault}"))
                .with("line", fault.line)
                .with("column", fault.column)
        })
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

fn over(bytes_max: usize) -> Problem {
    Problem::too_large(format!("body: expected at most {bytes_max} bytes; send it in parts"))
        .with("bytesMax", bytes_max)
}

/// A request must declare its media type: for some other types a web page can send a request to this server without a
/// preflight.
///
/// Errors: `unsupported-media-type` if it is none of the expected ones; any type that names JSON counts as JSON.
pub fn check_media_type(headers: &HeaderMap, expected: &[&str]) -> Result<(), Problem> {
    let declared = content_type(headers);
    let media_type = declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_json = media_type.starts_with("application/") && media_type.ends_with("+json");
    if expected.contains(&&*media_type) || (is_json && expected.contains(&"application/json")) {
        return Ok(());
    }
    Err(Problem::door(
        "unsupported-media-type",
        format!("content type {declared:?}: expected {}; add the header Content-Type", expected.join(" or ")),
    ))
}
