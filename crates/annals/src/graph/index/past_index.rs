//! The indexes of the past: what was true of some version that is not in force.

use super::key::{slot_of_key, without_slot};
use super::past_keys::PastKeys;
use super::staged::{Notes, Staged, in_parts};
use super::value_index::{KeyNotes, set_of};
use crate::graph::structures::symbols::Symbol;
use crate::model::INDEX_KEY_BYTES_MAX;
use crate::structures::key_set::KeySet;
use crate::structures::vector::Vector;

/// Values held by some version that is not in force.
pub(crate) type PastIndex = Staged<PastNotes>;

#[derive(Clone)]
pub(crate) struct PastValues {
    // By property. Shape of a key: value key, slot (4).
    by_value: Vector<KeySet>,
    // The same by instance.
    pub(crate) by_slot: PastKeys,
}

/// Keys to add, and slots of which all are forgotten: nothing is added to them any more.
#[derive(Default)]
pub(crate) struct PastNotes {
    added: KeyNotes,
    pub(crate) forgotten: Vec<u32>,
}

impl PastValues {
    fn new() -> PastValues {
        PastValues { by_value: Vector::new(), by_slot: PastKeys::new() }
    }

    /// The same of sets by value; `None` if one has a key that is too long, or of a slot that is not below `slots_count`.
    pub(crate) fn of(by_value: Vector<KeySet>, slots_count: usize) -> Option<PastValues> {
        let mut by_slot = PastKeys::new();
        for (name, set) in (0..).map(Symbol).zip(by_value.iter()) {
            for key in set.iter() {
                let slot = slot_of_key(key);
                if slot as usize >= slots_count || without_slot(key).len() > INDEX_KEY_BYTES_MAX {
                    return None;
                }
                by_slot.push(slot, name, without_slot(key));
            }
        }
        Some(PastValues { by_value, by_slot })
    }

    // Adds keys of one property, ascending.
    fn add(&mut self, name: Symbol, keys: &[&[u8]]) {
        let set = set_of(&mut self.by_value, name);
        in_parts(keys, |keys| {
            set.insert_sorted_telling(keys, &mut |key| {
                self.by_slot.push(slot_of_key(key), name, without_slot(key));
            });
        });
    }

    pub(crate) fn forget(&mut self, slot: u32) {
        for (name, value_key) in self.by_slot.of(slot) {
            let mut key = value_key.to_vec();
            key.extend_from_slice(&slot.to_be_bytes());
            if let Some(values) = self.by_value.get_mut(name.index()) {
                values.remove(&key);
            }
        }
        self.by_slot.forget(slot);
    }
}

impl Notes for PastNotes {
    type Part = PastValues;

    const PROMPT: u8 = KeyNotes::PROMPT;

    fn is_empty(&self) -> bool {
        self.added.is_empty() && self.forgotten.is_empty()
    }

    fn size(&self) -> usize {
        self.added.size() + size_of_val(&self.forgotten[..])
    }

    fn apply_to(notes: &[&PastNotes], past: &mut PastValues) {
        let mut added: Vec<(Symbol, &[u8])> = Vec::new();
        added.extend(notes.iter().flat_map(|notes| notes.added.in_order()).map(|(name, _, key)| (name, key)));
        added.sort_unstable();
        for of_one in added.chunk_by(|(name, _), next| *name == next.0) {
            let keys: Vec<&[u8]> = of_one.iter().map(|(_, key)| *key).collect();
            past.add(of_one[0].0, &keys);
        }
        notes.iter().flat_map(|notes| &notes.forgotten).for_each(|slot| past.forget(*slot));
    }
}

impl PastIndex {
    pub(crate) fn empty() -> PastIndex {
        PastIndex::new(PastValues::new())
    }

    /// Sets by value, by symbol of the property.
    pub(crate) fn sets(&self) -> &Vector<KeySet> {
        &self.part().by_value
    }

