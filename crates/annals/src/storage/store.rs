//! Stores of whole objects by name. Checkpoints and contents are kept in them, on any storage.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::disk::{Access, Disk, DiskFile, widen};
use super::folder_syncs::FolderSyncs;
use super::whole_file::{UNFINISHED_SUFFIX, build_named, build_whole, length_of};

/// An object that is being read, from any place in it.
pub trait StoreReader: Read + Seek + Send {}

impl<R: Read + Seek + Send> StoreReader for R {}

/// Objects with names, each written once and as a whole.
///
/// A log brings its own store if its checkpoints are to be stored beside it. [`conformance`](super::conformance) tests
/// every store.
pub trait Store: Send + Sync {
    /// Puts the bytes that `write` writes under `name`, durably, replacing the object that had the name. After a crash
    /// or an error the name has either the old object or the whole new one.
    ///
    /// Errors: those of `write` and of the storage.
    fn put(&self, name: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()>;

    /// As [`Store::put`], under the name that `write` returns: for objects that are named by a digest. False if an object
    /// of this name and length was there. A local store replaces it too, because the medium may have damaged it; a store
    /// that keeps checksums may leave it. When `write` flushes, a local store makes the bytes durable: what `write` does
    /// after it has flushed the last of them does not hold up the disk.
    ///
    /// Errors: those of `write` and of the storage.
    fn put_named(&self, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<String>) -> io::Result<bool>;

    /// The length of an object. Units: bytes.
    ///
    /// Errors: `NotFound` if there is none of this name.
    fn length(&self, name: &str) -> io::Result<u64>;

    /// Opens an object. In a local store it stays readable when its name is removed or given to another object; in a store
    /// beyond the own machine, a later read fails with `NotFound`, and never gives bytes of two objects.
    ///
    /// Errors: `NotFound` if there is none of this name.
    fn open(&self, name: &str) -> io::Result<Box<dyn StoreReader>>;

    /// The names of all whole objects, in no order; none if nothing was ever put.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Those of the names that begin with `beginning`.
    fn list_beginning(&self, beginning: &str) -> io::Result<Vec<String>> {
        let mut names = self.list()?;
        names.retain(|name| name.starts_with(beginning));
        Ok(names)
    }

    /// Removes objects, durably. A missing name is no error.
    fn remove(&self, names: &[String]) -> io::Result<()>;

    /// Removes, durably, the remains of objects whose put was interrupted by a crash. Nobody calls it on a store that several
    /// repositories share.
    fn remove_unfinished(&self) -> io::Result<()>;

    /// The place of the object of this name, for error texts.
    fn describe(&self, name: &str) -> String;
}

/// The files of one folder.
pub struct DiskStore {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    syncs: FolderSyncs,
    /// Number of the next object that gets its name when it is written.
    next: AtomicU64,
}

impl DiskStore {
    /// The store in `folder`, which the first [`Store::put`] creates.
    pub fn new(disk: Arc<dyn Disk>, folder: impl Into<PathBuf>) -> DiskStore {
        DiskStore { disk, folder: folder.into(), syncs: FolderSyncs::default(), next: AtomicU64::new(0) }
    }

    /// The same for a folder that several processes share: their unfinished objects have different names.
    #[expect(clippy::expect_used, reason = "without random bytes, two processes could write one file")]
    pub fn shared(disk: Arc<dyn Disk>, folder: impl Into<PathBuf>) -> DiskStore {
        let first = getrandom::u64().expect("the system gives random bytes");
        DiskStore { next: AtomicU64::new(first), ..DiskStore::new(disk, folder) }
    }

    fn names(&self) -> io::Result<Vec<String>> {
        match self.disk.list(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            names => names,
        }
    }

    /// Makes the names durable: on ext4 a new name can be lost without a sync of its folder.
    fn sync_names(&self) -> io::Result<()> {
        self.syncs.sync(|| self.disk.sync_folder(&self.folder))
    }
}

impl Store for DiskStore {
    fn put(&self, name: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        self.disk.create_folder(&self.folder)?;
        build_whole(&*self.disk, &self.folder, name, write)?;
        self.sync_names()
    }

    fn put_named(&self, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<String>) -> io::Result<bool> {
        self.disk.create_folder(&self.folder)?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let is_there = |name: &str, bytes| match self.length(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            found => found.map(|found| found == bytes),
        };
        let building = format!("{number}{UNFINISHED_SUFFIX}");
        let is_new = build_named(&*self.disk, &self.folder, &building, is_there, write)?;
        self.sync_names()?;
        Ok(is_new)
    }

    fn length(&self, name: &str) -> io::Result<u64> {
        length_of(&*self.disk, &self.folder, name)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn StoreReader>> {
        let file = self.disk.open(&self.folder.join(name), Access::Read)?;
        Ok(Box::new(FileReader::new(file)))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = self.names()?;
        names.retain(|name| !name.ends_with(UNFINISHED_SUFFIX));
        Ok(names)
    }

    fn remove(&self, names: &[String]) -> io::Result<()> {
        let mut is_removed = false;
        for name in names {
            match self.disk.remove(&self.folder.join(name)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => {
                    removed?;
                    is_removed = true;
                }
            }
        }
        if is_removed { self.sync_names() } else { Ok(()) }
    }

    fn remove_unfinished(&self) -> io::Result<()> {
        let mut names = self.names()?;
        names.retain(|name| name.ends_with(UNFINISHED_SUFFIX));
        self.remove(&names)
    }

    fn describe(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }
}

/// Reads a file in order, from any place in it.
struct FileReader {
    file: Arc<dyn DiskFile>,
    offset: u64,
}

impl FileReader {
    fn new(file: Arc<dyn DiskFile>) -> FileReader {
        FileReader { file, offset: 0 }
    }
}

impl Read for FileReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.offset)?;
        self.offset += widen(count);
        Ok(count)
    }
}

impl Seek for FileReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::Current(distance) => self.offset.checked_add_signed(distance),
            SeekFrom::End(distance) => self.file.len()?.checked_add_signed(distance),
        };
        self.offset = place.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.offset)
    }
}
