//! The `durable` file: up to which position the log was synced, for readers in other processes and for recovery.

use std::path::Path;
use std::sync::Arc;

use crate::log::disk::{Access, Disk, DiskFile};
use crate::log::frame::{u32_at, u64_at};
use crate::{Error, Position, Result};

/// The name of the file in the folder of the log.
pub(super) const DURABLE_FILE_NAME: &str = "durable";

/// Units: bytes of the file.
pub(super) const DURABLE_BYTES: usize = 24;

const MAGIC: [u8; 4] = [0xA7, b'a', b'n', b'd'];

/// What the `durable` file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Durable {
    /// Everything up to here is synced.
    pub position: Position,
    /// Changes whenever a segment was replaced, so that followers let go of the old one.
    pub generation: u64,
}

impl Durable {
    pub fn encode(&self) -> [u8; DURABLE_BYTES] {
        let mut bytes = [0; DURABLE_BYTES];
        bytes[0..4].copy_from_slice(&MAGIC);
        bytes[8..16].copy_from_slice(&self.position.0.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.generation.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[8..]);
        bytes[4..8].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// `None` if `bytes` are no whole mark: half overwritten, or damaged.
    pub fn decode(bytes: &[u8]) -> Option<Durable> {
        let bytes = bytes.get(..DURABLE_BYTES)?;
        if bytes[0..4] != MAGIC || u32_at(bytes, 4) != crc32c::crc32c(&bytes[8..]) {
            return None;
        }
        Some(Durable { position: Position(u64_at(bytes, 8)), generation: u64_at(bytes, 16) })
    }

    /// Reads the mark through an open file.
    pub fn read(file: &dyn DiskFile) -> std::io::Result<Option<Durable>> {
        let mut bytes = [0; DURABLE_BYTES];
        let count = file.read_at(&mut bytes, 0)?;
        Ok(Durable::decode(&bytes[..count]))
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
            Error::io(format!("{}: the durable position cannot be written", path.display()), error)
        })?;
        Ok(DurableFile { file, value })
    }

    /// What the file says now.
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

    #[test]
    fn golden_bytes() {
        let durable = Durable { position: Position(0x0102_0304), generation: 5 };
        let golden =
            b"\xa7and\xa1\x5c\x1a\xdc\x04\x03\x02\x01\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00";
        assert_eq!(&durable.encode(), golden);
        assert_eq!(Durable::decode(golden), Some(durable));
    }

    #[test]
    fn any_flipped_bit_is_noticed() {
        let bytes = Durable { position: Position(7), generation: 1 }.encode();
        for bit in 0..DURABLE_BYTES * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Durable::decode(&flipped), None);
        }
    }
}
