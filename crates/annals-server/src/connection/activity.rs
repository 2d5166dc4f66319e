//! The latest events on a connection: they say whether it waits, works, or may be closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant as Clock};

use http::Version;
use tokio::sync::Notify;

use super::outbox::Outbox;

/// The latest events on a connection.
pub struct Activity {
    /// Notified when the connection must close to make room for another one.
    pub evicted: Notify,
    /// The answers that are not sent yet.
    pub outbox: Arc<Outbox>,
    start: Clock,
    // Milliseconds after `start`.
    last_request: AtomicU64,
    // The instant since when the server waits for the head of a request; `NO_HEAD` between requests. For the first
    // request, the start of the connection.
    head_since: AtomicU64,
    in_flight: AtomicUsize,
    // True while a request has a body that is not read yet.
    is_receiving: AtomicBool,
    // True if separate tasks write the answers.
    is_multiplexed: AtomicBool,
    // True if the latest request has a body, read or not.
    has_body: AtomicBool,
}

/// No head of a request has begun.
const NO_HEAD: u64 = u64::MAX;

impl Default for Activity {
    fn default() -> Activity {
        let zero = AtomicU64::default;
        Activity {
            evicted: Notify::new(),
            outbox: Arc::default(),
            start: Clock::now(),
            last_request: zero(),
            head_since: zero(),
            in_flight: AtomicUsize::new(0),
            is_receiving: AtomicBool::new(false),
            is_multiplexed: AtomicBool::new(false),
            has_body: AtomicBool::new(false),
        }
    }
}

impl Activity {
    fn touch(&self, last: &AtomicU64) {
        let millis = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        last.store(millis, Ordering::Relaxed);
    }

    fn is_older(&self, last: &AtomicU64, age: Duration) -> bool {
        self.start.elapsed() > Duration::from_millis(last.load(Ordering::Relaxed)) + age
    }

    /// Notes the head of a request.
    pub fn note_head(&self, version: Version, has_body: bool) {
        self.is_multiplexed.store(version == Version::HTTP_2, Ordering::Relaxed);
        self.has_body.store(has_body, Ordering::Relaxed);
    }

    /// True if a client of HTTP/1 may still send the body of its last request.
    pub fn may_be_sending(&self) -> bool {
        self.has_body.load(Ordering::Relaxed) && !self.is_multiplexed.load(Ordering::Relaxed)
    }

    /// True while the server works on a request of HTTP/1 that it has received completely.
    pub fn is_answering(&self) -> bool {
        self.in_flight.load(Ordering::Relaxed) > 0
            && !self.is_receiving.load(Ordering::Relaxed)
            && !self.is_multiplexed.load(Ordering::Relaxed)
    }

    /// True if no request came for this time.
    pub fn is_idle(&self, age: Duration) -> bool {
        self.in_flight.load(Ordering::Relaxed) == 0 && self.is_older(&self.last_request, age)
    }

    /// True if the head of a request has begun and did not end for this time.
    pub fn is_half(&self, age: Duration) -> bool {
        let since = self.head_since.load(Ordering::Relaxed);
        since != NO_HEAD
            && self.in_flight.load(Ordering::Relaxed) == 0
            && self.start.elapsed() > Duration::from_millis(since) + age
    }

    /// Notes that bytes came: between requests of HTTP/1 they begin a head.
    pub fn note_bytes(&self) {
        let is_between = self.in_flight.load(Ordering::Relaxed) == 0
            && !self.is_multiplexed.load(Ordering::Relaxed)
            && self.head_since.load(Ordering::Relaxed) == NO_HEAD;
        if is_between {
            self.touch(&self.head_since);
        }
    }

    /// The order in which connections make room: `None` while a request is in progress or an answer is being sent.
    ///
    /// Shape: true if the connection never had a request, and the time since its last one.
    pub fn idleness(&self) -> Option<(bool, Duration)> {
        if self.in_flight.load(Ordering::Relaxed) > 0 || !self.outbox.is_empty() {
            return None;
        }
        let last = self.last_request.load(Ordering::Relaxed);
        let is_fresh = last == 0 && self.head_since.load(Ordering::Relaxed) == 0;
        Some((is_fresh, self.start.elapsed().saturating_sub(Duration::from_millis(last))))
    }
}

/// A request, from its head until the last byte of its answer is handed to the socket.
pub struct InFlight(Arc<Activity>);

impl InFlight {
    /// Begins.
    pub fn new(activity: &Arc<Activity>) -> InFlight {
        activity.in_flight.fetch_add(1, Ordering::Relaxed);
        activity.touch(&activity.last_request);
        activity.head_since.store(NO_HEAD, Ordering::Relaxed);
        InFlight(Arc::clone(activity))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.touch(&self.0.last_request);
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A request whose body is not read completely.
pub struct Receiving(Arc<Activity>);

impl Receiving {
    /// Begins.
    pub fn new(activity: &Arc<Activity>) -> Receiving {
        activity.is_receiving.store(true, Ordering::Relaxed);
        Receiving(Arc::clone(activity))
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        self.0.is_receiving.store(false, Ordering::Relaxed);
    }
}
