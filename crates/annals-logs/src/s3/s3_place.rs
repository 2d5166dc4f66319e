//! The place of objects in S3: a URL without a key.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use annals::{Error, ErrorKind, Result};

use crate::place_part;

/// Units: bytes of a place.
const PLACE_BYTES_MAX: usize = 4096;
/// Units: bytes of the beginning of all keys. A key has at most 1024.
const PREFIX_BYTES_MAX: usize = 512;
const FORM: &str = "s3://BUCKET/PREFIX";
/// The options of a place.
const OPTIONS: &str = "endpoint, region, addressing, credentials-file, profile, authorities, spool, interval";
/// Longest time between two calls of a log. Units: milliseconds.
const INTERVAL_MS_MAX: u64 = 10_000;

/// The part of a request that has the name of the bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Addressing {
    /// In the path.
    Path,
    /// In the name of the host.
    Virtual,
}

/// Where the objects are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct S3Place {
    pub bucket: String,
    /// The beginning of all keys, without a slash at its ends; may be empty.
    pub prefix: String,
    /// The URL of the service, without a slash at its end; `None` for the one of the region.
    pub endpoint: Option<String>,
    pub region: Option<String>,
    pub addressing: Addressing,
    pub credentials_file: Option<PathBuf>,
    pub profile: Option<String>,
    /// Authorities to trust, in PEM; `None` for those of the system.
    pub authorities: Option<PathBuf>,
    /// The folder of contents until their digests are known; `None` for the system's folder of temporary files.
    pub spool: Option<PathBuf>,
    /// A log puts at most one call in this time.
    pub interval: Duration,
}

impl fmt::Display for S3Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}/{}", self.bucket, self.prefix)?;
        self.endpoint.as_ref().map_or(Ok(()), |endpoint| write!(f, "?endpoint={endpoint}"))
    }
}

fn invalid(text: impl fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidArgument, format!("s3 place: {text}"))
}

fn key_found() -> Error {
    invalid(
        "expected no key or password, found one: lists of processes and logs would show it; give credentials-file=PATH, \
         or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and change the key",
    )
}

/// Errors: `InvalidArgument` if it is not text.
fn decoded(text: &str, what: &str) -> Result<String> {
    place_part::decoded(text, what).map_err(invalid)
}

impl S3Place {
    /// Reads `s3://BUCKET/PREFIX?OPTION=VALUE&…`.
    ///
    /// Errors: `InvalidArgument`. None shows a part of the place that could be a key.
    pub fn parse(text: &str) -> Result<S3Place> {
        if text.len() > PLACE_BYTES_MAX {
            return Err(invalid(format!("expected at most {PLACE_BYTES_MAX} bytes, found {}", text.len())));
        }
        let (scheme, rest) = text.split_once("://").unwrap_or_default();
        if scheme != "s3" {
            return Err(invalid(format!("expected {FORM}")));
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.contains(['@', ':']) || prefix.contains('@') {
            return Err(key_found());
        }
        let mut place = S3Place {
            bucket: checked_bucket(bucket)?,
            prefix: checked_prefix(decoded(prefix, "prefix")?)?,
            endpoint: None,
            region: None,
            addressing: Addressing::Virtual,
            credentials_file: None,
            profile: None,
            authorities: None,
            spool: None,
            interval: Duration::ZERO,
        };
        place.set_options(query)?;
        Ok(place)
    }

    fn set_options(&mut self, query: &str) -> Result<()> {
        let mut addressing = None;
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option
                .split_once('=')
                .ok_or_else(|| invalid(format!("expected OPTION=VALUE with one of {OPTIONS}")))?;
            let value = decoded(value, "the value of an option")?;
            match (name, value.as_str()) {
                ("endpoint", _) => self.endpoint = Some(checked_endpoint(&value)?),
                ("region", _) => self.region = Some(checked_name(value, "region")?),
                ("addressing", "path") => addressing = Some(Addressing::Path),
                ("addressing", "virtual") => addressing = Some(Addressing::Virtual),
                ("addressing", _) => return Err(invalid("addressing: expected path or virtual; correct it")),
                ("credentials-file", _) => self.credentials_file = Some(PathBuf::from(value)),
                ("profile", _) => self.profile = Some(checked_name(value, "profile")?),
                ("authorities", _) => self.authorities = Some(PathBuf::from(value)),
                ("spool", _) => self.spool = Some(PathBuf::from(value)),
                ("interval", _) => self.interval = checked_interval(&value)?,
                (name, _) if is_secret(name) => return Err(key_found()),
                (name, _)
                    if name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter)) =>
                {
                    return Err(invalid(format!("expected one of {OPTIONS}, found '{name}'; correct it")));
                }
                _ => {
                    return Err(invalid(format!(
                        "expected one of {OPTIONS}, found another name; correct it"
                    )));
                }
            }
        }
        // Services of one's own seldom have a name for each bucket.
        let usual = if self.endpoint.is_some() { Addressing::Path } else { Addressing::Virtual };
        self.addressing = addressing.unwrap_or(usual);
        Ok(())
    }

    /// The key of an object in one of the folders below the prefix.
    pub fn key(&self, folder: &str, name: &str) -> String {
        match self.prefix.as_str() {
            "" => format!("{folder}/{name}"),
            prefix => format!("{prefix}/{folder}/{name}"),
        }
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["key", "secret", "token", "password"].iter().any(|word| name.contains(word))
}

