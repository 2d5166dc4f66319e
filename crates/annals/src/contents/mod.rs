//! Contents: binaries of any size beside the log, each stored once under its SHA-256.
//!
//! A content is stored and synced before the commit that names it. A compaction removes contents that no version names.

mod hashing;
mod pins;
mod shared_contents;
mod put;
mod rehash;

use std::io;
use std::sync::Arc;

use crate::cancel::Cancel;
use crate::model::{Content, DigestAlgorithm, Sha256};
use crate::storage::{Store, StoreReader};
use crate::upkeep::{ContentName, SharedUpkeep, Upkeep};
use crate::{Error, ErrorKind, Result};

pub use hashing::Hashing;
pub(crate) use pins::{Pin, Pins};
pub use put::{NewContent, StoredContent};
pub(crate) use shared_contents::SharedContents;

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
    /// False in the folder of a repository: then no name has a number.
    is_numbered: bool,
    /// `None` in a store of one repository, and where contents are only read or copied.
    shared: Option<Arc<SharedContents>>,
}

impl Contents {
    /// The contents in the folder of a repository.
    pub(crate) fn new(store: Arc<dyn Store>) -> Contents {
        Contents { store, pins: Arc::default(), is_numbered: false, shared: None }
    }

    /// The contents in a store elsewhere, which several repositories may have shared.
    pub(crate) fn elsewhere(store: Arc<dyn Store>) -> Contents {
        Contents { is_numbered: true, ..Contents::new(store) }
    }

    /// The contents that several repositories share.
    pub(crate) fn shared(store: Arc<dyn Store>, upkeep: Arc<SharedUpkeep>) -> Contents {
        let shared = Some(Arc::new(SharedContents::new(upkeep)));
        Contents { shared, ..Contents::elsewhere(store) }
    }

    /// The knowledge of a store that several repositories share.
    pub(crate) fn as_shared(&self) -> Option<&SharedContents> {
        self.shared.as_deref()
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub(crate) fn pins(&self) -> &Arc<Pins> {
        &self.pins
    }

    /// Opens a content for reading from any place in it. In a local store it stays readable if it is removed meanwhile; in one
    /// beyond the own machine reads then fail with `NotFound`.
    ///
    /// Errors: `NotFound` if the store does not have it; `Corrupted` if its size differs; `Io`.
    pub fn open(&self, content: &Content) -> Result<Box<dyn StoreReader>> {
        let name = self.check(content)?.to_string();
        self.store.open(&name).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => missing(content.sha256),
            _ => self.failed("open a content", &name, error),
        })
    }

    /// Refuses a content that the store does not have. Shape: its name there.
    ///
    /// Errors: `NotFound`; `Corrupted` if its size differs; `Io`.
    fn check(&self, content: &Content) -> Result<ContentName> {
        self.check_beside(content, None)
    }

    /// The same; names that are leaving do not count.
    fn check_beside(&self, content: &Content, upkeep: Option<&Upkeep>) -> Result<ContentName> {
        let (name, bytes) = self.find(content.sha256, upkeep).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => missing(content.sha256),
            _ => self.failed("look up a content", &content.sha256.to_string(), error),
        })?;
        if bytes == content.size {
            return Ok(name);
        }
        let name = name.to_string();
        let text = format!(
            "content {name}: expected {} bytes, found {bytes} in {}; restore it from a backup",
            content.size,
            self.store.describe(&name)
        );
        Err(Error::new(ErrorKind::Corrupted, text))
    }

    /// The name of a content in the store, and its length in bytes. Names that are leaving do not count.
    ///
    /// Errors: `NotFound`; those of the store.
    pub(crate) fn find(&self, sha256: Sha256, upkeep: Option<&Upkeep>) -> io::Result<(ContentName, u64)> {
        let is_leaving = |name| upkeep.is_some_and(|upkeep| upkeep.is_leaving(name));
        let first = ContentName::of(sha256);
        if !is_leaving(first) {
            match self.store.length(&first.to_string()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && self.is_numbered => {}
                found => return found.map(|bytes| (first, bytes)),
            }
        }
        let names = self.store.list_beginning(&ContentName::numbered(sha256))?;
        for name in names.iter().filter_map(|name| ContentName::parse(name)) {
            if is_leaving(name) {
                continue;
            }
            match self.store.length(&name.to_string()) {
                // It was removed meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                found => return found.map(|bytes| (name, bytes)),
            }
        }
        Err(io::ErrorKind::NotFound.into())
    }

    /// Pins a content until a commit is durable that names it, and checks that it is there. If the commit names further
    /// digests that nobody has compared with the bytes, this reads the bytes.
    ///
    /// Errors: `NotFound`; `InvalidArgument` if its size differs; `DigestMismatch`; `Corrupted`; `Io`.
    pub(crate) fn pin(&self, content: &Content) -> Result<Pin> {
        // Order: pinned first, so that no compaction removes it after the check.
        let pin = Pins::pin(&self.pins, content.sha256);
        self.check_to_name(content).map_err(|error| match error.kind() {
            // More often the one who names it is wrong about its size than the store is damaged.
            ErrorKind::Corrupted => wrong_size(content),
            _ => error,
        })?;
        self.prove(&pin, content)?;
        Ok(pin)
    }

    /// Refuses a pinned content that a commit cannot name.
    fn check_to_name(&self, content: &Content) -> Result<()> {
        let Some(shared) = &self.shared else { return self.check(content).map(drop) };
        match shared.known_size(&content.sha256) {
            Some(size) if size == content.size => return Ok(()),
            Some(_) => return Err(wrong_size(content)),
            None => {}
        }
        // Order: pinned before, so that this repository does not remove it; no other one may in its term.
        let upkeep = shared.upkeep().load()?;
        self.check_beside(content, upkeep.as_ref())?;
        shared.prove(content.sha256, content.size, upkeep.as_ref());
        Ok(())
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
    let text = "content: expected a repository with a store of contents, found one on a log alone; name the store: `--objects` \
                of commands and servers, or the option `contents` in Rust";
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
