//! TLS of connections to PostgreSQL: the certificate of the server and its name are always checked.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use annals::{Error, ErrorKind, Result};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

/// Where systems keep the certificates of authorities.
const SYSTEM_AUTHORITIES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// Makes connections of TLS.
#[derive(Clone)]
pub(super) struct Tls(Arc<ClientConfig>);

impl Tls {
    /// Trusts the authorities of this file in PEM; without a file those of the system.
    ///
    /// Errors: `InvalidArgument` without readable certificates.
    pub fn trusting(authorities: Option<&Path>) -> Result<Tls> {
        let system = || SYSTEM_AUTHORITIES.iter().map(Path::new).find(|path| path.exists());
        let refused = |text: String| Error::new(ErrorKind::InvalidArgument, text);
        let Some(path) = authorities.or_else(system) else {
            let text = "sslrootcert: expected certificates of authorities on this system, found none; give \
                        sslrootcert=PATH, or sslmode=disable";
            return Err(refused(text.to_owned()));
        };
        let unreadable = |error: String| {
            let path = path.display();
            refused(format!(
                "sslrootcert: expected certificates in PEM in {path}, found: {error}; correct it"
            ))
        };
        let mut roots = RootCertStore::empty();
        let read = CertificateDer::pem_file_iter(path).map_err(|error| unreadable(error.to_string()))?;
        let read = read.collect::<std::result::Result<Vec<_>, _>>();
        let (added, _) =
            roots.add_parsable_certificates(read.map_err(|error| unreadable(error.to_string()))?);
        if added == 0 {
            return Err(unreadable("no certificate".to_owned()));
        }
        let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
        let builder = builder.with_protocol_versions(&[&TLS13, &TLS12]);
        let builder = builder.map_err(|error| unreadable(error.to_string()))?;
        Ok(Tls(Arc::new(builder.with_root_certificates(roots).with_no_client_auth())))
    }
}

/// A connection of TLS that is being made to a server of this name.
pub(super) struct Connecting {
    connector: TlsConnector,
    name: ServerName<'static>,
}

/// The stream of a connection.
pub(super) struct Stream(tokio_rustls::client::TlsStream<Socket>);

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Stream;
    type TlsConnect = Connecting;
    type Error = rustls::pki_types::InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> std::result::Result<Connecting, Self::Error> {
        let name = ServerName::try_from(host.to_owned())?;
        Ok(Connecting { connector: TlsConnector::from(Arc::clone(&self.0)), name })
    }
}

impl TlsConnect<Socket> for Connecting {
    type Stream = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn connect(self, stream: Socket) -> Self::Future {
        Box::pin(async move { Ok(Stream(self.connector.connect(self.name, stream).await?)) })
    }
}

impl TlsStream for Stream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
