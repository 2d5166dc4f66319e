//! The changes of the entries of `lst`, from a stream of events over HTTP.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use memchr::memmem::find_iter;

use crate::datastore::subscribers::{Event, Feed};
use crate::outcome::Outcome;

/// Text that each change of an event contains once. No value of the lab contains it.
const CHANGE: &[u8] = br#""change":"#;

/// Subscribes this many times, each over a connection of its own, to all that happens after a position.
pub fn feeds(address: SocketAddr, position: u64, count: usize) -> Outcome<Vec<Box<dyn Feed>>> {
    let feed = |_| -> Outcome<Box<dyn Feed>> {
        let mut stream = TcpStream::connect(address)?;
        write!(stream, "GET /v1/feed?search=lst&after={position} HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
        let mut events = BufReader::new(stream);
        read_head(&mut events)?;
        Ok(Box::new(Events::new(events)))
    };
    (0..count).map(feed).collect()
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

/// The events of a stream. A wait may end within an event, and the next one goes on there.
struct Events<R> {
    lines: BufReader<Chunks<R>>,
    /// The line that is being read.
    line: Vec<u8>,
    position: Option<u128>,
    changes_count: usize,
    /// True if the next line tells an error.
    is_error: bool,
}

impl<R: BufRead> Events<R> {
    fn new(stream: R) -> Events<R> {
        let chunks = Chunks { stream, head: String::new(), left: 0 };
        let lines = BufReader::with_capacity(1 << 20, chunks);
        Events { lines, line: Vec::new(), position: None, changes_count: 0, is_error: false }
    }

    /// The next event, when all of it is there. `None` if the time was over before.
    fn next(&mut self) -> Outcome<Option<Event>> {
        loop {
            match self.lines.read_until(b'\n', &mut self.line) {
                Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {
                    return Ok(None);
                }
                read => read?,
            };
            let line = std::mem::take(&mut self.line);
            match line.trim_ascii_end() {
                _ if line.is_empty() => return Err("feed: the stream has ended".into()),
                text if text.starts_with(b"id: ") => {
                    self.position = Some(std::str::from_utf8(&text[b"id: ".len()..])?.parse()?);
                }
                b"event: error" => self.is_error = true,
                text if self.is_error => {
                    return Err(format!("feed: {}", String::from_utf8_lossy(text)).into());
                }
                text if text.starts_with(b"data: ") => self.changes_count += find_iter(text, CHANGE).count(),
                b"" => {
                    if let Some(position) = self.position.take() {
                        let changes_count = std::mem::take(&mut self.changes_count);
                        return Ok(Some(Event { position, changes_count }));
                    }
                }
                _ => {}
            }
        }
    }
}

impl Feed for Events<BufReader<TcpStream>> {
    fn wait(&mut self, time_max: Duration) -> Result<Option<Event>, String> {
        let stream = self.lines.get_ref().stream.get_ref();
        let limited = stream.set_read_timeout(Some(time_max)).map_err(|error| error.to_string());
        limited.and_then(|()| self.next().map_err(|error| error.to_string()))
    }
}

/// The bytes of a body that comes in chunks. Ends with the connection.
struct Chunks<R> {
    stream: R,
    /// The line before a chunk, as far as it has come.
    head: String,
    /// Bytes of the chunk that are not read yet.
    left: usize,
}

impl<R: BufRead> Read for Chunks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.left == 0 {
            // The line end behind the chunk before, then the length.
            if self.stream.read_line(&mut self.head)? == 0 {
                return Ok(0);
            }
            if !self.head.trim().is_empty() {
                self.left = usize::from_str_radix(self.head.trim(), 16).map_err(std::io::Error::other)?;
            }
            self.head.clear();
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

    /// The text in chunks of five bytes.
    fn events(text: &str) -> Events<std::io::Cursor<String>> {
        let chunks: String = text.as_bytes().chunks(5).fold(String::new(), |chunks, chunk| {
            chunks + &format!("{:x}\r\n{}\r\n", chunk.len(), std::str::from_utf8(chunk).unwrap())
        });
        Events::new(std::io::Cursor::new(chunks))
    }

    #[test]
    fn changes_are_counted_and_an_event_is_heard_when_all_of_it_is_there() {
        let mut events = events(
            "id: 7\ndata: {\"changes\":[{\"change\":\"appeared\"},{\"change\":\"changed\"}]}\n\n: heartbeat\n\nid: 9\ndata: {\"change\":1}\n",
        );
        let event = events.next().unwrap().unwrap();
        assert_eq!((event.position, event.changes_count), (7, 2));
        assert!(events.next().is_err(), "the stream ends within an event");
    }

    #[test]
    fn an_error_in_the_stream_is_told() {
        let error = events("event: error\ndata: {\"kind\":\"too-large\"}\n\n").next().err().unwrap();
        assert!(error.to_string().contains("too-large"), "{error}");
    }
}
