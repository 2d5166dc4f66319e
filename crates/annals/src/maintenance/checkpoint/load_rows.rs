//! Reads rows out of a checkpoint: spills their long values, or brings spilled ones back into memory, as the repository
//! that opens it wants them, whoever wrote it.

use std::collections::VecDeque;
use std::sync::Arc;

use super::block::{Loaded, damaged};
use crate::graph::instance::row::{NO_EXTRA, Packed, Packing, Row, pack, pack_whole, relocate};
use crate::graph::instance::row_check::is_sound;
use crate::graph::instance::spill::Spill;
use crate::graph::instance::unpacked::Instance;
use crate::graph::structures::rows::{PAGE_ROWS, Rows, is_page, page_of, rows_of};
use crate::graph::structures::spill_file::{SpillPlace, SpillSettings};
use crate::graph::table::Extra;
use crate::model::Id;
use crate::{Error, ErrorKind};

/// What has been read of the rows of a table.
pub(crate) struct RowParts {
    pub(crate) spill: Spill,
    rows: Rows,
    // The last page is held back: only the next one, or the end, tells how many of its rows count.
    last: Option<Vec<u8>>,
    // The values of the pages that come next: spilled again, or in memory.
    places: VecDeque<SpillPlace>,
    values: VecDeque<Vec<u8>>,
    // Instances that were kept whole and fit rows when their values are spilled, by the extra they were in, ascending.
    packed: Rows,
    packed_extras: Vec<u32>,
}

impl RowParts {
    pub(crate) fn new(spill: Option<&SpillSettings>) -> RowParts {
        RowParts {
            spill: Spill::new(spill),
            rows: Rows::new(),
            last: None,
            places: VecDeque::new(),
            values: VecDeque::new(),
            packed: Rows::new(),
            packed_extras: Vec::new(),
        }
    }

    /// Reads a spilled value of the pages that follow.
    pub(crate) fn read_value(&mut self, value: &[u8]) -> Loaded<()> {
        if self.spill.is_used() {
            let place = self
                .spill
                .append(value)
                .ok_or_else(|| "not loaded: a spill file cannot be written".to_owned())?;
            self.places.push_back(place);
        } else {
            self.values.push_back(value.to_vec());
        }
        Ok(())
    }

    /// What is kept of the extra at `index`: an instance that was kept whole may now fit a row.
    pub(crate) fn take_extra(&mut self, index: usize, extra: Extra) -> Extra {
        let (Extra::Whole(instance), true) = (&extra, self.spill.is_used()) else { return extra };
        let index = u32::try_from(index).unwrap_or(NO_EXTRA);
        let mut row = Vec::new();
        let own = if instance.past.is_some() { index } else { NO_EXTRA };
        if !self.spill.pack(instance, own, &[], &mut row) {
            return extra;
        }
        self.packed.push(&row);
        self.packed_extras.push(index);
        instance.past.clone().map_or(Extra::Gone, Extra::Past)
    }

    /// Reads a page, whose rows belong to the slots that follow those before.
    pub(crate) fn read_page(&mut self, page: &[u8], ids: &[Id], extras: &mut Vec<Extra>) -> Loaded<()> {
        if !is_page(page) {
            return Err(damaged("a page of rows"));
        }
        self.push_last(PAGE_ROWS)?;
        let has_spilled = |row: &[u8]| !row.is_empty() && Packed::new(row).has_spilled();
        if !self.spill.is_used() && !rows_of(page).any(has_spilled) {
            self.last = Some(page.to_vec());
            return Ok(());
        }
        let first = self.rows.len();
        let mut rows = Vec::with_capacity(PAGE_ROWS);
        let mut is_changed = false;
        for (slot, row) in (first..).zip(rows_of(page)) {
            let other = if row.is_empty() { None } else { self.convert(row, ids.get(slot), extras)? };
            is_changed |= other.is_some();
            rows.push(other.unwrap_or_else(|| row.to_vec()));
        }
        self.last = Some(if is_changed { page_of(rows.iter().map(Vec::as_slice)) } else { page.to_vec() });
        Ok(())
    }

    fn push_last(&mut self, count: usize) -> Loaded<()> {
        let Some(page) = self.last.take() else { return Ok(()) };
        self.rows.push_page(&page, count).ok_or_else(|| damaged("a page of rows"))
    }

