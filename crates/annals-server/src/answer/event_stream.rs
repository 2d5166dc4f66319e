//! Server-sent events without end: a bounded number of subscribers, each with a source that it polls.

use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use annals::{Position, Repository};
use axum::body::Body;
use http::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::body::Bytes;
use serde_json::Value as Json;
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::documents::with_position;
use crate::access::Principal;
use crate::bounds::Bounds;
use crate::bounds::peers::{Kind, Share, enter};
use crate::bounds::sending;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::Call;
use crate::request::door::Door;

/// Most events sent together.
const BATCH_EVENTS_MAX: u64 = 1_000;
/// A batch ends with the event that brings it over this size. Units: bytes.
const BATCH_BYTES: usize = 256 << 10;
/// How long a client waits before it reconnects. Units: milliseconds.
const RETRY_MS: u64 = 1_000;

/// Header: the last event that a client has seen, as browsers send it.
static LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// How far a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// All events of the records up to this position are sent.
    pub position: Position,
    /// So many events of the next record are sent too.
    pub sent: usize,
}

/// An event.
pub struct Sent {
    /// The position from which a client that has it continues; `None` if more events of the same record follow.
    pub position: Option<Position>,
    /// The data of the event.
    pub data: Json,
}

/// Events that can be read from any place.
pub trait Source: Send + Sync {
    /// How far it is.
    fn place(&self) -> Place;

    /// The next event; `None` if there is none yet, or if it has read enough for once.
    fn next(&mut self) -> Result<Option<Sent>, Problem>;
}

/// Opens a source at a place.
pub type Open = Arc<dyn Fn(&Repository, Place) -> Result<Box<dyn Source>, Problem> + Send + Sync>;

/// Which events a client gets.
pub struct Start {
    /// Those after this position.
    pub after: Position,
    /// At most so many.
    pub limit: u64,
    /// True if the client learns the position at once, so that it can come back before the first event.
    pub is_told: bool,
}

/// Sends events to a client, until the server stops or its credential does not stand any more.
///
/// A follower first waits for the position: its writer may have it already.
///
/// Errors: `not-found` for a position of the future; `busy`; those of opening.
pub async fn send(call: &Call, start: Start, open: Open) -> Outcome {
    let (door, peer) = (&call.door, &call.peer);
    let after = start.after;
    let repository = door.repository()?;
    if repository.is_read_only() {
        // The answer says what is known then.
        let _ = call.wait_for(after).await;
    }
    let known = repository.try_snapshot()?.position();
    if after > known {
        // Waiting instead would lose records if the repository was restored from an older backup.
        return Err(Problem::not_found(format!(
            "feed after {after}: expected at most {known}, the last position"
        )));
    }
    let events = open(repository, Place { position: after, sent: 0 })?;
    let subscribers_max = door.bounds.limits.subscribers_max;
    let held = enter(&door.bounds.gates.subscribers, (peer, Kind::Subscribers, subscribers_max), || {
        format!("feed: all {subscribers_max} subscriptions are taken; try again later")
    })?;
    door.metrics.subscribers.inc();
    let subscription = Subscription {
        open,
        events: Some(events),
        left: start.limit,
        visible: door.visible(),
        stopping: door.stopping(),
        principal: Arc::clone(&call.principal),
        access_changes: door.access.changes(),
        _permit: Subscriber(Arc::clone(door), held),
        door: Arc::clone(door),
    };
    let told = if start.is_told { format!("id: {after}\n") } else { String::new() };
    let hello = Bytes::from(format!("retry: {RETRY_MS}\n{told}\n"));
    let hello = futures_util::stream::once(async { Ok::<_, std::convert::Infallible>(hello) });
    let events = futures_util::stream::unfold(subscription, |subscription| async {
        subscription.next().await.map(|(bytes, subscription)| (Ok(bytes), subscription))
    });
    let stream = futures_util::StreamExt::chain(hello, events);
    let mut response = Response::new(Body::from_stream(stream));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(with_position(response, known))
}

/// The position that a client names as the last one that it knows.
///
/// Errors: `invalid-argument`.
pub fn last_event(call: &Call) -> Result<Option<Position>, Problem> {
    let Some(text) = call.header(&LAST_EVENT_ID)? else { return Ok(None) };
    let position = text.trim().parse().map_err(|_| {
        Problem::invalid(format!("header last-event-id: expected a position, found {text:?}"))
    })?;
    Ok(Some(Position(position)))
}

