//! A client of HTTP/1.1 over one connection that stays open, which times the first byte of an answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::outcome::Outcome;

/// Longest time one answer may take.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(600);
/// Longest head of an answer, and longest line of a chunk. Units: bytes.
const HEAD_BYTES_MAX: u64 = 64 << 10;
/// Longest body of an answer. Units: bytes.
const BODY_BYTES_MAX: usize = 1 << 30;
/// How much of an unexpected body an error tells. Units: bytes.
const TOLD_BYTES_MAX: usize = 300;

/// The address of a server, and the path below which the lab works.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Host and port, as in the URL.
    pub authority: String,
    /// Without a slash at its end.
    pub path: String,
}

impl Place {
    /// Reads a URL.
    ///
    /// Errors: unless it is a URL of http.
    pub fn parse(url: &str) -> Outcome<Place> {
        let rest = url.strip_prefix("http://");
        let rest = rest
            .ok_or_else(|| format!("URL {url:?}: expected a URL with http://, because the lab has no TLS"))?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let is_bad = |letter: char| letter.is_whitespace() || "<>\"?#@".contains(letter);
        if authority.is_empty() || rest.contains(is_bad) {
            return Err(format!(
                "URL {url:?}: expected http://host:port/path, without user, query and fragment"
            )
            .into());
        }
        Ok(Place { authority: authority.into(), path: path.trim_end_matches('/').into() })
    }

    /// A server on this machine.
    pub fn at(address: SocketAddr) -> Place {
        Place { authority: address.to_string(), path: String::new() }
    }

    /// The URL of a path on this server.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.authority)
    }

    /// The path in a URL of this server, or in a reference without a host.
    pub fn path_of(&self, location: &str) -> Outcome<String> {
        let path = location.strip_prefix(&format!("http://{}", self.authority)).unwrap_or(location);
        if path.starts_with('/') {
            return Ok(path.into());
        }
        Err(format!("Location: expected a URL of {}, found {location:?}", self.authority).into())
    }

    /// `host:port` with the default port of http.
    fn socket(&self) -> String {
        let host = self.authority.rsplit(']').next().unwrap_or_default();
        if host.contains(':') { self.authority.clone() } else { format!("{}:80", self.authority) }
    }
}

/// A request. A body without a content type has none in the request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    pub method: &'static str,
    pub path: String,
    /// Shape: name, value.
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

/// An answer; its body is in [`Client::body`].
pub struct Answer {
    pub status: u16,
    /// The header `Location`.
    pub location: Option<String>,
    /// The header `Annals-Position`.
    pub position: Option<u64>,
    /// From the first byte of the request to the first byte of the answer.
    pub first_byte: Duration,
    /// To the last byte of the answer.
    pub elapsed: Duration,
}

/// The facts about an answer and its body from its head.
#[derive(Default)]
pub struct Head {
    pub status: u16,
    length: Option<usize>,
    pub is_chunked: bool,
    is_last: bool,
    location: Option<String>,
    position: Option<u64>,
}

impl Request {
    /// A request with a body in JSON, or without one.
    pub fn json(method: &'static str, path: &str, body: &str) -> Request {
        let kind = ("Content-Type", "application/json".to_owned());
        let headers = if body.is_empty() { Vec::new() } else { vec![kind] };
        Request { method, path: path.to_owned(), headers, body: body.as_bytes().to_vec() }
    }

    /// As it is sent.
    pub fn bytes(&self, host: &str) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nHost: {host}\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if !self.body.is_empty() {
            head += &format!("Content-Length: {}\r\n", self.body.len());
        }
        [head.as_bytes(), b"\r\n", &self.body].concat()
    }
}

/// Sends one request after the other. Connects again when the server has closed the connection after an answer.
pub struct Client {
    place: Place,
    stream: Option<BufReader<TcpStream>>,
    /// The body of the last answer.
    pub body: Vec<u8>,
}

impl Client {
    /// Connects with the first request.
    pub fn new(place: &Place) -> Client {
        Client { place: place.clone(), stream: None, body: Vec::new() }
    }

