//! The means to prove principals: tokens, keys, certificates and a proxy, as the settings name them.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant as Clock, SystemTime};

use annals::Instant;
use arc_swap::ArcSwap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, HeaderMap};
use tokio::sync::watch;

use super::client_certificate::Shown;
use super::failed_logins::{FailedLogins, Failure};
use super::oidc::Oidc;
use super::principal::{Principal, Proof, Standing, unauthenticated};
use super::settings::AccessSettings;
use super::tls::Tls;
use super::token_file::TokenFile;
use super::tokens::{Listed, Tokens, is_given_name, is_token, name_of};
use super::verb::of_roles;
use crate::protocol::header_text::single;
use crate::protocol::machine::is_this_machine;
use crate::protocol::names::AUTHOR;
use crate::protocol::problem::Problem;
use crate::protocol::query::decode_percent;

/// Longest time between two looks at the standing of a principal.
const LOOK_TIME: Duration = Duration::from_secs(60);

/// The connection that a request came on; an extension of the request.
#[derive(Clone, Debug)]
pub struct Client {
    /// The address of the other end.
    pub address: IpAddr,
    /// The address at which it reached the server.
    pub reached: Option<SocketAddr>,
    /// True if the connection has TLS.
    pub has_tls: bool,
    /// The certificate that the client showed.
    pub certificate: Option<Shown>,
}

/// An extension of answers to clients that are not proven: they learn nothing of the repository.
#[derive(Clone, Copy)]
pub struct Unknown;

/// The means to prove principals.
pub struct Access {
    settings: AccessSettings,
    tokens: Option<(TokenFile, ArcSwap<Tokens>)>,
    oidc: Option<Oidc>,
    /// TLS; `None` if the server serves without.
    pub tls: Option<Tls>,
    failed: FailedLogins,
    /// Counts the changes of what proves principals.
    changes: watch::Sender<u64>,
}

impl Default for Access {
    fn default() -> Access {
        let (settings, failed, changes) = Default::default();
        Access { settings, tokens: None, oidc: None, tls: None, failed, changes }
    }
}

impl AccessSettings {
    /// Reads the files that the settings name.
    ///
    /// Errors: those of reading them.
    pub fn check_files(&self) -> annals::Result<()> {
        Access::new(self.clone()).map(drop)
    }
}

impl Access {
    /// The means that these settings name.
    ///
    /// Errors: those of reading the files that they name.
    pub fn new(settings: AccessSettings) -> annals::Result<Access> {
        let read = |path: &std::path::PathBuf| -> annals::Result<_> {
            let file = TokenFile::at(path);
            let tokens = ArcSwap::from_pointee(file.read()?);
            Ok((file, tokens))
        };
        let tokens = settings.tokens.as_ref().map(read).transpose()?;
        let tls = settings.tls.clone().map(Tls::new).transpose()?;
        let oidc = settings.oidc.clone().map(Oidc::new).transpose()?;
        Ok(Access { settings, tokens, oidc, tls, ..Access::default() })
    }

    /// Reads the files again. A file that does not read leaves what was read before, and a line in the log.
    pub fn reload(&self) {
        if let Some((file, tokens)) = &self.tokens {
            match file.read() {
                Ok(read) => {
                    tokens.store(Arc::new(read));
                    tracing::info!(signal = "SIGHUP", "token file read again");
                }
                Err(error) => {
                    tracing::error!(signal = "SIGHUP", "the tokens read before stay in force: {error}");
                }
            }
        }
        match self.tls.as_ref().map(Tls::reload) {
            None => {}
            Some(Ok(())) => tracing::info!(signal = "SIGHUP", "certificates read again"),
            Some(Err(error)) => {
                tracing::error!(signal = "SIGHUP", "the certificates read before stay in force: {error}");
            }
        }
        if let Some(Err(error)) = self.oidc.as_ref().map(Oidc::reload) {
            tracing::error!(signal = "SIGHUP", "the keys read before stay in force: {error}");
        }
        self.changes.send_modify(|count| *count += 1);
    }

