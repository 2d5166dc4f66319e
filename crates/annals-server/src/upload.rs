//! A body of any length that a thread reads while it comes: little of it waits here, and the client is waited for
//! only as long as it sends.

use std::io::{self, Read};
use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt;
use hyper::body::{Buf, Bytes};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::door::Door;
use super::patience::FlowWait;
use super::problem::Problem;

/// Parts of a body that wait for the thread; then the client waits. Each is at most what was read from a socket at once.
const PARTS_MAX: usize = 4;

/// What is still read of a body that nobody wants, so that its client gets to read why: most look for an answer only once
/// they have sent what they had in hand. Units: bytes.
const DISCARDED_BYTES_MAX: usize = 16 << 20;
/// So long it is read.
const DISCARD_TIME_MAX: Duration = Duration::from_millis(500);

/// A part of a body. A channel that closes without the end means that the body broke off.
enum Part {
    Data(Bytes),
    End,
}

/// Where the body goes in.
pub struct Inlet(Sender<Part>);

/// Where the thread reads it.
pub struct Upload {
    receiver: Receiver<Part>,
    rest: Bytes,
    is_ended: bool,
}

/// The two ends of an upload.
pub fn upload() -> (Inlet, Upload) {
    let (sender, receiver) = channel(PARTS_MAX);
    (Inlet(sender), Upload { receiver, rest: Bytes::new(), is_ended: false })
}

impl Inlet {
    /// Hands on a body until its end, or until the thread wants no more.
    ///
    /// Errors: `slow-request`; `invalid-argument` if it breaks off; `stopping`.
    pub async fn receive(self, door: &Door, body: &mut Body) -> Result<(), Problem> {
        let mut wait = FlowWait::new(door);
        let mut stopping = door.stopping();
        loop {
            let data = tokio::select! {
                data = wait.next(body) => data?,
                () = self.0.closed() => return Ok(()),
                _ = stopping.wait_for(|is_stopping| *is_stopping) => {
                    return Err(Problem::door("stopping", "server: it was asked to stop; go on when it is there again"));
                }
            };
            let is_end = data.is_none();
            if self.0.send(data.map_or(Part::End, Part::Data)).await.is_err() || is_end {
                return Ok(());
            }
        }
    }
}

/// Reads what comes of a body, within bounds, and leaves it.
pub async fn discard(body: &mut Body) {
    let reading = async {
        let mut bytes = 0;
        while let Some(Ok(frame)) = body.frame().await
            && bytes < DISCARDED_BYTES_MAX
        {
            bytes += frame.data_ref().map_or(0, Bytes::len);
        }
    };
    // When the time is over the connection is closed instead.
    let _ = tokio::time::timeout(DISCARD_TIME_MAX, reading).await;
}

impl Read for Upload {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() && !self.is_ended {
            match self.receiver.blocking_recv() {
                Some(Part::Data(bytes)) => self.rest = bytes,
                Some(Part::End) => self.is_ended = true,
                None => return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the body broke off")),
            }
        }
        let length = self.rest.len().min(buffer.len());
        self.rest.split_to(length).copy_to_slice(&mut buffer[..length]);
        Ok(length)
    }
}
