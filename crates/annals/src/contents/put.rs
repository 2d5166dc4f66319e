//! Stores a content: reads it once, and gives it its name when its digest is known.

use std::io::{self, Read};
use std::ops::Deref;
use std::sync::Arc;

use super::Contents;
use super::hashing::Hashing;
use super::hashing_beside::{HashingBeside, Piece};
use super::pins::{Pin, Pins};
use super::shared_contents::free_name;
use crate::model::{Content, Digest, DigestAlgorithm, Sha256, Value};
use crate::storage::widen;
use crate::upkeep::{ContentName, Upkeep};
use crate::{Error, ErrorKind, Result};

/// A store that writes pieces of this length need not copy them once more. Units: bytes written at once.
const PIECE_BYTES: usize = 256 << 10;

/// The description of a content whose bytes are still to be read.
#[derive(Clone, Debug)]
pub struct NewContent {
    /// The media type; [`Content::UNKNOWN`] if it is not known.
    pub media_type: String,
    /// The file name, without folders.
    pub name: Option<String>,
    /// Digests to compute and keep besides SHA-256.
    pub algorithms: Vec<DigestAlgorithm>,
    /// Digests that the bytes must have. They are kept too.
    pub expected: Vec<Digest>,
    /// The size that the bytes must have, if it is known. Units: bytes.
    pub size: Option<u64>,
    /// Most bytes; more are refused. Units: bytes.
    pub bytes_max: Option<u64>,
}

impl Default for NewContent {
    fn default() -> NewContent {
        NewContent::of(Content::UNKNOWN)
    }
}

impl NewContent {
    /// A content of this media type.
    pub fn of(media_type: &str) -> NewContent {
        NewContent {
            media_type: media_type.to_owned(),
            name: None,
            algorithms: Vec::new(),
            expected: Vec::new(),
            size: None,
            bytes_max: None,
        }
    }

    /// The same with a file name.
    #[must_use]
    pub fn named(mut self, name: &str) -> NewContent {
        self.name = Some(name.to_owned());
        self
    }

    /// The same with a digest that the bytes must have.
    #[must_use]
    pub fn expecting(mut self, digest: Digest) -> NewContent {
        self.expected.push(digest);
        self
    }

    fn wants(&self, algorithm: DigestAlgorithm) -> bool {
        self.algorithms.contains(&algorithm)
            || self.expected.iter().any(|digest| digest.algorithm() == algorithm)
    }
}

/// A content in the store. Until it is dropped, no compaction removes the content.
pub struct StoredContent {
    content: Arc<Content>,
    is_new: bool,
    _pin: Pin,
}

impl StoredContent {
    /// The content as a value for a property.
    pub fn value(&self) -> Value {
        Value::Content(Arc::clone(&self.content))
    }

    /// False if the store had the same bytes already.
    pub fn is_new(&self) -> bool {
        self.is_new
    }
}

impl Deref for StoredContent {
    type Target = Content;

    fn deref(&self) -> &Content {
        &self.content
    }
}

impl Contents {
    /// Reads `from` to its end and stores the bytes durably, in constant memory. After an error nothing is stored.
    ///
    /// Errors: `DigestMismatch` if the bytes have another digest than expected; `InvalidArgument` for a wrong media type
    /// or name, or another size than stated; `TooLarge`; `NoRoom`; `Io`, also if `from` fails.
    pub fn put(&self, from: &mut dyn Read, about: &NewContent) -> Result<StoredContent> {
        let mut content = Content {
            sha256: Sha256([0; crate::model::SHA256_BYTES]),
            size: 0,
            media_type: about.media_type.as_str().into(),
            name: about.name.as_deref().map(Into::into),
            digests: Box::default(),
        };
        content.check()?;
        let (mut refused, mut pin, mut upkeep) = (None, None, None);
        let stored = self.store.put_named(&mut |out| {
            let read = copy(from, out, about).and_then(|(hashing, size)| {
                let (sha256, digests) = hashing.finish_apart();
                (content.sha256, content.size, content.digests) = (sha256, size, digests.into());
                check_digests(&content, about)
            });
            // Order: pinned before the upkeep is read.
            let name = read.and_then(|()| {
                pin = Some(Pins::pin(&self.pins, content.sha256));
                self.name_to_put(content.sha256, &mut upkeep)
            });
            name.map(|name| name.to_string()).map_err(|error| {
                refused = Some(error);
                io::Error::other("the content was refused")
            })
        });
        if let Some(error) = refused {
            return Err(error);
        }
        let is_new = stored.map_err(|error| self.failed("store a content", "new content", error))?;
        let untaken = || io::Error::other("the store did not take the bytes");
        let pin = pin.ok_or_else(|| self.failed("store a content", "new content", untaken()))?;
        pin.prove(&content.digests);
        if let Some(shared) = &self.shared {
            shared.prove(content.sha256, content.size, upkeep.as_ref());
        }
        Ok(StoredContent { content: Arc::new(content), is_new, _pin: pin })
    }