    /// Proves the client of a request.
    ///
    /// Errors: `unauthenticated` for credentials that prove nothing; `forbidden` for an address that must come through the
    /// proxy; `invalid-argument`.
    pub async fn prove(
        &self,
        client: Option<&Client>,
        headers: &HeaderMap,
    ) -> Result<Arc<Principal>, Problem> {
        if !self.settings.has_credentials() {
            return Ok(Principal::anyone());
        }
        // A program that embeds the door has no connection.
        let Some(client) = client else { return Ok(Principal::anyone()) };
        let is_past_proxy = self.is_past_proxy(client);
        let mut credentials = headers.get_all(AUTHORIZATION).iter();
        match (credentials.next(), credentials.next()) {
            (Some(_), _) if is_past_proxy => {
                let text = "address: expected requests from the proxy, found another machine; send them to the proxy";
                return Err(Problem::door("forbidden", text));
            }
            (Some(credential), None) => return self.prove_by(credential, client.address).await.map(Arc::new),
            (Some(_), Some(_)) => {
                return Err(Problem::invalid("header authorization: expected one, found several; send one"));
            }
            (None, _) => {}
        }
        if is_past_proxy {
            return Ok(Principal::nobody());
        }
        match &client.certificate {
            None => {}
            Some(Shown::Name(name)) => return Ok(Arc::new(self.named(name, Proof::Certificate))),
            Some(Shown::Wrong(reason)) => return Err(unauthenticated(reason)),
        }
        if self.settings.proxy.is_some_and(|proxy| is_same(proxy, client.address))
            && let Some(author) = single(headers, &AUTHOR)?
        {
            let author = std::str::from_utf8(author.as_bytes())
                .map_err(|_| Problem::invalid("header annals-author: expected UTF-8, percent-encoded"))?;
            let name = decode_percent(author, AUTHOR.as_str())?;
            if is_given_name(&name) {
                return Ok(Arc::new(self.named(&name, Proof::Proxy)));
            }
            if !name.trim().is_empty() {
                let text = "header annals-author: expected a name, found one with control characters, or a token; correct \
                            what the proxy sends";
                return Err(Problem::invalid(text));
            }
        }
        Ok(if self.settings.is_anyone_allowed { Principal::anyone() } else { Principal::nobody() })
    }

    /// True for another machine that sends requests without TLS past the proxy: its token would be readable.
    fn is_past_proxy(&self, client: &Client) -> bool {
        let is_near = client.has_tls || is_this_machine(client.address);
        let is_other = self.settings.proxy.is_some_and(|proxy| !is_same(proxy, client.address));
        is_other && !is_near && !self.settings.is_plain_allowed
    }

    async fn prove_by(&self, credential: &http::HeaderValue, address: IpAddr) -> Result<Principal, Problem> {
        let expected = "header authorization: expected Bearer and a token, or Basic with name and token";
        let text = credential.to_str().map_err(|_| unauthenticated(expected))?;
        let (scheme, rest) = text.trim().split_once(' ').ok_or_else(|| unauthenticated(expected))?;
        let rest = rest.trim();
        match scheme.to_ascii_lowercase().as_str() {
            "bearer" if is_token(rest) => self.prove_token(rest, name_of(rest)),
            "bearer" => match &self.oidc {
                Some(oidc) => oidc.prove(rest, address).await,
                None => Err(unauthenticated(expected)),
            },
            "basic" => {
                let pair = STANDARD.decode(rest).ok().and_then(|bytes| String::from_utf8(bytes).ok());
                let pair = pair.ok_or_else(|| unauthenticated(expected))?;
                let (name, token) = pair.split_once(':').ok_or_else(|| unauthenticated(expected))?;
                self.prove_token(token, Some(name))
            }
            _ => Err(unauthenticated(expected)),
        }
    }