    /// Sends a request and reads the answer.
    ///
    /// Errors: unless the status is 2xx; the text has the beginning of the body.
    pub fn send(&mut self, request: &Request) -> Outcome<Answer> {
        let answer = self.ask(request)?;
        let what = || format!("{} {}", request.method, self.place.url(&request.path));
        self.check(answer.status).map_err(|error| format!("{}: {error}", what()))?;
        Ok(answer)
    }

    /// The same with any status.
    pub fn ask(&mut self, request: &Request) -> Outcome<Answer> {
        self.exchange(request)
            .map_err(|error| format!("{} {}: {error}", request.method, self.place.url(&request.path)).into())
    }

    /// Errors: unless the last answer, which had this status, is a success; the text has the beginning of the body.
    pub fn check(&self, status: u16) -> Outcome<()> {
        if (200..300).contains(&status) {
            return Ok(());
        }
        let told = String::from_utf8_lossy(&self.body[..self.body.len().min(TOLD_BYTES_MAX)]);
        Err(format!("expected 2xx, found {status}: {told}").into())
    }

    /// Sends a request that makes a resource. Returns its path.
    ///
    /// Errors: as [`Client::send`], and if the answer has no `Location`.
    pub fn make(&mut self, request: &Request) -> Outcome<String> {
        let answer = self.send(request)?;
        let missing = || format!("{} {}: expected a Location, found none", request.method, request.path);
        self.place.path_of(&answer.location.ok_or_else(missing)?)
    }

    fn connected(&mut self) -> Outcome<BufReader<TcpStream>> {
        if let Some(stream) = self.stream.take() {
            return Ok(stream);
        }
        let address = self.place.socket().to_socket_addrs()?.next().ok_or("the host has no address")?;
        let stream = TcpStream::connect_timeout(&address, ANSWER_TIME_MAX)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_TIME_MAX))?;
        stream.set_write_timeout(Some(ANSWER_TIME_MAX))?;
        Ok(BufReader::with_capacity(64 << 10, stream))
    }

    fn exchange(&mut self, request: &Request) -> Outcome<Answer> {
        let mut stream = self.connected()?;
        let bytes = request.bytes(&self.place.authority);
        let start = Instant::now();
        stream.get_mut().write_all(&bytes)?;
        stream.fill_buf()?;
        let first_byte = start.elapsed();
        let head = loop {
            let head = read_head(&mut stream)?;
            // An answer before the answer, such as 100.
            if head.status >= 200 {
                break head;
            }
        };
        self.body.clear();
        let mut is_last = head.is_last;
        let limit = BODY_BYTES_MAX as u64 + 1;
        if head.is_chunked {
            Chunks::of(&mut stream).take(limit).read_to_end(&mut self.body)?;
            within_bound(self.body.len())?;
            // Trailers, and the empty line behind them.
            while !read_line(&mut stream)?.is_empty() {}
        } else if let Some(length) = head.length {
            within_bound(length)?;
            self.body.resize(length, 0);
            stream.read_exact(&mut self.body)?;
        } else if head.status != 204 && head.status != 304 {
            is_last = true;
            (&mut stream).take(limit).read_to_end(&mut self.body)?;
            within_bound(self.body.len())?;
        }
        let elapsed = start.elapsed();
        self.stream = (!is_last).then_some(stream);
        let Head { status, location, position, .. } = head;
        Ok(Answer { status, location, position, first_byte, elapsed })
    }
}

fn within_bound(bytes: usize) -> Outcome<()> {
    if bytes > BODY_BYTES_MAX {
        return Err(format!("expected a body of at most {BODY_BYTES_MAX} bytes, found a larger one").into());
    }
    Ok(())
}

fn read_line(stream: &mut impl BufRead) -> Outcome<String> {
    let mut line = Vec::new();
    stream.take(HEAD_BYTES_MAX).read_until(b'\n', &mut line)?;
    if line.last() != Some(&b'\n') {
        return Err("the answer ended, or has too long a line, before its end".into());
    }
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}

