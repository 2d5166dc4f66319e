//! One connection: HTTP/1.1 or HTTP/2 on a TCP stream, closed after some time without traffic.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Body;
use futures_util::future::{Either, ready};
use http::{Request, Response};
use http_body::Body as _;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tower::ServiceExt;

use super::activity::{Activity, InFlight, Receiving};
use super::header_names::HeaderNames;
use super::stream::Stream;
use super::watched::Watched;
use crate::access::Client;
use crate::bounds::Bounds;
use crate::bounds::limits::Limits;
use crate::bounds::peers::Peer;
use crate::protocol::problem::{PROBLEM_JSON, Problem};

/// Most requests worked on at once on one HTTP/2 connection.
const STREAMS_MAX: u32 = 256;
/// Most bytes of bodies that an HTTP/2 connection may send before the server reads them: they count nowhere else. An
/// upload over a line with 100 ms between question and answer still comes at 2.5 MB/s. Units: bytes.
const UNREAD_BYTES_MAX: u32 = 256 << 10;

/// A connection before its first request.
pub struct Connection {
    /// The bytes.
    pub stream: Stream,
    /// Its latest events.
    pub activity: Arc<Activity>,
    /// The client, by its address.
    pub peer: Arc<Peer>,
    /// The other end; goes with each request.
    pub client: Client,
    /// The bounds of the server.
    pub bounds: Arc<Bounds>,
    /// Becomes true when the server is asked to stop.
    pub stopping: watch::Receiver<bool>,
}

/// Serves one connection until it is closed, idle for too long, or the server stops. `shed` answers the requests that the
/// server does not take; all others go through the router.
pub async fn serve_connection(
    connection: Connection,
    router: Router,
    shed: impl Fn(&Request<Incoming>) -> Option<Response<Body>> + Send + Sync + 'static,
) {
    let Connection { stream, activity, peer, client, bounds, mut stopping } = connection;
    let names = HeaderNames::usual().await;
    let limits = &bounds.limits;
    let first_time = limits.idle_time.min(limits.head_time);
    let builder = tokio::select! {
        builder = first_builder(limits, &stream) => builder,
        _ = stopping.wait_for(|is_stopping| *is_stopping) => return,
        () = activity.evicted.notified() => return,
        () = tokio::time::sleep(first_time) => return,
    };
    let service = {
        let activity = Arc::clone(&activity);
        service_fn(move |request: Request<Incoming>| {
            let in_flight = InFlight::new(&activity);
            let version = request.version();
            activity.note_head(version, !request.body().is_end_stream());
            let answer = match shed(&request) {
                Some(refusal) => Either::Left(ready(Ok(refusal))),
                None => {
                    let mut request = request.map(|body| counted(body, &activity));
                    request.extensions_mut().insert(Arc::clone(&peer));
                    request.extensions_mut().insert(client.clone());
                    Either::Right(router.clone().oneshot(request))
                }
            };
            let outbox = Arc::clone(&activity.outbox);
            // In a box: hyper keeps room for this future as long as the connection is open, however idle.
            Box::pin(async move {
                let mut response = answer.await?;
                names.add(version, &mut response);
                Ok::<_, std::convert::Infallible>(outbox.send(response, in_flight))
            })
        })
    };
    let io = TokioIo::new(Watched::new(stream, &activity, &bounds.gates.lingering));
    let mut connection = pin!(builder.serve_connection(io, service));
    let idle_time = limits.idle_time;
    // A slow request or a quiet feed does not make a connection stuck.
    let stuck_time = idle_time.max(2 * limits.request_time).max(3 * limits.heartbeat);
    let head_time = limits.head_time;
    let mut tick = tokio::time::interval((idle_time.min(head_time) / 4).max(Duration::from_millis(10)));
    let mut evicted = pin!(activity.evicted.notified());
    let mut is_ending = false;
    loop {
        tokio::select! {
            biased;
            _ = connection.as_mut() => return,
            _ = stopping.wait_for(|is_stopping| *is_stopping), if !is_ending => {
                is_ending = true;
                connection.as_mut().graceful_shutdown();
            }
            () = &mut evicted => {
                // A request has begun since: the connection stays, and may be chosen again.
                if activity.idleness().is_some() {
                    return;
                }
                evicted.set(activity.evicted.notified());
            }
            _ = tick.tick() => {
                if activity.outbox.is_stuck(stuck_time) || activity.is_half(head_time) {
                    return;
                }
                if activity.is_idle(idle_time) {
                    if is_ending {
                        return;
                    }
                    is_ending = true;
                    connection.as_mut().graceful_shutdown();
                }
            }
        }
    }
}

