//! The orders of creation and of the last change.
//!
//! An instance that nothing has changed stands at its place already: slots are given in the order of creation. Only those
//! that do not, because they were changed, or brought from elsewhere with times of their own, take a key.

use super::key_set::KeySet;
use super::row::Row;
use super::slot_set::SlotSet;
use crate::model::{Instant, Value, append_index_key};

/// Keys of instances whose times do not follow from their slots. Shape of a key: index key of the time (9), slot (4).
#[derive(Clone)]
pub(crate) struct Stamps {
    // The latest creation among those in order.
    last: i64,
    // Those that are older than one before them.
    unordered: SlotSet,
    /// When the unordered ones were created.
    pub(crate) created: KeySet,
    changed: SlotSet,
    /// When the versions in force were written, of those that were changed or are unordered.
    pub(crate) updated: KeySet,
    /// The same of versions that are not in force, but for the first of those in order.
    pub(crate) past_updated: KeySet,
}

/// The key of an instance at a time. Units: microseconds since 1970.
pub(crate) fn stamp_key(micros: i64, slot: u32) -> Vec<u8> {
    let mut key = Vec::with_capacity(13);
    append_index_key(&Value::Timestamp(Instant::from_checked_micros(micros)), &mut key);
    key.extend_from_slice(&slot.to_be_bytes());
    key
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
            created: KeySet::new(),
            changed: SlotSet::new(),
            updated: KeySet::new(),
            past_updated: KeySet::new(),
        }
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
            self.updated.insert(&stamp_key(updated, slot));
            self.changed.insert(slot);
        }
    }

    fn place(&mut self, slot: u32, created: i64) {
        if created >= self.last {
            self.last = created;
        } else {
            self.unordered.insert(slot);
            self.created.insert(&stamp_key(created, slot));
        }
    }

    /// Lists a later version in the place of the one before.
    pub(crate) fn replace(&mut self, slot: u32, before: (i64, i64), after: (i64, i64)) {
        if before.0 != after.0 {
            self.created.remove(&stamp_key(before.0, slot));
            self.unordered.insert(slot);
            self.created.insert(&stamp_key(after.0, slot));
        }
        if before != after {
            if self.changed.contains(slot) {
                self.updated.remove(&stamp_key(before.1, slot));
            }
            if self.changed.insert(slot) && before.0 == after.0 {
                // The first version stands where its slot is.
            } else {
                self.past_updated.insert(&stamp_key(before.1, slot));
            }
            self.updated.insert(&stamp_key(after.1, slot));
        }
    }

    /// Lists a version that was written into the past.
    pub(crate) fn add_past(&mut self, slot: u32, updated: i64) {
        self.past_updated.insert(&stamp_key(updated, slot));
    }

    /// Forgets a purged instance.
    pub(crate) fn remove(&mut self, slot: u32, created: i64, updated: i64) {
        if self.unordered.remove(slot) {
            self.created.remove(&stamp_key(created, slot));
        }
        if self.changed.remove(slot) {
            self.updated.remove(&stamp_key(updated, slot));
        }
    }

    /// Lists an instance whose other keys a checkpoint holds.
    pub(crate) fn derive(&mut self, slot: u32, row: Row) {
        self.place(slot, row.created().micros);
    }

    /// Puts the keys of a checkpoint in place.
    pub(crate) fn set_updated(&mut self, updated: KeySet, past_updated: KeySet) {
        for key in updated.iter() {
            self.changed.insert(super::table::slot_of_key(key));
        }
        self.updated = updated;
        self.past_updated = past_updated;
    }
}
