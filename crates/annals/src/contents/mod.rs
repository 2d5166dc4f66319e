//! Contents: binaries of any size beside the log, each stored once under its SHA-256.
//!
//! A content is stored and synced before the commit that names it. A compaction removes contents that no version names.

mod hashing;
mod pins;
mod put;
mod rehash;

use std::io;
use std::sync::Arc;

use crate::cancel::Cancel;
use crate::model::{Content, DigestAlgorithm, Sha256};
use crate::storage::{Store, StoreReader};
use crate::{Error, ErrorKind, Result};

pub use hashing::Hashing;
pub(crate) use pins::{Pin, Pins};
pub use put::{NewContent, StoredContent};

/// The store of contents of a repository. Made by [`Repository::contents`](crate::Repository::contents). Clones share it.
///
/// ```
/// use std::io::Read;
/// use annals::{NewContent, NewEntity, Repository, Value};
/// # fn main() -> annals::Result<()> {
/// let repository = Repository::in_memory();
/// let contents = repository.contents()?;
/// let stored = contents.put(&mut &b"a scan"[..], &NewContent::of("image/tiff").named("scan.tif"))?;
/// let (page, _) = repository.transact(|t| t.create_entity(NewEntity::new("page").property("content", stored.value())))?;
///
/// let snapshot = repository.snapshot();
/// let page = snapshot.entity(&page)?.unwrap();
/// let Some(Value::Content(content)) = page.property("content") else { panic!("it has a content") };
/// assert_eq!((content.size, &*content.media_type), (6, "image/tiff"));
/// let mut bytes = Vec::new();
/// contents.open(&content)?.read_to_end(&mut bytes).unwrap();
/// assert_eq!(bytes, b"a scan");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Contents {
    store: Arc<dyn Store>,
    pins: Arc<Pins>,
}

impl Contents {
    pub(crate) fn new(store: Arc<dyn Store>) -> Contents {
        Contents { store, pins: Arc::default() }
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub(crate) fn pins(&self) -> &Arc<Pins> {
        &self.pins
    }

    /// Opens a content for reading from any place in it. It stays readable if it is removed meanwhile.
    ///
    /// Errors: `NotFound` if the store does not have it; `Corrupted` if its size differs; `Io`.
    pub fn open(&self, content: &Content) -> Result<Box<dyn StoreReader>> {
        self.check(content)?;
        let name = content.sha256.to_string();
        self.store.open(&name).map_err(|error| self.failed("open a content", &name, error))
    }

    /// Refuses a content that the store does not have.
    ///
    /// Errors: `NotFound`; `Corrupted` if its size differs; `Io`.
    pub(crate) fn check(&self, content: &Content) -> Result<()> {
        let name = content.sha256.to_string();
        let bytes = self.store.length(&name).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => missing(content.sha256),
            _ => self.failed("look up a content", &name, error),
        })?;
        if bytes == content.size {
            return Ok(());
        }
        let text = format!(
            "content {name}: expected {} bytes, found {bytes} in {}; restore it from a backup",
            content.size,
            self.store.describe(&name)
        );
        Err(Error::new(ErrorKind::Corrupted, text))
    }

    /// Pins a content until a commit is durable that names it, and checks that it is there. If the commit names further
    /// digests that nobody has compared with the bytes, this reads the bytes.
    ///
    /// Errors: `NotFound`; `InvalidArgument` if its size differs; `DigestMismatch`; `Corrupted`; `Io`.
    pub(crate) fn pin(&self, content: &Content) -> Result<Pin> {
        // Order: pinned first, so that no compaction removes it after the check.
        let pin = Pins::pin(&self.pins, content.sha256);
        self.check(content).map_err(|error| match error.kind() {
            // More often the one who names it is wrong about its size than the store is damaged.
            ErrorKind::Corrupted => wrong_size(content),
            _ => error,
        })?;
        self.prove(&pin, content)?;
        Ok(pin)
    }

    /// Compares the further digests of a content with its bytes.
    fn prove(&self, pin: &Pin, content: &Content) -> Result<()> {
        let stated = pin.unproven(&content.digests);
        if stated.is_empty() {
            return Ok(());
        }
        let wanted: Vec<DigestAlgorithm> = stated.iter().map(|digest| digest.algorithm()).collect();
        let found = self.digests(content, &wanted, &Cancel::new())?;
        for stated in stated {
            let same = found.iter().find(|digest| digest.algorithm() == stated.algorithm());
            if let Some(other) = same.filter(|digest| *digest != stated) {
                return Err(put::mismatch(stated, other, content.size));
            }
        }
        pin.prove(&found);
        Ok(())
    }

    pub(crate) fn failed(&self, operation: &str, name: &str, error: io::Error) -> Error {
        Error::of_disk(operation, error).with("content", self.store.describe(name))
    }
}

/// The error of a repository without a store of contents.
pub(crate) fn no_contents() -> Error {
    let text = "content: expected a repository with a store of contents, found one on a log alone; set the option \
                `contents`";
    Error::new(ErrorKind::InvalidArgument, text)
}

fn wrong_size(content: &Content) -> Error {
    let text = format!(
        "content {}: expected the number of bytes in the store, found {}; name the size that the store told, or put the \
         content there again",
        content.sha256, content.size
    );
    Error::new(ErrorKind::InvalidArgument, text).with("content", content.sha256)
}

/// The error of a content that is not there.
pub(crate) fn missing(sha256: Sha256) -> Error {
    let text = format!(
        "content {sha256}: it is not in the store of contents; put it there before the commit, or restore it from a \
                backup"
    );
    Error::new(ErrorKind::NotFound, text).with("content", sha256)
}
