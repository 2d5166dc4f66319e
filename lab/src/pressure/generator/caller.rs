//! A caller: one connection that stays open, with at most one request in progress.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// A request that has no answer yet.
#[derive(Clone, Copy)]
pub struct Asked {
    /// Of the work.
    pub number: u64,
    /// When it was due; of a closed loop, when it was sent.
    pub due: Instant,
}

/// A connection, and the requests that are due on it.
#[derive(Default)]
pub struct Caller {
    pub stream: Option<TcpStream>,
    pub asked: Option<Asked>,
    /// Requests of an open loop that have been due so far, and those of them that were sent.
    pub due: u64,
    pub sent: u64,
    /// The part of the request that the connection has not taken.
    unsent: Vec<u8>,
    /// The part of an answer that has come.
    pub partial: Vec<u8>,
}

impl Caller {
    /// Connects. It never blocks afterwards.
    pub fn connect(&mut self, address: SocketAddr, time_max: Duration) -> std::io::Result<&TcpStream> {
        let stream = TcpStream::connect_timeout(&address, time_max)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        self.unsent.clear();
        self.partial.clear();
        Ok(self.stream.insert(stream))
    }

    /// Sends as much of a request as the connection takes. True if all of it was.
    pub fn send(&mut self, request: &[u8]) -> std::io::Result<bool> {
        let stream = self.stream.as_mut().ok_or(ErrorKind::NotConnected)?;
        let taken = match stream.write(request) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            taken => taken?,
        };
        self.unsent.extend_from_slice(&request[taken..]);
        Ok(self.unsent.is_empty())
    }

    /// Sends more of the request, when the connection takes more. True if all of it was.
    pub fn send_rest(&mut self) -> std::io::Result<bool> {
        let rest = std::mem::take(&mut self.unsent);
        self.send(&rest)
    }

    /// Reads what has come. Returns the number of bytes; none if nothing has.
    ///
    /// Errors: if the server has closed the connection.
    pub fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<Option<usize>> {
        let stream = self.stream.as_mut().ok_or(ErrorKind::NotConnected)?;
        match stream.read(buffer) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}
