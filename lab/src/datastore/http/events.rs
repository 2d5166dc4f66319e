//! The changes of the entries of `lst`, from a stream of events over HTTP.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use memchr::memmem::find_iter;

use crate::datastore::subscribers::{Event, Feed};
use crate::outcome::Outcome;
use crate::run::{Chunks, Request, read_head};

/// Text that each change of an event contains once. No value of the lab contains it.
const CHANGE: &[u8] = br#""change":"#;

/// Subscribes this many times, each over a connection of its own, to all that happens after a position.
pub fn feeds(address: SocketAddr, position: u64, count: usize) -> Outcome<Vec<Box<dyn Feed>>> {
    let feed = |_| -> Outcome<Box<dyn Feed>> {
        let mut stream = TcpStream::connect(address)?;
        let request = Request::json("GET", &format!("/v1/feed?search=lst&after={position}"), "");
        stream.write_all(&request.bytes(&address.to_string()))?;
        let mut events = BufReader::new(stream);
        let head = read_head(&mut events)?;
        if head.status != 200 || !head.is_chunked {
            return Err(format!("feed: expected 200 and chunks, found {}", head.status).into());
        }
        Ok(Box::new(Events::new(events)))
    };
    (0..count).map(feed).collect()
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
        let lines = BufReader::with_capacity(1 << 20, Chunks::of(stream));
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
