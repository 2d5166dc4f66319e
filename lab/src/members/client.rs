//! A client of any HTTP/1.1 server over one connection that stays open, which times the first byte of an answer.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
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

/// The address of an LDP server, and of the container below which the lab works.
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
    /// From the first byte of the request to the first byte of the answer.
    pub first_byte: Duration,
    /// To the last byte of the answer.
    pub elapsed: Duration,
}

/// The facts about a body from the head of its answer.
#[derive(Default)]
struct Head {
    length: Option<usize>,
    is_chunked: bool,
    is_last: bool,
    location: Option<String>,
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
        let what = format!("{} {}", request.method, self.place.url(&request.path));
        let answer = self.exchange(request).map_err(|error| {
            // The connection is in an unknown state.
            self.stream = None;
            format!("{what}: {error}")
        })?;
        if !(200..300).contains(&answer.status) {
            let told = &self.body[..self.body.len().min(TOLD_BYTES_MAX)];
            let told = String::from_utf8_lossy(told).into_owned();
            return Err(format!("{what}: expected 2xx, found {}: {told}", answer.status).into());
        }
        Ok(answer)
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
        let mut head =
            format!("{} {} HTTP/1.1\r\nHost: {}\r\n", request.method, request.path, self.place.authority);
        for (name, value) in &request.headers {
            write!(head, "{name}: {value}\r\n")?;
        }
        if !request.body.is_empty() {
            write!(head, "Content-Length: {}\r\n", request.body.len())?;
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&request.body);
        let start = Instant::now();
        stream.get_mut().write_all(&bytes)?;
        stream.fill_buf()?;
        let first_byte = start.elapsed();
        let (status, head) = loop {
            let (status, head) = read_head(&mut stream)?;
            // An answer before the answer, such as 100.
            if status >= 200 {
                break (status, head);
            }
        };
        self.body.clear();
        let mut is_last = head.is_last;
        if head.is_chunked {
            read_chunks(&mut stream, &mut self.body)?;
        } else if let Some(length) = head.length {
            read_bytes(&mut stream, length, &mut self.body)?;
        } else if status != 204 && status != 304 {
            is_last = true;
            let limit = BODY_BYTES_MAX as u64 + 1;
            (&mut stream).take(limit).read_to_end(&mut self.body)?;
            within_bound(self.body.len())?;
        }
        let elapsed = start.elapsed();
        self.stream = (!is_last).then_some(stream);
        Ok(Answer { status, location: head.location, first_byte, elapsed })
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

fn read_head(stream: &mut impl BufRead) -> Outcome<(u16, Head)> {
    let line = read_line(stream)?;
    let status = line.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
    let status = status.ok_or_else(|| format!("expected an answer of HTTP/1.1, found {line:?}"))?;
    let mut head = Head { is_last: line.starts_with("HTTP/1.0"), ..Head::default() };
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
                return Ok((status, head));
            }
            return Err(format!("expected a header, found {line:?}").into());
        };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => head.length = Some(value.parse()?),
            "transfer-encoding" => head.is_chunked = value.eq_ignore_ascii_case("chunked"),
            "connection" => head.is_last |= value.eq_ignore_ascii_case("close"),
            "location" => head.location = Some(value.into()),
            _ => {}
        }
    }
}

fn read_bytes(stream: &mut impl Read, length: usize, body: &mut Vec<u8>) -> Outcome<()> {
    let start = body.len();
    within_bound(start.saturating_add(length))?;
    body.resize(start + length, 0);
    Ok(stream.read_exact(&mut body[start..])?)
}

fn read_chunks(stream: &mut impl BufRead, body: &mut Vec<u8>) -> Outcome<()> {
    loop {
        let line = read_line(stream)?;
        let length = usize::from_str_radix(line.split(';').next().unwrap_or_default().trim(), 16)?;
        if length == 0 {
            // Trailers, and the empty line behind them.
            while !read_line(stream)?.is_empty() {}
            return Ok(());
        }
        read_bytes(stream, length, body)?;
        read_line(stream)?;
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
    fn an_answer_in_chunks_is_read_with_its_trailers() {
        let mut stream = &b"4\r\nWiki\r\n5;a=b\r\npedia\r\n0\r\nX: y\r\n\r\nnext"[..];
        let mut body = Vec::new();
        read_chunks(&mut stream, &mut body).unwrap();
        assert_eq!((body.as_slice(), stream), (&b"Wikipedia"[..], &b"next"[..]));
        assert!(read_chunks(&mut &b"zz\r\n"[..], &mut body).is_err());
        assert!(read_chunks(&mut &b"ffffffffff\r\n"[..], &mut body).is_err());
    }

    #[test]
    fn the_head_of_an_answer_says_where_the_body_ends() {
        let mut text =
            &b"HTTP/1.1 201 Created\r\nLOCATION: /a\r\nContent-Length: 3\r\nConnection: Close\r\n\r\nabc"[..];
        let (status, head) = read_head(&mut text).unwrap();
        assert_eq!((status, head.location.as_deref(), head.length), (201, Some("/a"), Some(3)));
        assert!(head.is_last && !head.is_chunked);
        assert!(read_head(&mut &b"SSH-2.0\r\n"[..]).is_err());
        assert!(read_head(&mut &b"HTTP/1.1 200 OK\r\nno header\r\n\r\n"[..]).is_err());
    }
}
