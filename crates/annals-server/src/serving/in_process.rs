//! The door without a port: a program that embeds Annals sends it requests, and gets the answers that a client of the
//! server gets.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use annals::{Error, ErrorKind, Repository, Result};
use axum::body::{Body, Bytes};
use futures_util::StreamExt;
use futures_util::stream::unfold;
use http::header::HOST;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::BodyExt;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tower::ServiceExt;

use super::router::router;
use super::server::PIECES_MAX;
use crate::bounds::limits::Limits;
use crate::request::door::Door;
use crate::request::hosts::Hosts;

/// Parts of a request's body that may wait for the door.
const PARTS_MAX: usize = 4;

/// The door of one repository. Dropping it ends its requests; the repository stays open.
pub struct InProcess {
    door: Arc<Door>,
    router: axum::Router,
    // `None` only while it is dropped.
    runtime: Option<Runtime>,
}

/// A request and its answer. Dropping it cancels the request.
pub struct Exchange {
    runtime: Handle,
    /// `None` once the body of the request is whole.
    request: Option<mpsc::Sender<Bytes>>,
    waiting: Option<JoinHandle<Response<Body>>>,
    answer: Option<Response<Body>>,
    /// The bytes of the last part that are not read yet.
    rest: Bytes,
    closed: watch::Receiver<bool>,
    closer: Closer,
}

/// Ends an exchange from another thread, also while it waits.
#[derive(Clone)]
pub struct Closer(Arc<watch::Sender<bool>>);

impl Closer {
    /// Ends it: what waits returns the error `Closed`.
    pub fn close(&self) {
        self.0.send_replace(true);
    }
}

impl InProcess {
    /// The door of an open repository, with threads of its own.
    ///
    /// Errors: `Io` if threads cannot be started.
    pub fn new(repository: Repository, limits: Limits) -> Result<InProcess> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .worker_threads(2)
            .max_blocking_threads(limits.threads_max() + PIECES_MAX)
            .thread_name("annals-door")
            .build()
            .map_err(|source| Error::io("start the runtime", source))?;
        let hosts = Hosts::new(IpAddr::V4(Ipv4Addr::LOCALHOST), Vec::new(), Vec::new(), None);
        let mut door = Door::new(limits, hosts, "urn:annals:embedded".into());
        door.is_in_process = true;
        let door = Arc::new(door);
        door.open(repository).map_err(|source| Error::io("start the thread annals-herald", source))?;
        Ok(InProcess { router: router(&door, None), door, runtime: Some(runtime) })
    }

    /// Ends all requests, also those that wait; further ones end at once.
    pub fn stop(&self) {
        self.door.stop();
    }

    /// Sends a request with its whole body, and reads the whole answer. The calling thread works on it.
    ///
    /// Errors: `Closed`; `Io` if the door ends the answer before its end; `TooLarge` for a body of more than `bytes_max`.
    pub fn answer(
        &self,
        head: Request<()>,
        body: Vec<u8>,
        bytes_max: usize,
    ) -> Result<(Response<()>, Vec<u8>)> {
        let runtime = self.runtime.as_ref().ok_or_else(closed)?;
        let request = with_host(head).map(|()| Body::from(body));
        let router = self.router.clone();
        let answered = async move {
            let answer = router.oneshot(request).await.unwrap_or_else(|never| match never {});
            let (parts, mut body) = answer.into_parts();
            let mut whole = Vec::new();
            while let Some(frame) = body.frame().await {
                append(&mut whole, data(frame)?, bytes_max)?;
            }
            Ok((Response::from_parts(parts, ()), whole))
        };
        let mut stopping = self.door.stopping();
        runtime.block_on(async {
            tokio::select! {
                biased;
                _ = stopping.wait_for(|is_stopping| *is_stopping) => Err(closed()),
                answer = answered => answer,
            }
        })
    }

    /// Sends a request; with `has_body`, its body follows by [`Exchange::write`] and [`Exchange::finish`].
    ///
    /// Errors: `Closed`.
    pub fn send(&self, head: Request<()>, has_body: bool) -> Result<Exchange> {
        let runtime = self.runtime.as_ref().ok_or_else(closed)?.handle().clone();
        let (head, ()) = with_host(head).into_parts();
        let (request, body) = if has_body {
            let (sender, receiver) = mpsc::channel(PARTS_MAX);
            let parts = unfold(receiver, |mut receiver: mpsc::Receiver<Bytes>| async move {
                receiver.recv().await.map(|part| (Ok::<_, std::io::Error>(part), receiver))
            });
            (Some(sender), Body::from_stream(parts.fuse()))
        } else {
            (None, Body::empty())
        };
        let router = self.router.clone();
        let waiting = runtime.spawn(async move {
            let answer = router.oneshot(Request::from_parts(head, body)).await;
            answer.unwrap_or_else(|never| match never {})
        });
        let (sender, closed) = watch::channel(false);
        let (rest, closer) = (Bytes::new(), Closer(Arc::new(sender)));
        Ok(Exchange { runtime, request, waiting: Some(waiting), answer: None, rest, closed, closer })
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.door.stop();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(1));
        }
    }
}