/// The body of a request, which counts as being received until it is dropped.
fn counted(body: Incoming, activity: &Arc<Activity>) -> Body {
    if body.is_end_stream() {
        return Body::empty();
    }
    let receiving = Receiving::new(activity);
    Body::new(body.map_frame(move |frame| {
        let _until_dropped = &receiving;
        frame
    }))
}

/// Waits for the first bytes, and prepares for the version that they are of. hyper would read the first of them by
/// themselves, and then keep a buffer that is twice as large as long as the connection is open.
async fn first_builder(limits: &Limits, stream: &Stream) -> Builder<TokioExecutor> {
    /// How HTTP/2 begins, and no method of HTTP/1.
    const HTTP_2: &[u8] = b"PRI";
    let mut first = [0; HTTP_2.len()];
    let builder = builder(limits);
    let stream = match stream {
        Stream::Plain(stream) => stream,
        // The handshake has agreed on a version, if the client can more than HTTP/1.
        Stream::Tls(stream) => {
            return match stream.get_ref().1.alpn_protocol() {
                Some(b"h2") => builder.http2_only(),
                Some(_) => builder.http1_only(),
                None => builder,
            };
        }
    };
    match stream.peek(&mut first).await {
        Ok(length) if length < HTTP_2.len() => builder,
        Ok(_) if first == HTTP_2 => builder.http2_only(),
        Ok(_) => builder.http1_only(),
        // The first read says the same.
        Err(_) => builder,
    }
}

fn builder(limits: &Limits) -> Builder<TokioExecutor> {
    // The smallest buffer that hyper allows.
    const BUFFER_MIN: usize = 8_192;
    let mut builder = Builder::new(TokioExecutor::new());
    // At most 100 headers is hyper's own default, for which it does not allocate with each request.
    builder
        .http1()
        // A client may send a request and then close its sending half. hyper would close the connection without an
        // answer; `Watched` lets the answer out if it is ready.
        .half_close(true)
        .title_case_headers(true)
        // The tick of the connection notices a request that does not come, so no request needs a timer.
        .header_read_timeout(None)
        .max_buf_size(limits.header_bytes_max.max(BUFFER_MIN));
    builder
        .http2()
        .timer(TokioTimer::new())
        .initial_connection_window_size(UNREAD_BYTES_MAX)
        .initial_stream_window_size(UNREAD_BYTES_MAX)
        .keep_alive_interval(limits.idle_time / 3)
        .keep_alive_timeout(limits.idle_time / 3)
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(u32::try_from(limits.header_bytes_max).unwrap_or(u32::MAX));
    builder
}

/// Refuses to serve while the clock is outside the years of a `Date` header: hyper would panic on every connection,
/// without an answer.
///
/// Errors: `wrong-clock` before 1970 and after 9999.
/// Source: the bounds of `httpdate::HttpDate::from`, which hyper 1 calls even if it sends no header.
pub fn check_clock(now: SystemTime) -> Result<(), Problem> {
    const SECONDS_END: u64 = 253_402_300_800;
    match now.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) if since.as_secs() < SECONDS_END => Ok(()),
        _ => {
            let detail =
                "clock: expected the years 1970 to 9999, found another one; set the clock of the server";
            Err(Problem::door("wrong-clock", detail))
        }
    }
}

/// Answers a connection that the server does not accept. The answer fits into an empty send buffer, so no thread waits.
pub fn refuse(stream: &TcpStream, problem: &Problem) {
    let body = problem.to_json().to_string();
    let text = format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: {PROBLEM_JSON}\r\nRetry-After: 1\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.try_write(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_no_date_header_can_say_is_refused() {
        let (first, second) = (SystemTime::UNIX_EPOCH, Duration::from_secs(1));
        let end = first + Duration::from_secs(253_402_300_800);
        for clock in [first, SystemTime::now(), end - second] {
            assert!(check_clock(clock).is_ok(), "{clock:?}");
        }
        for clock in [first - second, first - Duration::from_nanos(1), end] {
            assert_eq!(check_clock(clock).unwrap_err().to_json()["kind"], "wrong-clock", "{clock:?}");
        }
    }
}
