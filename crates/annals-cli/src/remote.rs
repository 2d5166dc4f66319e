//! A server that answers requests, over HTTP or HTTPS.

use std::cell::RefCell;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use annals::{Error, ErrorKind, LeaseHolder, Result};
use annals_server::{KnownServer, connector, is_this_machine};
use futures_util::stream::iter;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request as HttpRequest, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::interrupt::unless;
use crate::request::Request;
use crate::stop::Outcome;

/// Longest time until a connection is made.
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// The same for the server that a lease names: it may be gone, and then the command goes on without it.
const LEASE_CONNECT_TIME: Duration = Duration::from_secs(3);
/// Longest time until an answer begins, if it is not one of long work, and between two parts of it.
const ANSWER_TIME: Duration = Duration::from_secs(300);
/// A server that is silent for this time is asked whether it lives, and as often again.
const ALIVE_TIME: Duration = Duration::from_secs(30);
/// So many such questions without an answer end the connection.
const ALIVE_QUESTIONS_MAX: u32 = 6;
/// So long an idle connection is driven before it is used again.
const DRIVE_TIME: Duration = Duration::from_millis(1);
/// A body that is read while it is sent goes in pieces of this size. Units: bytes.
const PIECE_BYTES: usize = 64 << 10;
/// Longest answer of a server that proves itself. Units: bytes.
const PROOF_BYTES_MAX: usize = 16 << 10;
/// Header: the version of this program.
static VERSION: HeaderName = HeaderName::from_static("annals-version");

/// A body that is read while it is sent.
pub type Upload = Box<dyn Read + Send>;
/// The body of a request.
type Sent = UnsyncBoxBody<Bytes, io::Error>;

/// The pieces of an upload.
struct Pieces(Upload);

impl Iterator for Pieces {
    type Item = io::Result<Frame<Bytes>>;

