//! Clients whose tokens an OIDC provider signs.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant as Clock, SystemTime};

use annals::{Error, ErrorKind, Result};
use arc_swap::ArcSwap;
use serde_json::Value as Json;
use tokio::sync::Mutex;

use super::jwt::{Jwt, Keys};
use super::key_fetch::{KEYS_BYTES_MAX, KeyUrl, fetch};
use super::principal::{Principal, Proof, unauthenticated};
use super::verb::of_roles;
use crate::protocol::problem::Problem;

/// Shortest time between two fetches of keys, also if the first one failed.
const FETCH_PAUSE: Duration = Duration::from_secs(60);
/// Keys of a URL that are older are fetched again, so that a withdrawn key ends.
const KEYS_AGE_MAX: Duration = Duration::from_secs(3_600);
/// Longest name. Units: bytes.
const NAME_BYTES_MAX: usize = 255;

/// A provider, and what its tokens mean.
#[derive(Clone, Debug)]
pub struct OidcSettings {
    /// The value of the claim `iss`.
    pub issuer: String,
    /// Names of this server: the claim `aud` must have one of them.
    pub audiences: Vec<String>,
    /// A file of keys (JWKS), or its URL.
    pub keys: String,
    /// Certificates of authorities for the URL, in PEM; those of the system if `None`.
    pub authorities: Option<PathBuf>,
    /// The claim with the name.
    pub name_claim: String,
    /// The claim with roles: a text or an array; dots lead into objects.
    pub roles_claim: String,
    /// Shape: `[(value of the claim, role)]`; the value `*` is any, also none.
    pub roles: Vec<(String, String)>,
}

/// A provider with its keys.
pub struct Oidc {
    settings: OidcSettings,
    source: Source,
    keys: ArcSwap<Keys>,
    /// When keys were fetched last, or should have been; and when that succeeded.
    fetched: Mutex<Fetched>,
}

enum Source {
    File(PathBuf),
    Url(KeyUrl),
}

#[derive(Clone, Copy, Default)]
struct Fetched {
    tried: Option<Clock>,
    done: Option<Clock>,
}

impl Oidc {
    /// Reads the keys, unless they are behind a URL: those are fetched for the first token.
    ///
    /// Errors: `InvalidArgument`.
    pub fn new(settings: OidcSettings) -> Result<Oidc> {
        let source = match settings.keys.contains("://") {
            true => Source::Url(KeyUrl::parse(&settings.keys, settings.authorities.as_deref())?),
            false => Source::File(PathBuf::from(&settings.keys)),
        };
        let keys = match &source {
            Source::File(path) => read(path)?,
            Source::Url(_) => Keys::default(),
        };
        Ok(Oidc { settings, source, keys: ArcSwap::from_pointee(keys), fetched: Mutex::default() })
    }

    /// Reads the file again. Keys of a URL are fetched by themselves.
    ///
    /// Errors: as [`Oidc::new`]; the keys stay as they were.
    pub fn reload(&self) -> Result<()> {
        if let Source::File(path) = &self.source {
            self.keys.store(Arc::new(read(path)?));
        }
        Ok(())
    }

    /// The principal of a token.
    ///
    /// Errors: `unauthenticated`; `busy` if the keys cannot be fetched now.
    pub async fn prove(&self, text: &str) -> std::result::Result<Principal, Problem> {
        let refused = |claim: &str| {
            unauthenticated(&format!(
                "OIDC token: expected one of the provider, valid now and for this server, found another {claim}"
            ))
        };
        let token = Jwt::parse(text).ok_or_else(|| refused("form or algorithm"))?;
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        // Before any fetch: a flood of tokens of others makes none.
        let checked = token.check(&self.settings.issuer, &self.settings.audiences, since.as_secs_f64());
        let (claims, until) = checked.map_err(refused)?;
        if let Source::Url(url) = &self.source {
            self.refresh(url, &token).await?;
        }
        if !self.keys.load().verify(&token) {
            return Err(refused("signature"));
        }
        let name = at(claims, &self.settings.name_claim).and_then(Json::as_str).unwrap_or_default();
        if name.is_empty() || name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control) {
            return Err(refused(&format!("claim {}", self.settings.name_claim)));
        }
        let roles = self.roles(claims);
        let verbs = of_roles(roles.iter().map(|role| &**role));
        let until = Duration::try_from_secs_f64(until).ok();
        let until = until.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since));
        Ok(Principal { name: name.into(), roles, verbs, proof: Proof::Oidc, until })
    }

    fn roles(&self, claims: &Json) -> Vec<Arc<str>> {
        let values: Vec<&str> = match at(claims, &self.settings.roles_claim) {
            Some(Json::String(text)) => text.split_ascii_whitespace().collect(),
            Some(Json::Array(all)) => all.iter().filter_map(Json::as_str).collect(),
            _ => Vec::new(),
        };
        let mut roles: Vec<Arc<str>> = Vec::new();
        for (value, role) in &self.settings.roles {
            if (value == "*" || values.contains(&value.as_str()))
                && !roles.iter().any(|known| **known == **role)
            {
                roles.push(role.as_str().into());
            }
        }
        roles
    }

    /// Fetches the keys if the token names an unknown one, or if they are old; at most once in [`FETCH_PAUSE`].
    async fn refresh(&self, url: &KeyUrl, token: &Jwt<'_>) -> std::result::Result<(), Problem> {
        let mut fetched = self.fetched.lock().await;
        let is_old = fetched.done.is_none_or(|done| done.elapsed() > KEYS_AGE_MAX);
        if !is_old && !self.keys.load().lack(token) {
            return Ok(());
        }
        if fetched.tried.is_none_or(|tried| tried.elapsed() >= FETCH_PAUSE) {
            fetched.tried = Some(Clock::now());
            match fetch(url)
                .await
                .and_then(|bytes| Keys::parse(&bytes).ok_or_else(|| "expected a set of keys".into()))
            {
                Ok(keys) => {
                    fetched.done = Some(Clock::now());
                    self.keys.store(Arc::new(keys));
                }
                Err(reason) => {
                    tracing::warn!(target: "annals::access", "keys of the OIDC provider cannot be fetched: {reason}");
                }
            }
        }
        match fetched.done {
            Some(_) => Ok(()),
            None => {
                Err(Problem::busy("OIDC: the keys of the provider cannot be fetched now; try again later"))
            }
        }
    }
}

/// The member of an object at a path with dots, or with this whole name.
fn at<'j>(json: &'j Json, path: &str) -> Option<&'j Json> {
    json.get(path).or_else(|| path.split('.').try_fold(json, |json, name| json.get(name)))
}

fn read(path: &PathBuf) -> Result<Keys> {
    let invalid = |reason: String| {
        let text =
            format!("OIDC keys {}: expected a file with a set of keys (JWKS): {reason}", path.display());
        Error::new(ErrorKind::InvalidArgument, text)
    };
    let length = std::fs::metadata(path).map_err(|error| invalid(error.to_string()))?.len();
    if length > KEYS_BYTES_MAX as u64 {
        return Err(invalid(format!("found {length} bytes")));
    }
    let bytes = std::fs::read(path).map_err(|error| invalid(error.to_string()))?;
    Keys::parse(&bytes).ok_or_else(|| invalid("found none".into()))
}
