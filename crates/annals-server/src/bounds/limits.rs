//! The bounds of the server on sizes, counts and times.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

/// Most answers in lines at once; no setting can exceed this, because each answer has a thread.
pub const STREAMS_MAX: usize = 1_024;

/// Most imports at once: each has a thread, and its batches compete with other transactions.
pub const IMPORTS_MAX: usize = 2;

/// Most compactions at once: each takes the memory of a second graph.
pub const COMPACTIONS_MAX: usize = 1;

/// Most contents that are received at once: each has a thread.
pub const UPLOADS_MAX: usize = 64;

/// Most contents that are sent at once: each has an open file, and a piece in memory.
pub const DOWNLOADS_MAX: usize = 256;

/// Most connections that are read on after a refusal.
const LINGERING_MAX: usize = 256;

/// Most failed logins whose answers wait. Further ones are answered at once, and their connections are closed.
pub const FAILED_LOGINS_MAX: usize = 512;

/// Most batches of events that are read at once: each has a thread.
const FEED_READS_MAX: usize = 4;

/// The part of the room for all bodies that an import takes, unless all the room is small: for its longest line, the
/// parsed form of it, and the batches in progress. Units: bytes.
pub const IMPORT_BYTES: usize = 64 << 20;

/// Most answers that are compressed at once; each takes some hundreds of KiB. Further ones are sent uncompressed.
const COMPRESSIONS_MAX: usize = 64;

/// All answers without a permit of a request together. Units: bytes.
const ASIDES_BYTES_MAX: usize = 8 << 20;

/// Bounds. Over a bound the server refuses clearly; nothing grows or waits without end.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Largest request body. Units: bytes.
    pub body_bytes_max: usize,
    /// Bodies of all requests that are being received or in progress. Units: bytes.
    pub bodies_bytes_max: usize,
    /// Answers of all requests that are being sent, except small ones. Units: bytes.
    pub answers_bytes_max: usize,
    /// A page ends with the item whose stored bytes bring the page over this size. Units: bytes.
    pub page_bytes_max: usize,
    /// Largest request head. Units: bytes.
    pub header_bytes_max: usize,
    /// Longest time from the head of a request to the head of its answer.
    pub request_time: Duration,
    /// Most requests in progress at once, including answers that are being sent.
    pub requests_max: usize,
    /// Most open connections.
    pub connections_max: usize,
    /// Longest time from the first byte of a request to the end of its head.
    pub head_time: Duration,
    /// A connection without traffic is closed after this time.
    pub idle_time: Duration,
    /// Requests that take this long are reported in the log, with their search or walk.
    pub slow_time: Duration,
    /// Most searches, walks and differences in progress at once; further ones wait.
    pub heavy_max: usize,
    /// Largest page. Units: items.
    pub page_max: usize,
    /// Most answers in lines that are sent at once.
    pub streams_max: usize,
    /// Most subscribers of the feed.
    pub subscribers_max: usize,
    /// The feed sends a comment after this time without an event.
    pub heartbeat: Duration,
    /// Longest time a read waits for the position it asks for.
    pub visible_time: Duration,
    /// Longest time for requests in progress to end after a signal to stop.
    pub stop_time: Duration,
    /// Most of each kind of room that one address uses; `None` for half of it, and all of it for addresses of this machine.
    /// Units: percent, 1 to 100.
    pub client_share: Option<u8>,
    /// Most requests that one client with a name begins within a second; `None` for any number.
    pub client_rate_max: Option<u32>,
    /// True if a write without the header `Annals-Author` is refused.
    pub is_author_required: bool,
}

impl Limits {
    /// For one client in the same process, which asks for all that it wants and waits for it.
    pub fn of_one_client() -> Limits {
        const ALL_TIME: Duration = Duration::from_secs(10 * 366 * 24 * 60 * 60);
        Limits {
            body_bytes_max: 512 << 20,
            bodies_bytes_max: 1 << 30,
            answers_bytes_max: 1 << 30,
            request_time: ALL_TIME,
            slow_time: ALL_TIME,
            page_max: usize::MAX,
            client_share: Some(100),
            ..Limits::default()
        }
    }

    /// Most threads for long work.
    pub fn threads_max(&self) -> usize {
        let places = IMPORTS_MAX + UPLOADS_MAX + COMPACTIONS_MAX + FEED_READS_MAX;
        self.heavy_max + self.streams_max + places
    }

    /// Longest time for a body to arrive, and for the next part of a body of any length.
    pub fn body_time(&self) -> Duration {
        self.request_time * 4 / 5
    }

