//! Reads sets of keys out of a checkpoint.

use std::collections::HashMap;

use super::block::{Input, Loaded, damaged};
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
