//! Reads sets of keys out of a checkpoint.

use std::collections::HashMap;

use super::block::{Damage, Input, Loaded, damaged};
use super::table_basis::TableBasis;
use crate::graph::index::{LoadSets, TableIndexes};
use crate::graph::table::Table;
use crate::structures::key_set::leaf::KEY_BYTES_MAX;
use crate::structures::key_set::{Builder, KeySet};

/// The name of a set: its code and its number.
type Name = (u8, u64);

/// The sets of keys of one table, or those of no table.
#[derive(Default)]
pub(crate) struct KeySets {
    sets: HashMap<Name, KeySet>,
    // The set whose blocks are being read.
    open: Option<(Name, Builder)>,
    pub(crate) count: u64,
}

impl KeySets {
    /// Reads a block, which names its set.
    pub(crate) fn read(&mut self, input: &mut Input) -> Loaded<()> {
        let set = (input.u8()?, input.number()?);
        if self.open.as_ref().is_none_or(|(open, _)| *open != set) {
            self.close();
            self.open = Some((set, Builder::new()));
        }
        let Some((_, keys)) = &mut self.open else { return Err(damaged("a set of keys")) };
        let mut key: Vec<u8> = Vec::new();
        while !input.is_empty() {
            let shared = input.count()?;
            if shared > key.len() {
                return Err(damaged("a key"));
            }
            key.truncate(shared);
            key.extend_from_slice(input.bytes()?);
            let is_ascending = keys.last().is_none_or(|last| last < &key[..]);
            if !is_ascending || key.len() > KEY_BYTES_MAX || key.len() < 4 {
                return Err(damaged("the order of keys"));
            }
            keys.push(&key);
            self.count += 1;
        }
        Ok(())
    }

    /// Reads a block with the number of its table before it.
    pub(crate) fn read_numbered(&mut self, payload: &[u8]) -> Loaded<()> {
        let mut input = Input::new(payload);
        input.u8()?;
        self.read(&mut input)
    }

    /// Takes out the sets with each code, for the lists or indexes of a table.
    pub(crate) fn load(
        &mut self,
        slots_count: usize,
        names: usize,
        load: impl FnOnce(&mut LoadSets) -> Result<(), &'static str>,
    ) -> Loaded<()> {
        // One more, for the keys that belong to no property.
        let mut take = |code: u8| self.take_all(code, names.max(1)).collect();
        load(&mut LoadSets { slots_count, take: &mut take }).map_err(damaged)
    }

    /// Called when all blocks are read.
    pub(crate) fn close(&mut self) {
        if let Some((set, keys)) = self.open.take() {
            self.sets.insert(set, keys.finish());
        }
    }

    /// Takes out the only set with a code.
    pub(crate) fn take(&mut self, code: u8) -> KeySet {
        self.sets.remove(&(code, 0)).unwrap_or_default()
    }

    /// Takes out all sets with a code, by number; `names` is their greatest possible count.
    pub(crate) fn take_all(&mut self, code: u8, names: usize) -> impl Iterator<Item = KeySet> {
        let last = self.sets.keys().filter(|set| set.0 == code).map(|set| set.1).max();
        let used = last.map_or(0, |last| last.saturating_add(1));
        (0..used).take(names).map(move |number| self.sets.remove(&(code, number)).unwrap_or_default())
    }
}

/// The parts of the indexes of a table.
pub(crate) struct IndexParts {
    /// Blocks of keys that are whole, and not read yet.
    pub(crate) blocks: Vec<Vec<u8>>,
    /// The keys of other blocks.
    pub(crate) keys: KeySets,
    /// The number of keys in all, for the check.
    pub(crate) keys_count: u64,
    /// The table, and the data that its rows refer to.
    pub(crate) table: Table,
    pub(crate) common: TableBasis,
}

impl IndexParts {
    /// The indexes. Errors: why the checkpoint cannot be used.
    pub(crate) fn indexes(self) -> Loaded<TableIndexes> {
        let IndexParts { blocks, mut keys, keys_count, table, common } = self;
        let derived = table.derived_indexes(&common.meanings);
        let mut indexes = derived.map_err(|error| damaged(error.text()))?;
        blocks.iter().try_for_each(|payload| keys.read_numbered(payload))?;
        keys.close();
        if keys.count != keys_count {
            return Err(damaged("something is missing"));
        }
        keys.load(table.slots_count(), common.meanings.names.len(), |sets| indexes.load(sets))?;
        Ok(indexes)
    }

    /// The indexes of a checkpoint that is in use. Errors: `Corrupted`, although its checksums hold.
    pub(crate) fn late_indexes(self, place: &str) -> crate::Result<TableIndexes> {
        self.indexes().map_err(|damage| {
            let why = match damage {
                Damage::Ignored(why) => why,
                Damage::TooLarge(error) => error.to_string(),
            };
            let text = format!("checkpoint {place} is {why}; remove it, and open the repository again");
            crate::Error::new(crate::ErrorKind::Corrupted, text)
        })
    }
}