    /// Most requests that wait for a position, and most that wait for the rest of a slow body: an eighth of all
    /// requests, at least 16, and at most a quarter. Both kinds together leave room for other requests.
    pub fn waits_max(&self) -> usize {
        const WAITS_MIN: usize = 16;
        (self.requests_max / 8).max(WAITS_MIN).min(self.requests_max / 4).max(1)
    }

    /// Most bytes of pieces of contents that are being sent, beside all other answers.
    pub fn pieces_bytes_max(&self) -> usize {
        (self.answers_bytes_max / 2).max(1)
    }

    /// Most requests that wait for a thread for long work: a sixteenth of all requests, and at least 16. Short work
    /// goes on beside them.
    pub fn heavy_waits_max(&self) -> usize {
        const WAITS_MIN: usize = 16;
        (self.requests_max / 16).max(WAITS_MIN)
    }
}

impl Default for Limits {
    fn default() -> Limits {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Limits {
            body_bytes_max: 16 << 20,
            bodies_bytes_max: 256 << 20,
            answers_bytes_max: 128 << 20,
            page_bytes_max: 4 << 20,
            header_bytes_max: 64 << 10,
            request_time: Duration::from_secs(30),
            requests_max: 16_384,
            connections_max: 20_000,
            head_time: Duration::from_secs(10),
            idle_time: Duration::from_secs(75),
            slow_time: Duration::from_secs(1),
            heavy_max: 2 * cores,
            page_max: 1_000,
            streams_max: 16,
            subscribers_max: 64,
            heartbeat: Duration::from_secs(15),
            visible_time: Duration::from_secs(5),
            stop_time: Duration::from_secs(20),
            client_share: None,
            client_rate_max: None,
            is_author_required: false,
        }
    }
}

/// The permits that hold the counted limits. Dropping a permit returns it.
pub struct Gates {
    /// One per request in progress, including answers that are being sent.
    pub requests: Arc<Semaphore>,
    /// One per request that waits for a position.
    pub position_waits: Arc<Semaphore>,
    /// One per request that waits for the rest of a slow body.
    pub slow_bodies: Arc<Semaphore>,
    /// One per open connection.
    pub connections: Arc<Semaphore>,
    /// One per connection that is read on after an answer to a request with a body.
    pub lingering: Arc<Semaphore>,
    /// One per search, walk or difference in progress.
    pub heavy: Arc<Semaphore>,
    /// One per request that waits for a permit of `heavy`.
    pub heavy_waits: Arc<Semaphore>,
    /// One per byte of a request body held.
    pub body_bytes: Arc<Semaphore>,
    /// One per byte of an answer that is being sent.
    pub answer_bytes: Arc<Semaphore>,
    /// One per byte of answers without a permit of a request: refusals, and answers to operators.
    pub aside_bytes: Arc<Semaphore>,
    /// One per answer that is being compressed.
    pub compressions: Arc<Semaphore>,
    /// One per answer in lines.
    pub streams: Arc<Semaphore>,
    /// One per import.
    pub imports: Arc<Semaphore>,
    /// One per content that is being received.
    pub uploads: Arc<Semaphore>,
    /// One per content that is being sent.
    pub downloads: Arc<Semaphore>,
    /// One per byte of a piece of a content that is being sent.
    pub piece_bytes: Arc<Semaphore>,
    /// One per compaction.
    pub compactions: Arc<Semaphore>,
    /// One per subscriber of the feed.
    pub subscribers: Arc<Semaphore>,
    /// One per batch of events that is being read.
    pub feed_reads: Arc<Semaphore>,
    /// One per failed login whose answer waits.
    pub failed_logins: Arc<Semaphore>,
}

impl Gates {
    /// Gates as wide as the limits say.
    pub fn new(limits: &Limits) -> Gates {
        let gate = |permits: usize| Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS)));
        Gates {
            requests: gate(limits.requests_max),
            position_waits: gate(limits.waits_max()),
            slow_bodies: gate(limits.waits_max()),
            connections: gate(limits.connections_max),
            lingering: gate(LINGERING_MAX),
            heavy: gate(limits.heavy_max),
            heavy_waits: gate(limits.heavy_waits_max()),
            body_bytes: gate(limits.bodies_bytes_max),
            answer_bytes: gate(limits.answers_bytes_max),
            aside_bytes: gate(ASIDES_BYTES_MAX),
            compressions: gate(COMPRESSIONS_MAX),
            streams: gate(limits.streams_max),
            imports: gate(IMPORTS_MAX),
            uploads: gate(UPLOADS_MAX),
            downloads: gate(DOWNLOADS_MAX),
            piece_bytes: gate(limits.pieces_bytes_max()),
            compactions: gate(COMPACTIONS_MAX),
            subscribers: gate(limits.subscribers_max),
            feed_reads: gate(FEED_READS_MAX),
            failed_logins: gate(FAILED_LOGINS_MAX),
        }
    }
}