    /// The keys by value of the property with this number.
    pub(crate) fn get(&self, property: usize) -> Option<&KeySet> {
        self.sets().get(property)
    }

    /// Adds the key that `append` appends.
    pub(crate) fn insert(&mut self, name: Symbol, append: &impl Fn(&mut Vec<u8>)) {
        let insert_now = |past: &mut PastValues| {
            let mut key = Vec::with_capacity(32);
            append(&mut key);
            past.add(name, &[&key]);
        };
        self.change(insert_now, |notes| notes.added.push(name, append, true));
    }
}

/// Key of a classification that an entity carried.
pub(crate) fn past_classified_key(slot: u32, name: Symbol) -> [u8; 8] {
    let mut key = [0; 8];
    key[..4].copy_from_slice(&slot.to_be_bytes());
    key[4..].copy_from_slice(&name.0.to_be_bytes());
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::instance::spill::Spill;
    use crate::graph::table::Table;
    use crate::model::Value;

    fn slots(table: &Table, name: u32) -> Vec<u32> {
        table.past_values.get(name as usize).into_iter().flat_map(KeySet::iter).map(slot_of_key).collect()
    }

    #[test]
    fn a_purge_forgets_what_was_noted_and_a_snapshot_before_it_does_not() {
        let mut table = Table::new(Spill::new(None));
        let value = |number: u32| Value::Integer(number.into());
        let count = |table: &Table, slot| table.past_keys(slot).count();
        table.past_values.defer();
        for slot in 0..3 {
            table.add_past_value(Symbol(0), &value(7), slot);
            table.add_past_value(Symbol(2), &value(slot), slot);
        }
        table.past_values.hand_over();
        let before = table.clone();
        table.past_values.defer();
        table.add_past_value(Symbol(0), &value(8), 1);
        table.add_past_value(Symbol(0), &value(7), 4);
        table.forget_past_values(1);
        table.past_values.hand_over();
        table.forget_past_values(2);

        assert_eq!((slots(&table, 0), slots(&table, 2)), (vec![0, 4], vec![0]));
        assert_eq!((count(&table, 1), count(&table, 0)), (0, 2));
        assert_eq!((slots(&before, 0), slots(&before, 2)), (vec![0, 1, 2], vec![0, 1, 2]));
        assert_eq!((count(&before, 1), count(&before, 4)), (2, 0));
    }

    fn key(value: &str, slot: u32) -> Vec<u8> {
        [value.as_bytes(), &slot.to_be_bytes()].concat()
    }

    #[test]
    fn a_value_counts_once_and_what_is_loaded_can_be_forgotten() {
        let mut past = PastValues::new();
        for value in ["a", "b", "a"] {
            past.add(Symbol(1), &[&key(value, 3), &key(value, 3), &key("c", 4)]);
        }
        assert_eq!((past.by_slot.of(3).count(), past.by_slot.of(4).count()), (2, 1));
        let mut loaded = PastValues::of(past.by_value.clone(), 5).expect("all slots are there");
        loaded.forget(3);
        let left: Vec<&[u8]> = loaded.by_value.iter().flat_map(KeySet::iter).collect();
        assert_eq!((left, loaded.by_slot.of(3).count()), (vec![&key("c", 4)[..]], 0));
        assert!(loaded.by_slot.of(4).eq([(Symbol(1), &b"c"[..])]) && past.by_slot.of(3).count() == 2);
    }

    #[test]
    fn keys_that_cannot_be_are_not_loaded() {
        let long = "x".repeat(INDEX_KEY_BYTES_MAX + 1);
        for (value, slot, is_sound) in
            [("a", 4, true), ("a", 5, false), (&long[1..], 0, true), (&long[..], 0, false)]
        {
            let mut sets = Vector::new();
            set_of(&mut sets, Symbol(0)).insert(&key(value, slot));
            assert_eq!(PastValues::of(sets, 5).is_some(), is_sound, "{} bytes, slot {slot}", value.len());
        }
    }
}
