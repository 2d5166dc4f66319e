//! The digests of bytes that pass by.

use sha2::Digest as _;

use crate::model::{Digest, DigestAlgorithm, Sha256};

/// Computes digests of bytes that pass by, in constant memory.
///
/// ```
/// use annals::{DigestAlgorithm, Hashing};
/// let mut hashing = Hashing::of(&[DigestAlgorithm::Md5]);
/// hashing.update(b"ab");
/// hashing.update(b"c");
/// let digests = hashing.finish();
/// assert_eq!(digests[0].to_string(), "900150983cd24fb0d6963f7d28e17f72");
/// assert_eq!(digests[1].algorithm(), DigestAlgorithm::Sha256);
/// ```
#[derive(Clone)]
pub struct Hashing {
    sha256: sha2::Sha256,
    md5: Option<md5::Md5>,
    sha1: Option<sha1::Sha1>,
    sha512: Option<sha2::Sha512>,
}

impl Hashing {
    /// Computes digests by these algorithms, and by SHA-256 in any case.
    pub fn of(wanted: &[DigestAlgorithm]) -> Hashing {
        Hashing::new(|algorithm| wanted.contains(&algorithm))
    }

    pub(crate) fn new(wanted: impl Fn(DigestAlgorithm) -> bool) -> Hashing {
        Hashing {
            sha256: sha2::Sha256::new(),
            md5: wanted(DigestAlgorithm::Md5).then(md5::Md5::new),
            sha1: wanted(DigestAlgorithm::Sha1).then(sha1::Sha1::new),
            sha512: wanted(DigestAlgorithm::Sha512).then(sha2::Sha512::new),
        }
    }

    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.sha256.update(bytes);
        if let Some(md5) = &mut self.md5 {
            md5.update(bytes);
        }
        if let Some(sha1) = &mut self.sha1 {
            sha1.update(bytes);
        }
        if let Some(sha512) = &mut self.sha512 {
            sha512.update(bytes);
        }
    }

    /// The digests of all bytes, in the order of their algorithms.
    pub fn finish(self) -> Vec<Digest> {
        let (sha256, mut digests) = self.finish_apart();
        digests.push(digest(DigestAlgorithm::Sha256, &sha256.0));
        digests.sort_by_key(Digest::algorithm);
        digests
    }

    /// The SHA-256, and the further digests in the order of their algorithms.
    pub(crate) fn finish_apart(self) -> (Sha256, Vec<Digest>) {
        let mut digests = Vec::new();
        digests.extend(self.md5.map(|md5| digest(DigestAlgorithm::Md5, &md5.finalize())));
        digests.extend(self.sha1.map(|sha1| digest(DigestAlgorithm::Sha1, &sha1.finalize())));
        digests.extend(self.sha512.map(|sha512| digest(DigestAlgorithm::Sha512, &sha512.finalize())));
        (Sha256(self.sha256.finalize().into()), digests)
    }
}

#[expect(clippy::expect_used, reason = "each algorithm makes digests of its length")]
fn digest(algorithm: DigestAlgorithm, bytes: &[u8]) -> Digest {
    Digest::new(algorithm, bytes).expect("each algorithm makes digests of its length")
}
