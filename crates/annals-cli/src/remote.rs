//! A server that answers requests, over HTTP or HTTPS.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use annals::{Error, ErrorKind, Result};
use annals_server::connector;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use hyper::{Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::request::Request;
use crate::stop::Outcome;

/// Longest time until a connection is made.
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// Longest time until an answer begins, and between two parts of it.
const ANSWER_TIME: Duration = Duration::from_secs(300);
/// Header: the version of this program.
static VERSION: HeaderName = HeaderName::from_static("annals-version");

/// A server.
pub struct Remote {
    runtime: Rc<Runtime>,
    /// As the user named it; it has no secrets.
    name: String,
    host: String,
    port: u16,
    /// `None` without TLS.
    tls: Option<TlsConnector>,
    /// The header `Authorization`.
    token: Option<HeaderValue>,
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
            let text =
                "--server: expected an address without name and password; give a token by --token-file";
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
        if token.is_some() && tls.is_none() && !is_this_machine(&host) {
            let text = format!("--server {url}: the token would pass the network in the clear; use https");
            return Err(invalid(text));
        }
        let token = token.map(|token| {
            let header = HeaderValue::try_from(format!("Bearer {token}"));
            let mut header = header.map_err(|_| invalid("token: expected one line of ASCII".to_owned()))?;
            header.set_sensitive(true);
            Ok::<_, Error>(header)
        });
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|source| Error::io("start the runtime", source))?;
        let port = authority.port_u16().unwrap_or(port);
        Ok(Remote {
            runtime: Rc::new(runtime),
            name: url.trim_end_matches('/').to_owned(),
            host,
            port,
            tls,
            token: token.transpose()?,
        })
    }

    /// Sends a request, and waits for the head of the answer.
    ///
    /// Errors: `Io` if the server cannot be reached, or does not answer in time.
    pub fn ask(&self, request: Request) -> Outcome<(StatusCode, HeaderMap, RemoteAnswer)> {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let (mut head, body) = request.into_http(&format!("{host}:{}", self.port))?;
        head.headers_mut().insert(VERSION.clone(), HeaderValue::from_static(env!("CARGO_PKG_VERSION")));
        if let Some(token) = &self.token {
            head.headers_mut().insert(AUTHORIZATION, token.clone());
        }
        let request = head.map(|()| Full::new(Bytes::from(body)));
        let asked = self.runtime.block_on(async {
            let connecting = tokio::time::timeout(CONNECT_TIME, self.connect());
            let (mut sender, connection) = connecting.await.map_err(|_| late("connect"))??;
            let sent = tokio::time::timeout(ANSWER_TIME, sender.send_request(request));
            let response =
                sent.await.map_err(|_| late("wait for its answer"))?.map_err(std::io::Error::other)?;
            Ok((response, connection))
        });
        let (response, connection): (Response<Incoming>, Driven) =
            asked.map_err(|source| Error::io("ask the server", source).with("server", &self.name))?;
        let (parts, body) = response.into_parts();
        let (runtime, name) = (Rc::clone(&self.runtime), self.name.clone());
        Ok((parts.status, parts.headers, RemoteAnswer { runtime, body, name, _connection: connection }))
    }

    async fn connect(&self) -> std::io::Result<(http1::SendRequest<Full<Bytes>>, Driven)> {
        let stream = TcpStream::connect((&*self.host, self.port)).await?;
        // Requests are small and complete: waiting to fill packets only adds latency.
        let _ = stream.set_nodelay(true);
        match &self.tls {
            None => shake_hands(stream).await,
            Some(tls) => {
                let name = ServerName::try_from(self.host.clone()).map_err(std::io::Error::other)?;
                shake_hands(tls.connect(name, stream).await?).await
            }
        }
    }
}

async fn shake_hands(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> std::io::Result<(http1::SendRequest<Full<Bytes>>, Driven)> {
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(std::io::Error::other)?;
    Ok((sender, Driven(tokio::spawn(connection))))
}

fn late(what: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::TimedOut, format!("it takes too long to {what}"))
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The task of a connection, which ends with this.
struct Driven(JoinHandle<hyper::Result<()>>);

impl Drop for Driven {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The body of an answer. Dropping it closes the connection.
pub struct RemoteAnswer {
    runtime: Rc<Runtime>,
    body: Incoming,
    name: String,
    _connection: Driven,
}

impl RemoteAnswer {
    /// The next part; `None` at the end.
    ///
    /// Errors: `Io` if the answer is cut off, or stands still.
    pub fn part(&mut self) -> Outcome<Option<Bytes>> {
        loop {
            let frame =
                self.runtime.block_on(async { tokio::time::timeout(ANSWER_TIME, self.body.frame()).await });
            let frame = frame.map_err(|_| late("wait for the rest of its answer"));
            let frame = frame.and_then(|frame| frame.transpose().map_err(std::io::Error::other));
            let frame = frame.map_err(|source| {
                Error::io("read the answer of the server", source).with("server", &self.name)
            })?;
            match frame.map(hyper::body::Frame::into_data) {
                None => return Ok(None),
                Some(Ok(data)) => return Ok(Some(data)),
                // Trailers have no bytes of the answer.
                Some(Err(_)) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
