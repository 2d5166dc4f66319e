//! The order of ids.
//!
//! Fresh ids ascend, as slots do. So an instance with a fresh id usually is in its place without a key, and only the
//! others take one.

use super::event::{Event, Put};
use super::key::{append_id_key, slot_of_key};
use super::key_changes::KeyChanges;
use super::{Index, LoadSets, SavedSet, Stored};
use crate::Result;
use crate::graph::report::Differences;
use crate::graph::structures::slot_set::SlotSet;
use crate::graph::structures::symbols::Symbol;
use crate::model::Id;
use crate::structures::key_set::KeySet;
use crate::structures::vector::Vector;

const SET: u8 = 7;
const LAST_SET: u8 = 14;

/// The keys.
const IDS: Symbol = Symbol(0);
/// The key of the last ordered id, if there is one, with slot 0.
const LAST: Symbol = Symbol(1);

/// All instances by id, deleted ones and proxies included. Shape of a key: id, slot (4).
#[derive(Clone)]
pub(crate) struct Ids {
    // Instances with an ordered id: a fresh one that is greater than all ordered ids in smaller slots.
    ordered: SlotSet,
    // Two sets: the keys of the other instances, and the last ordered id.
    keys: Vector<KeySet>,
    // The last ordered id.
    last: Option<[u8; 16]>,
}

impl Default for Ids {
    fn default() -> Ids {
        let keys = std::iter::repeat_n(KeySet::new(), 2).collect();
        Ids { ordered: SlotSet::new(), keys, last: None }
    }
}

impl Ids {
    /// The keys of the instances that are not ordered.
    pub(crate) fn keys(&self) -> &KeySet {
        &self.keys[IDS.index()]
    }

    /// The slots of the ordered instances.
    pub(crate) fn ordered(&self) -> &SlotSet {
        &self.ordered
    }

    // True if its slot is its place.
    fn place(&mut self, id: &Id, slot: u32) -> bool {
        let fresh = id.fresh_bytes();
        let is_in_order = fresh.is_some() && fresh > self.last.as_ref();
        if is_in_order {
            self.last = fresh.copied();
            self.ordered.insert(slot);
        }
        is_in_order
    }

    fn put(&mut self, put: &Put, changes: &mut KeyChanges) {
        let id = &put.after.instance.id;
        let Some(before) = put.before.as_ref().map(|before| &before.instance.id) else {
            if !self.place(id, put.slot) {
                change(changes, id, put.slot, true);
            }
            return;
        };
        if before != id {
            self.take_out(before, put.slot, changes);
            change(changes, id, put.slot, true);
        }
    }

    fn take_out(&mut self, id: &Id, slot: u32, changes: &mut KeyChanges) {
        if !self.ordered.remove(slot) {
            change(changes, id, slot, false);
        }
    }
}

fn change(changes: &mut KeyChanges, id: &Id, slot: u32, is_added: bool) {
    changes.push(IDS, |key| append_id_key(id, slot, key), is_added);
}

impl Index for Ids {
    const NAME: &'static str = "ids";
    const SETS: &'static [u8] = &[SET, LAST_SET];

    fn update(&mut self, events: &[&Event]) {
        let (mut changes, last) = (KeyChanges::default(), self.last);
        for event in events {
            match event {
                Event::Put(put) => self.put(put, &mut changes),
                Event::Purge(purge) => self.take_out(&purge.last.instance.id, purge.slot, &mut changes),
                Event::Correct(_) | Event::Reindex(_) => {}
            }
        }
        if self.last != last {
            for (last, is_added) in [(last, false), (self.last, true)] {
                let last = last.map(Id::from_uuid_bytes);
                last.iter().for_each(|last| changes.push(LAST, |key| append_id_key(last, 0, key), is_added));
            }
        }
        changes.apply_to(&mut self.keys, |_, _| {});
    }

    fn derive(&mut self, stored: &[Stored]) -> Result<()> {
        for Stored { slot, .. } in stored.iter().filter(|stored| stored.id.fresh_bytes().is_some()) {
            self.ordered.insert(*slot);
        }
        Ok(())
    }

    fn save(&self) -> Vec<SavedSet<'_>> {
        let set = |code, set: Symbol| SavedSet { code, number: 0, keys: &self.keys[set.index()] };
        vec![set(SET, IDS), set(LAST_SET, LAST)]
    }

    fn load(&mut self, sets: &mut LoadSets) -> Option<()> {
        let (keys, last) = (sets.one(SET), sets.one(LAST_SET));
        for key in keys.iter() {
            self.ordered.remove(slot_of_key(key));
        }
        if let Some(key) = last.iter().next() {
            self.last = Some(key.to_vec().get(1..17)?.try_into().ok()?);
        }
        self.keys.set(IDS.index(), keys);
        self.keys.set(LAST.index(), last);
        Some(())
    }

    fn compare(&self, found: &Ids, report: &mut Differences) {
        report.compare_sets(Self::NAME, &self.keys, &found.keys);
        if self.ordered != found.ordered {
            report.add(|| "ids: others are in the order of their slots".into());
        }
    }
}
