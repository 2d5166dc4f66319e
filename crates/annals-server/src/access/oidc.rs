//! Clients whose tokens an OIDC provider signs.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant as Clock, SystemTime};

use annals::{Error, ErrorKind, Result};
use arc_swap::{ArcSwap, ArcSwapOption};
use serde_json::Value as Json;
use tokio::sync::{Mutex, MutexGuard};

use super::jwt::{Jwt, Keys};
use super::key_fetch::{KEYS_BYTES_MAX, KeyUrl, fetch};
use super::principal::{Principal, Proof, unauthenticated};
use super::tokens::is_given_name;
use super::verb::of_roles;
use crate::bounds::peers::client_of;
use crate::protocol::problem::Problem;

/// Shortest time between two fetches of keys, also if the first one failed.
const FETCH_PAUSE: Duration = Duration::from_secs(60);
/// Keys of a URL that are older are fetched again, so that a withdrawn key ends.
const KEYS_AGE_MAX: Duration = Duration::from_secs(3_600);
/// Most addresses that are remembered because a token from them was signed.
const PROVEN_MAX: usize = 1_024;
/// Longest name. Units: bytes.
const NAME_BYTES_MAX: usize = 255;

/// A provider, and what its tokens mean.
#[derive(Clone, Debug)]
pub struct OidcSettings {
    /// The value of the claim `iss`.
    pub issuer: String,
    /// Names of this server: the claim `aud` must have one of them.
    pub audiences: Vec<String>,
    /// A file of keys (JWKS), or its URL; `None` for the URL that the issuer names.
    pub keys: Option<String>,
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
    /// When keys were fetched. A request that holds it fetches.
    fetched: Mutex<Fetched>,
    /// When the keys were fetched that are there.
    done: ArcSwapOption<Clock>,
    /// Addresses from which tokens came that a key signed; the latest last.
    proven: std::sync::Mutex<VecDeque<IpAddr>>,
}

enum Source {
    File(PathBuf),
    Url(KeyUrl),
    /// The URL of the configuration of the issuer, which names that of the keys.
    Issuer(KeyUrl),
}

/// When keys were fetched last, or should have been: for tokens from addresses that have proven themselves, and for those from
/// others. An address that has proven nothing cannot spend the fetch of those that have.
#[derive(Clone, Copy, Default)]
struct Fetched([Option<Clock>; 2]);

