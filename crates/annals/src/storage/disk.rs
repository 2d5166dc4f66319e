//! The traits of a disk: folders and names, open files, locks.

use std::io;
use std::path::Path;
use std::sync::Arc;

/// A lock. Dropping it releases it.
pub trait DiskLock: Send + Sync {
    /// True if no other process can have the same lock: the locked file still has its name.
    fn is_held(&self) -> io::Result<bool>;
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading only.
    Read,
    /// Reading and writing in place.
    Write,
}

/// Folders and names. Nothing is durable before [`DiskFile::sync_all`] and [`Disk::sync_folder`].
pub trait Disk: Send + Sync {
    /// Creates a file for reading and writing.
    ///
    /// Errors: `AlreadyExists` if the name is taken; a file is never emptied by creating it again.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;

    /// Creates a file without a name in `folder`, and `folder` if it is missing: closing the file deletes it.
    fn create_unnamed(&self, folder: &Path) -> io::Result<Arc<dyn DiskFile>>;

    /// Opens an existing file. Never waits.
    ///
    /// Errors: `NotFound` if there is none; `InvalidInput` if it is no regular file.
    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn DiskFile>>;

    /// The names in `folder`, of files and folders, in no order. Errors: `NotFound` if there is no such folder.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;

    /// Gives the file `from` the name `to`, replacing the file that had it. Durable after [`Disk::sync_folder`].
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes the name of a file. Durable after [`Disk::sync_folder`].
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Creates `folder` and missing folders above it, durably.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;

    /// Makes the names in `folder` durable.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// Locks `path` exclusively, creating it if it is missing; `None` if another holder has it. Never waits.
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn DiskLock>>>;

    /// The process that holds the lock at `path`, for a message; `None` if it is not known.
    fn holder(&self, path: &Path) -> Option<String> {
        let _ = path;
        None
    }

    /// True if another holder has the lock at `path`. A reader may call this; during the call no other process gets the
    /// lock.
    fn is_locked(&self, path: &Path) -> io::Result<bool>;
}

/// One open file. It stays readable when its name is removed or given to another file.
pub trait DiskFile: Send + Sync {
    /// Fills `buffer` from `offset` (bytes from the start); returns fewer bytes only at the end of the file.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes all `bytes` at `offset`, extending the file if needed.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Makes contents and length durable, other metadata not necessarily.
    fn sync_data(&self) -> io::Result<()>;

    /// Makes contents and all metadata durable.
    fn sync_all(&self) -> io::Result<()>;

    /// Cuts or extends (with zeros) to `bytes`.
    fn set_len(&self, bytes: u64) -> io::Result<()>;

    /// Units: bytes.
    fn len(&self) -> io::Result<u64>;

    /// False if the file was removed: bytes written to it are lost when it is closed.
    fn has_name(&self) -> io::Result<bool>;

    /// The same number for the same file, whatever its name is; another number for each other file of the disk that
    /// exists or is open.
    fn identity(&self) -> io::Result<u128>;

    /// True if the file holds no byte.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
}

/// A number of bytes or of records in memory, in the type of offsets and positions.
#[expect(clippy::as_conversions, reason = "a number of memory has at most 64 bits, so none is lost")]
pub(crate) fn widen(count: usize) -> u64 {
    count as u64
}
