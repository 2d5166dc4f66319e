//! Reads rows out of a checkpoint. The repository that wrote it may have spilled other values than the one that opens
//! it. So loading spills long values, or brings spilled values back into memory.

use std::collections::VecDeque;
use std::sync::Arc;

use super::block::{Loaded, damaged};
use crate::graph::instance::past::Past;
use crate::graph::instance::row::{OwnRow, Row, stub, stub_extra};
use crate::graph::instance::row_check::is_sound;
use crate::graph::instance::row_convert::SpilledValue;
use crate::graph::instance::spill::Spill;
use crate::graph::structures::rows::{PAGE_ROWS, Rows, is_page, page_of, rows_of};
use crate::graph::structures::spill_file::SpillSettings;
use crate::graph::table::Extra;

/// The rows of a table, read so far.
pub(crate) struct RowParts {
    pub(crate) spill: Spill,
    pub(crate) extras: Vec<Extra>,
    rows: Rows,
    // The last page is held back: only the next page, or the end, shows how many of its rows count.
    last: Option<Arc<[u8]>>,
    // The spilled values of the next rows.
    values: VecDeque<SpilledValue>,
}

impl RowParts {
    pub(crate) fn new(spill: Option<&SpillSettings>) -> RowParts {
        RowParts {
            spill: Spill::new(spill),
            extras: Vec::new(),
            rows: Rows::new(),
            last: None,
            values: VecDeque::new(),
        }
    }

    /// Reads a spilled value of the rows that follow.
    pub(crate) fn read_value(&mut self, value: &[u8]) -> Loaded<()> {
        let value = match self.spill.is_used() {
            false => SpilledValue::Content(value.to_vec()),
            true => SpilledValue::At(
                self.spill
                    .append(value)
                    .ok_or_else(|| "not loaded: a spill file cannot be written".to_owned())?,
            ),
        };
        self.values.push_back(value);
        Ok(())
    }

    /// Reads an extra. `row` is empty if the row is in a page.
    pub(crate) fn read_extra(&mut self, past: Option<Arc<Past>>, row: &[u8]) -> Loaded<()> {
        let row = match row {
            [] => None,
            row if is_sound(row) => Some(Arc::new(self.convert(row)?)),
            _ => return Err(damaged("a row")),
        };
        self.extras.push(Extra { past, row });
        Ok(())
    }

    /// Reads a page, whose rows belong to the next slots.
    pub(crate) fn read_page(&mut self, page: &[u8]) -> Loaded<()> {
        if !is_page(page) {
            return Err(damaged("a page of rows"));
        }
        self.push_last(PAGE_ROWS)?;
        let has_spilled = |row: &[u8]| !row.is_empty() && Row::new(row).has_spilled();
        if !self.spill.is_used() && !rows_of(page).any(has_spilled) {
            self.last = Some(page.into());
            return Ok(());
        }
        let mut rows = Vec::with_capacity(PAGE_ROWS);
        for row in rows_of(page) {
            rows.push(self.convert_in_page(row)?);
        }
        self.last = Some(page_of(rows.iter().map(Vec::as_slice)).into());
        Ok(())
    }

    fn push_last(&mut self, count: usize) -> Loaded<()> {
        let Some(page) = self.last.take() else { return Ok(()) };
        self.rows.push_page(page, count).ok_or_else(|| damaged("a page of rows"))
    }

    /// All rows; there must be `len`. Their content is not checked.
    pub(crate) fn finish(&mut self, len: usize) -> Loaded<Rows> {
        let count = len.saturating_sub(self.rows.len());
        if self.last.is_some() {
            self.push_last(count)?;
        }
        let rows = std::mem::replace(&mut self.rows, Rows::new());
        if rows.len() != len || !self.values.is_empty() {
            return Err(damaged("something is missing"));
        }
        Ok(rows)
    }

    /// The new form of a row that replaces it in a page; it may be longer or shorter than before.
    fn convert_in_page(&mut self, row: &[u8]) -> Loaded<Vec<u8>> {
        if row.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(extra) = stub_extra(row) {
            let known = usize::try_from(extra).ok().and_then(|at| self.extras.get_mut(at));
            let short = known.and_then(|known| known.row.take_if(|row| row.is_short()));
            return Ok(short.map_or_else(|| row.to_vec(), |short| short.bytes().to_vec()));
        }
        if !is_sound(row) {
            return Err(damaged("a row"));
        }
        if !Row::new(row).has_spilled() && !Row::new(row).has_longer(self.spill.value_bytes_min()) {
            return Ok(row.to_vec());
        }
        let converted = self.convert(row)?;
        if converted.is_short() {
            return Ok(converted.bytes().to_vec());
        }
        let extra = converted.row().extra().unwrap_or(u32::try_from(self.extras.len()).unwrap_or(u32::MAX));
        let at = usize::try_from(extra).map_err(|_| damaged("an extra"))?;
        if at == self.extras.len() {
            self.extras.push(Extra::default());
        }
        let known = self.extras.get_mut(at).ok_or_else(|| damaged("an extra"))?;
        known.row = Some(Arc::new(converted));
        Ok(stub(extra).to_vec())
    }