impl Oidc {
    /// Reads the keys, unless they are behind a URL: those are fetched for the first token.
    ///
    /// Errors: `InvalidArgument`.
    pub fn new(settings: OidcSettings) -> Result<Oidc> {
        let authorities = settings.authorities.as_deref();
        let source = match &settings.keys {
            None => Source::Issuer(KeyUrl::of_issuer(&settings.issuer, authorities)?),
            Some(keys) if keys.contains("://") => Source::Url(KeyUrl::parse(keys, authorities)?),
            Some(keys) => Source::File(PathBuf::from(keys)),
        };
        let keys = match &source {
            Source::File(path) => read(path)?,
            Source::Url(_) | Source::Issuer(_) => Keys::default(),
        };
        let keys = ArcSwap::from_pointee(keys);
        let (fetched, done, proven) = Default::default();
        Ok(Oidc { settings, source, keys, fetched, done, proven })
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

    /// The principal of a token that came from an address.
    ///
    /// Errors: `unauthenticated`; `busy` if the keys cannot be fetched now.
    pub async fn prove(&self, text: &str, address: IpAddr) -> std::result::Result<Principal, Problem> {
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
        let address = client_of(address);
        if !self.is_signed(&token, address).await? {
            return Err(refused("signature"));
        }
        if !matches!(self.source, Source::File(_)) {
            self.note_proven(address);
        }
        let name = at(claims, &self.settings.name_claim).and_then(Json::as_str).unwrap_or_default();
        if name.len() > NAME_BYTES_MAX || !is_given_name(name) {
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

    /// True if a key of the provider signed the token. A key that is known decides at once, without waiting for others; keys
    /// that are old are fetched again by one of the requests.
    async fn is_signed(&self, token: &Jwt<'_>, address: IpAddr) -> std::result::Result<bool, Problem> {
        if let Source::File(_) = self.source {
            return Ok(self.keys.load().verify(token));
        }
        let age = self.done.load().as_ref().map(|done| done.elapsed());
        let is_known = age.is_some() && !self.keys.load().lack(token);
        if is_known {
            if age.is_some_and(|age| age > KEYS_AGE_MAX)
                && let Ok(fetched) = self.fetched.try_lock()
            {
                self.fetch(fetched, address).await;
            }
            return Ok(self.keys.load().verify(token));
        }
        let fetched = self.fetched.lock().await;
        // Another request may have fetched the key meanwhile.
        if self.keys.load().lack(token) {
            self.fetch(fetched, address).await;
        }
        if self.done.load().is_none() {
            return Err(Problem::busy(
                "OIDC: the keys of the provider cannot be fetched now; try again later",
            ));
        }
        Ok(self.keys.load().verify(token))
    }

    /// Fetches the keys; at most once in [`FETCH_PAUSE`] for addresses that have proven themselves, and once for the others.
    async fn fetch(&self, mut fetched: MutexGuard<'_, Fetched>, address: IpAddr) {
        let tried = &mut fetched.0[usize::from(self.is_proven(address))];
        if tried.is_some_and(|tried| tried.elapsed() < FETCH_PAUSE) {
            return;
        }
        *tried = Some(Clock::now());
        let keys = self.fetch_bytes().await;
        match keys.and_then(|bytes| Keys::parse(&bytes).ok_or_else(|| "expected a set of keys".into())) {
            Ok(keys) => {
                self.keys.store(Arc::new(keys));
                self.done.store(Some(Arc::new(Clock::now())));
            }
            Err(reason) => {
                tracing::warn!(target: "annals::access", "keys of the OIDC provider cannot be fetched: {reason}");
            }
        }
    }

    /// Errors: the reason, for the log.
    async fn fetch_bytes(&self) -> std::result::Result<Vec<u8>, String> {
        match &self.source {
            Source::File(path) => Err(format!("{} is a file", path.display())),
            Source::Url(url) => fetch(url).await,
            Source::Issuer(url) => {
                let OidcSettings { issuer, authorities, .. } = &self.settings;
                let told =
                    fetch(url).await.map_err(|reason| format!("configuration of {issuer}: {reason}"))?;
                fetch(&KeyUrl::of_configuration(&told, issuer, authorities.as_deref())?).await
            }
        }
    }

    fn is_proven(&self, address: IpAddr) -> bool {
        self.proven.lock().unwrap_or_else(PoisonError::into_inner).contains(&address)
    }

    fn note_proven(&self, address: IpAddr) {
        let mut proven = self.proven.lock().unwrap_or_else(PoisonError::into_inner);
        if proven.contains(&address) {
            return;
        }
        if proven.len() >= PROVEN_MAX {
            proven.pop_front();
        }
        proven.push_back(address);
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

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use ring::signature::{Ed25519KeyPair, KeyPair};
    use serde_json::json;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    struct Signer(Ed25519KeyPair);

    impl Signer {
        fn new(seed: u8) -> Signer {
            Signer(Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).expect("a seed"))
        }

        fn jwk(&self, id: &str) -> Json {
            let x = URL_SAFE_NO_PAD.encode(self.0.public_key().as_ref());
            json!({"kty": "OKP", "crv": "Ed25519", "kid": id, "x": x})
        }

        fn token(&self, id: &str) -> String {
            let part = |json: Json| URL_SAFE_NO_PAD.encode(json.to_string());
            let claims = json!({"iss": "here", "aud": "us", "exp": 9_999_999_999u64, "sub": "ada"});
            let signed = format!("{}.{}", part(json!({"alg": "EdDSA", "kid": id})), part(claims));
            format!("{signed}.{}", URL_SAFE_NO_PAD.encode(self.0.sign(signed.as_bytes())))
        }
    }

    /// Answers each request for keys with the latest ones, after a pause. Returns its address, and counts.
    async fn provider(
        keys: Arc<ArcSwap<Json>>,
        asked: Arc<std::sync::Mutex<usize>>,
        pause: Duration,
    ) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                *asked.lock().expect("a count") += 1;
                let body = json!({ "keys": **keys.load() }).to_string();
                tokio::time::sleep(pause).await;
                let mut request = [0; 4_096];
                let _ = stream.read(&mut request).await;
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                let _ = stream.write_all(head.as_bytes()).await;
            }
        });
        format!("http://{address}/keys")
    }

    fn oidc(keys: String) -> Oidc {
        Oidc::new(OidcSettings {
            issuer: "here".into(),
            audiences: vec!["us".into()],
            keys: Some(keys),
            authorities: None,
            name_claim: "sub".into(),
            roles_claim: "roles".into(),
            roles: Vec::new(),
        })
        .expect("settings")
    }

    /// Story: anybody could spend the one fetch of a minute with an invented key, and a new key of the provider was unknown
    /// until the next one.
    #[tokio::test]
    async fn an_address_without_a_proven_token_spends_no_fetch_of_those_with_one() {
        let (old, new) = (Signer::new(1), Signer::new(2));
        let (keys, asked) = (Arc::new(ArcSwap::from_pointee(json!([old.jwk("old")]))), Arc::default());
        let oidc = oidc(provider(Arc::clone(&keys), Arc::clone(&asked), Duration::ZERO).await);
        let [ada, eve] = [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from);
        assert!(oidc.prove(&old.token("old"), ada).await.is_ok());
        keys.store(Arc::new(json!([old.jwk("old"), new.jwk("new")])));
        for number in 0..20 {
            assert!(oidc.prove(&Signer::new(9).token(&format!("x{number}")), eve).await.is_err());
        }
        assert_eq!(*asked.lock().expect("a count"), 1);
        assert!(oidc.prove(&new.token("new"), ada).await.is_ok());
        assert!(oidc.prove(&new.token("new"), eve).await.is_ok());
        assert_eq!(*asked.lock().expect("a count"), 2);
    }

    #[tokio::test]
    async fn tokens_of_known_keys_do_not_wait_while_the_keys_are_fetched() {
        let old = Signer::new(1);
        let (keys, asked) = (Arc::new(ArcSwap::from_pointee(json!([old.jwk("old")]))), Arc::default());
        let oidc = Arc::new(oidc(provider(keys, asked, Duration::from_secs(2)).await));
        let ada = IpAddr::from([10, 0, 0, 1]);
        assert!(oidc.prove(&old.token("old"), ada).await.is_ok());
        let other = Arc::clone(&oidc);
        let unknown = tokio::spawn(async move { other.prove(&Signer::new(9).token("x"), ada).await.is_ok() });
        tokio::time::sleep(Duration::from_millis(100)).await;
        let begin = Clock::now();
        assert!(oidc.prove(&old.token("old"), ada).await.is_ok());
        assert!(begin.elapsed() < Duration::from_secs(1) && !unknown.is_finished());
        assert!(!unknown.await.expect("an answer"));
    }
}
