//! The children of entities: by name, in the order that users give them, by values that look-ups need, and by former
//! names.
#![expect(clippy::expect_used, reason = "each change is to one of the sets in `SETS`")]

use std::ops::Bound;

use super::event::Event;
use super::key_changes::KeyChanges;
use super::{Index, LoadSets, SavedSet};
use crate::graph::report::Differences;
use crate::graph::structures::child::{
    Child, ChildGroup, name_key, name_prefix, order_key, prefix_of, relationship_of, values_key,
    values_prefix,
};
use crate::graph::structures::symbols::Symbol;
use crate::structures::key_set::{Key, KeySet};

const NAMED: u8 = 10;
const ORDERED: u8 = 11;
const PAST: u8 = 12;
const VALUES: u8 = 13;

/// Children of entities. Contained relationships are slots of the table of relationships.
#[derive(Clone, Default)]
pub(crate) struct Children {
    // Shape of a key: parent (4), group (4), name, relationship (4). No name is a prefix of another.
    named: KeySet,
    // Children that users order. Shape of a key: parent (4), group (4), order, four zeros, relationship (4).
    ordered: KeySet,
    // Children that left, or were renamed. Shape of a key: as those of `named`.
    past: KeySet,
    // By values that are unique together, and by references. Shape of a key: parent (4), values, relationship (4).
    by_values: KeySet,
}

impl Children {
    /// Relationships to the children with this name: one, unless copies of other collections have the same name.
    pub(crate) fn named(&self, parent: u32, group: ChildGroup, name: &[u8]) -> impl Iterator<Item = u32> {
        let prefix = name_prefix(parent, group, name);
        // Most look-ups want the first one only, so the end is not looked up.
        let keys = self.named.range(Bound::Included(&prefix), Bound::Unbounded);
        keys.take_while(move |key| key.starts_with(&prefix)).map(relationship_of)
    }

    /// Relationships that led to children with this name.
    pub(crate) fn once_named(
        &self,
        parent: u32,
        group: ChildGroup,
        name: &[u8],
    ) -> impl Iterator<Item = u32> {
        self.past.prefix(&name_prefix(parent, group, name)).map(relationship_of)
    }

    /// The set with the children of a group in their order, and the prefix of their keys.
    pub(crate) fn listed(&self, parent: u32, group: ChildGroup) -> (&KeySet, [u8; 8]) {
        let prefix = prefix_of(parent, group);
        let is_ordered = self.ordered.prefix(&prefix).next().is_some();
        (if is_ordered { &self.ordered } else { &self.named }, prefix)
    }

    /// Relationships to the children of a group, by name.
    pub(crate) fn of_group(&self, parent: u32, group: ChildGroup) -> impl Iterator<Item = u32> {
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

    /// Relationships to children that may have these values.
    pub(crate) fn with_values(&self, parent: u32, values: &[u8]) -> impl Iterator<Item = u32> {
        self.by_values.prefix(&values_prefix(parent, values)).map(relationship_of)
    }

    /// Adds a child by values, or removes it.
    pub(crate) fn change_values(&mut self, relationship: u32, parent: u32, values: &[u8], is_added: bool) {
        self.change(VALUES, &values_key(relationship, parent, values), is_added);
    }

    /// Adds a child at its place.
    pub(crate) fn enter(&mut self, relationship: u32, child: &Child) {
        each_key(relationship, child, Step::Enters, &mut |code, key, is_added| {
            self.change(code, key, is_added)
        });
    }

    /// Removes a child from its place; reads as of an earlier time find it by its name.
    pub(crate) fn leave(&mut self, relationship: u32, child: &Child) {
        each_key(relationship, child, Step::Leaves, &mut |code, key, is_added| {
            self.change(code, key, is_added)
        });
    }

    /// Adds children of new relationships: the keys of their names, and of the places of those that users order.
    pub(crate) fn enter_together(&mut self, named: &KeyChanges, ordered: &KeyChanges) {
        named.apply_to_one(&mut self.named);
        ordered.apply_to_one(&mut self.ordered);
    }

    /// Adds children again at the places that they left. Shape: slots of the relationships to them, with their places.
    pub(crate) fn enter_again(&mut self, children: &[(u32, Child)]) {
        let mut changes = SetChanges::default();
        for (relationship, child) in children {
            each_key(*relationship, child, Step::Enters, &mut |code, key, is_added| {
                changes.push(code, key, is_added)
            });
        }
        changes.apply_to(self);
    }

    /// Removes the children of `parent` whose relationships `leaves` selects from their places, several times faster than
    /// one by one if they are most of its children.
    pub(crate) fn leave_together(&mut self, parent: u32, leaves: impl Fn(u32) -> bool) {
        let prefix = parent.to_be_bytes();
        for code in [NAMED, ORDERED, VALUES] {
            let (mut bytes, mut ends) = (Vec::new(), Vec::new());
            for key in self.set_mut(code).prefix(&prefix).filter(|key| leaves(relationship_of(*key))) {
                key.append_to(&mut bytes);
                ends.push(bytes.len());
            }
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let keys: Vec<&[u8]> = starts.zip(&ends).map(|(start, end)| &bytes[start..*end]).collect();
            self.set_mut(code).remove_sorted(&keys);
            if code == NAMED {
                self.past.insert_sorted(&keys, &mut |_| {});
            }
        }
    }

    fn change(&mut self, code: u8, key: &[u8], is_added: bool) {
        let set = self.set_mut(code);
        if is_added {
            set.insert(key);
        } else {
            set.remove(key);
        }
    }

    fn set_mut(&mut self, code: u8) -> &mut KeySet {
        match code {
            NAMED => &mut self.named,
            ORDERED => &mut self.ordered,
            PAST => &mut self.past,
            _ => &mut self.by_values,
        }
    }
}

/// The step of a child to its place, or from it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The relationship to it is new: it left no place before.
    IsCreated,
    Enters,
    Leaves,
}