    /// A row in the form of this repository. The row must be valid.
    fn convert(&mut self, row: &[u8]) -> Loaded<OwnRow> {
        let values = &mut self.values;
        let converted =
            self.spill.packing(&[], |packing| Row::new(row).converted(packing, &mut || values.pop_front()));
        converted.ok_or_else(|| damaged("a value"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::graph::Graph;
    use crate::graph::structures::spill_file::FILE_BYTES_MAX;
    use crate::log::MemoryLog;
    use crate::maintenance::checkpoint::load::load;
    use crate::maintenance::checkpoint::save::{CheckpointOrigin, save};
    use crate::maintenance::recover::replay_to;
    use crate::memory::Memory;
    use crate::{
        ClassificationContent, Direction, InstanceId, NewEntity, NewRelationship, Options, Patch, Repository,
        Result,
    };

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

    /// A checkpoint of rows of every kind: spilled or not, with or without a past, under UUIDs and texts.
    fn checkpoint(memory_bytes_max: Option<u64>) -> Result<Vec<u8>> {
        let options = Options { memory_bytes_max, spilled_value_bytes_min: 20, ..Options::default() };
        let repository = Repository::with_log(Arc::new(MemoryLog::new()), options)?;
        for number in 0..40usize {
            let long = |length: usize| "x".repeat(length * number);
            let entity = NewEntity::new("t").property("a", long(1)).property("b", long(60)).property("c", 7);
            let id = format!("{number}{}", long(3).replace('x', "é"));
            let entity = if number % 2 == 0 { entity.id(&id)? } else { entity };
            let classification = ClassificationContent {
                properties: vec![("d".into(), long(3).into())],
                ..ClassificationContent::new("c")
            };
            repository.transact(|t| {
                let id = t.create_entity(entity.clone())?;
                t.create_relationship(NewRelationship::new("r", id.clone(), id.clone()).property("n", 7))?;
                t.classify(&id, classification.clone())?;
                if number % 3 == 0 {
                    t.update(&InstanceId::Entity(id), Patch::new().set("a", "later"))?;
                }
                Ok(())
            })?;
        }
        let mut bytes = Vec::new();
        let snapshot = repository.snapshot();
        let origin = CheckpointOrigin { position: snapshot.position(), ..CheckpointOrigin::default() };
        save(&snapshot.indexed().settled().unwrap(), &origin, &mut bytes).expect("a Vec takes every write");
        Ok(bytes)
    }

    /// The blocks of a checkpoint: start and end of each payload.
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
            for direction in [Direction::Out, Direction::In] {
                let _ = graph.neighbors(slot, direction).iter(None).count();
            }
        }
        for slot in 0..u32::try_from(graph.relationships.slots_count()).unwrap() {
            let _ = graph.relationships.get(slot);
        }
        graph.entities.make_derived();
        graph.relationships.make_derived();
    }

    #[test]
    fn every_budget_loads_what_every_other_saved() -> Result<()> {
        for bytes in [checkpoint(None)?, checkpoint(Some(1 << 40))?] {
            let expected = load(&bytes[..], "a test", bytes.len() as u64, None).unwrap();
            for value_bytes_min in [1, 50, 5_000] {
                let found =
                    load(&bytes[..], "a test", bytes.len() as u64, Some(&settings(value_bytes_min))).unwrap();
                assert_eq!(crate::graph::compare::differences(&expected, &found), Vec::<String>::new());
                assert_eq!(crate::graph::compare::inconsistencies(&found, &|| false), Vec::<String>::new());
            }
        }
        Ok(())
    }

    /// Story: a command that got one instance read the keys of all indexes.
    #[test]
    fn indexes_are_made_once_they_are_needed_and_few_later_records_wait_for_them() -> Result<()> {
        let log = MemoryLog::new();
        let repository = Repository::with_log(Arc::new(log.clone()), Options::default())?;
        let commit = |count: i64| {
            repository.transact(|t| {
                for number in 0..count {
                    t.create_entity(NewEntity::new("t").property("number", number))?;
                }
                Ok(())
            })
        };
        commit(100)?;
        let mut bytes = Vec::new();
        let origin =
            CheckpointOrigin { position: repository.snapshot().position(), ..CheckpointOrigin::default() };
        save(&repository.snapshot().indexed().settled()?, &origin, &mut bytes)
            .expect("a Vec takes every write");
        let unbounded = Memory::new(None);
        for (count, are_made) in [(0, false), (1, false), (100, false), (5_000, true)] {
            if count > 0 {
                commit(count)?;
            }
            let mut found = load(&bytes[..], "a test", bytes.len() as u64, None).unwrap();
            replay_to(&log, &mut found, repository.snapshot().position(), &unbounded, |_| {})?;
            assert_eq!(found.indexes.entities.are_made(), are_made, "{count}");
            let expected = repository.snapshot().indexed().settled()?;
            assert_eq!(
                crate::graph::compare::differences(&expected, &found.settled()?),
                Vec::<String>::new()
            );
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
            if let Ok(graph) = load(&bytes[..], "a test", bytes.len() as u64, loads_spilled.then_some(&settings)) {
                read_everything(&graph.graph);
                // Damage that is found as late as this is told to searches.
                if let Err(error) = graph.indexes.made() {
                    prop_assert!(error.text().contains("a test is damaged"), "{}", error);
                }
            }
        }
    }
}