impl Exchange {
    /// Ends this exchange from another thread.
    pub fn closer(&self) -> Closer {
        self.closer.clone()
    }

    /// Gives the next part of the request's body; waits while the door is behind. The door may answer, and not read
    /// the rest.
    pub fn write(&mut self, part: Vec<u8>) {
        if let Some(request) = &self.request {
            let closed = &mut self.closed;
            self.runtime.block_on(async {
                tokio::select! {
                    _ = request.send(part.into()) => {}
                    _ = closed.wait_for(|is_closed| *is_closed) => {}
                }
            });
        }
    }

    /// Ends the request's body.
    pub fn finish(&mut self) {
        self.request = None;
    }

    /// Waits for the answer; its body follows by [`Exchange::read`].
    ///
    /// Errors: `Closed` if the door was closed meanwhile.
    pub fn head(&mut self) -> Result<&Response<Body>> {
        if let Some(waiting) = &mut self.waiting {
            let is_closed = &mut self.closed;
            let answer = self.runtime.block_on(async {
                tokio::select! {
                    answer = waiting => answer.map_err(|_| closed()),
                    _ = is_closed.wait_for(|is_closed| *is_closed) => Err(closed()),
                }
            })?;
            (self.answer, self.waiting) = (Some(answer), None);
        }
        self.answer.as_ref().ok_or_else(closed)
    }

    /// Waits for the next part of the answer's body; `None` at its end.
    ///
    /// Errors: `Closed`; `Io` if the door ends the answer before its end.
    pub fn read(&mut self) -> Result<Option<Bytes>> {
        self.head()?;
        let Some(answer) = &mut self.answer else { return Err(closed()) };
        loop {
            let is_closed = &mut self.closed;
            let frame = self.runtime.block_on(async {
                tokio::select! {
                    frame = answer.body_mut().frame() => Ok(frame),
                    _ = is_closed.wait_for(|is_closed| *is_closed) => Err(closed()),
                }
            })?;
            let Some(frame) = frame else { return Ok(None) };
            if let Some(part) = data(frame)? {
                return Ok(Some(part));
            }
        }
    }

    /// As [`Exchange::read`], but at most `bytes_max` bytes, which must not be 0.
    ///
    /// Errors: as [`Exchange::read`].
    pub fn read_some(&mut self, bytes_max: usize) -> Result<Option<Vec<u8>>> {
        while self.rest.is_empty() {
            let Some(part) = self.read()? else { return Ok(None) };
            self.rest = part;
        }
        let count = bytes_max.min(self.rest.len());
        Ok(Some(self.rest.split_to(count).to_vec()))
    }

    /// Status and whole body of the answer.
    ///
    /// Errors: as [`Exchange::read`]; `TooLarge` for more than `bytes_max`.
    pub fn whole(&mut self, bytes_max: usize) -> Result<(StatusCode, Vec<u8>)> {
        let mut body = Vec::new();
        let status = self.head()?.status();
        while let Some(part) = self.read()? {
            append(&mut body, Some(part), bytes_max)?;
        }
        Ok((status, body))
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if let Some(waiting) = &self.waiting {
            waiting.abort();
        }
    }
}

fn with_host(mut head: Request<()>) -> Request<()> {
    head.headers_mut().entry(HOST).or_insert(HeaderValue::from_static("localhost"));
    head
}

/// The bytes of a frame; `None` for trailers, which are left out.
fn data(frame: std::result::Result<Frame<Bytes>, axum::Error>) -> Result<Option<Bytes>> {
    let frame = frame.map_err(|source| Error::io("read an answer", std::io::Error::other(source)))?;
    Ok(frame.into_data().ok())
}

fn append(body: &mut Vec<u8>, part: Option<Bytes>, bytes_max: usize) -> Result<()> {
    let Some(part) = part else { return Ok(()) };
    if body.len() + part.len() > bytes_max {
        let text =
            format!("answer: expected at most {bytes_max} bytes; ask for pages, or read it as a stream");
        return Err(Error::new(ErrorKind::TooLarge, text));
    }
    body.extend_from_slice(&part);
    Ok(())
}