    /// The name under which a content is put, and the upkeep in which this is no leaving name.
    fn name_to_put(&self, sha256: Sha256, upkeep: &mut Option<Upkeep>) -> Result<ContentName> {
        let Some(shared) = &self.shared else { return Ok(ContentName::of(sha256)) };
        *upkeep = shared.spare(&sha256)?;
        match self.find(sha256, upkeep.as_ref()) {
            Ok((name, _)) => Ok(name),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(free_name(sha256, upkeep.as_ref())),
            Err(error) => Err(self.failed("look up a content", &sha256.to_string(), error)),
        }
    }
}

/// Reads `from` to its end, and writes it durably. Shape: the digests of the bytes, and their number.
fn copy(from: &mut dyn Read, out: &mut dyn io::Write, about: &NewContent) -> Result<(Hashing, u64)> {
    let failed = |error| Error::of_disk("store a content", error);
    std::thread::scope(|scope| {
        let mut hashing = HashingBeside::Here(Hashing::new(|algorithm| about.wants(algorithm)));
        let mut size = 0;
        loop {
            let piece = Piece::new(read_piece(from, size, about)?);
            size += widen(piece.len());
            let is_last = piece.len() < PIECE_BYTES;
            if !is_last {
                hashing = hashing.move_to_thread(scope);
            }
            hashing.update(&piece);
            out.write_all(&piece).map_err(failed)?;
            if is_last {
                break;
            }
        }
        check_stated_size(size, about)?;
        // Order: before the digests are awaited, so that the disk works meanwhile.
        out.flush().map_err(failed)?;
        Ok((hashing.finish(), size))
    })
}

/// The next bytes of a content, of which `size` were read before: a whole piece, or fewer bytes at its end.
fn read_piece(from: &mut dyn Read, size: u64, about: &NewContent) -> Result<Vec<u8>> {
    let mut piece = vec![0; PIECE_BYTES];
    let mut filled = 0;
    while let Some(rest) = piece.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::io("read the content to store", error)),
        }
        check_size(size + widen(filled), about)?;
    }
    piece.truncate(filled);
    Ok(piece)
}

fn check_size(size: u64, about: &NewContent) -> Result<()> {
    let bytes_max = about.bytes_max.unwrap_or(u64::MAX);
    if size <= bytes_max {
        return Ok(());
    }
    let text = format!("content: expected at most {bytes_max} bytes, found more; send it in parts");
    Err(Error::new(ErrorKind::TooLarge, text))
}

fn check_stated_size(size: u64, about: &NewContent) -> Result<()> {
    match about.size {
        Some(stated) if stated != size => {
            let text = format!("content: expected {stated} bytes, found {size}; send all of them");
            Err(Error::new(ErrorKind::InvalidArgument, text))
        }
        _ => Ok(()),
    }
}

fn check_digests(content: &Content, about: &NewContent) -> Result<()> {
    for expected in &about.expected {
        let Some(found) = content.digest(expected.algorithm()) else { continue };
        if found != *expected {
            return Err(mismatch(expected, &found, content.size));
        }
    }
    Ok(())
}

/// The error for a content with another digest than expected.
pub(super) fn mismatch(expected: &Digest, found: &Digest, size: u64) -> Error {
    let name = expected.algorithm().name();
    let text = format!(
        "content: expected the {name} digest {expected}, found {found} of {size} bytes; send the content again, or \
         correct the digest"
    );
    Error::new(ErrorKind::DigestMismatch, text)
}
