//! The change feed: records as server-sent events in CloudEvents envelopes, from any position on.

use std::sync::Arc;
use std::time::Duration;

use annals::{Follow, Position, Record};
use annals_json::record_to_json;
use axum_core::body::Body;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Method, Response};
use hyper::body::Bytes;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::answer;
use crate::call::{Call, heavy};
use crate::door::Door;
use crate::endpoint::Endpoint;
use crate::parameters;
use crate::problem::{Outcome, Problem};
use crate::sending;

/// Most records sent in one go.
const BATCH_RECORDS_MAX: u64 = 1_000;
/// A batch ends with the record that takes it over this. Units: bytes.
const BATCH_BYTES: usize = 256 << 10;
/// What a client waits before it connects again. Units: milliseconds.
const RETRY_MS: u64 = 1_000;

/// Header: the last event that a client has, as browsers send it.
static LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let last =
        "Header `Last-Event-ID`, as browsers send it, means the same as `after`, and counts before it.";
    vec![
        Endpoint::new(Method::GET, "/v1/feed", "Follow the change feed", feed)
            .describe(last)
            .tag("feed")
            .takes([
                parameters::query(
                    "after",
                    parameters::count(),
                    0,
                    "Send records after this position; 0: all.",
                ),
                parameters::query("limit", parameters::count(), 10, "End after so many records."),
                parameters::last_event_id(),
            ])
            .answers_as(
                200,
                "Server-sent events, without end unless `limit` is given.",
                "text/event-stream",
                "Feed",
            )
            .fails(&["not-found", "busy"]),
    ]
}

struct Subscription {
    door: Arc<Door>,
    // `None` while a batch is read elsewhere, and after an error.
    follow: Option<Follow>,
    left: u64,
    visible: watch::Receiver<Position>,
    stopping: watch::Receiver<bool>,
    _permit: Subscriber,
}

/// A place among the subscribers, counted while it is held.
struct Subscriber(Arc<Door>, #[expect(dead_code, reason = "given back when dropped")] OwnedSemaphorePermit);

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.0.metrics.subscribers.add(-1);
    }
}

async fn feed(call: Box<Call>) -> Outcome {
    let door = Arc::clone(&call.door);
    let repository = door.repository()?;
    let after = after(&call)?;
    let known = repository.snapshot().position();
    if after > known {
        // Waiting instead would lose records of a repository that was restored from an older backup.
        return Err(Problem::not_found(format!(
            "feed after {after}: expected at most {known}, the last position"
        )));
    }
    let left = call.query.number("limit")?.unwrap_or(u64::MAX);
    let permit = Arc::clone(&door.gates.subscribers).try_acquire_owned().map_err(|_| {
        Problem::busy(format!(
            "feed: all {} subscriptions are taken; try again later",
            door.limits.subscribers_max
        ))
    })?;
    door.metrics.subscribers.add(1);
    let subscription = Subscription {
        follow: Some(repository.follow(after)),
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
    // The header first: a browser that connects again sends it with the address it started from.
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
        let follow = self.follow.take()?;
        if self.left == 0 {
            return None;
        }
        let next = follow.position();
        let heartbeat: Duration = self.door.limits.heartbeat;
        let has_more = tokio::select! {
            biased;
            _ = self.stopping.wait_for(|is_stopping| *is_stopping) => return None,
            moved = self.visible.wait_for(|visible| *visible >= next) => moved.map(|_| true).ok()?,
            () = tokio::time::sleep(heartbeat) => false,
        };
        if !has_more {
            self.follow = Some(follow);
            return Some((Bytes::from_static(b": heartbeat\n\n"), self));
        }
        match self.batch(follow).await {
            Ok((bytes, count, follow)) => {
                self.left -= count;
                self.follow = Some(follow);
                Some((bytes, self))
            }
            Err(problem) => {
                // The head is sent: the error can only come as an event, and the stream ends behind it.
                let text = format!("event: error\ndata: {}\n\n", problem.to_json());
                Some((Bytes::from(text), self))
            }
        }
    }
}

impl Subscription {
    /// The next events, with room for them. Where there is none, they are read again once there is: they take none while
    /// they wait.
    async fn batch(&self, follow: Follow) -> Result<(Bytes, u64, Follow), Problem> {
        let start = follow.position();
        let (left, source) = (self.left, self.door.source.clone());
        let read = |follow: Follow| {
            let source = source.clone();
            heavy(&self.door, move || read_batch(follow, left, &source))
        };
        let (bytes, count, follow) = read(follow).await?;
        if let Some(room) = sending::try_room(&self.door, bytes.len()) {
            return Ok((sending::bytes_with(bytes, room), count, follow));
        }
        let length = bytes.len();
        drop((bytes, follow));
        let mut stopping = self.stopping.clone();
        let room = tokio::select! {
            _ = stopping.wait_for(|is_stopping| *is_stopping) => {
                return Err(Problem::door("stopping", "server: it was asked to stop; use another one"));
            }
            room = sending::room(&self.door, length) => room,
        };
        let before = Position(start.0.saturating_sub(1));
        let (bytes, count, follow) = read(self.door.repository()?.follow(before)).await?;
        Ok((sending::bytes_with(bytes, room), count, follow))
    }
}

fn read_batch(mut follow: Follow, left: u64, source: &str) -> Result<(Bytes, u64, Follow), Problem> {
    let mut text = String::new();
    let mut count = 0;
    while count < left.min(BATCH_RECORDS_MAX) && text.len() < BATCH_BYTES {
        let Some((position, record)) = follow.poll()? else { break };
        let event = event_to_json(position, &record, source);
        text.push_str(&format!("id: {position}\ndata: {event}\n\n"));
        count += 1;
    }
    Ok((Bytes::from(text), count, follow))
}

/// A record in its envelope.
///
/// Source: <https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md>.
fn event_to_json(position: Position, record: &Record, source: &str) -> serde_json::Value {
    json!({
        "specversion": "1.0",
        "id": position.to_string(),
        "source": source,
        "type": "annals.record",
        "time": record.instant.to_string(),
        "datacontenttype": "application/json",
        "data": record_to_json(position, record),
    })
}
