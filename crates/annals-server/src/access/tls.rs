//! TLS: certificates from files, read again on SIGHUP.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use annals::{Error, ErrorKind, Result};
use arc_swap::ArcSwap;
use rustls::RootCertStore;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, ServerConfig, WebPkiClientVerifier};
use rustls::version::{TLS12, TLS13};

use super::client_certificate::{Shown, Verifier};

/// The files of TLS.
#[derive(Clone, Debug)]
pub struct TlsSettings {
    /// The certificate of the server, and those between it and a root, in PEM.
    pub certificate: PathBuf,
    /// Its private key, in PEM.
    pub key: PathBuf,
    /// Certificates of authorities that sign those of clients; `None` if clients need not show any.
    pub client_authorities: Option<PathBuf>,
}

/// The configuration of TLS that new connections use.
pub struct Tls {
    settings: TlsSettings,
    config: ArcSwap<TlsConfig>,
}

/// The configuration of TLS.
pub struct TlsConfig {
    /// That of handshakes.
    pub server: Arc<ServerConfig>,
    /// `None` if clients need not show certificates.
    clients: Option<Verifier>,
}

impl TlsConfig {
    /// The certificate that a client showed; `None` if it showed none.
    pub fn shown(&self, chain: Option<&[CertificateDer<'_>]>) -> Option<Shown> {
        self.clients.as_ref()?.shown(chain?)
    }
}

impl Tls {
    /// Reads the files.
    ///
    /// Errors: `InvalidArgument` for a file that cannot be read or does not fit the others.
    pub fn new(settings: TlsSettings) -> Result<Tls> {
        let config = ArcSwap::from_pointee(settings.read()?);
        Ok(Tls { settings, config })
    }

    /// Reads the files again, for new connections.
    ///
    /// Errors: as [`Tls::new`]; the configuration stays as it was.
    pub fn reload(&self) -> Result<()> {
        self.config.store(Arc::new(self.settings.read()?));
        Ok(())
    }

    /// The present configuration.
    pub fn config(&self) -> Arc<TlsConfig> {
        self.config.load_full()
    }
}

impl TlsSettings {
    fn read(&self) -> Result<TlsConfig> {
        let chain = certificates(&self.certificate)?;
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|error| unreadable(&self.key, &error))?;
        let provider = Arc::new(default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_protocol_versions(&[&TLS13, &TLS12]).expect("ring has both versions");
        let clients = match &self.client_authorities {
            None => None,
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for authority in certificates(path)? {
                    roots.add(authority).map_err(|error| unfit(path, &error))?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                // A client without a certificate may prove itself by a token.
                let verifier = verifier.allow_unauthenticated().build();
                Some(Verifier::new(verifier.map_err(|error| unfit(path, &error))?))
            }
        };
        let builder = match &clients {
            None => builder.with_no_client_auth(),
            Some(clients) => builder.with_client_cert_verifier(Arc::new(clients.clone())),
        };
        let config = builder.with_single_cert(chain, key);
        let mut config = config.map_err(|error| unfit(&self.certificate, &error))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        if self.client_authorities.is_some() {
            // A resumed session would not check the certificate of the client again.
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
        }
        Ok(TlsConfig { server: Arc::new(config), clients })
    }
}

/// The certificates of a file.
pub fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let read = CertificateDer::pem_file_iter(path).map_err(|error| unreadable(path, &error))?;
    let all = read.collect::<std::result::Result<Vec<_>, _>>().map_err(|error| unreadable(path, &error))?;
    if all.is_empty() {
        let text = format!("TLS {}: expected certificates in PEM, found none", path.display());
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    }
    Ok(all)
}

fn unreadable(path: &Path, error: &rustls::pki_types::pem::Error) -> Error {
    let text = format!("TLS {}: expected a readable file in PEM: {error:?}", path.display());
    Error::new(ErrorKind::InvalidArgument, text)
}

fn unfit(path: &Path, error: &dyn std::fmt::Display) -> Error {
    let text =
        format!("TLS {}: expected certificates that fit each other and the key: {error}", path.display());
    Error::new(ErrorKind::InvalidArgument, text)
}
