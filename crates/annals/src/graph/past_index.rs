//! The indexes of the past: what was true of some version that is not in force.

use super::key_set::KeySet;
use super::symbols::Symbol;
use super::table::{Table, for_each_indexed, grow, slot_of_key, value_key};
use crate::model::Value;

/// Key of a classification that an entity carried.
fn past_classified_key(slot: u32, name: Symbol) -> [u8; 8] {
    let mut key = [0; 8];
    key[..4].copy_from_slice(&slot.to_be_bytes());
    key[4..].copy_from_slice(&name.0.to_be_bytes());
    key
}

impl Table {
    /// Adds the scalars of `value` to the index of values of the past.
    pub(crate) fn add_past_value(&mut self, name: Symbol, value: &Value, slot: u32) {
        grow(&mut self.past_values, name, KeySet::new);
        self.note_set(name, value);
        let values = self.past_values.get_mut(name.index()).expect("grown above");
        let (mut key, mut key_of) = (Vec::with_capacity(32), Vec::with_capacity(32));
        for_each_indexed(value, |scalar| {
            key.clear();
            value_key(scalar, slot, &mut key);
            if values.insert(&key) {
                key_of.clear();
                key_of.extend_from_slice(&slot.to_be_bytes());
                key_of.extend_from_slice(&name.0.to_be_bytes());
                key_of.extend_from_slice(&key[..key.len() - 4]);
                self.past_values_of.insert(&key_of);
            }
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

    /// Index keys of the values that some version of the instance at `slot`, not in force, had: of one property, or of
    /// all.
    pub(crate) fn past_keys(&self, slot: u32, name: Option<Symbol>) -> impl Iterator<Item = &[u8]> {
        let mut place = [0; 8];
        place[..4].copy_from_slice(&slot.to_be_bytes());
        place[4..].copy_from_slice(&name.map_or(0, |name| name.0).to_be_bytes());
        let prefix = if name.is_some() { &place[..] } else { &place[..4] };
        self.past_values_of.prefix(prefix).map(|key| &key[8..])
    }

    /// Forgets all values of the past of one instance.
    pub(crate) fn forget_past_values(&mut self, slot: u32) {
        let keys: Vec<Vec<u8>> =
            self.past_values_of.prefix(&slot.to_be_bytes()).map(<[u8]>::to_vec).collect();
        for key_of in keys {
            self.past_values_of.remove(&key_of);
            let name = u32::from_be_bytes(key_of[4..8].try_into().expect("four bytes"));
            let mut key = key_of[8..].to_vec();
            key.extend_from_slice(&slot.to_be_bytes());
            if let Some(values) = self.past_values.get_mut(name as usize) {
                values.remove(&key);
            }
        }
    }
}