struct Subscription {
    door: Arc<Door>,
    open: Open,
    // `None` while another thread reads a batch, and after an error.
    events: Option<Box<dyn Source>>,
    left: u64,
    visible: watch::Receiver<Position>,
    stopping: watch::Receiver<bool>,
    principal: Arc<Principal>,
    access_changes: watch::Receiver<u64>,
    _permit: Subscriber,
}

/// A place among the subscribers, counted while it is held.
struct Subscriber(
    Arc<Door>,
    #[expect(dead_code, reason = "given back when dropped")] (OwnedSemaphorePermit, Share),
);

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.0.metrics.subscribers.dec();
    }
}

impl Subscription {
    /// The next bytes to send: events, or a heartbeat; `None` at the end.
    async fn next(mut self) -> Option<(Bytes, Subscription)> {
        let mut events = self.events.take()?;
        if self.left == 0 {
            return None;
        }
        let heartbeat: Duration = self.door.bounds.limits.heartbeat;
        let start = Clock::now();
        loop {
            let next = events.place().position.next();
            let has_more = tokio::select! {
                biased;
                _ = self.stopping.wait_for(|is_stopping| *is_stopping) => return None,
                () = self.door.access.ended(&self.principal, &mut self.access_changes) => return None,
                moved = self.visible.wait_for(|visible| *visible >= next) => moved.map(|_| true).ok()?,
                () = tokio::time::sleep(heartbeat.saturating_sub(start.elapsed())) => false,
            };
            if has_more {
                let (bytes, count);
                (bytes, count, events) = match self.batch(events).await {
                    Ok(batch) => batch,
                    Err(problem) => {
                        // The head is sent already, so an event reports the error, and the stream ends after it.
                        let text = format!("event: error\ndata: {}\n\n", problem.to_json());
                        return Some((Bytes::from(text), self));
                    }
                };
                self.left -= count;
                if count > 0 {
                    self.events = Some(events);
                    return Some((bytes, self));
                }
            }
            // Records that do not touch the watched part may come continuously.
            if start.elapsed() >= heartbeat {
                self.events = Some(events);
                return Some((Bytes::from_static(b": heartbeat\n\n"), self));
            }
        }
    }

    /// The next events, with room for them. If there is no room, the task drops them, waits until there is room, and
    /// reads them again: while it waits they take no memory.
    async fn batch(&self, events: Box<dyn Source>) -> Result<Batch, Problem> {
        let before = events.place();
        let left = self.left;
        let read =
            |events: Box<dyn Source>| read_in_turn(&self.door.bounds, move || read_batch(events, left));
        let (bytes, count, events) = read(events).await?;
        if let Some(room) = sending::try_room(&self.door.bounds, bytes.len()) {
            return Ok((sending::bytes_with(bytes, room), count, events));
        }
        let length = bytes.len();
        drop((bytes, events));
        let mut stopping = self.stopping.clone();
        let room = tokio::select! {
            _ = stopping.wait_for(|is_stopping| *is_stopping) => {
                return Err(Problem::door("stopping", "server: it was asked to stop; use another one"));
            }
            room = sending::room(&self.door.bounds, length) => room,
        };
        let events = (self.open)(self.door.repository()?, before)?;
        let (bytes, count, events) = read(events).await?;
        Ok((sending::bytes_with(bytes, room), count, events))
    }
}

/// Shape: the events as text, their number, and the source after them.
type Batch = (Bytes, u64, Box<dyn Source>);

/// Reads on a separate thread, a bounded number at once. The subscribers that wait are bounded, too, and searches that
/// overload the server end no feed.
async fn read_in_turn<T: Send + 'static>(
    bounds: &Bounds,
    read: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let place = Arc::clone(&bounds.gates.feed_reads).acquire_owned().await.expect("gates are never closed");
    let running = tokio::task::spawn_blocking(move || {
        // Released when the work is done, also if the client goes earlier.
        let _place = place;
        read()
    });
    match running.await {
        Ok(result) => result,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

fn read_batch(mut events: Box<dyn Source>, left: u64) -> Result<Batch, Problem> {
    let mut text = String::new();
    let mut count = 0;
    while count < left.min(BATCH_EVENTS_MAX) && text.len() < BATCH_BYTES {
        let Some(Sent { position, data }) = events.next()? else { break };
        if let Some(position) = position {
            text.push_str(&format!("id: {position}\n"));
        }
        text.push_str(&format!("data: {data}\n\n"));
        count += 1;
    }
    Ok((Bytes::from(text), count, events))
}