/// Calls `change` for each key of a child, with the code of the set, the key, and whether it is added.
fn each_key(relationship: u32, child: &Child, step: Step, change: &mut impl FnMut(u8, &[u8], bool)) {
    let is_in = step != Step::Leaves;
    let key = name_key(relationship, child);
    change(NAMED, &key, is_in);
    if step != Step::IsCreated {
        change(PAST, &key, !is_in);
    }
    if let Some(key) = order_key(relationship, child) {
        change(ORDERED, &key, is_in);
    }
    for values in &child.values {
        change(VALUES, &values_key(relationship, child.parent, values), is_in);
    }
}

/// Calls `change` for each key that an event adds or removes.
fn each_change(event: &Event, change: &mut impl FnMut(u8, &[u8], bool)) {
    let (slot, before, after) = match event {
        Event::Put(put) => (put.slot, put.before.as_ref(), Some(&put.after)),
        Event::Purge(purge) => (purge.slot, Some(&purge.last), None),
        Event::Correct(_) | Event::Reindex(_) => return,
    };
    let is_new = before.is_none();
    let [before, after] = [before, after].map(|known| known.and_then(|known| known.child.as_deref()));
    if before == after {
        return;
    }
    let enters = if is_new { Step::IsCreated } else { Step::Enters };
    for (child, step) in [(before, Step::Leaves), (after, enters)] {
        if let Some(child) = child {
            each_key(slot, child, step, change);
        }
    }
}

/// Changes of all sets.
struct SetChanges(Vec<(u8, KeyChanges)>);

impl Default for SetChanges {
    fn default() -> SetChanges {
        SetChanges(Children::SETS.iter().map(|code| (*code, KeyChanges::default())).collect())
    }
}

impl SetChanges {
    fn push(&mut self, code: u8, key: &[u8], is_added: bool) {
        let of_set = self.0.iter_mut().find(|(set, _)| *set == code);
        let (_, of_set) = of_set.expect("it is one of the sets");
        of_set.push(Symbol(0), |keys| keys.extend_from_slice(key), is_added);
    }

    fn apply_to(&self, children: &mut Children) {
        self.0.iter().for_each(|(code, changes)| changes.apply_to_one(children.set_mut(*code)));
    }
}

impl Index for Children {
    const NAME: &'static str = "children";
    const SETS: &'static [u8] = &[NAMED, ORDERED, PAST, VALUES];

    fn update(&mut self, events: &[&Event]) {
        if let [event] = events {
            return each_change(event, &mut |code, key, is_added| self.change(code, key, is_added));
        }
        let mut changes = SetChanges::default();
        for event in events {
            each_change(event, &mut |code, key, is_added| changes.push(code, key, is_added));
        }
        changes.apply_to(self);
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
        let is_right = |key: Key| key.len() >= 12 && (relationship_of(key) as usize) < slots_count;
        [&self.named, &self.ordered, &self.past, &self.by_values]
            .into_iter()
            .flat_map(KeySet::iter)
            .all(is_right)
            .then_some(())
    }

    fn compare(&self, found: &Children, report: &mut Differences) {
        report.compare_keys("children by name", &self.named, &found.named);
        report.compare_keys("children by order", &self.ordered, &found.ordered);
        report.compare_keys("past children", &self.past, &found.past);
        report.compare_keys("children by values", &self.by_values, &found.by_values);
    }
}
