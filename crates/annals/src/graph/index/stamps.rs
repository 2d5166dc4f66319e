//! The orders of creation and of the last change.
//!
//! An instance that nothing has changed stands at its place already: slots are given in the order of creation. Only those
//! that do not, because they were changed, or brought from elsewhere with times of their own, take a key.

use super::value_index::ValueIndex;
use crate::graph::instance::row::Row;
use crate::graph::structures::slot_set::SlotSet;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Instant, Value, append_index_key};
use crate::structures::key_set::KeySet;

/// When the unordered ones were created.
const CREATED: Symbol = Symbol(0);
/// When the versions in force were written, of those that were changed or are unordered.
const UPDATED: Symbol = Symbol(1);
/// The same of versions that are not in force, but for the first of those in order.
const PAST_UPDATED: Symbol = Symbol(2);

/// Keys of instances whose times do not follow from their slots.
#[derive(Clone)]
pub(crate) struct Stamps {
    // The latest creation among those in order.
    last: i64,
    // Those that are older than one before them.
    unordered: SlotSet,
    changed: SlotSet,
    /// Three sets. Shape of a key: index key of the time (9), slot (4).
    pub(crate) keys: ValueIndex,
}

/// The key of an instance at a time. Units: microseconds since 1970.
pub(crate) fn stamp_key(micros: i64, slot: u32) -> Vec<u8> {
    let mut key = Vec::with_capacity(13);
    append_stamp_key(micros, slot, &mut key);
    key
}

fn append_stamp_key(micros: i64, slot: u32, key: &mut Vec<u8>) {
    append_index_key(&Value::Timestamp(Instant::from_checked_micros(micros)), key);
    key.extend_from_slice(&slot.to_be_bytes());
}

/// When the instance was created, and when the version in force was written. Units: microseconds since 1970.
pub(crate) fn times(row: Row) -> (i64, i64) {
    (row.created().micros, row.updated().micros)
}

impl Stamps {
    pub(crate) fn new() -> Stamps {
        Stamps {
            last: i64::MIN,
            unordered: SlotSet::new(),
            changed: SlotSet::new(),
            keys: keys([KeySet::new(), KeySet::new(), KeySet::new()]),
        }
    }

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
        self.keys.get(set.index()).expect("there are three from the beginning")
    }

    fn insert(&mut self, set: Symbol, micros: i64, slot: u32) {
        self.keys.insert(set, &|key| append_stamp_key(micros, slot, key));
    }

    fn take(&mut self, set: Symbol, micros: i64, slot: u32) {
        self.keys.remove(set, &|key| append_stamp_key(micros, slot, key));
    }

    /// True if this instance, and every other of which it is true, was created after those in smaller slots.
    #[inline]
    pub(crate) fn is_in_order(&self, slot: u32) -> bool {
        !self.unordered.contains(slot)
    }

    /// True if all are in order.
    pub(crate) fn is_all_in_order(&self) -> bool {
        self.unordered.len() == 0
    }

    /// True if the version in force has a key of its own.
    #[inline]
    pub(crate) fn is_changed(&self, slot: u32) -> bool {
        self.changed.contains(slot)
    }

    /// Lists a new instance. Units: microseconds since 1970.
    pub(crate) fn push(&mut self, slot: u32, created: i64, updated: i64) {
        self.place(slot, created);
        if updated != created || !self.is_in_order(slot) {
            self.insert(UPDATED, updated, slot);
            self.changed.insert(slot);
        }
    }

    fn place(&mut self, slot: u32, created: i64) {
        if created >= self.last {
            self.last = created;
        } else {
            self.unordered.insert(slot);
            self.insert(CREATED, created, slot);
        }
    }

    /// Lists a later version in the place of the one before.
    pub(crate) fn replace(&mut self, slot: u32, before: (i64, i64), after: (i64, i64)) {
        if before.0 != after.0 {
            self.take(CREATED, before.0, slot);
            self.unordered.insert(slot);
            self.insert(CREATED, after.0, slot);
        }
        if before != after {
            if self.changed.contains(slot) {
                self.take(UPDATED, before.1, slot);
            }
            if self.changed.insert(slot) && before.0 == after.0 {
                // The first version stands where its slot is.
            } else {
                self.insert(PAST_UPDATED, before.1, slot);
            }
            self.insert(UPDATED, after.1, slot);
        }
    }

    /// Lists a version that was written into the past.
    pub(crate) fn add_past(&mut self, slot: u32, updated: i64) {
        self.insert(PAST_UPDATED, updated, slot);
    }

    /// Forgets a purged instance.
    pub(crate) fn remove(&mut self, slot: u32, created: i64, updated: i64) {
        if self.unordered.remove(slot) {
            self.take(CREATED, created, slot);
        }
        if self.changed.remove(slot) {
            self.take(UPDATED, updated, slot);
        }
    }

    /// Lists an instance whose other keys a checkpoint holds.
    pub(crate) fn derive(&mut self, slot: u32, row: Row) {
        self.place(slot, row.created().micros);
    }

    /// Puts the keys of a checkpoint in place.
    pub(crate) fn set_updated(&mut self, updated: KeySet, past_updated: KeySet) {
        for key in updated.iter() {
            self.changed.insert(crate::graph::index::key::slot_of_key(key));
        }
        self.keys = keys([self.created().clone(), updated, past_updated]);
    }
}

fn keys(sets: [KeySet; 3]) -> ValueIndex {
    ValueIndex::new(sets.into_iter().collect())
}