/// Reads the head of an answer.
pub fn read_head(stream: &mut impl BufRead) -> Outcome<Head> {
    let line = read_line(stream)?;
    let status = line.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
    let status = status.ok_or_else(|| format!("expected an answer of HTTP/1.1, found {line:?}"))?;
    let mut head = Head { status, is_last: line.starts_with("HTTP/1.0"), ..Head::default() };
    let mut bytes = 0;
    loop {
        let line = read_line(stream)?;
        bytes += line.len() as u64;
        if bytes > HEAD_BYTES_MAX {
            return Err(
                format!("expected a head of at most {HEAD_BYTES_MAX} bytes, found a longer one").into()
            );
        }
        let Some((name, value)) = line.split_once(':') else {
            if line.is_empty() {
                return Ok(head);
            }
            return Err(format!("expected a header, found {line:?}").into());
        };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => head.length = Some(value.parse()?),
            "transfer-encoding" => head.is_chunked = value.eq_ignore_ascii_case("chunked"),
            "connection" => head.is_last |= value.eq_ignore_ascii_case("close"),
            "location" => head.location = Some(value.into()),
            "annals-position" => head.position = Some(value.parse()?),
            _ => {}
        }
    }
}

/// The bytes of a body that comes in chunks. It ends with the last chunk, or with the connection.
pub struct Chunks<R> {
    pub stream: R,
    /// The line before a chunk, as far as it has come.
    head: String,
    /// Bytes of the chunk that are not read yet.
    left: usize,
}

impl<R: BufRead> Chunks<R> {
    /// The chunks behind the head of an answer.
    pub fn of(stream: R) -> Chunks<R> {
        Chunks { stream, head: String::new(), left: 0 }
    }
}

impl<R: BufRead> Read for Chunks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.left == 0 {
            // The line end behind the chunk before, then the length.
            if self.stream.by_ref().take(HEAD_BYTES_MAX).read_line(&mut self.head)? == 0 {
                return Ok(0);
            }
            let head = std::mem::take(&mut self.head);
            let length = head.split(';').next().unwrap_or_default().trim();
            if !length.is_empty() {
                self.left = usize::from_str_radix(length, 16).map_err(std::io::Error::other)?;
                if self.left == 0 {
                    return Ok(0);
                }
            }
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
    fn a_url_has_a_host_and_a_path_without_a_slash_at_its_end() {
        let place = Place::parse("http://localhost:8080/rest/").unwrap();
        assert_eq!(place, Place { authority: "localhost:8080".into(), path: "/rest".into() });
        assert_eq!(place.url("/rest/a"), "http://localhost:8080/rest/a");
        assert_eq!(place.path_of("http://localhost:8080/rest/a").unwrap(), "/rest/a");
        assert!(place.path_of("http://elsewhere/rest/a").is_err());
        assert_eq!(Place::parse("http://[::1]").unwrap().socket(), "[::1]:80");
        for bad in ["https://a/", "a/b", "http:///a", "http://a/b?c", "http://user@a/"] {
            assert!(Place::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn chunks_are_read_up_to_their_trailers() {
        let mut stream = &b"4\r\nWiki\r\n5;a=b\r\npedia\r\n0\r\nX: y\r\n\r\nnext"[..];
        let mut body = Vec::new();
        Chunks::of(&mut stream).read_to_end(&mut body).unwrap();
        assert_eq!((body.as_slice(), stream), (&b"Wikipedia"[..], &b"X: y\r\n\r\nnext"[..]));
        assert!(Chunks::of(&b"zz\r\n"[..]).read_to_end(&mut body).is_err());
    }

    #[test]
    fn the_head_of_an_answer_says_where_the_body_ends() {
        let mut text =
            &b"HTTP/1.1 201 Created\r\nLOCATION: /a\r\nContent-Length: 3\r\nConnection: Close\r\n\r\nabc"[..];
        let head = read_head(&mut text).unwrap();
        assert_eq!((head.status, head.location.as_deref(), head.length), (201, Some("/a"), Some(3)));
        assert!(head.is_last && !head.is_chunked);
        assert!(read_head(&mut &b"SSH-2.0\r\n"[..]).is_err());
        assert!(read_head(&mut &b"HTTP/1.1 200 OK\r\nno header\r\n\r\n"[..]).is_err());
    }
}
