//! The values of unique attributes, for checks at commit.

use std::collections::BTreeSet;

use super::event::{Event, Way};
use super::key::{append_value_key, for_each_indexed, slot_of_key};
use super::key_changes::set_of;
use super::{Index, Stored};
use crate::Result;
use crate::graph::report::Differences;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Value, append_index_key};
use crate::structures::key_set::KeySet;
use crate::structures::vector::Vector;

/// The values of listed instances, for properties that a type declares as unique.
#[derive(Clone, Default)]
pub(crate) struct Unique {
    properties: BTreeSet<Symbol>,
    // By property. Shape of a key: value key, slot (4).
    sets: Vector<KeySet>,
}

impl Unique {
    /// True if it has no values.
    pub(crate) fn is_empty(&self) -> bool {
        self.properties.is_empty()
    }

    /// True if it has values of this property.
    pub(crate) fn has(&self, name: Symbol) -> bool {
        self.properties.contains(&name)
    }

    /// Begins to list the values of this property. The caller adds the existing ones.
    pub(crate) fn cover(&mut self, name: Symbol) {
        self.properties.insert(name);
    }

    /// Slots of instances that may have this scalar as this property; another value may have the same key.
    pub(crate) fn holders(&self, name: Symbol, scalar: &Value) -> Vec<u32> {
        let mut key = Vec::new();
        append_index_key(scalar, &mut key);
        let set = self.sets.get(name.index());
        set.into_iter().flat_map(|set| set.prefix(&key)).map(slot_of_key).collect()
    }

    /// Adds a value, or removes it.
    pub(crate) fn change(&mut self, slot: u32, name: Symbol, value: &Value, is_added: bool) {
        change(&mut self.sets, slot, name, value, is_added);
    }
}

fn change(sets: &mut Vector<KeySet>, slot: u32, name: Symbol, value: &Value, is_added: bool) {
    let set = set_of(sets, name);
    let mut key = Vec::with_capacity(32);
    for_each_indexed(value, |scalar| {
        key.clear();
        append_value_key(scalar, slot, &mut key);
        if is_added {
            set.insert(&key);
        } else {
            set.remove(&key);
        }
    });
}

impl Index for Unique {
    const NAME: &'static str = "unique values";

    fn update(&mut self, events: &[&Event]) {
        if self.properties.is_empty() {
            return;
        }
        let Unique { properties, sets } = self;
        for event in events {
            match event {
                Event::Put(put) => {
                    put.each_value(&|_, name| properties.contains(&name), &mut |name, value, way| {
                        change(sets, put.slot, name, value, way == Way::In);
                    });
                }
                Event::Purge(purge) if purge.last.is_listed() => {
                    let values = purge.last.instance.properties.iter();
                    let values = values.filter(|(name, _)| properties.contains(name));
                    values.for_each(|(name, value)| change(sets, purge.slot, name, value, false));
                }
                Event::Purge(_) | Event::Correct(_) | Event::Reindex(_) => {}
            }
        }
    }

    fn derive(&mut self, stored: &[Stored]) -> Result<()> {
        for Stored { slot, row, is_proxy, table, .. } in stored {
            if !row.is_live() || *is_proxy {
                continue;
            }
            for name in &self.properties {
                if let Some(value) = table.read_value(*slot, *name)? {
                    change(&mut self.sets, *slot, *name, &value, true);
                }
            }
        }
        Ok(())
    }

    fn compare(&self, found: &Unique, report: &mut Differences) {
        if self.properties != found.properties {
            report.add(|| "unique values: those of other properties".into());
        }
        report.compare_sets(Self::NAME, &self.sets, &found.sets);
    }
}
