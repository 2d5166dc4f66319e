//! Digests in headers: `Repr-Digest` and `Content-Digest` (RFC 9530), and the older `Digest` (RFC 3230).

use annals::{Digest, DigestAlgorithm, Error, ErrorKind, Hashing};
use axum::body::Body;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::bounds::patience::FlowWait;
use crate::protocol::problem::Problem;

/// Header: digests of the bytes, `algorithm=base64` or `algorithm=hexadecimal`.
pub static DIGEST: HeaderName = HeaderName::from_static("digest");
/// Header: the algorithms whose digests the client wants, with weights.
pub static WANT_DIGEST: HeaderName = HeaderName::from_static("want-digest");
/// Header: digests of the whole representation, `algorithm=:base64:`.
pub static REPR_DIGEST: HeaderName = HeaderName::from_static("repr-digest");
/// Header: digests of the body, which for a whole body are those of the representation.
pub static CONTENT_DIGEST: HeaderName = HeaderName::from_static("content-digest");
/// Header: as `Want-Digest`, for `Repr-Digest`.
pub static WANT_REPR_DIGEST: HeaderName = HeaderName::from_static("want-repr-digest");

/// The digests that a request states for its body.
///
/// Errors: `invalid-argument` without an algorithm, and if no stated digest has a known one; `digest-mismatch` for a digest
/// that no bytes have.
pub fn stated(headers: &HeaderMap) -> Result<Vec<Digest>, Problem> {
    let mut digests = Vec::new();
    let mut unknown = None;
    for name in [&DIGEST, &REPR_DIGEST, &CONTENT_DIGEST] {
        for part in parts(headers, name)? {
            let invalid = || {
                let text = format!("header {name}: expected algorithm=digest such as md5=…, found {part:?}");
                Problem::invalid(text).with("header", name.as_str())
            };
            let (algorithm, digest) = part.split_once('=').ok_or_else(invalid)?;
            match DigestAlgorithm::named(algorithm) {
                Some(algorithm) => {
                    let stated = read(algorithm, digest.trim()).ok_or_else(|| impossible(name, &part))?;
                    digests.push(stated);
                }
                None => unknown = Some((name, algorithm.to_owned())),
            }
        }
    }
    match unknown {
        Some((name, algorithm)) if digests.is_empty() => {
            let known = DigestAlgorithm::ALL.map(DigestAlgorithm::name).join(", ");
            let text = format!("header {name}: expected one of {known}, found {algorithm:?}");
            Err(Problem::invalid(text).with("header", name.as_str()))
        }
        _ => Ok(digests),
    }
}

/// The problem with a digest that is not as long as its algorithm makes them.
fn impossible(name: &HeaderName, part: &str) -> Problem {
    let text = format!("header {name}: expected a digest of the body, found {part:?}, which no bytes have");
    Problem::from(Error::new(ErrorKind::DigestMismatch, text)).with("header", name.as_str())
}

/// Refuses the older header if it names no algorithm that is known.
///
/// Errors: `invalid-argument`.
/// Source: Fedora API specification 1.0. RFC 9530 makes of the newer header a mere hint.
pub fn check_wanted(headers: &HeaderMap) -> Result<(), Problem> {
    let parts = parts(headers, &WANT_DIGEST)?;
    let is_known = |part: &String| {
        let algorithm = part.split([';', '=']).next().unwrap_or_default();
        DigestAlgorithm::named(algorithm.trim()).is_some()
    };
    if parts.is_empty() || parts.iter().any(is_known) {
        return Ok(());
    }
    let known = DigestAlgorithm::ALL.map(DigestAlgorithm::name).join(", ");
    let text = format!("header {WANT_DIGEST}: expected one of {known}, found {}", parts.join(", "));
    Err(Problem::invalid(text).with("header", WANT_DIGEST.as_str()))
}

/// The algorithms that the client wants in this header, the most wanted first. Unknown algorithms are left out.
pub fn wanted(headers: &HeaderMap, name: &HeaderName) -> Result<Vec<DigestAlgorithm>, Problem> {
    let mut wanted = Vec::new();
    for part in parts(headers, name)? {
        // `sha;q=0.5` in the older header, `sha-256=3` in the newer one.
        let (algorithm, weight) = match part.split_once([';', '=']) {
            Some((algorithm, weight)) => (algorithm, weight.trim().trim_start_matches("q=")),
            None => (part.as_str(), "1"),
        };
        let weight: f32 = weight.parse().unwrap_or(1.0);
        if let Some(algorithm) = DigestAlgorithm::named(algorithm)
            && weight > 0.0
        {
            wanted.push((weight, algorithm));
        }
    }
    wanted.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    Ok(wanted.into_iter().map(|(_, algorithm)| algorithm).collect())
}

/// The algorithms that the client wants in any header.
pub fn wanted_in_all(headers: &HeaderMap) -> Result<Vec<DigestAlgorithm>, Problem> {
    let mut all = wanted(headers, &WANT_DIGEST)?;
    all.extend(wanted(headers, &WANT_REPR_DIGEST)?);
    Ok(all)
}

