//! The values of versions that are not in force, by property and by instance.

use std::collections::HashSet;

use super::event::{Event, Known, Way};
use super::key::{append_value_key, for_each_indexed, slot_of_key, without_slot};
use super::key_changes::KeyChanges;
use super::past_keys::PastKeys;
use super::{Index, LoadSets, SavedSet};
use crate::graph::report::Differences;
use crate::graph::structures::symbols::Symbol;
use crate::model::{INDEX_KEY_BYTES_MAX, Value};
use crate::structures::key_set::{Key, KeySet};
use crate::structures::vector::Vector;

const SET: u8 = 2;

const SLOT_BYTES: usize = 4;

/// The values of versions that are not in force.
#[derive(Clone, Default)]
pub(crate) struct PastValues {
    // By property. Shape of a key: value key, slot (4).
    by_value: Vector<KeySet>,
    // The same by instance.
    by_slot: PastKeys,
}

impl PastValues {
    /// All sets, by symbol of the property.
    pub(crate) fn sets(&self) -> &Vector<KeySet> {
        &self.by_value
    }

    /// The keys of a property.
    pub(crate) fn get(&self, property: Symbol) -> Option<&KeySet> {
        self.by_value.get(property.index())
    }

    /// Keys of the values that the instance had in versions not in force, each with its property, newest first.
    pub(crate) fn of(&self, slot: u32) -> impl Iterator<Item = (Symbol, &[u8])> {
        self.by_slot.of(slot)
    }

    fn forget(&mut self, slot: u32) {
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

impl Index for PastValues {
    const NAME: &'static str = "past values";
    const SETS: &'static [u8] = &[SET];

    fn update(&mut self, events: &[&Event]) {
        let mut changes = KeyChanges::default();
        let mut add = |slot: u32, name: Symbol, value: &Value| {
            for_each_indexed(value, |scalar| {
                changes.push(name, |key| append_value_key(scalar, slot, key), true);
            });
        };
        // No event follows the purge of an instance, so purges are handled last.
        let mut purged = Vec::new();
        for event in events {
            match event {
                Event::Put(put) => {
                    put.each_value(&Known::is_indexed, &mut |name, value, way| {
                        if way == Way::Out {
                            add(put.slot, name, value);
                        }
                    });
                    if let Some(proxy) = put.before.as_ref().filter(|before| before.is_live_proxy())
                        && !put.after.is_live_proxy()
                    {
                        proxy.indexed().for_each(|(name, value)| add(put.slot, name, value));
                    }
                }
                Event::Correct(correct) => {
                    correct.values.iter().for_each(|(name, value)| add(correct.slot, *name, value));
                }
                Event::Purge(purge) => purged.push(purge.slot),
                Event::Reindex(_) => {}
            }
        }
        let PastValues { by_value, by_slot } = self;
        changes.apply_to(by_value, |name, key| {
            let (value, _) = key.split_at(key.len() - SLOT_BYTES);
            by_slot.push(slot_of_key(Key::from(key)), name, value);
        });
        purged.into_iter().for_each(|slot| self.forget(slot));
    }

    fn save(&self) -> Vec<SavedSet<'_>> {
        SavedSet::all(SET, &self.by_value)
    }

    fn load(&mut self, sets: &mut LoadSets) -> Option<()> {
        self.by_value = sets.all(SET);
        let mut value = Vec::new();
        for (name, set) in (0..).map(Symbol).zip(self.by_value.iter()) {
            for key in set.iter() {
                if without_slot(key).len() > INDEX_KEY_BYTES_MAX
                    || slot_of_key(key) as usize >= sets.slots_count
                {
                    return None;
                }
                without_slot(key).write_to(&mut value);
                self.by_slot.push(slot_of_key(key), name, &value);
            }
        }
        Some(())
    }

    fn compare(&self, found: &PastValues, report: &mut Differences) {
        report.compare_sets(Self::NAME, &self.by_value, &found.by_value);
        let (mut slots, mut counts) = (HashSet::new(), Vec::new());
        for set in self.by_value.iter() {
            slots.extend(set.iter().map(slot_of_key));
            counts.push(set.len());
        }
        // Each instance is read once: it may have had very many values.
        for slot in slots {
            let all: HashSet<(u32, &[u8])> = found.of(slot).map(|(name, value)| (name.0, value)).collect();
            for (name, value) in all {
                let key = [value, &slot.to_be_bytes()].concat();
                let is_expected = self.get(Symbol(name)).is_some_and(|set| set.contains(&key));
                if let (true, Some(count)) = (is_expected, counts.get_mut(name as usize)) {
                    *count -= 1;
                }
            }
        }
        for (name, _) in counts.into_iter().enumerate().filter(|(_, count)| *count > 0) {
            report.add(|| format!("past values of property {name}: an instance lacks one"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::index::event::Correct;
    use crate::graph::index::key_changes::set_of;

    fn correct(slot: u32, values: &[(u32, &str)]) -> Event {
        let values = values.iter().map(|(name, value)| (Symbol(*name), Value::from(*value))).collect();
        Event::Correct(Correct { slot, written: 0, values, classified: Vec::new() })
    }

    fn count(past: &PastValues) -> (usize, usize) {
        (past.of(3).count(), past.of(4).count())
    }

    fn load(sets: Vector<KeySet>, slots_count: usize) -> Option<PastValues> {
        let mut loaded = PastValues::default();
        let mut take = |_: u8| sets.clone();
        loaded.load(&mut LoadSets { slots_count, take: &mut take }).map(|()| loaded)
    }

    #[test]
    fn a_value_counts_once_and_what_is_loaded_can_be_forgotten() {
        let mut past = PastValues::default();
        for value in ["a", "b", "a"] {
            let events = [correct(3, &[(1, value), (1, value)]), correct(4, &[(1, "c")])];
            past.update(&events.each_ref());
        }
        assert_eq!(count(&past), (2, 1));
        let mut loaded = load(past.by_value.clone(), 5).expect("all slots are there");
        loaded.forget(3);
        assert_eq!((count(&loaded), count(&past)), ((0, 1), (2, 1)));
        assert_eq!(loaded.by_value.iter().map(KeySet::len).sum::<usize>(), 1);
    }

    #[test]
    fn very_many_values_of_one_instance_are_compared_and_a_lost_one_is_found() {
        let mut past = PastValues::default();
        for number in 0..20_000 {
            past.update(&[&correct(3, &[(1, &number.to_string())])]);
        }
        let lines = |found: &PastValues| {
            let mut report = Differences::default();
            past.compare(found, &mut report);
            report.into_lines()
        };
        assert_eq!(lines(&past), Vec::<String>::new());
        let mut poorer = past.clone();
        poorer.by_slot.forget(3);
        assert_eq!(lines(&poorer), ["past values of property 1: an instance lacks one"]);
    }

    #[test]
    fn keys_that_cannot_be_are_not_loaded() {
        let long = "x".repeat(INDEX_KEY_BYTES_MAX + 1);
        for (value, slot, is_sound) in
            [("a", 4, true), ("a", 5, false), (&long[1..], 0, true), (&long[..], 0, false)]
        {
            let mut sets = Vector::new();
            let key = [value.as_bytes(), &u32::to_be_bytes(slot)].concat();
            set_of(&mut sets, Symbol(0)).insert(&key);
            assert_eq!(load(sets, 5).is_some(), is_sound, "{} bytes, slot {slot}", value.len());
        }
    }
}
