//! Tokens that an OIDC provider signs (JWT): three algorithms, each with keys of its own kind.
//!
//! The header of a token never chooses how it is verified: `none` and HMAC do not exist here, a key verifies only the
//! algorithm of its kind, and keys inside the header (`jwk`, `jku`, `x5u`) are not read.
//! Source: RFC 7515, RFC 7518, RFC 8037; the attacks of RFC 8725.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde_json::Value as Json;

/// Largest token. Units: bytes.
const BYTES_MAX: usize = 16 << 10;
/// Most keys of one provider.
const KEYS_MAX: usize = 100;
/// Difference of clocks that is no error. Units: seconds.
const LEEWAY: f64 = 30.0;

/// How a token is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Rs256,
    Es256,
    EdDsa,
}

impl Algorithm {
    fn of(name: &str) -> Option<Algorithm> {
        match name {
            "RS256" => Some(Algorithm::Rs256),
            "ES256" => Some(Algorithm::Es256),
            "EdDSA" => Some(Algorithm::EdDsa),
            _ => None,
        }
    }
}

/// A public key.
#[derive(Debug)]
enum Material {
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// An uncompressed point of P-256.
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// A key of a provider.
#[derive(Debug)]
struct Key {
    id: Option<String>,
    material: Material,
}

/// The keys of a provider that verify signatures.
#[derive(Debug, Default)]
pub struct Keys(Vec<Key>);

/// A token, not verified yet.
pub struct Jwt<'t> {
    signed: &'t str,
    signature: Vec<u8>,
    algorithm: Algorithm,
    key_id: Option<String>,
    claims: Json,
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

impl Keys {
    /// The keys of a set (JWKS, RFC 7517). Keys of other kinds and for other uses are left out.
    ///
    /// Shape: `None` if it is no set of keys.
    pub fn parse(json: &[u8]) -> Option<Keys> {
        let json: Json = serde_json::from_slice(json).ok()?;
        let listed = json["keys"].as_array()?.iter().take(KEYS_MAX);
        Some(Keys(listed.filter_map(Key::of).collect()))
    }

    /// True if a token names none of these keys.
    pub fn lack(&self, token: &Jwt<'_>) -> bool {
        !self.0.iter().any(|key| key.may_have_signed(token))
    }

    /// True if one of the keys signed the token.
    pub fn verify(&self, token: &Jwt<'_>) -> bool {
        self.0.iter().filter(|key| key.may_have_signed(token)).any(|key| key.verify(token))
    }
}

impl Key {
    fn of(json: &Json) -> Option<Key> {
        let text = |name: &str| json[name].as_str();
        if text("use").is_some_and(|found| found != "sig") {
            return None;
        }
        let bytes = |name: &str| text(name).and_then(decoded);
        let (material, algorithm) = match (text("kty")?, text("crv")) {
            ("RSA", _) => (Material::Rsa { n: bytes("n")?, e: bytes("e")? }, "RS256"),
            ("EC", Some("P-256")) => {
                let (x, y) = (bytes("x")?, bytes("y")?);
                (Material::P256([&[4], &*x, &*y].concat()), "ES256")
            }
            ("OKP", Some("Ed25519")) => (Material::Ed25519(bytes("x")?), "EdDSA"),
            _ => return None,
        };
        if text("alg").is_some_and(|found| found != algorithm) {
            return None;
        }
        Some(Key { id: text("kid").map(str::to_owned), material })
    }

    fn algorithm(&self) -> Algorithm {
        match self.material {
            Material::Rsa { .. } => Algorithm::Rs256,
            Material::P256(_) => Algorithm::Es256,
            Material::Ed25519(_) => Algorithm::EdDsa,
        }
    }

    /// True if the token was signed in the way of this key, and names it or no key.
    fn may_have_signed(&self, token: &Jwt<'_>) -> bool {
        self.algorithm() == token.algorithm
            && token.key_id.as_ref().is_none_or(|id| self.id.as_ref() == Some(id))
    }

    fn verify(&self, token: &Jwt<'_>) -> bool {
        let (message, signature) = (token.signed.as_bytes(), &*token.signature);
        match &self.material {
            Material::Rsa { n, e } => RsaPublicKeyComponents { n, e }
                .verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
                .is_ok(),
            Material::P256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature).is_ok()
            }
            Material::Ed25519(key) => {
                UnparsedPublicKey::new(&ED25519, key).verify(message, signature).is_ok()
            }
        }
    }
}

impl Jwt<'_> {
    /// Reads a token, and verifies nothing.
    ///
    /// Shape: `None` for a text that is no token of one of the three algorithms.
    pub fn parse(text: &str) -> Option<Jwt<'_>> {
        if text.len() > BYTES_MAX {
            return None;
        }
        let (signed, signature) = text.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let header: Json = serde_json::from_slice(&decoded(header)?).ok()?;
        // An extension that must be understood, and is not.
        if header.get("crit").is_some() {
            return None;
        }
        if let Some(kind) = header.get("typ") {
            let kind = kind.as_str()?.to_ascii_lowercase();
            if !["jwt", "at+jwt", "application/at+jwt"].contains(&&*kind) {
                return None;
            }
        }
        let key_id = match header.get("kid") {
            None => None,
            Some(id) => Some(id.as_str()?.to_owned()),
        };
        let claims: Json = serde_json::from_slice(&decoded(claims)?).ok()?;
        let algorithm = Algorithm::of(header["alg"].as_str()?)?;
        let is_object = claims.is_object();
        is_object.then_some(Jwt { signed, signature: decoded(signature)?, algorithm, key_id, claims })
    }

    /// Checks issuer, audience and times, and gives the claims and the end in seconds after 1970.
    ///
    /// Errors: the claim that does not fit.
    pub fn check(&self, issuer: &str, audiences: &[String], now: f64) -> Result<(&Json, f64), &'static str> {
        let claims = &self.claims;
        if claims["iss"].as_str() != Some(issuer) {
            return Err("iss");
        }
        let is_for_us =
            |audience: &Json| audience.as_str().is_some_and(|one| audiences.iter().any(|own| own == one));
        match &claims["aud"] {
            Json::Array(all) if all.iter().any(is_for_us) => {}
            one if is_for_us(one) => {}
            _ => return Err("aud"),
        }
        let until = claims["exp"].as_f64().ok_or("exp")?;
        if now >= until + LEEWAY {
            return Err("exp");
        }
        match claims.get("nbf").map(Json::as_f64) {
            None => {}
            Some(Some(from)) if now + LEEWAY >= from => {}
            Some(_) => return Err("nbf"),
        }
        Ok((claims, until))
    }
}
