//! The seam below the file log: the few things it asks of a disk, so that a simulator can stand in.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// Held for as long as a lock is wanted; dropping it releases the lock.
pub type DiskLock = Box<dyn Send + Sync>;

/// What a file is opened for.
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
    /// Errors: `AlreadyExists` if the name is taken; a log file is never emptied by creating it again.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;

    /// Opens an existing file. Errors: `NotFound` if there is none.
    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn DiskFile>>;

    /// The names in `folder`, in no order, without the folder itself. Errors: `NotFound` if there is no such folder.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;

    /// Gives the file `from` the name `to`, replacing what had it. Durable after [`Disk::sync_folder`].
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a name. Durable after [`Disk::sync_folder`].
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Creates `folder` and the folders above it, as far as they are missing, durably.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;

    /// Makes the names in `folder` durable.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// Locks `path` exclusively, creating it if need be; `None` if another holder has it. Never waits.
    fn lock(&self, path: &Path) -> io::Result<Option<DiskLock>>;
}

/// One open file. It stays readable when its name is given to another file.
pub trait DiskFile: Send + Sync {
    /// Fills `buffer` from `offset` (bytes from the start); returns fewer bytes only at the end of the file.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes all `bytes` at `offset`, extending the file if need be.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Makes contents and length durable, other metadata not necessarily.
    fn sync_data(&self) -> io::Result<()>;

    /// Makes contents and all metadata durable.
    fn sync_all(&self) -> io::Result<()>;

    /// Cuts or extends (with zeros) to `bytes`.
    fn set_len(&self, bytes: u64) -> io::Result<()>;

    /// Units: bytes.
    fn len(&self) -> io::Result<u64>;

    /// True if the file holds no byte.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
}

/// The disk of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(OpenOptions::new().read(true).write(true).create_new(true).open(path)?))
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(OpenOptions::new().read(true).write(access == Access::Write).open(path)?))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            // A name that is not UTF-8 was not given by us.
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        if folder.is_dir() {
            return Ok(());
        }
        let parent = match folder.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        self.create_folder(parent)?;
        match std::fs::create_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            other => other?,
        }
        self.sync_folder(parent)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    fn lock(&self, path: &Path) -> io::Result<Option<DiskLock>> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl DiskFile for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match FileExt::read_at(self, &mut buffer[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }

    fn sync_data(&self) -> io::Result<()> {
        File::sync_data(self)
    }

    fn sync_all(&self) -> io::Result<()> {
        File::sync_all(self)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        File::set_len(self, bytes)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}
