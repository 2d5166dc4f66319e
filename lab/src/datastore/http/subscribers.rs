//! Subscribers to the entries of `lst` over HTTP: connections that each receive every change.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use memchr::memmem::find_iter;

use crate::outcome::Outcome;

/// Longest time between a push and its event.
const HEAR_TIME_MAX: Duration = Duration::from_secs(120);
/// Text that each change of an event contains once. No value of the lab contains it.
const CHANGE: &[u8] = br#""change":"#;

/// Subscribers. They end when this is dropped.
pub struct Subscribers(Vec<Subscriber>);

struct Subscriber {
    stream: TcpStream,
    /// The position of each event that it has received.
    heard: Receiver<u64>,
    /// The last of them.
    position: u64,
    /// The number of changes; the error is a text, because it crosses threads.
    thread: Option<JoinHandle<Result<usize, String>>>,
}

impl Subscribers {
    /// Starts this many subscribers, to all that happens after a position.
    pub fn start(address: SocketAddr, position: u64, count: usize) -> Outcome<Subscribers> {
        let start = || -> Outcome<Subscriber> {
            let mut stream = TcpStream::connect(address)?;
            write!(stream, "GET /v1/feed?search=lst&after={position} HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
            let mut events = BufReader::new(stream.try_clone()?);
            read_head(&mut events)?;
            let (sends, heard) = channel();
            let thread = std::thread::spawn(move || {
                let chunks = BufReader::with_capacity(1 << 20, Chunks { stream: events, left: 0 });
                hear(chunks, &sends).map_err(|error| error.to_string())
            });
            Ok(Subscriber { stream, heard, position, thread: Some(thread) })
        };
        Ok(Subscribers((0..count).map(|_| start()).collect::<Outcome<_>>()?))
    }

    /// Waits until each subscriber has received the changes up to this position.
    ///
    /// Errors: if one has ended, or takes too long.
    pub fn wait(&mut self, position: u64) -> Outcome<()> {
        for one in &mut self.0 {
            while one.position < position {
                one.position = one.heard.recv_timeout(HEAR_TIME_MAX)?;
            }
        }
        Ok(())
    }

    /// Ends all subscribers. Shape: the number of changes that each received.
    pub fn end(mut self) -> Outcome<Vec<usize>> {
        self.0.iter_mut().map(Subscriber::end).collect()
    }
}

impl Subscriber {
    fn end(&mut self) -> Outcome<usize> {
        // The server may have closed it.
        let _ = self.stream.shutdown(Shutdown::Both);
        let thread = self.thread.take().ok_or("a subscriber has ended")?;
        Ok(thread.join().map_err(|_| "a subscriber panicked")??)
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        if self.thread.is_some() {
            let _ = self.end();
        }
    }
}

/// Errors: unless the answer is a success in chunks.
fn read_head(events: &mut impl BufRead) -> Outcome<()> {
    let (mut head, mut line) = (String::new(), String::new());
    while line != "\r\n" {
        line.clear();
        if events.read_line(&mut line)? == 0 {
            return Err(format!("feed: expected the head of an answer, found {head:?}").into());
        }
        head.push_str(&line.to_ascii_lowercase());
    }
    if !head.starts_with("http/1.1 200") || !head.contains("transfer-encoding: chunked") {
        return Err(format!("feed: expected 200 and chunks, found {head:?}").into());
    }
    Ok(())
}

/// Counts changes until the stream ends, and sends the position of each event when all of it is there.
fn hear(mut events: impl BufRead, sends: &Sender<u64>) -> Outcome<usize> {
    let (mut count, mut position) = (0, None);
    let mut line = Vec::new();
    loop {
        line.clear();
        events.read_until(b'\n', &mut line)?;
        match line.trim_ascii_end() {
            _ if line.is_empty() => return Ok(count),
            b"event: error" => {
                events.read_until(b'\n', &mut line)?;
                return Err(format!("feed: {}", String::from_utf8_lossy(&line)).into());
            }
            text if text.starts_with(b"id: ") => {
                position = Some(std::str::from_utf8(&text[b"id: ".len()..])?.parse()?);
            }
            text if text.starts_with(b"data: ") => {
                count += find_iter(text, CHANGE).count();
            }
            b"" => {
                if let Some(position) = position.take() {
                    // The receiver may have ended.
                    let _ = sends.send(position);
                }
            }
            _ => {}
        }
    }
}

/// The bytes of a body that comes in chunks. Ends with the connection.
struct Chunks<R> {
    stream: R,
    /// Bytes of the chunk that are not read yet.
    left: usize,
}

impl<R: BufRead> Read for Chunks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            let mut line = String::new();
            // The line end behind the chunk before, then the length.
            while line.trim().is_empty() {
                line.clear();
                if self.stream.read_line(&mut line)? == 0 {
                    return Ok(0);
                }
            }
            self.left = usize::from_str_radix(line.trim(), 16).map_err(std::io::Error::other)?;
        }
        let bytes = self.left.min(buffer.len());
        let bytes = self.stream.read(&mut buffer[..bytes])?;
        self.left -= bytes;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_counted_and_an_event_is_heard_when_all_of_it_is_there() {
        let text = "id: 7\ndata: {\"changes\":[{\"change\":\"appeared\"},{\"change\":\"changed\"}]}\n\n: heartbeat\n\nid: 9\ndata: {\"change\":1}\n";
        let chunks: String = text.as_bytes().chunks(5).fold(String::new(), |chunks, chunk| {
            chunks + &format!("{:x}\r\n{}\r\n", chunk.len(), std::str::from_utf8(chunk).unwrap())
        });
        let (sends, heard) = channel();
        let chunks = Chunks { stream: chunks.as_bytes(), left: 0 };
        assert_eq!(hear(BufReader::with_capacity(3, chunks), &sends).unwrap(), 3);
        drop(sends);
        assert_eq!(heard.iter().collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn an_error_in_the_stream_is_told() {
        let (sends, _heard) = channel();
        let error = hear(&b"event: error\ndata: {\"kind\":\"too-large\"}\n\n"[..], &sends).unwrap_err();
        assert!(error.to_string().contains("too-large"), "{error}");
    }
}
