//! The `manifest` file: the identity of the log, and which of its segment files are in force.
//!
//! Rewriting a log writes new segment files beside the old ones, and then replaces the manifest in one step. So at no
//! time are some segments rewritten and others not.

use std::io;
use std::path::Path;

use crate::log::bytes::{take_u16, take_u32, take_u64};
use crate::log::frame::FORMAT;
use crate::log::identity::LogId;
use crate::storage::{Access, Disk, put_whole};
use crate::{Error, ErrorKind, Result};

/// The name of the file in the folder of the log.
pub(super) const MANIFEST_FILE_NAME: &str = "manifest";

/// Units: bytes of the file.
const MANIFEST_BYTES: usize = 48;

const MAGIC: [u8; 4] = [0xA7, b'a', b'n', b'm'];

/// The content of the `manifest` file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    /// The identity of the log; nil for a log of format 1, which has no manifest.
    pub log_id: LogId,
    /// How often the log was rewritten. Of the files of one segment, the one of the highest generation up to this one
    /// is in force.
    pub generation: u64,
}

impl Manifest {
    pub fn encode(&self) -> Vec<u8> {
        let mut sealed = FORMAT.to_le_bytes().to_vec();
        sealed.extend([0; 6]);
        sealed.extend(self.log_id.0);
        sealed.extend(self.generation.to_le_bytes());
        sealed.extend([0; 8]);
        let mut bytes = MAGIC.to_vec();
        bytes.extend(crc32c::crc32c(&sealed).to_le_bytes());
        bytes.extend(sealed);
        bytes
    }

    /// Errors: what was found instead; also a newer format.
    fn decode(bytes: &[u8]) -> std::result::Result<Manifest, (ErrorKind, String)> {
        let damaged = |what: &str| (ErrorKind::Corrupted, what.to_owned());
        let mut sealed = bytes.strip_prefix(&MAGIC).ok_or_else(|| damaged("another magic"))?;
        let checksum = take_u32(&mut sealed);
        if bytes.len() < MANIFEST_BYTES || checksum != crc32c::crc32c(sealed) {
            return Err(damaged("another checksum"));
        }
        let format = take_u16(&mut sealed);
        if format > FORMAT {
            return Err((ErrorKind::NewerFormat, format!("format {format}")));
        }
        let (_, _) = (take_u16(&mut sealed), take_u32(&mut sealed));
        Ok(Manifest { log_id: LogId::take(&mut sealed), generation: take_u64(&mut sealed) })
    }

    /// The manifest of the log in `folder`; `None` if there is none, as in a log of format 1.
    ///
    /// Errors: `Corrupted`, `NewerFormat`, `Io`.
    pub fn read(disk: &dyn Disk, folder: &Path) -> Result<Option<Manifest>> {
        let path = folder.join(MANIFEST_FILE_NAME);
        let read = || -> io::Result<Option<Vec<u8>>> {
            let file = match disk.open(&path, Access::Read) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                other => other?,
            };
            let mut bytes = vec![0; MANIFEST_BYTES];
            let count = file.read_at(&mut bytes, 0)?;
            bytes.truncate(count);
            Ok(Some(bytes))
        };
        let bytes = read().map_err(|error| Error::io(format!("{}: read", path.display()), error))?;
        let Some(bytes) = bytes else { return Ok(None) };
        Manifest::decode(&bytes).map(Some).map_err(|(kind, found)| {
            let what_to_do = match kind {
                ErrorKind::NewerFormat => "open it with a newer version of Annals",
                _ => "put it back from a copy of this folder, or restore the repository from a backup",
            };
            let text = format!(
                "{}: expected the manifest of a log, format {FORMAT} at most, found {found}; {what_to_do}",
                path.display()
            );
            Error::new(kind, text)
        })
    }

    /// Puts the manifest in place, durably and in one step.
    pub fn write(&self, disk: &dyn Disk, folder: &Path) -> io::Result<()> {
        put_whole(disk, folder, MANIFEST_FILE_NAME, |out| out.write_all(&self.encode()))
    }
}

/// The error for a log of format 2 without its manifest.
pub(super) fn missing_manifest(folder: &Path) -> Error {
    let text = format!(
        "file log {}: expected the file {MANIFEST_FILE_NAME}, which says which segments are in force, found none; put it \
         back from a copy of this folder, or restore the repository from a backup",
        folder.display()
    );
    Error::new(ErrorKind::Corrupted, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: Manifest =
        Manifest { log_id: LogId([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]), generation: 5 };

    #[test]
    fn golden_bytes() {
        let golden =
            b"\xa7anm\x0a\xc5\x08\xfa\x02\x00\x00\x00\x00\x00\x00\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00";
        assert_eq!(MANIFEST.encode(), golden);
        assert_eq!(Manifest::decode(golden).unwrap(), MANIFEST);
    }

    #[test]
    fn any_flipped_bit_and_any_cut_is_noticed() {
        let bytes = MANIFEST.encode();
        for bit in 0..MANIFEST_BYTES * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(Manifest::decode(&flipped).is_err(), "bit {bit}");
        }
        assert!((0..MANIFEST_BYTES).all(|length| Manifest::decode(&bytes[..length]).is_err()));
    }
}
