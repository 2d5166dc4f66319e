//! The settings of access, and the rule for servers that other machines can reach.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use annals::{Error, ErrorKind, Result};

use super::oidc::OidcSettings;
use super::tls::TlsSettings;
use crate::protocol::machine::is_this_machine;

/// Which clients may come, and how.
#[derive(Clone, Debug, Default)]
pub struct AccessSettings {
    /// The file of tokens.
    pub tokens: Option<PathBuf>,
    /// TLS; `None` to serve without.
    pub tls: Option<TlsSettings>,
    /// A provider that signs tokens.
    pub oidc: Option<OidcSettings>,
    /// The address of a proxy that sets the header `Annals-Author`.
    pub proxy: Option<IpAddr>,
    /// The roles of the users that the proxy names, and of client certificates, unless the token file gives them others.
    pub default_roles: Vec<String>,
    /// Other machines may send requests without TLS.
    pub is_plain_allowed: bool,
    /// Clients without credentials may do everything.
    pub is_anyone_allowed: bool,
}

impl AccessSettings {
    /// True if the server asks for credentials.
    pub fn has_credentials(&self) -> bool {
        let has_client_authorities = self.tls.as_ref().is_some_and(|tls| tls.client_authorities.is_some());
        self.tokens.is_some() || self.oidc.is_some() || self.proxy.is_some() || has_client_authorities
    }

    /// Refuses to listen for other machines without TLS or without credentials, unless the settings say so.
    ///
    /// Errors: `InvalidArgument`, with the remedy.
    pub fn check(&self, listen: SocketAddr) -> Result<()> {
        if is_this_machine(listen.ip()) {
            return Ok(());
        }
        let has_way = self.tls.is_some() || self.proxy.is_some() || self.is_plain_allowed;
        let has_login = self.has_credentials() || self.is_anyone_allowed;
        let mut lacks = Vec::new();
        if !has_way {
            lacks.push(
                "requests come without TLS: give --tls-cert and --tls-key, or --behind-proxy ADDRESS, or accept it with \
                 --insecure-plain",
            );
        }
        if !has_login {
            lacks.push(
                "every client may do everything: give --tokens FILE, --oidc-issuer, --tls-client-ca FILE, or --behind-proxy ADDRESS, or accept it with \
                 --insecure-anyone",
            );
        }
        if lacks.is_empty() {
            return Ok(());
        }
        let text = format!(
            "listen {listen}: other machines can reach this address. {}. Or listen at 127.0.0.1",
            lacks.iter().map(|lack| capital(lack)).collect::<Vec<_>>().join(". ")
        );
        Err(Error::new(ErrorKind::InvalidArgument, text))
    }
}

fn capital(text: &str) -> String {
    let (first, rest) = text.split_at(text.len().min(1));
    format!("{}{rest}", first.to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_machines_need_tls_and_credentials_or_a_word() {
        let is_good =
            |settings: &AccessSettings, listen: &str| settings.check(listen.parse().unwrap()).is_ok();
        let none = AccessSettings::default();
        for listen in ["127.0.0.1:0", "127.8.8.8:1", "[::1]:0", "[::ffff:127.0.0.1]:0"] {
            assert!(is_good(&none, listen), "{listen}");
        }
        let error = none.check("0.0.0.0:8280".parse().unwrap()).unwrap_err();
        for option in ["--tls-cert", "--tokens", "--behind-proxy", "--insecure-plain", "--insecure-anyone"] {
            assert!(error.text().contains(option), "{error}");
        }
        let tokens = AccessSettings { tokens: Some("tokens".into()), ..none.clone() };
        let plain = AccessSettings { is_plain_allowed: true, ..none.clone() };
        let anyone = AccessSettings { is_anyone_allowed: true, ..none.clone() };
        for lacking in [&none, &tokens, &plain, &anyone] {
            assert!(!is_good(lacking, "192.0.2.1:80") && !is_good(lacking, "[::]:80"), "{lacking:?}");
        }
        let proxy = AccessSettings { proxy: Some([10, 0, 0, 1].into()), ..none.clone() };
        let plain_tokens = AccessSettings { is_plain_allowed: true, ..tokens.clone() };
        let both = AccessSettings { is_plain_allowed: true, is_anyone_allowed: true, ..none };
        for good in [&proxy, &plain_tokens, &both] {
            assert!(is_good(good, "192.0.2.1:80"), "{good:?}");
        }
    }
}
