//! Certificates of clients: the name in one, or why it proves nothing.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};

use super::tokens::is_given_name;

/// The certificate that a client showed.
#[derive(Clone, Debug)]
pub enum Shown {
    /// It proves this name: the first DNS name, or the first URI, among its alternative names.
    Name(Arc<str>),
    /// It proves nothing, for this reason.
    Wrong(Arc<str>),
}

/// Verifies the certificates of clients.
///
/// The handshake takes any certificate: after a refusal there, clients only see that the connection broke. The server asks
/// [`Verifier::shown`] afterwards, and answers requests with the reason.
#[derive(Clone, Debug)]
pub struct Verifier(Arc<dyn ClientCertVerifier>);

impl Verifier {
    /// Verifies as this one does.
    pub fn new(verifier: Arc<dyn ClientCertVerifier>) -> Verifier {
        Verifier(verifier)
    }

    /// The first certificate of a chain, which came by a handshake; `None` if there is none.
    pub fn shown(&self, chain: &[CertificateDer<'_>]) -> Option<Shown> {
        let (certificate, others) = chain.split_first()?;
        let name = webpki::EndEntityCert::try_from(certificate).ok().and_then(|parsed| {
            let name = parsed.valid_dns_names().next().or_else(|| parsed.valid_uri_names().next())?;
            is_given_name(name).then(|| name.into())
        });
        let Some(name) = name else {
            let text = "certificate of the client: expected a DNS name or a URI among its alternative names, found none; sign one for a client \
                        with subjectAltName, such as DNS:ada";
            return Some(Shown::Wrong(text.into()));
        };
        Some(match self.0.verify_client_cert(certificate, others, UnixTime::now()) {
            Ok(_) => Shown::Name(name),
            Err(error) => Shown::Wrong(
                format!(
                    "certificate of the client: expected one for clients that an authority of --tls-client-ca signed, valid now, \
                     found another: {error}"
                )
                .into(),
            ),
        })
    }
}

/// The client has the key of the certificate. One that cannot be read has no key to ask, and proves nothing.
fn has_key(
    certificate: &CertificateDer<'_>,
    verified: Result<HandshakeSignatureValid, Error>,
) -> Result<HandshakeSignatureValid, Error> {
    match webpki::EndEntityCert::try_from(certificate) {
        Ok(_) => verified,
        Err(_) => Ok(HandshakeSignatureValid::assertion()),
    }
}

impl ClientCertVerifier for Verifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.0.client_auth_mandatory()
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        has_key(certificate, self.0.verify_tls12_signature(message, certificate, signature))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        has_key(certificate, self.0.verify_tls13_signature(message, certificate, signature))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
