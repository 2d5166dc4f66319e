//! TLS of clients: the authorities whose signatures they trust.

use std::path::Path;
use std::sync::Arc;

use annals::{Error, ErrorKind, Result};
use rustls::crypto::ring::default_provider;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use super::tls::certificates;

/// Where systems keep the certificates of authorities.
const SYSTEM_AUTHORITIES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// Connects to servers whose certificates an authority of this file signed, in PEM; without a file, one of the system.
/// The option is the one that names the file.
///
/// Errors: `InvalidArgument` without readable certificates.
pub fn connector(authorities: Option<&Path>, option: &str) -> Result<TlsConnector> {
    let system = || SYSTEM_AUTHORITIES.iter().map(Path::new).find(|path| path.exists());
    let Some(path) = authorities.or_else(system) else {
        let text = format!(
            "https: expected certificates of authorities on this system, found none; give {option} FILE"
        );
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    };
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates(path)?);
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_protocol_versions(&[&TLS13, &TLS12]).expect("ring has both versions");
    Ok(TlsConnector::from(Arc::new(builder.with_root_certificates(roots).with_no_client_auth())))
}
