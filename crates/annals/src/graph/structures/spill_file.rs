//! Spill files: long values outside memory, in files that end with the process.
//!
//! They are derived from the log, belong to one process, and are written again at every opening. So they need no
//! format: only the place in a row leads to a value.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::memory::Memory;
use crate::storage::{Disk, DiskFile};
use crate::structures::number::{bytes_at, narrow};
use crate::{Error, ErrorKind, Result};

/// Longest file, unless a test sets a shorter one: the next value then starts a new file. Units: bytes.
pub(crate) const FILE_BYTES_MAX: u32 = 256 << 20;
/// The buffer is written to the file when it has this size. Units: bytes.
const BUFFER_BYTES: usize = 1 << 20;
/// The place of a value, with a checksum.
///
/// Shape in a row: number of the file (4), offset (4), length (4), CRC-32C (4), little endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpillPlace {
    pub(crate) file: u32,
    pub(crate) offset: u32,
    pub(crate) length: u32,
    pub(crate) checksum: u32,
}

impl SpillPlace {
    pub(crate) const BYTES: usize = 16;

    /// The expected place of this content, without file and offset.
    pub(crate) fn of(content: &[u8]) -> SpillPlace {
        let length = narrow(content.len());
        SpillPlace { file: u32::MAX, offset: 0, length, checksum: crc32c::crc32c(content) }
    }

    /// True if this may be the place of `content`: length and checksum are equal.
    pub(crate) fn fits(self, content: &[u8]) -> bool {
        self.length as usize == content.len() && self.checksum == crc32c::crc32c(content)
    }

    pub(crate) fn to_bytes(self) -> [u8; SpillPlace::BYTES] {
        let mut bytes = [0; SpillPlace::BYTES];
        let words = [self.file, self.offset, self.length, self.checksum];
        for (bytes, word) in bytes.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> SpillPlace {
        let word = |at: usize| u32::from_le_bytes(bytes_at(bytes, at));
        SpillPlace { file: word(0), offset: word(4), length: word(8), checksum: word(12) }
    }
}

/// Which values are spilled, and where.
#[derive(Clone)]
pub(crate) struct SpillSettings {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) folder: PathBuf,
    /// Shorter values stay in memory. Units: bytes.
    pub(crate) value_bytes_min: usize,
    /// See [`FILE_BYTES_MAX`].
    pub(crate) file_bytes_max: u32,
    /// Notified when a file cannot be written.
    pub(crate) memory: Arc<Memory>,
}

/// One file. Values are appended and never change.
pub(crate) struct SpillFile {
    file: Arc<dyn DiskFile>,
    /// Its folder, for messages.
    folder: PathBuf,
    // Bytes written to the file. Changed only by a thread that holds `buffer`.
    written: AtomicU32,
    // The bytes after them.
    buffer: Mutex<Vec<u8>>,
}

impl SpillFile {
    fn create(settings: &SpillSettings) -> io::Result<SpillFile> {
        let file = settings.disk.create_unnamed(&settings.folder)?;
        let folder = settings.folder.clone();
        Ok(SpillFile { file, folder, written: AtomicU32::new(0), buffer: Mutex::default() })
    }

    /// Appends `content`; returns its offset.
    ///
    /// Errors: those of the system. Earlier values are not lost.
    fn append(&self, content: &[u8]) -> io::Result<u32> {
        let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        let written = self.written.load(Ordering::Relaxed);
        if buffer.len() + content.len() > BUFFER_BYTES && !buffer.is_empty() {
            self.file.write_at(&buffer, written.into())?;
            self.written.store(written + narrow::<u32, usize>(buffer.len()), Ordering::Release);
            buffer.clear();
        }
        let offset = self.written.load(Ordering::Relaxed) + narrow::<u32, usize>(buffer.len());
        if content.len() > BUFFER_BYTES {
            self.file.write_at(content, offset.into())?;
            self.written.store(offset + narrow::<u32, usize>(content.len()), Ordering::Release);
        } else {
            buffer.extend_from_slice(content);
        }
        Ok(offset)
    }

    /// The value at `place`.
    ///
    /// Errors: `Corrupted` if the file does not hold the written bytes; `Io`.
    pub(crate) fn read(&self, place: SpillPlace) -> Result<Vec<u8>> {
        let content = match self.buffered(place.offset, place.offset.saturating_add(place.length)) {
            Some(content) => content,
            None => {
                let mut content = vec![0; place.length as usize];
                let count = self.file.read_at(&mut content, place.offset.into());
                if count.map_err(|source| self.unreadable(place, source))? < content.len() {
                    return Err(self.damaged(place, "it is cut off".into()));
                }
                content
            }
        };
        let found = crc32c::crc32c(&content);
        if found == place.checksum {
            return Ok(content);
        }
        Err(self.damaged(place, format!("checksum expected {:08x}, found {found:08x}", place.checksum)))
    }

    // The bytes from `start` to `end` if they are still in the buffer.
    fn buffered(&self, start: u32, end: u32) -> Option<Vec<u8>> {
        if end <= self.written.load(Ordering::Acquire) {
            return None;
        }
        let buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        // Values are written whole, so one that starts after `written` also ends there.
        let written = self.written.load(Ordering::Relaxed);
        let (start, end) = (start.checked_sub(written)? as usize, end.checked_sub(written)? as usize);
        buffer.get(start..end).map(<[u8]>::to_vec)
    }

