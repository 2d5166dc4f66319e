//! The order of ids.

use super::event::Event;
use super::key::append_id;
use super::key_changes::KeyChanges;
use super::{Index, LoadSets, SavedSet};
use crate::graph::report::Report;
use crate::graph::structures::symbols::Symbol;
use crate::model::Id;
use crate::structures::key_set::KeySet;
use crate::structures::vector::Vector;

const SET: u8 = 7;

/// The only set.
const IDS: Symbol = Symbol(0);

/// All instances by id, deleted ones and proxies included. Shape of a key: id, slot (4).
#[derive(Clone)]
pub(crate) struct Ids {
    keys: Vector<KeySet>,
}

impl Default for Ids {
    fn default() -> Ids {
        Ids { keys: std::iter::once(KeySet::new()).collect() }
    }
}

impl Ids {
    pub(crate) fn keys(&self) -> &KeySet {
        &self.keys[IDS.index()]
    }
}

fn append_key(id: &Id, slot: u32, key: &mut Vec<u8>) {
    append_id(id, key);
    key.extend_from_slice(&slot.to_be_bytes());
}

impl Index for Ids {
    const NAME: &'static str = "ids";
    const SETS: &'static [u8] = &[SET];

    fn take(&mut self, events: &[&Event]) {
        let mut changes = KeyChanges::default();
        let mut change = |id: &Id, slot: u32, is_added: bool| {
            changes.push(IDS, |key| append_key(id, slot, key), is_added);
        };
        for event in events {
            match event {
                Event::Put(put) => {
                    let (before, id) =
                        (put.before.as_ref().map(|before| &before.instance.id), &put.after.instance.id);
                    if before != Some(id) {
                        before.into_iter().for_each(|before| change(before, put.slot, false));
                        change(id, put.slot, true);
                    }
                }
                Event::Purge(purge) => change(&purge.last.instance.id, purge.slot, false),
                Event::Correct(_) | Event::Reindex(_) => {}
            }
        }
        changes.apply_to(&mut self.keys, |_, _| {});
    }

    fn save(&self) -> Vec<SavedSet<'_>> {
        vec![SavedSet { code: SET, number: 0, keys: self.keys() }]
    }

    fn load(&mut self, sets: &mut LoadSets) -> Option<()> {
        self.keys.set(IDS.index(), sets.one(SET));
        Some(())
    }

    fn compare(&self, found: &Ids, report: &mut Report) {
        report.compare_sets(Self::NAME, &self.keys, &found.keys);
    }
}
