//! A client of HTTP/1.1 over one connection that stays open.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::outcome::Outcome;

/// Longest time one answer may take.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);

/// Sends one request after the other.
pub struct Connection {
    address: SocketAddr,
    stream: BufReader<TcpStream>,
    /// The body of the last answer; its memory serves the next one.
    pub body: Vec<u8>,
    /// The header `Annals-Position` of the last answer.
    position: Option<u64>,
}

impl Connection {
    /// Connects.
    pub fn connect(address: SocketAddr) -> Outcome<Connection> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_TIME_MAX))?;
        Ok(Connection { address, stream: BufReader::new(stream), body: Vec::new(), position: None })
    }

    /// Returns the status. The answer is in `self.body`.
    pub fn send(&mut self, method: &str, path: &str, body: &str) -> Outcome<u16> {
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.address);
        if !body.is_empty() {
            write!(head, "Content-Type: application/json\r\nContent-Length: {}\r\n", body.len())?;
        }
        head.push_str("\r\n");
        head.push_str(body);
        self.stream.get_mut().write_all(head.as_bytes())?;
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|text| text.parse().ok());
        let status = status.ok_or_else(|| format!("{path}: expected an answer of HTTP, found {line:?}"))?;
        let (mut length, mut is_chunked) = (0, false);
        self.position = None;
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let header = line.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(text) = header.strip_prefix("content-length:") {
                length = text.trim().parse()?;
            }
            if let Some(text) = header.strip_prefix("annals-position:") {
                self.position = Some(text.trim().parse()?);
            }
            is_chunked |= header == "transfer-encoding: chunked";
        }
        if is_chunked {
            self.chunks()?;
        } else {
            self.bytes(0, length)?;
        }
        Ok(status)
    }

    /// The position of the repository that the last answer named.
    ///
    /// Errors: if it named none.
    pub fn position(&self) -> Outcome<u64> {
        Ok(self.position.ok_or("expected the header Annals-Position, found none")?)
    }

    /// Errors: unless the last answer, which had this status, is a success.
    pub fn check(&self, status: u16) -> Outcome<()> {
        if (200..300).contains(&status) {
            return Ok(());
        }
        Err(format!("HTTP {status}: {}", String::from_utf8_lossy(&self.body)).into())
    }

    /// Reads this many bytes into the body, after those at `start`.
    fn bytes(&mut self, start: usize, length: usize) -> Outcome<()> {
        self.body.resize(start + length, 0);
        Ok(self.stream.read_exact(&mut self.body[start..])?)
    }

    fn chunks(&mut self) -> Outcome<()> {
        let mut read = 0;
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line)?;
            let length = usize::from_str_radix(line.trim(), 16)?;
            self.bytes(read, length + 2)?;
            read += length;
            self.body.truncate(read);
            if length == 0 {
                return Ok(());
            }
        }
    }
}
