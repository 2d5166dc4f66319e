//! The authorities whose certificates a connection of TLS trusts.

use std::path::Path;
use std::sync::Arc;

use annals::{Error, ErrorKind, Result};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore};

/// Where systems keep the certificates of authorities.
const SYSTEM_AUTHORITIES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// The option of a place that names the authorities.
pub(crate) struct Named {
    /// Its name.
    pub option: &'static str,
    /// The way to do without TLS.
    pub otherwise: &'static str,
}

/// Trusts the authorities of this file in PEM; without a file those of the system.
///
/// Errors: `InvalidArgument` without readable certificates.
pub(crate) fn trusting(authorities: Option<&Path>, named: &Named) -> Result<ClientConfig> {
    let option = named.option;
    let system = || SYSTEM_AUTHORITIES.iter().map(Path::new).find(|path| path.exists());
    let refused = |text: String| Error::new(ErrorKind::InvalidArgument, text);
    let Some(path) = authorities.or_else(system) else {
        let text = format!(
            "{option}: expected certificates of authorities on this system, found none; give {option}=PATH, or {}",
            named.otherwise
        );
        return Err(refused(text));
    };
    let unreadable = |error: String| {
        let path = path.display();
        refused(format!("{option}: expected certificates in PEM in {path}, found: {error}; correct it"))
    };
    let mut roots = RootCertStore::empty();
    let read = CertificateDer::pem_file_iter(path).map_err(|error| unreadable(error.to_string()))?;
    let read = read.collect::<std::result::Result<Vec<_>, _>>();
    let (added, _) = roots.add_parsable_certificates(read.map_err(|error| unreadable(error.to_string()))?);
    if added == 0 {
        return Err(unreadable("no certificate".to_owned()));
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_protocol_versions(&[&TLS13, &TLS12]);
    let builder = builder.map_err(|error| unreadable(error.to_string()))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
