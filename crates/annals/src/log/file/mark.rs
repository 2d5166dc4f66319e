//! The `durable` file: the position up to which the log is synced, for readers in other processes and for recovery.

use std::path::Path;
use std::sync::Arc;

use crate::log::bytes::{take_u32, take_u64};
use crate::log::identity::LogId;
use crate::storage::{Access, Disk, DiskFile};
use crate::{Error, Position, Result};

/// The name of the file in the folder of the log.
pub(super) const DURABLE_FILE_NAME: &str = "durable";

/// Units: bytes of the file; format 1 had fewer.
const DURABLE_BYTES: usize = 48;
const DURABLE_BYTES_1: usize = 24;

const MAGIC: [u8; 4] = [0xA7, b'a', b'n', b'd'];

/// The content of the `durable` file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Durable {
    /// Everything up to here is synced.
    pub position: Position,
    /// Changes with each rewriting of the log, so that followers drop the old segments.
    pub generation: u64,
    /// The log of the mark; nil in format 1, which does not name it.
    pub log_id: LogId,
}

impl Durable {
    pub fn encode(&self) -> Vec<u8> {
        let mut sealed = self.position.0.to_le_bytes().to_vec();
        sealed.extend(self.generation.to_le_bytes());
        sealed.extend(self.log_id.0);
        sealed.extend([0; 8]);
        let mut bytes = MAGIC.to_vec();
        bytes.extend(crc32c::crc32c(&sealed).to_le_bytes());
        bytes.extend(sealed);
        bytes
    }

    /// `None` if `bytes` are not a whole mark: half overwritten, or damaged.
    pub fn decode(bytes: &[u8]) -> Option<Durable> {
        [DURABLE_BYTES, DURABLE_BYTES_1].into_iter().find_map(|length| {
            let mut sealed = bytes.get(..length)?.strip_prefix(&MAGIC)?;
            let checksum = take_u32(&mut sealed);
            (checksum == crc32c::crc32c(sealed)).then(|| Durable {
                position: Position(take_u64(&mut sealed)),
                generation: take_u64(&mut sealed),
                // A mark of format 1 ends here and is followed by zeros, which are nil.
                log_id: LogId::take(&mut sealed),
            })
        })
    }

    /// Reads the mark through an open file.
    pub fn read(file: &dyn DiskFile) -> std::io::Result<Option<Durable>> {
        let mut bytes = [0; DURABLE_BYTES];
        let count = file.read_at(&mut bytes, 0)?;
        Ok(bytes.get(..count).and_then(Durable::decode))
    }
}

/// The open `durable` file of a writer.
pub(super) struct DurableFile {
    file: Arc<dyn DiskFile>,
    value: Durable,
}

impl DurableFile {
    /// Opens or creates the file in `folder`, writes `value` and makes all of it durable.
    pub fn create(disk: &dyn Disk, folder: &Path, value: Durable) -> Result<DurableFile> {
        let path = folder.join(DURABLE_FILE_NAME);
        let open = || -> std::io::Result<Arc<dyn DiskFile>> {
            let file = match disk.open(&path, Access::Write) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => disk.create(&path)?,
                other => other?,
            };
            file.write_at(&value.encode(), 0)?;
            file.sync_all()?;
            disk.sync_folder(folder)?;
            Ok(file)
        };
        let file = open().map_err(|error| {
            Error::of_disk(format!("{}: the durable position cannot be written", path.display()), error)
        })?;
        Ok(DurableFile { file, value })
    }

    /// The present content of the file.
    pub fn value(&self) -> Durable {
        self.value
    }

    /// Overwrites the file. Not synced: after a power cut it may lag behind, never run ahead.
    pub fn write(&mut self, value: Durable) -> std::io::Result<()> {
        self.file.write_at(&value.encode(), 0)?;
        self.value = value;
        Ok(())
    }

    /// Makes the file durable, when the log is closed in order.
    pub fn sync(&self) -> std::io::Result<()> {
        self.file.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG_ID: LogId = LogId([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);

    #[test]
    fn golden_bytes() {
        let durable = Durable { position: Position(0x0102_0304), generation: 5, log_id: LOG_ID };
        let golden =
            b"\xa7and\x89\xe43\xb8\x04\x03\x02\x01\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x00\x00\x00\x00\x00\x00\x00\x00";
        assert_eq!(durable.encode(), golden);
        assert_eq!(Durable::decode(golden), Some(durable));
    }

    #[test]
    fn a_mark_of_format_1_reads_without_an_id() {
        let golden =
            b"\xa7and\xa1\x5c\x1a\xdc\x04\x03\x02\x01\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00";
        let durable = Durable { position: Position(0x0102_0304), generation: 5, log_id: LogId::NIL };
        assert_eq!(Durable::decode(golden), Some(durable));
    }

    #[test]
    fn any_flipped_bit_is_noticed() {
        let bytes = Durable { position: Position(7), generation: 1, log_id: LOG_ID }.encode();
        for bit in 0..DURABLE_BYTES * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Durable::decode(&flipped), None);
        }
    }
}
