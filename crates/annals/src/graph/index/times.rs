//! Instances in the order of creation and of the last change.
//!
//! An unchanged instance is in its place without a key, because slots follow the order of creation. Only other
//! instances take a key: those that were changed, or imported with times of their own.

use super::event::{Event, Put};
use super::key::{append_time_key, slot_of_key, time_key, without_slot};
use super::key_changes::KeyChanges;
use super::{Index, LoadSets, SavedSet};
use crate::graph::instance::unpacked::Instance;
use crate::graph::report::Differences;
use crate::graph::structures::slot_set::SlotSet;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Value, decode_key};
use crate::structures::key_set::KeySet;
use crate::structures::vector::Vector;

const UPDATED_SET: u8 = 3;
const PAST_UPDATED_SET: u8 = 4;
const CREATED_SET: u8 = 8;
const LAST_SET: u8 = 9;

/// The creation instants of the unordered instances.
const CREATED: Symbol = Symbol(0);
/// The instants of versions in force, of changed or unordered instances.
const UPDATED: Symbol = Symbol(1);
/// The instants of versions that are not in force, without the first versions of ordered instances.
const PAST_UPDATED: Symbol = Symbol(2);

/// Keys of instances whose times do not follow from their slots.
#[derive(Clone)]
pub(crate) struct Times {
    // The latest creation among the ordered instances.
    last: i64,
    // The same for checkpoints. Shape: a set of at most one key, with slot 0.
    last_key: KeySet,
    // Instances that are older than one in a smaller slot.
    unordered: SlotSet,
    changed: SlotSet,
    // Three sets. Shape of a key: index key of the time (9), slot (4).
    keys: Vector<KeySet>,
}

impl Default for Times {
    fn default() -> Times {
        let keys = std::iter::repeat_n(KeySet::new(), 3).collect();
        Times {
            last: i64::MIN,
            last_key: KeySet::new(),
            unordered: SlotSet::new(),
            changed: SlotSet::new(),
            keys,
        }
    }
}

/// The instants of the creation and of the version in force. Units: microseconds since 1970.
fn times(instance: &Instance) -> (i64, i64) {
    (instance.created.micros, instance.updated.micros)
}

impl Times {
    pub(crate) fn created(&self) -> &KeySet {
        self.set(CREATED)
    }

    pub(crate) fn updated(&self) -> &KeySet {
        self.set(UPDATED)
    }

    pub(crate) fn past_updated(&self) -> &KeySet {
        self.set(PAST_UPDATED)
    }

    fn set(&self, set: Symbol) -> &KeySet {
        &self.keys[set.index()]
    }

    /// True for an ordered instance: it was created after all ordered instances in smaller slots.
    #[inline]
    pub(crate) fn is_in_order(&self, slot: u32) -> bool {
        !self.unordered.contains(slot)
    }

    /// True if all instances are ordered.
    pub(crate) fn is_all_in_order(&self) -> bool {
        self.unordered.len() == 0
    }

    /// True if the version in force has its own key.
    #[inline]
    pub(crate) fn is_changed(&self, slot: u32) -> bool {
        self.changed.contains(slot)
    }

    // True if its slot is its place.
    fn place(&mut self, slot: u32, created: i64) -> bool {
        if created >= self.last {
            self.last = created;
            return true;
        }
        self.unordered.insert(slot);
        false
    }

    fn put(&mut self, put: &Put, changes: &mut Changes) {
        let (slot, after) = (put.slot, times(&put.after.instance));
        let Some(before) = put.before.as_ref().map(|before| times(&before.instance)) else {
            let is_in_order = self.place(slot, after.0);
            if !is_in_order {
                changes.add(CREATED, after.0, slot);
            }
            if after.1 != after.0 || !is_in_order {
                changes.add(UPDATED, after.1, slot);
                self.changed.insert(slot);
            }
            return;
        };
        if before.0 != after.0 {
            changes.remove(CREATED, before.0, slot);
            self.unordered.insert(slot);
            changes.add(CREATED, after.0, slot);
        }
        if before != after {
            if self.changed.contains(slot) {
                changes.remove(UPDATED, before.1, slot);
            }
            let is_first = self.changed.insert(slot);
            // The slot is the place of the first version.
            if !is_first || before.0 != after.0 {
                changes.add(PAST_UPDATED, before.1, slot);
            }
            changes.add(UPDATED, after.1, slot);
        }
    }
}

#[derive(Default)]
struct Changes(KeyChanges);

impl Changes {
    fn add(&mut self, set: Symbol, micros: i64, slot: u32) {
        self.0.push(set, |key| append_time_key(micros, slot, key), true);
    }

    fn remove(&mut self, set: Symbol, micros: i64, slot: u32) {
        self.0.push(set, |key| append_time_key(micros, slot, key), false);
    }
}

impl Index for Times {
    const NAME: &'static str = "times";
    const SETS: &'static [u8] = &[UPDATED_SET, PAST_UPDATED_SET, CREATED_SET, LAST_SET];

    fn update(&mut self, events: &[&Event]) {
        let (mut changes, last) = (Changes::default(), self.last);
        for event in events {
            match event {
                Event::Put(put) => self.put(put, &mut changes),
                Event::Correct(correct) => changes.add(PAST_UPDATED, correct.written, correct.slot),
                Event::Purge(purge) => {
                    let (created, updated) = times(&purge.last.instance);
                    if self.unordered.remove(purge.slot) {
                        changes.remove(CREATED, created, purge.slot);
                    }
                    if self.changed.remove(purge.slot) {
                        changes.remove(UPDATED, updated, purge.slot);
                    }
                }
                Event::Reindex(_) => {}
            }
        }
        changes.0.apply_to(&mut self.keys, |_, _| {});
        if self.last != last {
            self.last_key = KeySet::from_sorted([time_key(self.last, 0)]);
        }
    }

    fn save(&self) -> Vec<SavedSet<'_>> {
        vec![
            SavedSet { code: LAST_SET, number: 0, keys: &self.last_key },
            SavedSet { code: CREATED_SET, number: 0, keys: self.created() },
            SavedSet { code: UPDATED_SET, number: 0, keys: self.updated() },
            SavedSet { code: PAST_UPDATED_SET, number: 0, keys: self.past_updated() },
        ]
    }

    fn load(&mut self, sets: &mut LoadSets) -> Option<()> {
        self.last_key = sets.one(LAST_SET);
        if let Some(key) = self.last_key.iter().next() {
            let Some(Value::Timestamp(last)) = decode_key(&without_slot(key).to_vec()) else { return None };
            self.last = last.micros();
        }
        let created = sets.one(CREATED_SET);
        for key in created.iter() {
            self.unordered.insert(slot_of_key(key));
        }
        self.keys.set(CREATED.index(), created);
        let updated = sets.one(UPDATED_SET);
        for key in updated.iter() {
            self.changed.insert(slot_of_key(key));
        }
        self.keys.set(UPDATED.index(), updated);
        self.keys.set(PAST_UPDATED.index(), sets.one(PAST_UPDATED_SET));
        Some(())
    }

    fn compare(&self, found: &Times, report: &mut Differences) {
        report.compare_sets(Self::NAME, &self.keys, &found.keys);
        report.compare_keys("times, the last creation", &self.last_key, &found.last_key);
        if (&self.unordered, &self.changed) != (&found.unordered, &found.changed) {
            report.add(|| "times: others are out of order, or changed".into());
        }
    }
}
