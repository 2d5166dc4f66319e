//! The children of entities: by name, in the order that users give them, by values that they are found by, and by the names that
//! they had.

use super::event::{Event, Put};
use super::{Index, LoadSets, SavedSet};
use crate::graph::report::Report;
use crate::graph::structures::child::{
    Child, Group, name_key, name_prefix, order_key, prefix_of, relationship_of, values_prefix,
};
use crate::structures::key_set::KeySet;

const NAMED: u8 = 10;
const ORDERED: u8 = 11;
const PAST: u8 = 12;
const VALUES: u8 = 13;

/// Children of entities. Contained relationships are slots of the table of relationships.
#[derive(Clone, Default)]
pub(crate) struct Children {
    // Shape of a key: parent (4), group (4), name, relationship (4). No name begins another.
    named: KeySet,
    // Those that users order. Shape of a key: parent (4), group (4), order, four zeros, relationship (4).
    ordered: KeySet,
    // Children that left, or have another name since. Shape of a key: as those of `named`.
    past: KeySet,
    // By values that are unique together, and those that refer. Shape of a key: parent (4), values, relationship (4).
    by_values: KeySet,
}

impl Children {
    /// Relationships that lead to the children with this name: one, unless copies of other collections share it.
    pub(crate) fn named(&self, parent: u32, group: Group, name: &[u8]) -> impl Iterator<Item = u32> {
        self.named.prefix(&name_prefix(parent, group, name)).map(relationship_of)
    }

    /// Relationships that led to children with this name.
    pub(crate) fn once_named(&self, parent: u32, group: Group, name: &[u8]) -> impl Iterator<Item = u32> {
        self.past.prefix(&name_prefix(parent, group, name)).map(relationship_of)
    }

    /// The set in which the children of a group stand in their order, and what their keys begin with.
    pub(crate) fn listed(&self, parent: u32, group: Group) -> (&KeySet, [u8; 8]) {
        let prefix = prefix_of(parent, group);
        let is_ordered = self.ordered.prefix(&prefix).next().is_some();
        (if is_ordered { &self.ordered } else { &self.named }, prefix)
    }

    /// Relationships that lead to the children of a group, by name.
    pub(crate) fn of_group(&self, parent: u32, group: Group) -> impl Iterator<Item = u32> {
        self.named.prefix(&prefix_of(parent, group)).map(relationship_of)
    }

    /// All children by name, of all parents.
    pub(crate) fn by_name(&self) -> &KeySet {
        &self.named
    }

    /// The children that users order, of all parents.
    pub(crate) fn by_order(&self) -> &KeySet {
        &self.ordered
    }

    /// Relationships that lead to children which may have these values.
    pub(crate) fn with_values(&self, parent: u32, values: &[u8]) -> impl Iterator<Item = u32> {
        self.by_values.prefix(&values_prefix(parent, values)).map(relationship_of)
    }

    /// Lists a child by values, or takes it out.
    pub(crate) fn change_values(&mut self, relationship: u32, parent: u32, values: &[u8], is_added: bool) {
        let key = [&values_prefix(parent, values)[..], &relationship.to_be_bytes()].concat();
        match is_added {
            true => self.by_values.insert(&key),
            false => self.by_values.remove(&key),
        };
    }

    /// Puts a child into its place.
    pub(crate) fn enter(&mut self, relationship: u32, child: &Child) {
        let key = name_key(relationship, child);
        self.past.remove(&key);
        self.named.insert(&key);
        if let Some(key) = order_key(relationship, child) {
            self.ordered.insert(&key);
        }
        let values = child.values.iter();
        values.for_each(|values| self.change_values(relationship, child.parent, values, true));
    }

    /// Takes a child out of its place; reads as of before find it by its name.
    pub(crate) fn leave(&mut self, relationship: u32, child: &Child) {
        let key = name_key(relationship, child);
        self.named.remove(&key);
        self.past.insert(&key);
        if let Some(key) = order_key(relationship, child) {
            self.ordered.remove(&key);
        }
        let values = child.values.iter();
        values.for_each(|values| self.change_values(relationship, child.parent, values, false));
    }

    fn put(&mut self, put: &Put) {
        let before = put.before.as_ref().and_then(|known| known.child.as_deref());
        let after = put.after.child.as_deref();
        if before == after {
            return;
        }
        if let Some(child) = before {
            self.leave(put.slot, child);
        }
        if let Some(child) = after {
            self.enter(put.slot, child);
        }
    }
}

impl Index for Children {
    const NAME: &'static str = "children";
    const SETS: &'static [u8] = &[NAMED, ORDERED, PAST, VALUES];

    fn take(&mut self, events: &[&Event]) {
        for event in events {
            match event {
                Event::Put(put) => self.put(put),
                Event::Purge(purge) => {
                    if let Some(child) = &purge.last.child {
                        self.leave(purge.slot, child);
                    }
                }
                Event::Correct(_) | Event::Reindex(_) => {}
            }
        }
    }

    fn save(&self) -> Vec<SavedSet<'_>> {
        [(NAMED, &self.named), (ORDERED, &self.ordered), (PAST, &self.past), (VALUES, &self.by_values)]
            .map(|(code, keys)| SavedSet { code, number: 0, keys })
            .into()
    }

    fn load(&mut self, sets: &mut LoadSets) -> Option<()> {
        self.named = sets.one(NAMED);
        self.ordered = sets.one(ORDERED);
        self.past = sets.one(PAST);
        self.by_values = sets.one(VALUES);
        let slots_count = sets.slots_count;
        let is_right = |key: &[u8]| key.len() >= 12 && (relationship_of(key) as usize) < slots_count;
        [&self.named, &self.ordered, &self.past, &self.by_values]
            .into_iter()
            .flat_map(KeySet::iter)
            .all(is_right)
            .then_some(())
    }

    fn compare(&self, found: &Children, report: &mut Report) {
        report.compare_keys("children by name", &self.named, &found.named);
        report.compare_keys("children by order", &self.ordered, &found.ordered);
        report.compare_keys("past children", &self.past, &found.past);
        report.compare_keys("children by values", &self.by_values, &found.by_values);
    }
}
