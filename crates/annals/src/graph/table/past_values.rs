//! What a table remembers of the values and classifications of the past.

use super::Table;
use crate::graph::index::key::{for_each_indexed, slot_of_key, value_key};
use crate::graph::index::past_index::past_classified_key;
use crate::graph::structures::symbols::Symbol;
use crate::model::Value;

impl Table {
    /// Adds the scalars of `value` to the index of values of the past.
    pub(crate) fn add_past_value(&mut self, name: Symbol, value: &Value, slot: u32) {
        self.note_set(name, value);
        for_each_indexed(value, |scalar| {
            self.past_values.insert(name, &|key| value_key(scalar, slot, key));
        });
    }

    pub(crate) fn add_past_classified(&mut self, name: Symbol, slot: u32) {
        if self.past_classified.insert(name, slot) {
            self.past_classified_of.insert(&past_classified_key(slot, name));
        }
    }

    /// Forgets all classifications of the past of one entity.
    pub(crate) fn forget_past_classified(&mut self, slot: u32) {
        let names: Vec<u32> = self.past_classified_of.prefix(&slot.to_be_bytes()).map(slot_of_key).collect();
        for name in names.into_iter().map(Symbol) {
            self.past_classified_of.remove(&past_classified_key(slot, name));
            self.past_classified.remove(name, slot);
        }
    }

    /// Index keys of the values that some version of the instance at `slot`, not in force, had, each with its property; those
    /// entered last come first.
    pub(crate) fn past_keys(&self, slot: u32) -> impl Iterator<Item = (Symbol, &[u8])> {
        self.past_values.part().by_slot.of(slot)
    }

    /// Forgets all values of the past of an instance that is purged.
    pub(crate) fn forget_past_values(&mut self, slot: u32) {
        self.past_values.change(|past| past.forget(slot), |notes| notes.forgotten.push(slot));
    }
}
