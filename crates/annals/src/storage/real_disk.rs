//! The disk of the operating system.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::disk::{Access, Disk, DiskFile, DiskLock, widen};
use super::lock_note;
use super::private_files::{self, close_to_others, create_one_folder, open_lock};

/// The suffix of the names that unnamed files have for a moment.
pub(crate) const UNNAMED_SUFFIX: &str = ".spill";

/// Numbers the unnamed files of this process.
static UNNAMED_COUNT: AtomicU64 = AtomicU64::new(0);

/// The disk of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(private_files::create(path)?))
    }

    fn create_unnamed(&self, folder: &Path) -> io::Result<Arc<dyn DiskFile>> {
        private_files::create_folder(folder)?;
        let number = UNNAMED_COUNT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{}-{number}{UNNAMED_SUFFIX}", std::process::id()));
        let file = self.create(&path)?;
        // Removed at once, so that hardly any crash leaves the name: the file lives as long as it is open.
        std::fs::remove_file(&path)?;
        Ok(file)
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(private_files::open(path, access)?))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            // Another program made a name that is not UTF-8, but it must be listed.
            names.push(entry?.file_name().to_string_lossy().into_owned());
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
        let parent = parent_of(folder);
        self.create_folder(&parent)?;
        match create_one_folder(folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            other => other?,
        }
        self.sync_folder(&parent)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn DiskLock>>> {
        let file = open_lock(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // Lock the folder, too: its lock holds even if another program removes the lock file. Network file systems may
        // not lock folders; then the writer checks the name of the lock file before each append.
        let folder = File::open(parent_of(path))?;
        close_to_others(&folder);
        let folder = match folder.try_lock() {
            Ok(()) => Some(folder),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(_)) => None,
        };
        lock_note::write(&file);
        Ok(Some(Box::new(RealLock { file, folder })))
    }

    fn holder(&self, path: &Path) -> Option<String> {
        lock_note::read(path)
    }

    fn is_locked(&self, path: &Path) -> io::Result<bool> {
        let is_locked = |file: io::Result<File>| match file {
            Ok(file) => match file.try_lock_shared() {
                Ok(()) => Ok(false),
                Err(TryLockError::WouldBlock) => Ok(true),
                Err(TryLockError::Error(error)) => Err(error),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            // Another user may not ask. Readers then show what is durable, as beside a writer.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(true),
            Err(error) => Err(error),
        };
        // A folder that cannot be locked proves nothing.
        Ok(is_locked(private_files::open(path, Access::Read))?
            || is_locked(File::open(parent_of(path))).unwrap_or(false))
    }
}

fn parent_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

struct RealLock {
    file: File,
    // None if the file system cannot lock folders.
    folder: Option<File>,
}

impl Drop for RealLock {
    fn drop(&mut self) {
        // Order: before the lock ends with its file, or it would be the note of the next holder.
        lock_note::clear(&self.file);
    }
}

impl DiskLock for RealLock {
    fn is_held(&self) -> io::Result<bool> {
        Ok(self.folder.is_some() || self.file.metadata()?.nlink() > 0)
    }
}

impl DiskFile for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match FileExt::read_at(self, rest, offset + widen(filled)) {
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

    fn has_name(&self) -> io::Result<bool> {
        Ok(self.metadata()?.nlink() > 0)
    }

    fn identity(&self) -> io::Result<u128> {
        let metadata = self.metadata()?;
        Ok(u128::from(metadata.dev()) << 64 | u128::from(metadata.ino()))
    }
}