    fn next(&mut self) -> Option<io::Result<Frame<Bytes>>> {
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            match self.0.read(&mut piece) {
                Ok(0) => return None,
                Ok(count) => {
                    piece.truncate(count);
                    return Some(Ok(Frame::data(Bytes::from(piece))));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// A server.
pub struct Remote {
    runtime: Rc<Runtime>,
    /// As the user named it; it has no secrets.
    name: String,
    host: String,
    port: u16,
    /// `None` without TLS.
    tls: Option<TlsConnector>,
    /// The server that the file in a folder names: it proves itself on each connection, before anything else goes there.
    known: Option<Rc<KnownServer>>,
    /// The header `Authorization`.
    token: Option<HeaderValue>,
    /// Longest time until an answer begins, and between two parts of it.
    answer_time: Duration,
    /// The connection that the next request uses, if an answer came to its end.
    idle: Rc<RefCell<Option<Connection>>>,
}

impl Remote {
    /// The server at a URL.
    ///
    /// Errors: `InvalidArgument` for an address that is none, and for a token that would pass the network in the clear.
    pub fn new(url: &str, token: Option<&str>, authorities: Option<&Path>) -> Result<Remote> {
        let invalid = |text: String| Error::new(ErrorKind::InvalidArgument, text);
        // A wrong address may hold a password, so that no error shows it.
        let expected =
            || invalid("--server: expected an address such as https://annals.example:8280".to_owned());
        let uri: Uri = url.parse().map_err(|_| expected())?;
        let authority = uri.authority().ok_or_else(expected)?;
        if authority.as_str().contains('@') {
            let text = "--server: expected an address without name and password, which other users of the machine could see; \
                        give a token with --token-file, also to a server behind a proxy that asks for a password";
            return Err(invalid(text.to_owned()));
        }
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            return Err(invalid(format!("--server {url}: expected an address without a path; leave it out")));
        }
        let (tls, port) = match uri.scheme_str() {
            Some("http") => (None, 80),
            Some("https") => (Some(connector(authorities, "--ca-file")?), 443),
            _ => return Err(expected()),
        };
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|source| Error::io("start the runtime", source))?;
        let port = authority.port_u16().unwrap_or(port);
        let remote = Remote {
            runtime: Rc::new(runtime),
            name: url.trim_end_matches('/').to_owned(),
            host,
            port,
            tls,
            known: None,
            token: None,
            answer_time: ANSWER_TIME,
            idle: Rc::default(),
        };
        match token {
            Some(token) => remote.with_token(token),
            None => Ok(remote),
        }
    }

    /// The server that has a folder open, if it proves that it is the one of the file there; or that of a lease.
    ///
    /// Errors: the reason why it is not asked.
    pub fn of_folder(known: KnownServer, authorities: Option<&Path>) -> std::result::Result<Remote, String> {
        let url = known.url.clone();
        let remote =
            Remote::new(&url, None, authorities).map_err(|error| format!("{url}: {}", error.text()))?;
        Remote { known: Some(Rc::new(known)), ..remote }.connected(CONNECT_TIME)
    }

    /// The server that writes to a log in a store, by the address in its lease: one on this machine if it proves that it holds
    /// the lease, and one on another machine by its certificate.
    ///
    /// Errors: the reason why it is not asked.
    pub fn of_lease(holder: &LeaseHolder, authorities: Option<&Path>) -> std::result::Result<Remote, String> {
        let url = &holder.address;
        let expected = "expected a URL with https, or of this machine";
        if url.is_empty() {
            return Err(format!("{expected}, and the writer tells none"));
        }
        let remote = Remote::new(url, None, authorities).map_err(|_| format!("{url}: {expected}"))?;
        if is_near_host(&remote.host) {
            return Remote::of_folder(KnownServer::of_lease(holder), authorities);
        }
        match remote.tls.is_some() {
            true => remote.connected(LEASE_CONNECT_TIME),
            false => Err(format!("{url}: {expected}")),
        }
    }

    /// The same with a connection.
    ///
    /// Errors: the reason why there is none.
    fn connected(self, time: Duration) -> std::result::Result<Remote, String> {
        let connecting = async { timeout(time, self.connect()).await };
        let connected = self.runtime.block_on(unless(connecting));
        let connected = connected.and_then(|connected| connected.map_err(|_| late("connect"))).flatten();
        let connection = connected.map_err(|error| format!("{}: {error}", self.name))?;
        *self.idle.borrow_mut() = Some(connection);
        Ok(self)
    }

    /// The same, which gets this token.
    ///
    /// Errors: as [`Remote::new`].
    pub fn with_token(self, token: &str) -> Result<Remote> {
        let invalid = |text: String| Error::new(ErrorKind::InvalidArgument, text);
        if self.tls.is_none() && !is_near_host(&self.host) {
            let url = &self.name;
            let text = format!("--server {url}: the token would pass the network in the clear; use https");
            return Err(invalid(text));
        }
        let header = HeaderValue::try_from(format!("Bearer {token}"));
        let mut header = header.map_err(|_| invalid("token: expected one line of ASCII".to_owned()))?;
        header.set_sensitive(true);
        Ok(Remote { token: Some(header), ..self })
    }

    /// The same, whose answers begin and go on within a time.
    pub fn within(self, answer_time: Duration) -> Remote {
        Remote { answer_time, ..self }
    }

    /// Sends a request, and waits for the head of the answer.
    ///
    /// Errors: `Io` if the server cannot be reached, or does not answer in time.
    pub fn ask(&self, request: Request) -> Outcome<(StatusCode, HeaderMap, RemoteAnswer)> {
        self.send(request, None)
    }

    /// The same with a body that is read while it is sent.
    ///
    /// Errors: as [`Remote::ask`]; `Io` if the body cannot be read.
    pub fn send(
        &self,
        request: Request,
        upload: Option<Upload>,
    ) -> Outcome<(StatusCode, HeaderMap, RemoteAnswer)> {
        // A connection that is asked whether it lives ends with its server, so that nobody waits for a dead one.
        let time = if request.is_long { Duration::MAX } else { self.answer_time };
        let (mut head, body) = request.into_http(&self.authority())?;
        head.headers_mut().insert(VERSION.clone(), HeaderValue::from_static(env!("CARGO_PKG_VERSION")));
        if let Some(token) = &self.token {
            head.headers_mut().insert(AUTHORIZATION, token.clone());
        }
        let body = match upload {
            None => Full::new(Bytes::from(body)).map_err(|never| match never {}).boxed_unsync(),
            Some(upload) => StreamBody::new(iter(Pieces(upload))).boxed_unsync(),
        };
        let request = head.map(|()| body);
        let asked = self.runtime.block_on(unless(self.exchange(request, time))).and_then(|asked| asked);
        let (response, connection): (Response<Incoming>, Connection) =
            asked.map_err(|source| Error::io("ask the server", source).with("server", &self.name))?;
        let (parts, body) = response.into_parts();
        let answer = RemoteAnswer {
            runtime: Rc::clone(&self.runtime),
            body,
            name: self.name.clone(),
            time: self.answer_time,
            connection: Some(connection),
            idle: Rc::clone(&self.idle),
        };
        Ok((parts.status, parts.headers, answer))
    }

    /// Host and port, as the header `Host` has them.
    fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        format!("{host}:{}", self.port)
    }

    /// Sends a request over the connection that is left from an earlier one, or else over a new one.
    async fn exchange(
        &self,
        mut request: HttpRequest<Sent>,
        time: Duration,
    ) -> io::Result<(Response<Incoming>, Connection)> {
        let mut left = self.idle.borrow_mut().take();
        if left.is_some() {
            // Nothing has driven it since the last answer: only now it learns that the server has closed it.
            tokio::time::sleep(DRIVE_TIME).await;
            left.take_if(|connection| connection.sender.is_closed());
        }
        if let Some(mut connection) = left {
            match timeout(time, connection.sender.try_send_request(request)).await {
                Err(_) => return Err(late("wait for its answer")),
                Ok(Ok(response)) => return Ok((response, connection)),
                Ok(Err(mut failed)) => {
                    // Nothing of it was sent.
                    let Some(unsent) = failed.take_message() else {
                        return Err(io::Error::other(failed.into_error()));
                    };
                    request = unsent;
                }
            }
        }
        let connecting = timeout(CONNECT_TIME, self.connect());
        let mut connection = connecting.await.map_err(|_| late("connect"))??;
        let sent = timeout(time, connection.sender.send_request(request));
        let response = sent.await.map_err(|_| late("wait for its answer"))?.map_err(io::Error::other)?;
        Ok((response, connection))
    }

    async fn connect(&self) -> io::Result<Connection> {
        let stream = TcpStream::connect((&*self.host, self.port)).await?;
        let (own, reached) = (stream.local_addr()?, stream.peer_addr()?);
        // Requests are small and complete: waiting to fill packets only adds latency.
        let _ = stream.set_nodelay(true);
        ask_whether_it_lives(&stream)?;
        let mut connection = match &self.tls {
            None => shake_hands(stream).await?,
            Some(tls) => {
                let name = ServerName::try_from(self.host.clone()).map_err(std::io::Error::other)?;
                shake_hands(tls.connect(name, stream).await?).await?
            }
        };
        if let Some(known) = &self.known {
            if !is_near(own, reached) {
                return Err(unproven("it is on another machine"));
            }
            self.prove(known, &mut connection, reached).await?;
        }
        Ok(connection)
    }

    /// Lets a server prove that it is the one that wrote the file in the folder.
    async fn prove(
        &self,
        known: &KnownServer,
        connection: &mut Connection,
        reached: SocketAddr,
    ) -> io::Result<()> {
        let challenge = known.challenge();
        let request = Request::get("/health/live").with("challenge", &challenge);
        let (head, _) =
            request.into_http(&self.authority()).map_err(|_| unproven("its address does not read"))?;
        let body = Full::default().map_err(|never| match never {}).boxed_unsync();
        let answer = connection.sender.send_request(head.map(|()| body)).await.map_err(io::Error::other)?;
        let whole = Limited::new(answer.into_body(), PROOF_BYTES_MAX).collect().await;
        let whole = whole.map_err(|_| unproven("its answer is cut off or too long"))?.to_bytes();
        let live: serde_json::Value = serde_json::from_slice(&whole).unwrap_or_default();
        let id = live["id"].as_str().unwrap_or_default();
        match live["proof"].as_str() {
            Some(answer) if known.is_proven(id, answer, &challenge, reached) => Ok(()),
            Some(_) => Err(unproven("it does not know the secret of that one, or has another address")),
            None => Err(unproven("it gives no proof")),
        }
    }
}

fn unproven(why: &str) -> io::Error {
    let text = format!("expected the server that has this repository open, found another one: {why}");
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

/// True if both ends of a connection are on one machine.
fn is_near(own: SocketAddr, reached: SocketAddr) -> bool {
    is_this_machine(reached.ip()) || own.ip().to_canonical() == reached.ip().to_canonical()
}

async fn shake_hands(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> io::Result<Connection> {
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    Ok(Connection { sender, _task: Driven(tokio::spawn(connection)) })
}

/// Lets the system ask a silent server whether it lives: a machine that was switched off ends no connection.
fn ask_whether_it_lives(stream: &TcpStream) -> std::io::Result<()> {
    use rustix::net::sockopt;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, ALIVE_TIME)?;
    sockopt::set_tcp_keepintvl(stream, ALIVE_TIME)?;
    Ok(sockopt::set_tcp_keepcnt(stream, ALIVE_QUESTIONS_MAX)?)
}

fn late(what: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::TimedOut, format!("it takes too long to {what}"))
}

/// True if two addresses are those of one server.
pub fn is_same_server(one: &str, other: &str) -> bool {
    let parts = |url: &str| {
        let uri: Uri = url.parse().ok()?;
        let host = uri.host()?.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let host = if is_near_host(&host) { "localhost".to_owned() } else { host };
        let scheme = uri.scheme_str()?.to_owned();
        let port = uri.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
        Some((scheme, host, port))
    };
    parts(one).is_some_and(|one| parts(other) == Some(one))
}

fn is_near_host(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(is_this_machine)
}

/// A connection, over which one request goes at a time.
struct Connection {
    sender: http1::SendRequest<Sent>,
    _task: Driven,
}

/// The task of a connection, which ends with this.
struct Driven(JoinHandle<hyper::Result<()>>);

impl Drop for Driven {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The body of an answer. Dropping it before its end closes the connection.
pub struct RemoteAnswer {
    runtime: Rc<Runtime>,
    body: Incoming,
    name: String,
    time: Duration,
    connection: Option<Connection>,
    idle: Rc<RefCell<Option<Connection>>>,
}

impl RemoteAnswer {
    /// The next part; `None` at the end.
    ///
    /// Errors: `Io` if the answer is cut off, or stands still.
    pub fn part(&mut self) -> Outcome<Option<Bytes>> {
        loop {
            let waiting = async { timeout(self.time, self.body.frame()).await };
            let frame = self.runtime.block_on(unless(waiting));
            let frame = frame.and_then(|frame| frame.map_err(|_| late("wait for the rest of its answer")));
            let frame = frame.and_then(|frame| frame.transpose().map_err(io::Error::other));
            let frame = frame.map_err(|source| {
                Error::io("read the answer of the server", source).with("server", &self.name)
            })?;
            match frame.map(Frame::into_data) {
                None => {
                    if let Some(connection) = self.connection.take() {
                        *self.idle.borrow_mut() = Some(connection);
                    }
                    return Ok(None);
                }
                Some(Ok(data)) => return Ok(Some(data)),
                // Trailers have no bytes of the answer.
                Some(Err(_)) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A server that answers one request after a time.
    fn slow_server(pause: Duration) -> String {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4_096]).unwrap();
            std::thread::sleep(pause);
            // A client that waits no longer has gone.
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n1234");
        });
        format!("http://{address}")
    }

