//! The values of unique attributes, which a commit is checked against.

use std::collections::BTreeSet;

use super::event::{Event, Known};
use super::key::{append_value_key, for_each_indexed, slot_of_key};
use super::key_changes::set_of;
use super::{Index, Stored};
use crate::Result;
use crate::graph::instance::patch::ValueChange;
use crate::graph::report::Report;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Value, append_index_key, has_own_key};
use crate::structures::key_set::KeySet;
use crate::structures::vector::Vector;

/// The values that listed instances have of the properties that some type declares as unique.
#[derive(Clone, Default)]
pub(crate) struct Unique {
    properties: BTreeSet<Symbol>,
    // By property. Shape of a key: value key, slot (4).
    sets: Vector<KeySet>,
}

impl Unique {
    /// True if it has the values of this property.
    pub(crate) fn has(&self, name: Symbol) -> bool {
        self.properties.contains(&name)
    }

    /// From now on it has the values of this property. Those that are there, the caller adds.
    pub(crate) fn cover(&mut self, name: Symbol) {
        self.properties.insert(name);
    }

    /// Slots of those that may have this scalar as this property. Others may share its key.
    pub(crate) fn holders(&self, name: Symbol, scalar: &Value) -> Vec<u32> {
        let mut key = Vec::new();
        append_index_key(scalar, &mut key);
        let set = self.sets.get(name.index());
        set.into_iter().flat_map(|set| set.prefix(&key)).map(slot_of_key).collect()
    }

    /// Adds a value, or takes it out.
    pub(crate) fn change(&mut self, slot: u32, name: Symbol, value: &Value, is_added: bool) {
        let set = set_of(&mut self.sets, name);
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

    fn change_all(&mut self, slot: u32, known: Option<&Known>, is_added: bool) {
        for (name, value) in known.into_iter().flat_map(|known| known.instance.properties.iter()) {
            if self.has(name) {
                self.change(slot, name, value, is_added);
            }
        }
    }
}

impl Index for Unique {
    const NAME: &'static str = "unique values";

    fn take(&mut self, events: &[&Event]) {
        if self.properties.is_empty() {
            return;
        }
        for event in events {
            match event {
                Event::Put(put) => {
                    let before = put.before.as_ref().filter(|before| before.is_listed());
                    let after = Some(&put.after).filter(|after| after.is_listed());
                    if before.is_none() || after.is_none() {
                        self.change_all(put.slot, before, false);
                        self.change_all(put.slot, after, true);
                        continue;
                    }
                    for change in &put.changes {
                        match change {
                            ValueChange::Added(name, value) if self.has(*name) => {
                                self.change(put.slot, *name, value, true);
                            }
                            ValueChange::Removed(name, value) if self.has(*name) => {
                                self.change(put.slot, *name, value, false);
                                // A long text shares its key with others that begin alike.
                                let held = put.after.instance.properties.get(*name);
                                if let Some(held) = held.filter(|_| !has_own_key(value)) {
                                    self.change(put.slot, *name, held, true);
                                }
                            }
                            _ => {}
                        }
                    }
                }
                Event::Purge(purge) => {
                    self.change_all(purge.slot, Some(&purge.last).filter(|last| last.is_listed()), false);
                }
                Event::Correct(_) | Event::Reindex(_) => {}
            }
        }
    }

    fn derive(&mut self, stored: &[Stored]) -> Result<()> {
        let Some(Stored { types, .. }) = stored.first() else { return Ok(()) };
        self.properties.clone_from(&types.unique);
        let properties = self.properties.clone();
        for Stored { slot, row, is_proxy, table, .. } in stored {
            if !row.is_live() || *is_proxy {
                continue;
            }
            for name in &properties {
                if let Some(value) = table.read_value(*slot, *name)? {
                    self.change(*slot, *name, &value, true);
                }
            }
        }
        Ok(())
    }

    fn compare(&self, found: &Unique, report: &mut Report) {
        report.compare_sets(Self::NAME, &self.sets, &found.sets);
    }
}
