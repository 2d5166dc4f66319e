//! Reads a stored content again: proves its bytes, and computes digests of them.

use std::io::{self, Read};

use super::Contents;
use super::hashing::Hashing;
use crate::cancel::{Cancel, cancelled};
use crate::model::{Content, Digest, DigestAlgorithm, Sha256};
use crate::storage::widen;
use crate::upkeep::ContentName;
use crate::{Error, ErrorKind, Result};

/// Units: bytes read at once.
const PIECE_BYTES: usize = 256 << 10;

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
    /// Errors: `NotFound`; `Io`; `Corrupted` if the bytes are not those that were stored; `Cancelled`.
    pub fn digests(
        &self,
        content: &Content,
        wanted: &[DigestAlgorithm],
        cancel: &Cancel,
    ) -> Result<Vec<Digest>> {
        let mut digests = self.reread(content.sha256, content.size, wanted, &mut |_| {
            if cancel.is_cancelled() { Err(cancelled()) } else { Ok(()) }
        })?;
        if wanted.contains(&DigestAlgorithm::Sha256) {
            digests.extend(content.digest(DigestAlgorithm::Sha256));
            digests.sort_by_key(Digest::algorithm);
        }
        Ok(digests)
    }

    /// Reads a content to its end, passes its bytes to `take`, and proves that they are those of its digest. Shape: its
    /// wanted digests, except SHA-256.
    ///
    /// Errors: `NotFound`; `Corrupted`; `Io`; those of `take`.
    pub(crate) fn reread(
        &self,
        sha256: Sha256,
        size: u64,
        wanted: &[DigestAlgorithm],
        take: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<Vec<Digest>> {
        let name = match self.is_numbered {
            true => self.find(sha256, None).map_or(ContentName::of(sha256), |(name, _)| name).to_string(),
            false => sha256.to_string(),
        };
        let place = || self.store().describe(&name);
        let failed = |operation, error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => {
                let text = format!("content {name}: it is missing in {}; restore it from a backup", place());
                Error::new(ErrorKind::NotFound, text)
            }
            _ => self.failed(operation, &name, error),
        };
        let mut reader = self.store().open(&name).map_err(|error| failed("open a content", error))?;
        let mut hashing = Hashing::new(|algorithm| wanted.contains(&algorithm));
        let (mut piece, mut found_size) = (vec![0; PIECE_BYTES], 0);
        loop {
            let count = reader.read(&mut piece).map_err(|error| failed("read a content", error))?;
            let bytes = piece.get(..count).unwrap_or_default();
            if bytes.is_empty() {
                break;
            }
            found_size += widen(count);
            hashing.update(bytes);
            take(bytes)?;
        }
        let (found, digests) = hashing.finish_apart();
        if (found, found_size) == (sha256, size) {
            return Ok(digests);
        }
        let text = format!(
            "content {name}: expected {size} bytes of this SHA-256, found {found_size} bytes of {found} in {}; restore it \
             from a backup",
            place()
        );
        Err(Error::new(ErrorKind::Corrupted, text))
    }
}
