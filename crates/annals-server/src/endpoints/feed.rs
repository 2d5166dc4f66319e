//! The change feed: records, or their effects on a watched part of the graph, as server-sent events from any position.

use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use annals::{Position, Watch};
use axum::body::Body;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Method, Response};
use hyper::body::Bytes;
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::feed_events::{self, Events};
use crate::answer;
use crate::call::{Call, heavy};
use crate::door::Door;
use crate::endpoint::Endpoint;
use crate::parameters;
use crate::problem::{Outcome, Problem};
use crate::sending;

/// Most events sent together.
const BATCH_EVENTS_MAX: u64 = 1_000;
/// A batch ends with the event that brings it over this size. Units: bytes.
const BATCH_BYTES: usize = 256 << 10;
/// How long a client waits before it reconnects. Units: milliseconds.
const RETRY_MS: u64 = 1_000;

/// Header: the last event that a client has seen, as browsers send it.
static LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let description = "Every record. With `tree` or `search`: the changes of that part of the graph, one event for each record that \
                       touched it, or one event for many missed records. The header `Last-Event-ID`, which browsers send, means the \
                       same as `after`, and has priority over it.";
    vec![
        Endpoint::new(Method::GET, "/v1/feed", "Follow the change feed", feed)
            .describe(description)
            .tag("feed")
            .takes([
                parameters::query(
                    "after",
                    parameters::count(),
                    0,
                    "Send records after this position; 0: all.",
                ),
                parameters::query("limit", parameters::count(), 10, "End after this many events."),
                parameters::last_event_id(),
            ])
            .takes(feed_events::parameters())
            .answers_as(
                200,
                "Server-sent events, without end unless `limit` is given.",
                "text/event-stream",
                "Feed",
            )
            .fails(&["not-found", "busy", "invalid-expression"]),
    ]
}

struct Subscription {
    door: Arc<Door>,
    watch: Option<Watch>,
    // `None` while another thread reads a batch, and after an error.
    events: Option<Events>,
    left: u64,
    visible: watch::Receiver<Position>,
    stopping: watch::Receiver<bool>,
    _permit: Subscriber,
}

/// A place among the subscribers, counted while it is held.
struct Subscriber(Arc<Door>, #[expect(dead_code, reason = "given back when dropped")] OwnedSemaphorePermit);

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.0.metrics.subscribers.dec();
    }
}

async fn feed(call: Box<Call>) -> Outcome {
    let door = Arc::clone(&call.door);
    let repository = door.repository()?;
    let (after, watch) = (after(&call)?, feed_events::watched(&call.query)?);
    let known = repository.snapshot().position();
    if after > known {
        // Waiting instead would lose records if the repository was restored from an older backup.
        return Err(Problem::not_found(format!(
            "feed after {after}: expected at most {known}, the last position"
        )));
    }
    let left = call.query.number("limit")?.unwrap_or(u64::MAX);
    let events = Events::new(repository, watch.as_ref(), after)?;
    let permit = Arc::clone(&door.gates.subscribers).try_acquire_owned().map_err(|_| {
        Problem::busy(format!(
            "feed: all {} subscriptions are taken; try again later",
            door.limits.subscribers_max
        ))
    })?;
    door.metrics.subscribers.inc();
    let subscription = Subscription {
        watch,
        events: Some(events),
        left,
        visible: door.visible(),
        stopping: door.stopping(),
        _permit: Subscriber(Arc::clone(&door), permit),
        door: Arc::clone(&door),
    };
    let hello = Bytes::from(format!("retry: {RETRY_MS}\n\n"));
    let hello = futures_util::stream::once(async { Ok::<_, std::convert::Infallible>(hello) });
    let events = futures_util::stream::unfold(subscription, |subscription| async {
        subscription.next().await.map(|(bytes, subscription)| (Ok(bytes), subscription))
    });
    let stream = futures_util::StreamExt::chain(hello, events);
    let mut response = Response::new(Body::from_stream(stream));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(answer::with_position(response, known))
}

fn after(call: &Call) -> Result<Position, Problem> {
    // The header first: a browser that reconnects sends it together with the original address.
    let Some(text) = call.header(&LAST_EVENT_ID)? else {
        return Ok(Position(call.query.number("after")?.unwrap_or_default()));
    };
    text.trim()
        .parse()
        .map(Position)
        .map_err(|_| Problem::invalid(format!("header last-event-id: expected a position, found {text:?}")))
}

impl Subscription {
    /// The next bytes to send: events, or a heartbeat; `None` at the end.
    async fn next(mut self) -> Option<(Bytes, Subscription)> {
        let mut events = self.events.take()?;
        if self.left == 0 {
            return None;
        }
        let heartbeat: Duration = self.door.limits.heartbeat;
        let start = Clock::now();
        loop {
            let next = events.position().next();
            let has_more = tokio::select! {
                biased;
                _ = self.stopping.wait_for(|is_stopping| *is_stopping) => return None,
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
    async fn batch(&self, events: Events) -> Result<(Bytes, u64, Events), Problem> {
        let before = events.position();
        let (left, source) = (self.left, self.door.source.clone());
        let read = |events: Events| {
            let source = source.clone();
            heavy(&self.door, move || read_batch(events, left, &source))
        };
        let (bytes, count, events) = read(events).await?;
        if let Some(room) = sending::try_room(&self.door, bytes.len()) {
            return Ok((sending::bytes_with(bytes, room), count, events));
        }
        let length = bytes.len();
        drop((bytes, events));
        let mut stopping = self.stopping.clone();
        let room = tokio::select! {
            _ = stopping.wait_for(|is_stopping| *is_stopping) => {
                return Err(Problem::door("stopping", "server: it was asked to stop; use another one"));
            }
            room = sending::room(&self.door, length) => room,
        };
        let events = Events::new(self.door.repository()?, self.watch.as_ref(), before)?;
        let (bytes, count, events) = read(events).await?;
        Ok((sending::bytes_with(bytes, room), count, events))
    }
}

fn read_batch(mut events: Events, left: u64, source: &str) -> Result<(Bytes, u64, Events), Problem> {
    let mut text = String::new();
    let mut count = 0;
    while count < left.min(BATCH_EVENTS_MAX) && text.len() < BATCH_BYTES {
        let Some((position, event)) = events.next(source)? else { break };
        text.push_str(&format!("id: {position}\ndata: {event}\n\n"));
        count += 1;
    }
    Ok((Bytes::from(text), count, events))
}
