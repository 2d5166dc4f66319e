//! Fetches the keys of an OIDC provider, and its configuration: requests over HTTP or HTTPS, within bounds, without
//! redirects. Source of the configuration: OpenID Connect Discovery 1.0.

use std::net::IpAddr;
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

/// The path of the configuration, behind that of the issuer.
const CONFIGURATION: &str = "/.well-known/openid-configuration";
/// Largest file of keys, and largest configuration. Units: bytes.
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

    /// The URL of the configuration of an issuer.
    ///
    /// Errors: `InvalidArgument`, also for an issuer on another machine without TLS.
    pub fn of_issuer(issuer: &str, authorities: Option<&Path>) -> Result<KeyUrl> {
        let invalid = || {
            let text = format!(
                "OIDC issuer {issuer:?}: expected an https URL, or an http one of this machine, to look its keys up; give their \
                 file or URL with --oidc-keys"
            );
            Error::new(ErrorKind::InvalidArgument, text)
        };
        let is_plain = issuer.starts_with("https://") || issuer.starts_with("http://");
        if !is_plain || issuer.contains(['?', '#']) {
            return Err(invalid());
        }
        let url = KeyUrl::parse(&format!("{}{CONFIGURATION}", issuer.trim_end_matches('/')), authorities)?;
        if url.is_safe() { Ok(url) } else { Err(invalid()) }
    }

    /// The URL of the keys that the configuration of an issuer names.
    ///
    /// Errors: the reason, for the log.
    pub fn of_configuration(
        told: &[u8],
        issuer: &str,
        authorities: Option<&Path>,
    ) -> std::result::Result<KeyUrl, String> {
        let json: serde_json::Value = serde_json::from_slice(told).unwrap_or_default();
        let text = |name: &str| json[name].as_str().unwrap_or_default();
        if text("issuer") != issuer {
            return Err(format!("expected the configuration of {issuer}, found one of {:?}", text("issuer")));
        }
        let keys = text("jwks_uri");
        let url = KeyUrl::parse(keys, authorities).map_err(|error| error.to_string())?;
        if url.is_safe() {
            Ok(url)
        } else {
            Err(format!(
                "jwks_uri of {issuer}: expected an https URL, or an http one of this machine, found {keys:?}"
            ))
        }
    }

    /// True with TLS, and for this machine.
    fn is_safe(&self) -> bool {
        let is_near = || match self.bare_host().parse::<IpAddr>() {
            Ok(address) => address.to_canonical().is_loopback(),
            Err(_) => self.host.eq_ignore_ascii_case("localhost"),
        };
        self.tls.is_some() || is_near()
    }

    /// The host without the brackets of an IPv6 address.
    fn bare_host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
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
    let host = url.bare_host();
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
