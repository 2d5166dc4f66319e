//! Contents: binaries that are stored beside the log, and the values that name them.

use std::fmt;

use super::name::check_name;
use crate::{Error, ErrorKind, Result};

/// Longest media type. Units: bytes.
pub const MEDIA_TYPE_BYTES_MAX: usize = 255;
/// Units: bytes of a SHA-256 digest.
pub const SHA256_BYTES: usize = 32;

/// The SHA-256 digest of a content: its name in the store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256(pub [u8; SHA256_BYTES]);

impl Sha256 {
    /// Reads 64 hexadecimal digits. `None` for any other text.
    pub fn parse(digits: &str) -> Option<Sha256> {
        parse_hex(digits)?.try_into().ok().map(Sha256)
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

/// A digest besides SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DigestAlgorithm {
    /// MD5: finds accidents, no attacks.
    Md5,
    /// SHA-1: finds accidents, no attacks.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
}

impl DigestAlgorithm {
    /// All algorithms, in the order of their codes in records.
    pub const ALL: [DigestAlgorithm; 4] =
        [DigestAlgorithm::Md5, DigestAlgorithm::Sha1, DigestAlgorithm::Sha256, DigestAlgorithm::Sha512];

    /// Its name in the registry of HTTP digests, e.g. `sha-256`.
    pub fn name(self) -> &'static str {
        match self {
            DigestAlgorithm::Md5 => "md5",
            DigestAlgorithm::Sha1 => "sha",
            DigestAlgorithm::Sha256 => "sha-256",
            DigestAlgorithm::Sha512 => "sha-512",
        }
    }

    /// The algorithm of a name, however it is written: `SHA-256`, `sha256`, `sha`, `sha1`.
    pub fn named(name: &str) -> Option<DigestAlgorithm> {
        Some(match &*name.trim().to_ascii_lowercase() {
            "md5" => DigestAlgorithm::Md5,
            "sha" | "sha1" | "sha-1" => DigestAlgorithm::Sha1,
            "sha256" | "sha-256" => DigestAlgorithm::Sha256,
            "sha512" | "sha-512" => DigestAlgorithm::Sha512,
            _ => return None,
        })
    }

    /// Units: bytes.
    pub fn length(self) -> usize {
        match self {
            DigestAlgorithm::Md5 => 16,
            DigestAlgorithm::Sha1 => 20,
            DigestAlgorithm::Sha256 => SHA256_BYTES,
            DigestAlgorithm::Sha512 => 64,
        }
    }
}

/// A digest of bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest {
    algorithm: DigestAlgorithm,
    bytes: Box<[u8]>,
}

impl Digest {
    /// Errors: `InvalidArgument` if the number of bytes is not that of the algorithm.
    pub fn new(algorithm: DigestAlgorithm, bytes: &[u8]) -> Result<Digest> {
        if bytes.len() == algorithm.length() {
            return Ok(Digest { algorithm, bytes: bytes.into() });
        }
        let (name, expected, found) = (algorithm.name(), algorithm.length(), bytes.len());
        let text = format!("digest {name}: expected {expected} bytes, found {found}");
        Err(Error::new(ErrorKind::InvalidArgument, text))
    }

    /// Reads hexadecimal digits.
    ///
    /// Errors: `InvalidArgument` if they are none, or of another number than the algorithm has.
    pub fn from_hex(algorithm: DigestAlgorithm, digits: &str) -> Result<Digest> {
        let bytes = parse_hex(digits).ok_or_else(|| {
            let text = format!("digest {}: expected hexadecimal digits", algorithm.name());
            Error::new(ErrorKind::InvalidArgument, text)
        })?;
        Digest::new(algorithm, &bytes)
    }

    /// The algorithm.
    pub fn algorithm(&self) -> DigestAlgorithm {
        self.algorithm
    }

    /// The bytes of the digest.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.bytes)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{self}", self.algorithm.name())
    }
}

/// A binary of a version: which bytes, and what they are. The bytes are in the store of contents, under their SHA-256.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Content {
    /// The SHA-256 of the bytes.
    pub sha256: Sha256,
    /// Units: bytes.
    pub size: u64,
    /// The media type, e.g. `image/tiff`; `application/octet-stream` if it is not known.
    pub media_type: Box<str>,
    /// The file name, without folders.
    pub name: Option<Box<str>>,
    /// Further digests that the writer asked for, in the order of their algorithms.
    pub digests: Box<[Digest]>,
}

impl Content {
    /// The media type of bytes about which nothing is known.
    pub const UNKNOWN: &'static str = "application/octet-stream";

    /// Refuses media types and names that no header can carry.
    pub(crate) fn check(&self) -> Result<()> {
        let is_visible = |byte: u8| (b' '..0x7F).contains(&byte);
        let media_type = &*self.media_type;
        let is_media_type = media_type.len() <= MEDIA_TYPE_BYTES_MAX
            && media_type.bytes().all(is_visible)
            && media_type.split_once('/').is_some_and(|(kind, name)| !kind.is_empty() && !name.is_empty());
        if !is_media_type {
            let text = format!(
                "content: expected a media type such as image/tiff, found {:?}",
                shortened(media_type)
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        let Some(name) = &self.name else { return Ok(()) };
        check_name("content, file name", name)?;
        if name.contains(['/', '\\']) {
            let text = format!("content: expected a file name without folders, found {name:?}");
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        Ok(())
    }

    /// The digest of an algorithm, if it is known.
    pub fn digest(&self, algorithm: DigestAlgorithm) -> Option<Digest> {
        if algorithm == DigestAlgorithm::Sha256 {
            return Some(Digest { algorithm, bytes: self.sha256.0.into() });
        }
        self.digests.iter().find(|digest| digest.algorithm == algorithm).cloned()
    }

    /// Units: bytes that it takes in a record, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let digests: usize = self.digests.iter().map(|digest| digest.bytes.len() + 3).sum();
        SHA256_BYTES + 20 + self.media_type.len() + self.name.as_ref().map_or(0, |name| name.len()) + digests
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(100).collect()
}

fn parse_hex(digits: &str) -> Option<Vec<u8>> {
    let is_hex = digits.len().is_multiple_of(2) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    is_hex.then(|| (0..digits.len()).step_by(2).map(byte).collect())?
}

fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}
