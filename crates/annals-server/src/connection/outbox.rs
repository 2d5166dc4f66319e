//! The answers of one connection that are being sent: what they hold until they are written, and whether the client
//! reads them.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant as Clock};

use axum::body::Body;
use http::Response;
use http_body::{Frame, SizeHint};
use hyper::body::Bytes;

use crate::bounds::sending::{PART_BYTES, Permits, bytes_with, take_permits};
use crate::reporting::request_log::Entry;

/// No part of the answer is due, because the server has none ready.
const NOTHING_DUE: u64 = u64::MAX;

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
        let permits = take_permits(&mut response);
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