/// Adds the wanted digests that are known, in the header that belongs to the request's.
pub fn answer(
    digest_of: impl Fn(DigestAlgorithm) -> Option<Digest>,
    headers: &HeaderMap,
    answer: &mut HeaderMap,
) -> Result<(), Problem> {
    let known = |name| -> Result<Vec<Digest>, Problem> {
        Ok(wanted(headers, name)?.into_iter().filter_map(&digest_of).collect())
    };
    let structured =
        |digest: &Digest| format!("{}=:{}:", digest.algorithm().name(), BASE64.encode(digest.bytes()));
    insert(answer, &DIGEST, known(&WANT_DIGEST)?.iter().map(to_text));
    insert(answer, &REPR_DIGEST, known(&WANT_REPR_DIGEST)?.iter().map(structured));
    Ok(())
}

fn insert(answer: &mut HeaderMap, name: &HeaderName, digests: impl Iterator<Item = String>) {
    let text = digests.collect::<Vec<_>>().join(", ");
    if let (false, Ok(value)) = (text.is_empty(), HeaderValue::try_from(text)) {
        answer.insert(name, value);
    }
}

fn parts(headers: &HeaderMap, name: &HeaderName) -> Result<Vec<String>, Problem> {
    let mut parts = Vec::new();
    for value in headers.get_all(name) {
        let text = value.to_str().map_err(|_| {
            Problem::invalid(format!("header {name}: expected ASCII")).with("header", name.as_str())
        })?;
        parts.extend(text.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()));
    }
    Ok(parts)
}

/// A digest as base64, between colons or not, or as hexadecimal digits.
pub fn read(algorithm: DigestAlgorithm, text: &str) -> Option<Digest> {
    if let Ok(digest) = Digest::from_hex(algorithm, text) {
        return Some(digest);
    }
    let inner = text.strip_prefix(':').and_then(|rest| rest.strip_suffix(':')).unwrap_or(text);
    Digest::new(algorithm, &BASE64.decode(inner).ok()?).ok()
}

/// A digest as in the older header.
pub fn to_text(digest: &Digest) -> String {
    format!("{}={}", digest.algorithm().name(), BASE64.encode(digest.bytes()))
}

/// Computes digests of bytes that are not stored as a content, and compares them with those that a client states.
pub struct Check {
    hashing: Hashing,
    stated: Vec<Digest>,
}

impl Check {
    /// Computes digests by these algorithms.
    pub fn of_wanted(wanted: &[DigestAlgorithm]) -> Check {
        Check { hashing: Hashing::of(wanted), stated: Vec::new() }
    }

    /// Compares with these digests.
    pub fn of_stated(stated: Vec<Digest>) -> Check {
        let wanted: Vec<DigestAlgorithm> = stated.iter().map(Digest::algorithm).collect();
        Check { hashing: Hashing::of(&wanted), stated }
    }

    /// Reads a body to its end. Shape: its digests.
    ///
    /// Errors: `digest-mismatch`; those of the body.
    pub async fn read(mut self, wait: &mut FlowWait<'_>, body: &mut Body) -> Result<Vec<Digest>, Problem> {
        while let Some(part) = wait.next(body).await? {
            self.hashing.update(&part);
        }
        self.finish()
    }

    /// Takes all bytes at once.
    ///
    /// Errors: `digest-mismatch`.
    pub fn check(mut self, bytes: &[u8]) -> Result<(), Problem> {
        self.hashing.update(bytes);
        self.finish().map(|_| ())
    }

    /// The digests.
    ///
    /// Errors: `digest-mismatch`.
    fn finish(self) -> Result<Vec<Digest>, Problem> {
        let found = self.hashing.finish();
        for stated in &self.stated {
            let same = found.iter().find(|digest| digest.algorithm() == stated.algorithm());
            if let Some(other) = same.filter(|digest| *digest != stated) {
                let name = stated.algorithm().name();
                let text =
                    format!("expected the {name} digest {stated}, found {other}; send the bytes again");
                return Err(Error::new(ErrorKind::DigestMismatch, text).into());
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABC: &str = "900150983cd24fb0d6963f7d28e17f72";

    fn headers(name: &HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name.clone(), HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn digests_are_read_in_each_form() {
        let expected = Digest::from_hex(DigestAlgorithm::Md5, ABC).unwrap();
        let base64 = BASE64.encode(expected.bytes());
        for (name, value) in [
            (&DIGEST, format!("md5={ABC}")),
            (&DIGEST, format!("x=1, MD5={base64}")),
            (&REPR_DIGEST, format!("md5=:{base64}:")),
            (&CONTENT_DIGEST, format!("md5=:{base64}:")),
        ] {
            assert_eq!(stated(&headers(name, &value)).unwrap(), std::slice::from_ref(&expected), "{value}");
        }
        assert!(stated(&HeaderMap::new()).unwrap().is_empty());
        for wrong in ["md5", "md5=", "md5=00", "sha-256=zz", "md2=00"] {
            assert!(stated(&headers(&DIGEST, wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_most_wanted_digest_comes_first() {
        let found = wanted(&headers(&WANT_DIGEST, "md5;q=0.3, sha;q=1, unknown, sha-512;q=0"), &WANT_DIGEST);
        assert_eq!(found.unwrap(), [DigestAlgorithm::Sha1, DigestAlgorithm::Md5]);
        let found = wanted(&headers(&WANT_REPR_DIGEST, "sha-256=3, sha-512=9"), &WANT_REPR_DIGEST);
        assert_eq!(found.unwrap(), [DigestAlgorithm::Sha512, DigestAlgorithm::Sha256]);
    }
}
