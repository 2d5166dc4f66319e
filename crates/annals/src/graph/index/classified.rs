//! Entities by classification, now and in the past.

use super::event::{Event, Put};
use super::key::slot_of_key;
use super::{Index, LoadSets, SavedSet, Stored};
use crate::Result;
use crate::graph::instance::classified;
use crate::graph::report::Differences;
use crate::graph::structures::slot_set::Extents;
use crate::graph::structures::symbols::Symbol;
use crate::structures::key_set::KeySet;

const PAST_SET: u8 = 5;

/// Entities by classification.
#[derive(Clone, Default)]
pub(crate) struct Classified {
    /// Live entities.
    pub(crate) present: Extents,
    /// Entities that had it in a version that is not in force.
    pub(crate) past: Extents,
    // The same by slot, for purges. Shape: slot (4), classification (4).
    past_of: KeySet,
}

impl Classified {
    /// True if the entity has, or had, the classification.
    pub(crate) fn ever(&self, name: Symbol, slot: u32) -> bool {
        self.present.contains(name, slot) || self.past.contains(name, slot)
    }

    fn put(&mut self, put: &Put) {
        let (before, after) = (put.before.as_ref(), &put.after);
        for known in before.into_iter().flat_map(|before| before.instance.classifications()) {
            let is_kept = after.instance.classification(known.name).is_some();
            let stays = |is_before: bool, is_after: bool| !is_before || is_after && is_kept;
            if before.is_some_and(|before| !stays(before.is_listed(), after.is_listed()))
                && self.present.remove(known.name, put.slot)
                || before.is_some_and(|before| !stays(before.is_live_proxy(), after.is_live_proxy()))
            {
                self.add_past(known.name, put.slot);
            }
        }
        if after.is_listed() {
            for known in after.instance.classifications() {
                self.present.insert(known.name, put.slot);
            }
        }
    }

    fn add_past(&mut self, name: Symbol, slot: u32) {
        if self.past.insert(name, slot) {
            self.past_of.insert(&past_key(slot, name));
        }
    }

    /// True if an entity had a classification that it has no longer, or is deleted and had one.
    pub(crate) fn was_classified(&self, slot: u32) -> bool {
        !self.past_of.is_empty() && self.past_of.prefix(&slot.to_be_bytes()).next().is_some()
    }

    fn forget_past(&mut self, slot: u32) {
        let names: Vec<u32> = self.past_of.prefix(&slot.to_be_bytes()).map(slot_of_key).collect();
        for name in names.into_iter().map(Symbol) {
            self.past_of.remove(&past_key(slot, name));
            self.past.remove(name, slot);
        }
    }
}

/// Key of a past classification of an entity.
fn past_key(slot: u32, name: Symbol) -> [u8; 8] {
    let mut key = [0; 8];
    key[..4].copy_from_slice(&slot.to_be_bytes());
    key[4..].copy_from_slice(&name.0.to_be_bytes());
    key
}

impl Index for Classified {
    const NAME: &'static str = "classifications";
    const SETS: &'static [u8] = &[PAST_SET];

    fn update(&mut self, events: &[&Event]) {
        for event in events {
            match event {
                Event::Put(put) => self.put(put),
                Event::Correct(correct) => {
                    correct.classified.iter().for_each(|name| self.add_past(*name, correct.slot));
                }
                Event::Purge(purge) => {
                    for known in purge.last.instance.classifications() {
                        self.present.remove(known.name, purge.slot);
                    }
                    self.forget_past(purge.slot);
                }
                Event::Reindex(_) => {}
            }
        }
    }

    fn derive(&mut self, stored: &[Stored]) -> Result<()> {
        for Stored { slot, row, is_proxy, .. } in stored {
            if row.is_live() && !is_proxy {
                for name in row.classifications().map(classified::Classified::name) {
                    self.present.insert(name, *slot);
                }
            }
        }
        Ok(())
    }

    fn save(&self) -> Vec<SavedSet<'_>> {
        vec![SavedSet { code: PAST_SET, number: 0, keys: &self.past_of }]
    }

    fn load(&mut self, sets: &mut LoadSets) -> Option<()> {
        let keys = sets.one(PAST_SET);
        for key in keys.iter() {
            if key.len() != 8 {
                return None;
            }
            self.past.insert(Symbol(slot_of_key(key)), u32::from_be_bytes(key.bytes_at(0)));
        }
        self.past_of = keys;
        Some(())
    }

    fn compare(&self, found: &Classified, report: &mut Differences) {
        report.compare_extents("classification extents", &self.present, &found.present);
        report.compare_extents("past classification extents", &self.past, &found.past);
        report.compare_keys("past classifications by entity", &self.past_of, &found.past_of);
    }
}
