//! The request log: one line for each request, written when the last byte of its answer is handed to the socket.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant as Clock};

use axum::extract::Request;
use tower_http::request_id::RequestId;
use tracing::Level;

use crate::bounds::limits::Limits;
use crate::protocol::names::AUTHOR;

/// The target of the lines of requests, for a filter of the log.
const TARGET: &str = "annals::request";
/// Longest text from a client in one field. Units: bytes.
const TEXT_BYTES_MAX: usize = 2_000;
/// Longest author and request id. Units: bytes.
const NAME_BYTES_MAX: usize = 128;

/// A request in progress. Dropping the last clone of the entry writes its line: by then the answer is sent, or the
/// client has gone.
pub struct Entry {
    start: Clock,
    slow_time: Duration,
    method: &'static str,
    /// Path and query, as the client sent them.
    uri: String,
    /// The author that the client names, unless its principal is known.
    named_author: String,
    author: OnceLock<String>,
    request_id: String,
    answer: OnceLock<Answer>,
    /// The search or walk in the body of the request.
    search: OnceLock<String>,
    /// Bytes of the answer's body handed to the socket.
    sent_bytes: AtomicU64,
}

/// The answer to a request.
struct Answer {
    route: &'static str,
    status: u16,
    /// Time until the head of the answer was ready.
    taken: Duration,
}

impl Entry {
    /// Begins the entry of a request; `None` if the log leaves requests out.
    pub fn begin(limits: &Limits, method: &'static str, request: &Request) -> Option<Arc<Entry>> {
        if !tracing::enabled!(target: TARGET, Level::WARN) {
            return None;
        }
        let name = |value: Option<&http::HeaderValue>| {
            let text = value.map(|value| String::from_utf8_lossy(value.as_bytes()));
            text.map_or_else(String::new, |text| cut(&text, NAME_BYTES_MAX).to_owned())
        };
        let id = request.extensions().get::<RequestId>().map(RequestId::header_value);
        let uri = request.uri().path_and_query().map_or("", |uri| uri.as_str());
        Some(Arc::new(Entry {
            start: Clock::now(),
            slow_time: limits.slow_time,
            method,
            uri: cut(uri, TEXT_BYTES_MAX).to_owned(),
            named_author: name(request.headers().get(&AUTHOR)),
            author: OnceLock::new(),
            request_id: name(id),
            answer: OnceLock::new(),
            search: OnceLock::new(),
            sent_bytes: AtomicU64::new(0),
        }))
    }

    /// Notes the search or walk in the body of a request, for the line of a slow request.
    pub fn note_search(&self, text: &str) {
        self.search.get_or_init(|| cut(text, TEXT_BYTES_MAX).to_owned());
    }

    /// Notes the proven author.
    pub fn note_author(&self, name: &str) {
        self.author.get_or_init(|| cut(name, NAME_BYTES_MAX).to_owned());
    }

    /// Notes the answer.
    pub fn answered(&self, route: &'static str, status: u16) {
        let _ = self.answer.set(Answer { route, status, taken: self.start.elapsed() });
    }

    /// Notes a part of the answer that was handed to the socket.
    pub fn sent(&self, bytes: usize) {
        self.sent_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let millis = |time: Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
        let bytes = self.sent_bytes.load(Ordering::Relaxed);
        let Entry { method, uri, named_author, request_id, .. } = &*self;
        let author = self.author.get().unwrap_or(named_author);
        let total_ms = millis(self.start.elapsed());
        let Some(Answer { route, status, taken }) = self.answer.get() else {
            tracing::info!(target: TARGET, method, uri, total_ms, author, request_id, "client gone before the answer");
            return;
        };
        let time_ms = millis(*taken);
        if *taken >= self.slow_time {
            let search = self.search.get().map_or("", String::as_str);
            tracing::warn!(
                target: TARGET, method, route, status, time_ms, total_ms, bytes, author, request_id, uri, search,
                "slow request"
            );
        } else {
            tracing::info!(
                target: TARGET, method, route, status, time_ms, total_ms, bytes, author, request_id, uri, "request"
            );
        }
    }
}

/// The start of a text, cut between characters.
fn cut(text: &str, bytes_max: usize) -> &str {
    let end = (0..=bytes_max.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}