    #[test]
    fn long_work_is_waited_for_and_other_work_is_not() {
        let pause = Duration::from_millis(400);
        let ask = |request: Request| -> Outcome<Vec<u8>> {
            let mut remote = Remote::new(&slow_server(pause), None, None).unwrap();
            remote.answer_time = pause / 4;
            let (_, _, mut answer) = remote.ask(request)?;
            let mut whole = Vec::new();
            while let Some(part) = answer.part()? {
                whole.extend_from_slice(&part);
            }
            Ok(whole)
        };
        let late = ask(Request::get("/v1/stats")).unwrap_err();
        assert_eq!(late.kind(), Some(ErrorKind::Io), "{late:?}");
        assert_eq!(ask(Request::get("/v1/check").patient()).unwrap(), b"1234");
    }

    #[test]
    fn addresses_are_checked_and_no_error_shows_a_secret() {
        let refusal = |url: &str, token| Remote::new(url, token, None).err().map(|error| error.to_string());
        assert_eq!(refusal("http://127.0.0.1:8280/", Some("annals_a_1")), None);
        assert_eq!(refusal("http://annals.example", None), None);
        for url in [
            "annals",
            "ftp://annals",
            "http://annals/v1",
            "http://ada:annals_ada_1@localhost",
            "http://a:b:c",
        ] {
            let text = refusal(url, None).unwrap_or_else(|| panic!("{url} is taken"));
            assert!(!text.contains("annals_ada_1"), "{text}");
        }
        let clear = refusal("http://annals.example", Some("annals_ada_1")).unwrap();
        assert!(clear.contains("https") && !clear.contains("annals_ada_1"), "{clear}");
    }
}
