//! The indexes of the past: what was true of some version that is not in force.

use super::key_set::KeySet;
use super::staged::{Notes, Staged, in_parts};
use super::symbols::Symbol;
use super::table::{Table, for_each_indexed, slot_of_key, value_key, without_slot};
use super::value_index::{KeyNotes, change};
use super::vector::Vector;
use crate::model::Value;

/// Values held by some version that is not in force.
pub(crate) type PastIndex = Staged<PastNotes>;

#[derive(Clone)]
pub(crate) struct PastValues {
    /// By property. Shape of a key: value key, slot (4).
    pub(crate) by_value: Vector<KeySet>,
    /// The same by instance. Shape: slot (4), property (4, little endian), value key.
    pub(crate) by_slot: KeySet,
}

/// Keys to add, and slots of which all are forgotten: nothing is added to them any more.
#[derive(Default)]
pub(crate) struct PastNotes {
    added: KeyNotes,
    forgotten: Vec<u32>,
}

impl PastValues {
    fn new() -> PastValues {
        PastValues { by_value: Vector::new(), by_slot: KeySet::new() }
    }

    fn forget(&mut self, slot: u32) {
        let keys: Vec<Vec<u8>> = self.by_slot.prefix(&slot.to_be_bytes()).map(<[u8]>::to_vec).collect();
        for key_of in keys {
            self.by_slot.remove(&key_of);
            let name = u32::from_le_bytes(key_of[4..8].try_into().expect("four bytes"));
            let mut key = key_of[8..].to_vec();
            key.extend_from_slice(&slot.to_be_bytes());
            if let Some(values) = self.by_value.get_mut(name as usize) {
                values.remove(&key);
            }
        }
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
        let added: Vec<&KeyNotes> = notes.iter().map(|notes| &notes.added).collect();
        KeyNotes::apply_to(&added, &mut past.by_value);
        let mut keys = Vec::new();
        let mut ends = Vec::new();
        for (name, _, key) in added.iter().flat_map(|notes| notes.in_order()) {
            append_key_by_slot(name, key, &mut keys);
            ends.push(keys.len());
        }
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let mut keys: Vec<&[u8]> = starts.zip(&ends).map(|(start, end)| &keys[start..*end]).collect();
        keys.sort_unstable();
        in_parts(&keys, |keys| past.by_slot.insert_sorted(keys));
        notes.iter().flat_map(|notes| &notes.forgotten).for_each(|slot| past.forget(*slot));
    }
}

impl PastIndex {
    pub(super) fn empty() -> PastIndex {
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
    fn insert(&mut self, name: Symbol, append: &impl Fn(&mut Vec<u8>)) {
        let insert_now = |past: &mut PastValues| {
            let (mut key, mut key_of) = (Vec::with_capacity(32), Vec::with_capacity(32));
            append(&mut key);
            change(&mut past.by_value, name, &[&key], true);
            append_key_by_slot(name, &key, &mut key_of);
            past.by_slot.insert(&key_of);
        };
        self.change(insert_now, |notes| notes.added.push(name, append, true));
    }
}

/// Appends the key by instance of a value of this property, from its key by value.
fn append_key_by_slot(name: Symbol, key: &[u8], own: &mut Vec<u8>) {
    own.extend_from_slice(&key[key.len() - 4..]);
    // What tells two properties apart comes first: a leaf compares few bytes of what one instance had.
    own.extend_from_slice(&name.0.to_le_bytes());
    own.extend_from_slice(without_slot(key));
}

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

    /// Index keys of the values that some version of the instance at `slot`, not in force, had: of one property, or of
    /// all.
    pub(crate) fn past_keys(&self, slot: u32, name: Option<Symbol>) -> impl Iterator<Item = &[u8]> {
        let mut place = [0; 8];
        place[..4].copy_from_slice(&slot.to_be_bytes());
        place[4..].copy_from_slice(&name.map_or(0, |name| name.0).to_le_bytes());
        let prefix = if name.is_some() { &place[..] } else { &place[..4] };
        self.past_values.part().by_slot.prefix(prefix).map(|key| &key[8..])
    }

    /// Forgets all values of the past of an instance that is purged.
    pub(crate) fn forget_past_values(&mut self, slot: u32) {
        self.past_values.change(|past| past.forget(slot), |notes| notes.forgotten.push(slot));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::spill::Spill;

    fn slots(table: &Table, name: u32) -> Vec<u32> {
        table.past_values.get(name as usize).into_iter().flat_map(KeySet::iter).map(slot_of_key).collect()
    }

    #[test]
    fn a_purge_forgets_what_was_noted_and_a_snapshot_before_it_does_not() {
        let mut table = Table::new(Spill::new(None));
        let value = |number: u32| Value::Integer(number.into());
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
        assert_eq!((table.past_keys(1, None).count(), table.past_keys(0, Some(Symbol(2))).count()), (0, 1));
        assert_eq!((slots(&before, 0), slots(&before, 2)), (vec![0, 1, 2], vec![0, 1, 2]));
        assert_eq!((before.past_keys(1, None).count(), before.past_keys(4, None).count()), (2, 0));
    }
}
