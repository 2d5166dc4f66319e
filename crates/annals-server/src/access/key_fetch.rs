//! Fetches the keys of an OIDC provider: one request over HTTP or HTTPS, within bounds, without redirects.

use std::path::Path;
use std::time::Duration;

use annals::{Error, ErrorKind, Result};
use axum::body::Body;
use http::header::{ACCEPT, HOST};
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

use super::trust::connector;

/// Largest file of keys. Units: bytes.
pub const KEYS_BYTES_MAX: usize = 1 << 20;
/// Longest time for one fetch.
const FETCH_TIME: Duration = Duration::from_secs(5);

/// The URL of a set of keys.
pub struct KeyUrl {
    host: String,
    port: u16,
    target: String,
    /// `None` without TLS.
    tls: Option<TlsConnector>,
}

impl KeyUrl {
    /// Reads a URL. With `https`, also the certificates of authorities.
    ///
    /// Errors: `InvalidArgument`.
    pub fn parse(text: &str, authorities: Option<&Path>) -> Result<KeyUrl> {
        let invalid = || {
            let text = format!("OIDC keys {text:?}: expected a file or an http or https URL");
            Error::new(ErrorKind::InvalidArgument, text)
        };
        let uri: Uri = text.parse().map_err(|_| invalid())?;
        let (scheme, host) = (uri.scheme_str().ok_or_else(invalid)?, uri.host().ok_or_else(invalid)?);
        let (tls, port) = match scheme {
            "http" => (None, 80),
            "https" => (Some(connector(authorities, "--oidc-ca")?), 443),
            _ => return Err(invalid()),
        };
        let target = uri.path_and_query().map_or("/", |target| target.as_str()).to_owned();
        Ok(KeyUrl { host: host.to_owned(), port: uri.port_u16().unwrap_or(port), target, tls })
    }
}

/// The bytes at a URL.
///
/// Errors: the reason, for the log.
pub async fn fetch(url: &KeyUrl) -> std::result::Result<Vec<u8>, String> {
    let fetched = tokio::time::timeout(FETCH_TIME, fetch_slowly(url)).await;
    fetched.unwrap_or_else(|_| Err(format!("no answer within {} s", FETCH_TIME.as_secs())))
}

async fn fetch_slowly(url: &KeyUrl) -> std::result::Result<Vec<u8>, String> {
    let host = url.host.trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((host, url.port)).await.map_err(|error| error.to_string())?;
    match &url.tls {
        None => ask(url, stream).await,
        Some(tls) => {
            let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
            ask(url, tls.connect(name, stream).await.map_err(|error| error.to_string())?).await
        }
    }
}

async fn ask(
    url: &KeyUrl,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> std::result::Result<Vec<u8>, String> {
    let text = |error: hyper::Error| error.to_string();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(text)?;
    let request = Request::get(&url.target)
        .header(HOST, format!("{}:{}", url.host, url.port))
        .header(ACCEPT, "application/json")
        .body(Body::empty())
        .map_err(|error| error.to_string())?;
    let _driven = Driven(tokio::spawn(connection));
    let response = sender.send_request(request).await.map_err(text)?;
    if response.status() != StatusCode::OK {
        return Err(format!("expected status 200, found {}", response.status()));
    }
    let body = Limited::new(response.into_body(), KEYS_BYTES_MAX).collect().await;
    Ok(body.map_err(|error| error.to_string())?.to_bytes().to_vec())
}

/// The task of a connection, which ends with this.
struct Driven(JoinHandle<hyper::Result<()>>);

impl Drop for Driven {
    fn drop(&mut self) {
        self.0.abort();
    }
}