fn closed() -> Error {
    Error::new(ErrorKind::Closed, "door: it is closed; open the repository again")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(method: &str, target: &str) -> Request<()> {
        Request::builder()
            .method(method)
            .uri(target)
            .header("content-type", "application/json")
            .body(())
            .unwrap()
    }

    #[test]
    fn a_program_sends_requests_without_a_port() {
        let repository = Repository::in_memory();
        let door = InProcess::new(repository.clone(), Limits::default()).unwrap();
        let mut create = door.send(head("POST", "/v1/entities"), true).unwrap();
        for part in [&b"{\"id\": \"a\", \"type\": "[..], b"\"t\", \"properties\": {\"n\": 1}}"] {
            create.write(part.to_vec());
        }
        create.finish();
        assert_eq!(create.whole(1 << 20).unwrap().0, StatusCode::CREATED);
        let (status, body) = door.send(head("GET", "/v1/entities/a"), false).unwrap().whole(1 << 20).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!((status, &json["properties"]["n"]), (StatusCode::OK, &1.into()));
        let mut long = door.send(head("GET", "/openapi.json"), false).unwrap();
        assert_eq!(long.whole(10).unwrap_err().kind(), ErrorKind::TooLarge);
        let mut missing = door.send(head("GET", "/v1/entities/b"), false).unwrap();
        assert_eq!(missing.whole(1 << 20).unwrap().0, StatusCode::NOT_FOUND);
        let following = door.send(head("GET", "/v1/feed?wait=30"), false).unwrap();
        drop(following);
        drop(door);
        assert_eq!(repository.snapshot().entities_count(), 1);
    }

    #[test]
    fn an_exchange_that_waits_is_ended_by_another_thread() {
        let door = InProcess::new(Repository::in_memory(), Limits::default()).unwrap();
        let mut waiting = door.send(head("POST", "/v1/entities"), true).unwrap();
        let closer = waiting.closer();
        let reader = std::thread::spawn(move || waiting.head().map(drop));
        std::thread::sleep(Duration::from_millis(50));
        closer.close();
        let start = std::time::Instant::now();
        assert_eq!(reader.join().unwrap().unwrap_err().kind(), ErrorKind::Closed);
        assert!(start.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn the_calling_thread_works_on_whole_requests() {
        let door = InProcess::new(Repository::in_memory(), Limits::default()).unwrap();
        let create = br#"{"id": "a", "type": "t", "properties": {"n": 1}}"#.to_vec();
        let (head_of, body) = door.answer(head("POST", "/v1/entities"), create, 1 << 20).unwrap();
        assert_eq!(head_of.status(), StatusCode::CREATED);
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&body).unwrap()["id"], "a");
        let missing = door.answer(head("GET", "/v1/entities/b"), Vec::new(), 1 << 20).unwrap();
        assert_eq!(missing.0.status(), StatusCode::NOT_FOUND);
        let long = door.answer(head("GET", "/openapi.json"), Vec::new(), 10);
        assert_eq!(long.unwrap_err().kind(), ErrorKind::TooLarge);
        let start = std::time::Instant::now();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| door.answer(head("GET", "/v1/feed"), Vec::new(), 1 << 20));
            std::thread::sleep(Duration::from_millis(50));
            door.stop();
            // Stopped before its answer began, or in it.
            match waiting.join().unwrap() {
                Ok((head_of, _)) => assert_eq!(head_of.status(), StatusCode::OK),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Closed),
            }
        });
        assert!(start.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_body_that_the_door_reads_again_after_its_end_ends_again() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::open(folder.path().join("r")).unwrap();
        let door = InProcess::new(repository, Limits::default()).unwrap();
        let request =
            Request::builder().method("POST").uri("/v1/content").header("content-type", "text/plain");
        let request = request.header("repr-digest", "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:");
        let mut upload = door.send(request.body(()).unwrap(), true).unwrap();
        upload.write(b"bytes".to_vec());
        upload.finish();
        let (status, body) = upload.whole(1 << 20).unwrap();
        assert!(status.is_client_error(), "{status}: {}", String::from_utf8_lossy(&body));
    }

    #[test]
    fn a_closed_door_ends_waiting_requests() {
        let door = InProcess::new(Repository::in_memory(), Limits::default()).unwrap();
        let mut waiting = door.send(head("POST", "/v1/entities"), true).unwrap();
        drop(door);
        assert_eq!(waiting.head().unwrap_err().kind(), ErrorKind::Closed);
    }
}
