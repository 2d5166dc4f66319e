//! A stream that notes the bytes it receives and when its answers are written, and reads on for a moment after the last one.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Sleep;

use super::activity::Activity;
use super::stream::Stream;

/// How long the server reads on behind the answer to a request whose body it has not read. To close at once would reset
/// the connection, and a client that still sends would not see the answer.
const LINGER_TIME: Duration = Duration::from_millis(500);
/// Most bytes that it reads on. Units: bytes.
const LINGER_BYTES_MAX: usize = 16 << 20;
/// Units: bytes read at once.
const DROPPED_BYTES: usize = 8 << 10;

/// A stream that notes the bytes it receives, and when its answers are written.
pub struct Watched {
    stream: Stream,
    activity: Arc<Activity>,
    /// One per connection that reads on.
    places: Arc<Semaphore>,
    lingering: Option<Lingering>,
}

/// A connection that reads on.
struct Lingering {
    end: Pin<Box<Sleep>>,
    bytes_left: usize,
    _place: OwnedSemaphorePermit,
}

impl Watched {
    /// The stream of a connection, which may read on if there is a place.
    pub fn new(stream: Stream, activity: &Arc<Activity>, places: &Arc<Semaphore>) -> Watched {
        let (activity, places) = (Arc::clone(activity), Arc::clone(places));
        Watched { stream, activity, places, lingering: None }
    }

    /// True if the client has closed the connection; otherwise the task is woken when the client closes it or sends
    /// more. The end of TLS is more bytes: then the server notices that the client has gone when it writes the answer.
    fn is_gone(&self, context: &mut Context<'_>) -> bool {
        let mut byte = [0];
        match self.stream.socket().poll_peek(context, &mut ReadBuf::new(&mut byte)) {
            Poll::Pending => false,
            Poll::Ready(result) => result.map_or(true, |length| length == 0),
        }
    }
}

impl Lingering {
    /// Reads and drops what comes. Ready when the client has closed the connection, or a bound is reached.
    fn poll_end(&mut self, stream: &mut Stream, context: &mut Context<'_>) -> Poll<()> {
        let mut dropped = [0; DROPPED_BYTES];
        while self.bytes_left > 0 && self.end.as_mut().poll(context).is_pending() {
            let mut buffer = ReadBuf::new(&mut dropped);
            let read = ready!(Pin::new(&mut *stream).poll_read(context, &mut buffer));
            let count = buffer.filled().len();
            if read.is_err() || count == 0 {
                break;
            }
            self.bytes_left = self.bytes_left.saturating_sub(count);
        }
        Poll::Ready(())
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let poll = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.activity.note_bytes();
        }
        poll
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // hyper writes nothing more.
        self.activity.outbox.note_flushed();
    }
}

// No vectored writes: most answers are small, and copying them into one buffer is faster than a system call with two.
impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // hyper calls this whenever it has nothing more to do for a request in progress.
        if self.activity.is_answering() && self.is_gone(context) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        // hyper calls this after it has written everything. TLS may still hold a part of it.
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if let Poll::Ready(Ok(())) = flushed {
            self.activity.outbox.note_flushed();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Watched { stream, activity, places, lingering } = &mut *self;
        if lingering.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(context))?;
            if !activity.may_be_sending() {
                return Poll::Ready(Ok(()));
            }
            // Without a place the connection is closed at once.
            *lingering = Arc::clone(places).try_acquire_owned().ok().map(|place| Lingering {
                end: Box::pin(tokio::time::sleep(LINGER_TIME)),
                bytes_left: LINGER_BYTES_MAX,
                _place: place,
            });
        }
        match lingering {
            Some(lingering) => lingering.poll_end(stream, context).map(Ok),
            None => Poll::Ready(Ok(())),
        }
    }
}