    /// All rows, which must be `len`. They are not looked into.
    pub(crate) fn finish(&mut self, len: usize) -> Loaded<Rows> {
        let count = len.saturating_sub(self.rows.len());
        if self.last.is_some() {
            self.push_last(count)?;
        }
        let rows = std::mem::replace(&mut self.rows, Rows::new());
        if rows.len() != len || !self.places.is_empty() || !self.values.is_empty() {
            return Err(damaged("something is missing"));
        }
        Ok(rows)
    }

    /// The row as this repository keeps it; `None` if that is as it was written.
    fn convert(&mut self, row: &[u8], id: Option<&Id>, extras: &mut Vec<Extra>) -> Loaded<Option<Vec<u8>>> {
        let packed = Packed::new(row);
        if !self.spill.is_used() && !packed.has_spilled() {
            return Ok(None);
        }
        if !is_sound(row) {
            return Err(damaged("a row"));
        }
        if packed.is_whole() {
            let at = packed.extra().and_then(|extra| self.packed_extras.binary_search(&extra).ok());
            return Ok(at.and_then(|at| self.packed.get(at)).map(<[u8]>::to_vec));
        }
        let id = id.ok_or_else(|| damaged("an id is missing"))?;
        if !self.spill.is_used() {
            return self.bring_back(packed, id, extras).map(Some);
        }
        let mut moved = None;
        if packed.has_spilled() {
            let mut copy = row.to_vec();
            let next = |before: SpillPlace| {
                let place = self.places.pop_front()?;
                ((place.length, place.checksum) == (before.length, before.checksum)).then_some(place)
            };
            relocate(&mut copy, next).ok_or_else(|| damaged("a value"))?;
            moved = Some(copy);
        }
        let row = moved.as_deref().unwrap_or(row);
        if !Packed::new(row).has_longer(self.spill.value_bytes_min()) {
            return Ok(moved);
        }
        self.spill_more(row, id, extras).map(Some)
    }

    /// A row whose spilled values are in memory: as it is then, or kept whole.
    fn bring_back(&mut self, packed: Packed, id: &Id, extras: &mut Vec<Extra>) -> Loaded<Vec<u8>> {
        let values = &mut self.values;
        let instance = unpack(packed, id, extras, |place| {
            let value = values.pop_front().filter(|value| place.fits(value));
            value.ok_or_else(|| Error::new(ErrorKind::Corrupted, "a value"))
        })?;
        let mut row = Vec::new();
        let extra = packed.extra();
        if pack(&instance, extra.unwrap_or(NO_EXTRA), &mut Packing::new(usize::MAX), &mut row) {
            return Ok(row);
        }
        let whole = Extra::Whole(Arc::new(instance));
        let at = extra.map_or(Ok(extras.len()), usize::try_from).map_err(|_| damaged("an extra"))?;
        match extras.get_mut(at) {
            Some(known) => *known = whole,
            None => extras.push(whole),
        }
        pack_whole(u32::try_from(at).map_err(|_| damaged("too many extras"))?, &mut row);
        Ok(row)
    }

    /// A row whose long values are spilled, too.
    fn spill_more(&mut self, row: &[u8], id: &Id, extras: &[Extra]) -> Loaded<Vec<u8>> {
        let packed = Packed::new(row);
        let (places, extra) = (packed.places(), packed.extra().unwrap_or(NO_EXTRA));
        let spill = &self.spill;
        let instance = unpack(packed, id, extras, |place| spill.read(place))?;
        let mut shorter = Vec::new();
        if !self.spill.pack(&instance, extra, &places, &mut shorter) {
            return Err(damaged("a row"));
        }
        places.into_iter().for_each(|place| self.spill.release(place));
        Ok(shorter)
    }
}

fn unpack(
    packed: Packed,
    id: &Id,
    extras: &[Extra],
    mut read: impl FnMut(SpillPlace) -> crate::Result<Vec<u8>>,
) -> Loaded<Instance> {
    let past = match packed.extra().map(|extra| usize::try_from(extra).ok().and_then(|at| extras.get(at))) {
        None => None,
        Some(Some(Extra::Past(past))) => Some(Arc::clone(past)),
        Some(_) => return Err(damaged("a past")),
    };
    Row::Packed(packed).unpack(id, past, &mut read).map_err(|error| damaged(error.text()))
}

