//! The digests of bytes that pass by.

use sha2::Digest as _;

use crate::Result;
use crate::model::{Digest, DigestAlgorithm, Sha256};

/// Computes SHA-256, and the digests that were asked for.
pub(crate) struct Hashing {
    sha256: sha2::Sha256,
    md5: Option<md5::Md5>,
    sha1: Option<sha1::Sha1>,
    sha512: Option<sha2::Sha512>,
}

impl Hashing {
    pub(crate) fn new(wanted: impl Fn(DigestAlgorithm) -> bool) -> Hashing {
        Hashing {
            sha256: sha2::Sha256::new(),
            md5: wanted(DigestAlgorithm::Md5).then(md5::Md5::new),
            sha1: wanted(DigestAlgorithm::Sha1).then(sha1::Sha1::new),
            sha512: wanted(DigestAlgorithm::Sha512).then(sha2::Sha512::new),
        }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
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

    /// The SHA-256, and the further digests in the order of their algorithms.
    pub(crate) fn finish(self) -> Result<(Sha256, Vec<Digest>)> {
        let mut digests = Vec::new();
        if let Some(md5) = self.md5 {
            digests.push(Digest::new(DigestAlgorithm::Md5, &md5.finalize())?);
        }
        if let Some(sha1) = self.sha1 {
            digests.push(Digest::new(DigestAlgorithm::Sha1, &sha1.finalize())?);
        }
        if let Some(sha512) = self.sha512 {
            digests.push(Digest::new(DigestAlgorithm::Sha512, &sha512.finalize())?);
        }
        Ok((Sha256(self.sha256.finalize().into()), digests))
    }
}
