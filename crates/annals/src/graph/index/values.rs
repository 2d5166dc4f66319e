//! The values of listed instances, by property.

use super::event::{Event, Known, Way};
use super::key::{append_value_key, for_each_indexed};
use super::key_changes::KeyChanges;
use super::{Index, LoadSets, SavedSet};
use crate::graph::report::Differences;
use crate::graph::structures::symbols::Symbol;
use crate::model::Value;
use crate::structures::key_set::KeySet;
use crate::structures::vector::Vector;

const SET: u8 = 1;

/// The values of listed instances. Shape of a key: value key, slot (4).
#[derive(Clone, Default)]
pub(crate) struct Values {
    sets: Vector<KeySet>,
}

impl Values {
    /// All sets, by symbol of the property.
    pub(crate) fn sets(&self) -> &Vector<KeySet> {
        &self.sets
    }

    /// The keys of a property.
    pub(crate) fn get(&self, property: Symbol) -> Option<&KeySet> {
        self.sets.get(property.index())
    }
}

impl Index for Values {
    const NAME: &'static str = "values";
    const SETS: &'static [u8] = &[SET];

    fn update(&mut self, events: &[&Event]) {
        let mut changes = KeyChanges::default();
        let mut change = |slot: u32, name: Symbol, value: &Value, is_added: bool| {
            for_each_indexed(value, |scalar| {
                changes.push(name, |key| append_value_key(scalar, slot, key), is_added);
            });
        };
        for event in events {
            match event {
                Event::Put(put) => {
                    put.each_value(&Known::is_indexed, &mut |name, value, way| {
                        change(put.slot, name, value, way == Way::In);
                    });
                }
                Event::Purge(purge) if purge.last.is_listed() => {
                    purge.last.indexed().for_each(|(name, value)| change(purge.slot, name, value, false));
                }
                Event::Reindex(reindex) => {
                    for (name, is_indexed) in &reindex.properties {
                        let value = reindex.instance.properties.get(*name);
                        value.into_iter().for_each(|value| change(reindex.slot, *name, value, *is_indexed));
                    }
                }
                Event::Purge(_) | Event::Correct(_) => {}
            }
        }
        changes.apply_to(&mut self.sets, |_, _| {});
    }

    fn save(&self) -> Vec<SavedSet<'_>> {
        SavedSet::all(SET, &self.sets)
    }

    fn load(&mut self, sets: &mut LoadSets) -> Option<()> {
        self.sets = sets.all(SET);
        Some(())
    }

    fn compare(&self, found: &Values, report: &mut Differences) {
        report.compare_sets(Self::NAME, &self.sets, &found.sets);
    }
}
