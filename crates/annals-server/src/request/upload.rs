//! A body of any length that a thread reads while it arrives. The server buffers little of it, and waits only while the
//! client sends.

use std::io::{self, Read};
use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt;
use hyper::body::{Buf, Bytes};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;

use crate::bounds::Bounds;
use crate::bounds::patience::FlowWait;
use crate::protocol::problem::Problem;

/// Parts of a body that wait for the thread; when there are more, the client waits. A part is at most one read of a
/// socket.
const PARTS_MAX: usize = 4;

/// The server still reads this much of a body that it refuses, so that the client reads the answer: most clients look
/// for an answer only after they have sent their buffer. Units: bytes.
const DISCARDED_BYTES_MAX: usize = 16 << 20;
/// Longest time for that.
const DISCARD_TIME_MAX: Duration = Duration::from_millis(500);

/// A part of a body. A channel that closes without the end means that the body broke off.
enum Part {
    Data(Bytes),
    End,
}

/// The end that receives the body from the client.
pub struct Inlet(Sender<Part>);

/// The end that the thread reads.
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
    /// Passes a body on until its end, or until the thread needs no more, or the server is stopping.
    ///
    /// Errors: `slow-request`; `invalid-argument` if it breaks off; `stopping`.
    pub async fn receive(
        self,
        bounds: &Bounds,
        mut stopping: watch::Receiver<bool>,
        body: &mut Body,
    ) -> Result<(), Problem> {
        let mut wait = FlowWait::new(bounds);
        loop {
            let data = tokio::select! {
                data = wait.next(body) => data?,
                () = self.0.closed() => return Ok(()),
                _ = stopping.wait_for(|is_stopping| *is_stopping) => {
                    return Err(Problem::door("stopping", "server: it was asked to stop; continue when it is running again"));
                }
            };
            let is_end = data.is_none();
            if self.0.send(data.map_or(Part::End, Part::Data)).await.is_err() || is_end {
                return Ok(());
            }
        }
    }
}

/// Reads and drops the rest of a body, within bounds.
pub async fn discard(body: &mut Body) {
    let reading = async {
        let mut bytes = 0;
        while let Some(Ok(frame)) = body.frame().await
            && bytes < DISCARDED_BYTES_MAX
        {
            bytes += frame.data_ref().map_or(0, Bytes::len);
        }
    };
    // After this time the connection is closed.
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
