//! The spilled values of one table: the files with values of its rows, and their number.

use std::sync::Arc;

use super::row_pack::{Packing, pack};
use super::unpacked::Instance;
use crate::graph::structures::spill_file::{SpillFile, SpillFiles, SpillPlace, SpillSettings};
use crate::model::Value;
use crate::structures::vector::Vector;
use crate::{Error, ErrorKind, Result};

/// The spilled values of the rows of one graph. A clone shares the files; each clone counts its own references, and a
/// file is removed when no graph needs it.
#[derive(Clone)]
pub(crate) struct Spill {
    // `None` if this graph never spills.
    files: Option<Arc<SpillFiles>>,
    /// Values from this length on are spilled. Units: bytes.
    value_bytes_min: usize,
    // By number. `None` if no row refers to the file.
    kept: Vector<Option<Kept>>,
}

#[derive(Clone)]
struct Kept {
    file: Arc<SpillFile>,
    /// Number of values that rows refer to.
    values: u64,
}

impl Spill {
    /// Spills as `settings` say; never without them.
    pub(crate) fn new(settings: Option<&SpillSettings>) -> Spill {
        Spill {
            files: settings.map(|settings| Arc::new(SpillFiles::new(settings.clone()))),
            value_bytes_min: settings.map_or(usize::MAX, |settings| settings.value_bytes_min.max(1)),
            kept: Vector::new(),
        }
    }

    /// True if a row may have spilled values.
    #[inline]
    pub(crate) fn is_used(&self) -> bool {
        self.files.is_some()
    }

    pub(crate) fn settings(&self) -> Option<&SpillSettings> {
        self.files.as_ref().map(|files| &files.settings)
    }

    /// Units: bytes; the greatest number if nothing is spilled.
    pub(crate) fn value_bytes_min(&self) -> usize {
        self.value_bytes_min
    }

    /// Stops spilling: a graph for trial changes must leave nothing in the files.
    pub(crate) fn stop(&mut self) {
        self.value_bytes_min = usize::MAX;
    }

    /// Appends the row of `instance`. Its long values are spilled, unless the disk refuses them. Values at one of the
    /// places `known` stay there. Returns the large sets beside the row.
    pub(crate) fn pack(
        &mut self,
        instance: &Instance,
        extra: u32,
        known: &[SpillPlace],
        row: &mut Vec<u8>,
    ) -> Vec<Value> {
        self.packing(known, |packing| pack(instance, extra, packing, row))
    }

    /// Calls `write` with the packing of rows of this table. `known`: as for [`Spill::pack`].
    pub(crate) fn packing<T>(&mut self, known: &[SpillPlace], write: impl FnOnce(Packing) -> T) -> T {
        let value_bytes_min = self.value_bytes_min;
        let mut spill = |content: &[u8]| self.find(content, known).or_else(|| self.append(content));
        write(Packing::new(value_bytes_min, &mut spill))
    }

    // One of the places `known` with `content`; its references are incremented.
    fn find(&mut self, content: &[u8], known: &[SpillPlace]) -> Option<SpillPlace> {
        let place = known.iter().find(|place| place.fits(content))?;
        let is_there = self.read(*place).is_ok_and(|found| found == content);
        let kept = self.kept.get_mut(place.file as usize)?.as_mut().filter(|_| is_there)?;
        kept.values += 1;
        Some(*place)
    }

    /// Writes `content` to a file; `None` if the disk refuses it.
    pub(crate) fn append(&mut self, content: &[u8]) -> Option<SpillPlace> {
        let (place, file) = self.files.as_ref()?.append(content)?;
        let kept = self.kept.grown_to(place.file as usize, || None);
        kept.get_or_insert_with(|| Kept { file, values: 0 }).values += 1;
        Some(place)
    }

    /// Drops the reference of a row to a value.
    pub(crate) fn release(&mut self, place: SpillPlace) {
        let Some(kept) = self.kept.get_mut(place.file as usize) else { return };
        let left = kept.as_mut().map_or(0, |kept| {
            kept.values = kept.values.saturating_sub(1);
            kept.values
        });
        if left == 0 {
            *kept = None;
        }
    }

    /// The value at `place`.
    ///
    /// Errors: `Corrupted` if the file does not hold the written bytes; `Io`.
    pub(crate) fn read(&self, place: SpillPlace) -> Result<Vec<u8>> {
        match self.kept.get(place.file as usize) {
            Some(Some(kept)) => kept.file.read(place),
            _ => Err(Error::new(
                ErrorKind::Corrupted,
                format!("spill file {}: expected it to be kept; reopen the repository", place.file),
            )),
        }
    }

    /// Number of files in use.
    #[cfg(test)]
    pub(crate) fn files_count(&self) -> usize {
        self.kept.iter().flatten().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use crate::storage::RealDisk;

    fn spill(folder: &std::path::Path) -> Spill {
        let memory = Arc::new(Memory::new(None));
        let (folder, value_bytes_min) = (folder.to_path_buf(), 1);
        Spill::new(Some(&SpillSettings {
            disk: Arc::new(RealDisk),
            folder,
            value_bytes_min,
            file_bytes_max: 1_000,
            memory,
        }))
    }

    #[test]
    fn a_file_goes_when_the_last_value_in_it_is_released_and_clones_keep_theirs() {
        let folder = tempfile::tempdir().unwrap();
        let mut spill = spill(folder.path());
        let places: Vec<SpillPlace> = (0..20).map(|byte| spill.append(&[byte; 300]).unwrap()).collect();
        assert_eq!(spill.files_count(), 7, "three to a file");
        let earlier = spill.clone();
        places[..6].iter().for_each(|place| spill.release(*place));
        assert_eq!((spill.files_count(), earlier.files_count()), (5, 7));
        assert_eq!(spill.read(places[0]).unwrap_err().kind(), ErrorKind::Corrupted);
        assert_eq!(earlier.read(places[0]).unwrap(), [0; 300]);
        assert_eq!(spill.read(places[6]).unwrap(), [6; 300]);
    }

    #[test]
    fn a_value_that_is_there_is_found_and_counted_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut spill = spill(folder.path());
        let place = spill.append(b"content").unwrap();
        assert_eq!(spill.find(b"content", &[place]), Some(place));
        assert_eq!(spill.find(b"another", &[place]), None);
        spill.release(place);
        assert_eq!(spill.read(place).unwrap(), b"content");
        spill.release(place);
        assert_eq!(spill.files_count(), 0);
        assert_eq!(spill.find(b"content", &[place]), None);
    }
}