#[cfg(test)]
#[allow(clippy::as_conversions, clippy::indexing_slicing)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::graph::Graph;
    use crate::graph::structures::spill_file::FILE_BYTES_MAX;
    use crate::log::MemoryLog;
    use crate::maintenance::checkpoint::load::load;
    use crate::maintenance::checkpoint::save::{Origin, save};
    use crate::memory::Memory;
    use crate::{ClassificationContent, InstanceId, NewEntity, Options, Patch, Repository, Result};

    fn settings(value_bytes_min: usize) -> SpillSettings {
        let memory = Arc::new(Memory::new(None));
        SpillSettings {
            disk: Arc::new(crate::storage::RealDisk),
            folder: std::env::temp_dir(),
            value_bytes_min,
            file_bytes_max: FILE_BYTES_MAX,
            memory,
        }
    }

    /// A checkpoint of rows of every kind, spilled or not, with a past or without.
    fn checkpoint(memory_bytes_max: Option<u64>) -> Result<Vec<u8>> {
        let options = Options { memory_bytes_max, spilled_value_bytes_min: 20, ..Options::default() };
        let repository = Repository::with_log(Arc::new(MemoryLog::new()), options)?;
        for number in 0..40usize {
            let long = |length: usize| "x".repeat(length * number);
            let entity = NewEntity::new("t").property("a", long(1)).property("b", long(60)).property("c", 7);
            let classification = ClassificationContent {
                properties: vec![("d".into(), long(3).into())],
                ..ClassificationContent::new("c")
            };
            repository.transact(|t| {
                let id = t.create_entity(entity.clone())?;
                t.classify(&id, classification.clone())?;
                if number % 3 == 0 {
                    t.update(&InstanceId::Entity(id), Patch::new().set("a", "later"))?;
                }
                Ok(())
            })?;
        }
        let mut bytes = Vec::new();
        let snapshot = repository.snapshot();
        let origin = Origin { position: snapshot.position(), ..Origin::default() };
        save(&snapshot.indexed().settled(), origin, &mut bytes).expect("a Vec takes every write");
        Ok(bytes)
    }

    /// The blocks of a checkpoint: where each payload begins and ends.
    fn payloads(bytes: &[u8]) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let length = u32::from_le_bytes(bytes[at + 1..at + 5].try_into().unwrap()) as usize;
            found.push((at + 9, at + 9 + length));
            at += 9 + length;
        }
        found
    }

    fn read_everything(graph: &Graph) {
        for slot in 0..u32::try_from(graph.entities.slots_count()).unwrap() {
            let _ = graph.entities.get(slot);
        }
    }

    #[test]
    fn every_budget_loads_what_every_other_saved() -> Result<()> {
        for bytes in [checkpoint(None)?, checkpoint(Some(1 << 40))?] {
            let expected = load(&bytes[..], bytes.len() as u64, None).unwrap();
            for value_bytes_min in [1, 50, 5_000] {
                let found = load(&bytes[..], bytes.len() as u64, Some(&settings(value_bytes_min))).unwrap();
                assert_eq!(crate::graph::compare::differences(&expected, &found), Vec::<String>::new());
                assert_eq!(crate::graph::compare::inconsistencies(&found), Vec::<String>::new());
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn any_damage_that_checksums_do_not_show_is_survived(
            is_spilled in any::<bool>(),
            loads_spilled in any::<bool>(),
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let mut bytes = checkpoint(is_spilled.then_some(1 << 40)).unwrap();
            let blocks = payloads(&bytes);
            for (block, place, byte) in changes {
                let (start, end) = blocks[block.index(blocks.len())];
                bytes[start + place.index(end - start)] = byte;
                let checksum = crc32c::crc32c(&bytes[start..end]);
                bytes[start - 4..start].copy_from_slice(&checksum.to_le_bytes());
            }
            let settings = settings(20);
            if let Ok(graph) = load(&bytes[..], bytes.len() as u64, loads_spilled.then_some(&settings)) {
                read_everything(&graph.graph);
            }
        }
    }
}
