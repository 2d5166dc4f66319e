//! The door without a port: a program that embeds Annals sends it requests, and gets the answers that a client of the
//! server gets.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use annals::{Error, ErrorKind, Repository, Result};
use axum::body::{Body, Bytes};
use futures_util::stream::unfold;
use http::header::HOST;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::BodyExt;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tower::ServiceExt;

use super::door::Door;
use super::hosts::Hosts;
use super::limits::Limits;
use super::router::router;
use super::server::PIECES_MAX;

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
        let door = Arc::new(Door::new(limits, hosts, "urn:annals:embedded".into(), None));
        door.open(repository).map_err(|source| Error::io("start the thread annals-herald", source))?;
        Ok(InProcess { router: router(&door), door, runtime: Some(runtime) })
    }

    /// Sends a request; with `has_body`, its body follows by [`Exchange::write`] and [`Exchange::finish`].
    ///
    /// Errors: `Closed`.
    pub fn send(&self, head: Request<()>, has_body: bool) -> Result<Exchange> {
        let runtime = self.runtime.as_ref().ok_or_else(closed)?.handle().clone();
        let (mut head, ()) = head.into_parts();
        head.headers.entry(HOST).or_insert(HeaderValue::from_static("localhost"));
        let (request, body) = if has_body {
            let (sender, receiver) = mpsc::channel(PARTS_MAX);
            let parts = unfold(receiver, |mut receiver: mpsc::Receiver<Bytes>| async move {
                receiver.recv().await.map(|part| (Ok::<_, std::io::Error>(part), receiver))
            });
            (Some(sender), Body::from_stream(parts))
        } else {
            (None, Body::empty())
        };
        let router = self.router.clone();
        let waiting = runtime.spawn(async move {
            let answer = router.oneshot(Request::from_parts(head, body)).await;
            answer.unwrap_or_else(|never| match never {})
        });
        Ok(Exchange { runtime, request, waiting: Some(waiting), answer: None, rest: Bytes::new() })
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
    /// Gives the next part of the request's body; waits while the door is behind. The door may answer, and not read
    /// the rest.
    pub fn write(&mut self, part: Vec<u8>) {
        if let Some(request) = &self.request {
            let _ = self.runtime.block_on(request.send(part.into()));
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
        if let Some(waiting) = self.waiting.take() {
            self.answer = Some(self.runtime.block_on(waiting).map_err(|_| closed())?);
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
            match self.runtime.block_on(answer.body_mut().frame()) {
                None => return Ok(None),
                Some(Err(source)) => return Err(Error::io("read an answer", std::io::Error::other(source))),
                // Trailers are left out.
                Some(Ok(frame)) => {
                    if let Ok(part) = frame.into_data() {
                        return Ok(Some(part));
                    }
                }
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
            if body.len() + part.len() > bytes_max {
                let text = format!(
                    "answer: expected at most {bytes_max} bytes; ask for pages, or read it as a stream"
                );
                return Err(Error::new(ErrorKind::TooLarge, text));
            }
            body.extend_from_slice(&part);
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
    fn a_closed_door_ends_waiting_requests() {
        let door = InProcess::new(Repository::in_memory(), Limits::default()).unwrap();
        let mut waiting = door.send(head("POST", "/v1/entities"), true).unwrap();
        drop(door);
        assert_eq!(waiting.head().unwrap_err().kind(), ErrorKind::Closed);
    }
}
