//! The properties of which an instance has a set.

use super::event::Event;
use super::{Index, LoadSets, SavedSet};
use crate::graph::report::Differences;
use crate::graph::structures::symbols::Symbol;
use crate::model::Value;
use crate::structures::key_set::KeySet;

const SET: u8 = 6;

/// Properties of which an instance has, or had, a set: their indexes may have one instance several times. Shape of a
/// key: property (4).
#[derive(Clone, Default)]
pub(crate) struct Sets {
    properties: KeySet,
}

impl Sets {
    /// True if an instance has, or had, a set as this property.
    pub(crate) fn has(&self, name: Symbol) -> bool {
        !self.properties.is_empty() && self.properties.contains(&name.0.to_be_bytes())
    }

    /// Notes the property if the value is a set.
    pub(crate) fn note(&mut self, name: Symbol, value: &Value) {
        if matches!(value, Value::Set(_)) && !self.has(name) {
            self.properties.insert(&name.0.to_be_bytes());
        }
    }
}

impl Index for Sets {
    const NAME: &'static str = "sets";
    const SETS: &'static [u8] = &[SET];

    fn update(&mut self, events: &[&Event]) {
        for event in events {
            match event {
                Event::Put(put) => {
                    put.after.instance.properties.iter().for_each(|(name, value)| self.note(name, value));
                }
                Event::Correct(correct) => {
                    correct.values.iter().for_each(|(name, value)| self.note(*name, value));
                }
                Event::Purge(_) | Event::Reindex(_) => {}
            }
        }
    }

    fn save(&self) -> Vec<SavedSet<'_>> {
        vec![SavedSet { code: SET, number: 0, keys: &self.properties }]
    }

    fn load(&mut self, sets: &mut LoadSets) -> Option<()> {
        self.properties = sets.one(SET);
        Some(())
    }

    fn compare(&self, found: &Sets, report: &mut Differences) {
        report.compare_keys("properties with sets", &self.properties, &found.properties);
    }
}