    fn prove_token(&self, token: &str, name: Option<&str>) -> Result<Principal, Problem> {
        let tokens = self.tokens.as_ref().map(|(_, tokens)| tokens.load());
        let found = tokens.as_ref().and_then(|tokens| tokens.find(token, Instant::now()));
        match found {
            Some(listed) if name == Some(&listed.name) => Ok(of_listed(listed)),
            _ => Err(unauthenticated(
                "token: expected one that the server knows, found an unknown or an expired one",
            )),
        }
    }

    /// A principal whose name is proven, but for whose roles nothing more is known.
    fn named(&self, name: &str, proof: Proof) -> Principal {
        let tokens = self.tokens.as_ref().map(|(_, tokens)| tokens.load());
        let listed = tokens.as_ref().and_then(|tokens| tokens.of_name(name, Instant::now()));
        let roles = match listed {
            Some(listed) => listed.roles.clone(),
            None => self.settings.default_roles.iter().map(|role| role.as_str().into()).collect(),
        };
        let verbs = of_roles(roles.iter().map(|role| &**role));
        Principal { name: name.into(), roles, verbs, proof, until: None }
    }

    /// Counts a login that failed.
    pub fn count_failure(&self, address: IpAddr) -> Failure {
        self.failed.count(address, Clock::now())
    }

    /// Whether a principal that was proven earlier still stands.
    pub fn standing(&self, principal: &Principal) -> Standing {
        let left = match principal.until {
            None => LOOK_TIME,
            Some(until) => match until.duration_since(SystemTime::now()) {
                Ok(left) if !left.is_zero() => left.min(LOOK_TIME),
                _ => return Standing::Ended,
            },
        };
        let tokens = self.tokens.as_ref().map(|(_, tokens)| tokens.load());
        let is_same = match &principal.proof {
            Proof::Token { id } => {
                let listed = tokens.as_ref().and_then(|all| all.with_id(&principal.name, id, Instant::now()));
                listed.is_some_and(|listed| listed.roles == principal.roles)
            }
            Proof::Certificate | Proof::Proxy => {
                self.named(&principal.name, principal.proof.clone()).roles == principal.roles
            }
            Proof::Anyone | Proof::Nobody | Proof::Oidc => true,
        };
        if is_same { Standing::For(left) } else { Standing::Ended }
    }

    /// Refuses to go on for a principal that does not stand any more.
    ///
    /// Errors: `unauthenticated`.
    pub fn check_standing(&self, principal: &Principal) -> Result<(), Problem> {
        match self.standing(principal) {
            Standing::For(_) => Ok(()),
            Standing::Ended => Err(unauthenticated(
                "credential: expected one that stands until the end of the request, found that it was revoked, has expired, \
                 or gives other roles now; send the request again with one that stands",
            )),
        }
    }

    /// A receiver of changes of what proves principals, for [`Access::ended`].
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Waits until a principal does not stand any more.
    pub async fn ended(&self, principal: &Principal, changes: &mut watch::Receiver<u64>) {
        while let Standing::For(left) = self.standing(principal) {
            tokio::select! {
                _ = changes.changed() => {}
                () = tokio::time::sleep(left) => {}
            }
        }
    }
}

fn of_listed(listed: &Listed) -> Principal {
    let until = listed.expires.and_then(|expires| {
        let since = Duration::from_micros(u64::try_from(expires.micros()).ok()?);
        SystemTime::UNIX_EPOCH.checked_add(since)
    });
    Principal {
        name: Arc::clone(&listed.name),
        roles: listed.roles.clone(),
        verbs: of_roles(listed.roles.iter().map(|role| &**role)),
        proof: Proof::Token { id: listed.id() },
        until,
    }
}

fn is_same(proxy: IpAddr, address: IpAddr) -> bool {
    proxy.to_canonical() == address.to_canonical()
}