    fn unreadable(&self, place: SpillPlace, source: io::Error) -> Error {
        Error::io("read a value from the spill file; reopen the repository", source)
            .with("folder", self.folder.display())
            .with("offset", place.offset)
    }

    fn damaged(&self, place: SpillPlace, found: String) -> Error {
        Error::new(
            ErrorKind::Corrupted,
            format!(
                "spill file in {}: value at {} of {} bytes: {found}; reopen the repository, which writes it anew \
                 from the log",
                self.folder.display(),
                place.offset,
                place.length
            ),
        )
    }
}

/// The files of one table of one graph; the last one grows.
pub(crate) struct SpillFiles {
    pub(crate) settings: SpillSettings,
    growing: Mutex<Growing>,
}

struct Growing {
    /// `None` before the first value, and after a failure.
    file: Option<Arc<SpillFile>>,
    /// Its number, from 0.
    number: u32,
    /// Units: bytes, including the buffer.
    length: u32,
}

impl SpillFiles {
    pub(crate) fn new(settings: SpillSettings) -> SpillFiles {
        let growing = Mutex::new(Growing { file: None, number: 0, length: 0 });
        SpillFiles { settings, growing }
    }

    /// Adds `content`; returns its place, and its file. `None` if it cannot be written: then it stays in memory, and
    /// later writes are refused.
    pub(crate) fn append(&self, content: &[u8]) -> Option<(SpillPlace, Arc<SpillFile>)> {
        if self.settings.memory.has_failed() {
            return None;
        }
        let outcome = self.try_append(content);
        outcome
            .map_err(|source| {
                let folder = self.settings.folder.display();
                self.settings.memory.fail(
                    &Error::of_disk("write a spill file; free space, then reopen the repository", source)
                        .with("folder", folder),
                );
            })
            .ok()
    }

    fn try_append(&self, content: &[u8]) -> io::Result<(SpillPlace, Arc<SpillFile>)> {
        let mut growing = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
        let place = SpillPlace::of(content);
        let is_full =
            growing.length > self.settings.file_bytes_max.saturating_sub(place.length) && growing.length > 0;
        let file = match &growing.file {
            Some(file) if !is_full => Arc::clone(file),
            before => {
                let number = growing.number + u32::from(before.is_some());
                let file = Arc::new(SpillFile::create(&self.settings)?);
                *growing = Growing { file: Some(Arc::clone(&file)), number, length: 0 };
                file
            }
        };
        let offset = file.append(content)?;
        growing.length = offset + place.length;
        Ok((SpillPlace { file: growing.number, offset, ..place }, file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Need;
    use crate::storage::RealDisk;

    fn files(folder: &std::path::Path) -> SpillFiles {
        let memory = Arc::new(Memory::new(None));
        let (folder, file_bytes_max) = (folder.to_path_buf(), FILE_BYTES_MAX);
        SpillFiles::new(SpillSettings {
            disk: Arc::new(RealDisk),
            folder,
            value_bytes_min: 1,
            file_bytes_max,
            memory,
        })
    }

    fn content(number: usize) -> Vec<u8> {
        vec![number as u8; 1 + number * 977 % 70_000]
    }

    #[test]
    fn every_value_reads_back_from_buffer_and_file_and_nothing_is_left_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        let mut kept: Vec<(SpillPlace, Arc<SpillFile>)> = Vec::new();
        for number in 0..300 {
            kept.push(files.append(&content(number)).unwrap());
            for known in [number, number / 2] {
                assert_eq!(kept[known].1.read(kept[known].0).unwrap(), content(known));
            }
        }
        let large = vec![7; BUFFER_BYTES + 1];
        let (place, file) = files.append(&large).unwrap();
        assert_eq!(file.read(place).unwrap(), large);
        assert!(kept.iter().enumerate().all(|(at, (place, file))| file.read(*place).unwrap() == content(at)));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn readers_see_whole_values_while_others_are_added() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        let first = files.append(&content(60)).unwrap();
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| (0..20_000).all(|_| first.1.read(first.0).is_ok()));
            let kept: Vec<_> =
                (0..2_000).map(|number| files.append(&content(number % 90)).unwrap()).collect();
            assert!(reader.join().unwrap());
            for (number, (place, file)) in kept.iter().enumerate() {
                assert_eq!(file.read(*place).unwrap(), content(number % 90));
            }
        });
    }

    #[test]
    fn damage_and_truncation_are_errors_that_name_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        let large = vec![7; BUFFER_BYTES + 1];
        let (place, file) = files.append(&large).unwrap();
        file.file.write_at(&[8], 1_000).unwrap();
        let error = file.read(place).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupted);
        assert!(error.text().contains("spill file") && error.text().contains("checksum"), "{error}");
        file.file.set_len(1_000).unwrap();
        let error = file.read(place).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupted);
        assert!(error.text().contains("cut off"), "{error}");
    }

    #[test]
    fn a_folder_that_cannot_be_written_keeps_values_in_memory_and_refuses_writes() {
        let folder = tempfile::tempdir().unwrap();
        let in_the_way = folder.path().join("file");
        std::fs::write(&in_the_way, "").unwrap();
        let files = files(&in_the_way);
        assert!(files.append(b"value").is_none());
        let refused = files.settings.memory.charge(Need::default()).err();
        assert_eq!(refused.map(|error| error.kind()), Some(ErrorKind::Io));
    }
}
