//! Computes digests of a stored content again, from its bytes.

use std::io::Read;

use super::Contents;
use super::hashing::Hashing;
use crate::cancel::{Cancel, cancelled};
use crate::model::{Content, Digest, DigestAlgorithm};
use crate::storage::widen;
use crate::{Error, ErrorKind, Result};

/// Units: bytes read at once.
const PIECE_BYTES: usize = 64 << 10;

impl Contents {
    /// The digests of a content by the wanted algorithms, in the order of their codes, computed from its bytes. It takes
    /// constant memory, and reads all bytes: it also finds out whether they are those that were stored.
    ///
    /// ```
    /// use annals::{Cancel, DigestAlgorithm, NewContent, Repository, Value};
    /// let contents = Repository::in_memory().contents()?;
    /// let Value::Content(content) = contents.put(&mut &b"abc"[..], &NewContent::of("text/plain"))?.value() else { unreachable!() };
    /// assert_eq!(content.digest(DigestAlgorithm::Md5), None);
    /// let digests = contents.digests(&content, &[DigestAlgorithm::Md5], &Cancel::new())?;
    /// assert_eq!(digests[0].bytes()[..2], [0x90, 0x01]);
    /// # Ok::<(), annals::Error>(())
    /// ```
    ///
    /// Errors: as [`Contents::open`]; `Corrupted` if the bytes are not those that were stored; `Cancelled`.
    pub fn digests(
        &self,
        content: &Content,
        wanted: &[DigestAlgorithm],
        cancel: &Cancel,
    ) -> Result<Vec<Digest>> {
        let name = content.sha256.to_string();
        let mut reader = self.open(content)?;
        let mut hashing = Hashing::new(|algorithm| wanted.contains(&algorithm));
        let (mut piece, mut found) = (vec![0; PIECE_BYTES], 0_u64);
        loop {
            if cancel.is_cancelled() {
                return Err(cancelled());
            }
            let count =
                reader.read(&mut piece).map_err(|error| self.failed("read a content", &name, error))?;
            let bytes = piece.get(..count).unwrap_or_default();
            if bytes.is_empty() {
                break;
            }
            found += widen(count);
            hashing.update(bytes);
        }
        let (sha256, mut digests) = hashing.finish()?;
        if (sha256, found) != (content.sha256, content.size) {
            let text = format!(
                "content {name}: expected {} bytes of this SHA-256, found {found} bytes of {sha256} in {}; restore it \
                 from a backup",
                content.size,
                self.store().describe(&name)
            );
            return Err(Error::new(ErrorKind::Corrupted, text));
        }
        if wanted.contains(&DigestAlgorithm::Sha256) {
            digests.extend(content.digest(DigestAlgorithm::Sha256));
            digests.sort_by_key(Digest::algorithm);
        }
        Ok(digests)
    }
}