fn checked_bucket(text: &str) -> Result<String> {
    let is_sign =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-._".contains(letter);
    if (3..=63).contains(&text.len()) && text.chars().all(is_sign) {
        return Ok(text.to_owned());
    }
    let text = format!(
        "expected a bucket of 3 to 63 lower-case letters, digits, hyphens and dots: {FORM}; correct it"
    );
    Err(invalid(text))
}

fn checked_prefix(text: String) -> Result<String> {
    let text = text.trim_end_matches('/');
    let is_sign = |letter: char| letter.is_ascii_alphanumeric() || "-._/=".contains(letter);
    let is_step = |step: &str| !matches!(step, "" | "." | "..");
    if text.is_empty()
        || text.len() <= PREFIX_BYTES_MAX && text.chars().all(is_sign) && text.split('/').all(is_step)
    {
        return Ok(text.to_owned());
    }
    Err(invalid(format!(
        "expected a prefix of at most {PREFIX_BYTES_MAX} letters, digits and -._= between single slashes; correct it"
    )))
}

fn checked_name(text: String, what: &str) -> Result<String> {
    let is_sign = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
    if !text.is_empty() && text.len() <= 128 && text.chars().all(is_sign) {
        return Ok(text);
    }
    Err(invalid(format!("{what}: expected at most 128 letters, digits and -._; correct it")))
}

fn checked_interval(text: &str) -> Result<Duration> {
    let millis = text.strip_suffix("ms").and_then(|number| number.parse().ok());
    let millis = millis.filter(|millis| *millis <= INTERVAL_MS_MAX).map(Duration::from_millis);
    millis.ok_or_else(|| {
        invalid(format!("interval: expected 0ms to {INTERVAL_MS_MAX}ms, such as 100ms; correct it"))
    })
}

fn checked_endpoint(text: &str) -> Result<String> {
    let text = text.trim_end_matches('/');
    let expected = "endpoint: expected https://HOST:PORT or http://HOST:PORT; correct it";
    let (scheme, host) = text.split_once("://").ok_or_else(|| invalid(expected))?;
    if host.contains('@') {
        return Err(key_found());
    }
    let is_sign = |letter: char| letter.is_ascii_alphanumeric() || "-._:[]/".contains(letter);
    if matches!(scheme, "http" | "https") && !host.is_empty() && host.chars().all(is_sign) {
        return Ok(text.to_owned());
    }
    Err(invalid(expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_with_all_its_parts() {
        let text = "s3://books/a/b/?endpoint=http://127.0.0.1:5000/&region=eu-1&addressing=virtual&credentials-file=/c\
                    &profile=p&authorities=/a.pem&spool=/s&interval=100ms";
        let place = S3Place::parse(text).unwrap();
        assert_eq!((&*place.bucket, &*place.prefix), ("books", "a/b"));
        assert_eq!(place.endpoint.as_deref(), Some("http://127.0.0.1:5000"));
        assert_eq!((place.region.as_deref(), place.profile.as_deref()), (Some("eu-1"), Some("p")));
        assert_eq!(place.addressing, Addressing::Virtual);
        assert_eq!(place.credentials_file, Some("/c".into()));
        assert_eq!(
            (place.authorities.clone(), place.spool.clone()),
            (Some("/a.pem".into()), Some("/s".into()))
        );
        assert_eq!(place.interval, Duration::from_millis(100));
        assert_eq!(place.to_string(), "s3://books/a/b?endpoint=http://127.0.0.1:5000");
        assert_eq!(place.key("objects", "x"), "a/b/objects/x");
        let bare = S3Place::parse("s3://books").unwrap();
        assert_eq!((bare.addressing, bare.key("objects", "x")), (Addressing::Virtual, "objects/x".into()));
        assert_eq!(S3Place::parse("s3://books?endpoint=https://h").unwrap().addressing, Addressing::Path);
    }

    #[test]
    fn no_refusal_shows_a_key() {
        let places = [
            "s3://hunter:hunter@books/a",
            "s3://books/a@hunter",
            "s3://books/a?endpoint=http://u:hunter@h",
            "s3://books/a?secret_access_key=hunter",
            "s3://books/a?access-key-id=hunter",
            "s3://books/a?token=hunter",
            "s3://books/a?hunter",
            "s3://books/a?addressing=hunter",
            "s3://books/a?region=hunter!",
            "s3://books/a?endpoint=hunter",
            "s3://books/a?interval=hunter",
            "s3://books/a?interval=10001ms",
            "s3://books/a?hu%20nter=1",
            "s3://Hunter/a",
            "s3://books/hunter//b",
            "s3://books/hunter%20b",
            "hunter",
        ];
        for place in places {
            let error = S3Place::parse(place).expect_err(place).to_string();
            assert!(!error.contains("hunter") && !error.contains('\n'), "{place}: {error}");
        }
        let unknown = S3Place::parse("s3://books/a?regoin=x").unwrap_err().to_string();
        assert!(unknown.contains("'regoin'"), "{unknown}");
    }
}
