//! A client of HTTP for a copy: it waits a bounded time, tries again, and lets bodies of any size flow.

use std::error::Error as StdError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{HeaderMap, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::client::legacy::Client as Http;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// How long the client waits before it tries again.
const WAITS: [Duration; 3] = [Duration::from_millis(200), Duration::from_secs(1), Duration::from_secs(5)];
/// Longest wait that a server may ask for with `Retry-After`.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// Lowest rate of a body, after the longest wait for one part. Units: bytes per second.
const RATE_MIN: usize = 1 << 10;
/// Most bytes that are read of an answer that refuses.
const REFUSAL_BYTES_MAX: usize = 64 << 10;

/// Characters that an address of a request cannot have, besides those that are not ASCII.
const NOT_IN_URI: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A body that is sent.
type Body = UnsyncBoxBody<Bytes, Box<dyn StdError + Send + Sync>>;

/// Why a resource is not copied.
#[derive(Debug)]
pub enum Trouble {
    /// This resource is left out.
    Refused(String),
    /// A server is not there any more, so the copy ends.
    Broken(String),
    /// The connection failed; a second attempt may succeed.
    Again(String),
}

/// A request whose body is in memory.
#[derive(Clone, Debug)]
pub struct Ask {
    pub method: Method,
    pub iri: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// A client.
pub struct Client {
    http: Http<HttpConnector, Body>,
    /// Longest time until the head of an answer is there, and between two parts of a body.
    time: Duration,
}

impl Client {
    pub fn new(time: Duration) -> Client {
        Client { http: Http::builder(TokioExecutor::new()).build_http(), time }
    }

    /// Sends a request; after a failed connection, and if the server is busy, again.
    ///
    /// Errors: `Broken` if the server does not answer.
    pub async fn send(&self, ask: &Ask) -> Result<Response<Incoming>, Trouble> {
        let mut waits = WAITS.iter();
        loop {
            let body = Full::new(ask.body.clone()).map_err(|never| match never {}).boxed_unsync();
            let (outcome, wait) = match self.once(ask, body).await {
                Ok(response) if is_busy(response.status()) => {
                    let asked = seconds(&response);
                    (Ok(response), asked)
                }
                Ok(response) => return Ok(response),
                Err(Trouble::Again(text)) => (Err(Trouble::Broken(text)), None),
                Err(trouble) => return Err(trouble),
            };
            let Some(usual) = waits.next() else { return outcome };
            tokio::time::sleep(wait.unwrap_or(*usual).min(WAIT_MAX)).await;
        }
    }

    async fn once(&self, ask: &Ask, body: Body) -> Result<Response<Incoming>, Trouble> {
        let request = request(ask, body)?;
        match tokio::time::timeout(self.time, self.http.request(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(Trouble::Again(format!("{} {}: {}", ask.method, ask.iri, chain(&error)))),
            Err(_) => {
                Err(Trouble::Again(format!("{} {}: no answer within {:?}", ask.method, ask.iri, self.time)))
            }
        }
    }

    /// Sends a request with a body that flows from the answer of another server.
    ///
    /// Errors: `Again` if one of the connections fails or stands still; `Refused` over `bytes_max`.
    pub async fn pass_on(
        &self,
        ask: &Ask,
        from: Incoming,
        bytes_max: u64,
    ) -> Result<(Response<Incoming>, u64), Trouble> {
        let flow = Arc::new(Flow { bytes: AtomicU64::new(0), is_over: AtomicBool::new(false), bytes_max });
        let request = request(ask, flow.body(from))?;
        let mut sending = Box::pin(self.http.request(request));
        let mut before = 0;
        loop {
            let outcome = tokio::time::timeout(self.time, &mut sending).await;
            let now = flow.bytes.load(Ordering::Relaxed);
            match outcome {
                _ if flow.is_over.load(Ordering::Relaxed) => {
                    return Err(Trouble::Refused(format!("expected at most {bytes_max} bytes, found more")));
                }
                Ok(Ok(response)) => return Ok((response, now)),
                Ok(Err(error)) => {
                    return Err(Trouble::Again(format!("PUT {}: {}", ask.iri, chain(&error))));
                }
                Err(_) if now - before < self.time.as_secs().max(1) * RATE_MIN as u64 => {
                    return Err(Trouble::Again(format!(
                        "PUT {}: expected {RATE_MIN} bytes a second, {} bytes moved within {:?}",
                        ask.iri,
                        now - before,
                        self.time
                    )));
                }
                Err(_) => before = now,
            }
        }
    }

    /// The body of an answer.
    ///
    /// Errors: `Refused` over `bytes_max`; `Again` if the connection fails or stands still.
    pub async fn read(&self, response: Response<Incoming>, bytes_max: usize) -> Result<Vec<u8>, Trouble> {
        let mut body = response.into_body();
        let mut bytes = Vec::new();
        let start = Instant::now();
        loop {
            // A source that drips a byte at a time must not hold up the copy.
            let earned = Duration::from_secs((bytes.len() / RATE_MIN) as u64);
            let left = (self.time + earned).saturating_sub(start.elapsed()).min(self.time);
            let frame = tokio::time::timeout(left, body.frame()).await;
            let frame = frame.map_err(|_| {
                let text = "expected a part of the body within";
                Trouble::Again(format!("{text} {:?}, and {RATE_MIN} bytes a second", self.time))
            })?;
            let Some(frame) = frame else { return Ok(bytes) };
            let frame = frame.map_err(|error| Trouble::Again(chain(&error)))?;
            let Some(data) = frame.data_ref() else { continue };
            if bytes.len() + data.len() > bytes_max {
                return Err(Trouble::Refused(format!("expected at most {bytes_max} bytes, found more")));
            }
            bytes.extend_from_slice(data);
        }
    }

    /// The reason of a refusing answer, in one line.
    pub async fn refusal(&self, who: &str, response: Response<Incoming>) -> Trouble {
        let status = response.status();
        let body = self.read(response, REFUSAL_BYTES_MAX).await.unwrap_or_default();
        let detail = serde_json::from_slice::<serde_json::Value>(&body)
            .ok()
            .and_then(|problem| problem.get("detail")?.as_str().map(str::to_owned));
        let first_line =
            || String::from_utf8_lossy(&body).lines().next().unwrap_or_default().chars().take(200).collect();
        let detail: String = detail.unwrap_or_else(first_line);
        Trouble::Refused(format!("the {who} answers {status}: {detail}"))
    }
}

/// Counts a body while it flows.
struct Flow {
    bytes: AtomicU64,
    /// True once the body is longer than `bytes_max`; it then ends with an error.
    is_over: AtomicBool,
    bytes_max: u64,
}

impl Flow {
    fn body(self: &Arc<Flow>, from: Incoming) -> Body {
        let flow = Arc::clone(self);
        let frames = futures_util::stream::unfold((from, flow), |(mut from, flow)| async move {
            let frame = match from.frame().await? {
                Ok(frame) => frame,
                Err(error) => return Some((Err(error.into()), (from, flow))),
            };
            let length = frame.data_ref().map_or(0, Bytes::len) as u64;
            if flow.bytes.fetch_add(length, Ordering::Relaxed) + length > flow.bytes_max {
                flow.is_over.store(true, Ordering::Relaxed);
                return Some((Err("it is too long".into()), (from, flow)));
            }
            let frame: Result<Frame<Bytes>, Box<dyn StdError + Send + Sync>> = Ok(frame);
            Some((frame, (from, flow)))
        });
        BodyExt::boxed_unsync(StreamBody::new(frames))
    }
}

/// Errors: `Refused` for an address that is no URI.
fn request(ask: &Ask, body: Body) -> Result<Request<Body>, Trouble> {
    // An IRI may have other characters than ASCII, a URI has none.
    let uri = utf8_percent_encode(&ask.iri, NOT_IN_URI).to_string();
    let refused = |error: hyper::http::Error| Trouble::Refused(format!("{}: {error}", ask.iri));
    let mut request = Request::builder().method(&ask.method).uri(uri).body(body).map_err(refused)?;
    *request.headers_mut() = ask.headers.clone();
    Ok(request)
}

fn is_busy(status: StatusCode) -> bool {
    [429, 502, 503, 504].contains(&status.as_u16())
}

fn seconds(response: &Response<Incoming>) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// An error with its reasons.
fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}
