//! Adjacent deletions of a record, applied together: the rows of the deleted instances stay, and one value for each
//! deletion says what else every row would say.

use std::sync::Arc;

use super::context::Context;
use super::lifecycle::BOTH;
use crate::Result;
use crate::graph::index::event::{Event, Instances, Known, Put, Told};
use crate::graph::instance::deletions::Deletion;
use crate::graph::instance::headers::PLAIN;
use crate::graph::instance::row::Row;
use crate::graph::instance::unpacked::Instance;
use crate::graph::integrity::types::Types;
use crate::graph::structures::slot_set::SlotSet;
use crate::graph::structures::symbols::Symbol;
use crate::graph::table::Table;
use crate::graph::{Graph, kind_of};
use crate::model::{Direction, InstanceId, TypeKind};

/// Fewer instances are deleted one by one.
const TOGETHER_MIN: usize = 4;

/// Children that leave a container are found among all its children if those are at most so many times as many.
const SEARCHED_FACTOR: usize = 8;

#[cfg(test)]
thread_local! {
    /// True while a test applies deletions, restorations and purges one by one, on this thread.
    pub(super) static ONE_BY_ONE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// The instances of adjacent deletions: slots, with the index of the deletion.
struct Selected {
    entities: Vec<(u32, usize)>,
    relationships: Vec<(u32, usize)>,
    met: [SlotSet; 2],
}

impl Graph {
    /// Applies adjacent deletions of a record. False, with the graph as it was, if they delete few instances, or one
    /// needs more than a deletion says, or one fails: then the caller applies them one by one.
    ///
    /// Errors: those of reading spilled values.
    pub(super) fn delete_together(&mut self, deletions: &[(Context, &InstanceId)]) -> Result<bool> {
        let Some(Selected { mut entities, mut relationships, .. }) = self.selected(deletions) else {
            return Ok(false);
        };
        entities.sort_unstable();
        relationships.sort_unstable();
        let left: Vec<(u32, Symbol, [u32; 2])> = relationships
            .iter()
            .map(|(slot, _)| {
                let row = self.relationships.known_row(*slot);
                (*slot, row.type_name(), row.ends())
            })
            .collect();
        // Order: before their links go, which tell how many children a container has.
        self.leave_places(&left)?;
        let slots: Vec<u32> = entities.iter().map(|(slot, _)| *slot).collect();
        self.leave_links_with(&slots, &left);
        let values: Vec<Deletion> = deletions
            .iter()
            .map(|(Context { place, stamp, valid_from, .. }, _)| Deletion {
                place: *place,
                stamp: *stamp,
                valid_from: *valid_from,
            })
            .collect();
        self.delete_in(TypeKind::Relationship, &values, &relationships);
        self.delete_in(TypeKind::Entity, &values, &entities);
        Ok(true)
    }

    /// The instances of deletions that can be applied together; `None` if they cannot.
    fn selected(&self, deletions: &[(Context, &InstanceId)]) -> Option<Selected> {
        #[cfg(test)]
        if ONE_BY_ONE.get() {
            return None;
        }
        // These rules ask for each instance before and after the record.
        if self.types.has_constraints {
            return None;
        }
        let met = [SlotSet::new(), SlotSet::new()];
        let mut selected = Selected { entities: Vec::new(), relationships: Vec::new(), met };
        for (index, (context, instance)) in deletions.iter().enumerate() {
            let is_present = context.valid_from == context.stamp.micros;
            if !is_present || context.is_anchored || context.is_amending {
                return None;
            }
            let kind = kind_of(instance);
            let slot = self.table(kind).slot(instance.id())?;
            let (entities, relationships) = (selected.entities.len(), selected.relationships.len());
            match kind {
                TypeKind::Relationship => selected.add_relationship(slot, index)?,
                _ => self.select_entity(&mut selected, slot, index)?,
            }
            let is_fit = |table: &Table, slot: u32| table.row(slot).is_some_and(|row| fits(row, context));
            let all_fit = selected.entities[entities..].iter().all(|(slot, _)| is_fit(&self.entities, *slot))
                && selected.relationships[relationships..]
                    .iter()
                    .all(|(slot, _)| is_fit(&self.relationships, *slot));
            if !all_fit {
                return None;
            }
        }
        let count = selected.entities.len() + selected.relationships.len();
        (count >= TOGETHER_MIN).then_some(selected)
    }

    /// Adds an entity with its relationships, and everything that it contains with theirs, as far as no earlier deletion
    /// took them. `None` if one took the entity itself.
    fn select_entity(&self, selected: &mut Selected, slot: u32, index: usize) -> Option<()> {
        let mut next = selected.entities.len();
        selected.add_entity(slot, index)?;
        while let Some((slot, _)) = selected.entities.get(next).copied() {
            next += 1;
            for direction in BOTH {
                for link in self.neighbors(slot, direction).iter(None) {
                    let is_new = selected.add_relationship(link.relationship, index).is_some();
                    let contains =
                        direction == Direction::Out && self.types.containments.contains(&link.type_name);
                    if is_new && contains {
                        selected.add_entity(link.other, index)?;
                    }
                }
            }
        }
        Some(())
    }

    /// Removes children from their places, by the relationships that contained them.
    pub(super) fn leave_places(&mut self, left: &[(u32, Symbol, [u32; 2])]) -> Result<()> {
        let contained = left.iter().filter(|(_, type_name, _)| self.types.containments.contains(type_name));
        let mut contained: Vec<(u32, u32)> =
            contained.map(|(slot, _, [parent, _])| (*parent, *slot)).collect();
        contained.sort_unstable();
        for of_one in contained.chunk_by(|(parent, _), (next, _)| parent == next) {
            let parent = of_one[0].0;
            let count = self.children_count(parent);
            if of_one.len() * SEARCHED_FACTOR >= count {
                let leaves =
                    |slot: u32| of_one.len() == count || of_one.binary_search(&(parent, slot)).is_ok();
                self.relationships.lists.children.leave_together(parent, leaves);
                continue;
            }
            for (_, slot) in of_one {
                let relationship = self.relationships.known(*slot)?;
                if let Some(child) = self.child_of(&relationship, None)? {
                    self.relationships.lists.children.leave(*slot, &child);
                }
            }
        }
        Ok(())
    }

    fn delete_in(&mut self, kind: TypeKind, values: &[Deletion], slots: &[(u32, usize)]) {
        if slots.is_empty() {
            return;
        }
        let types = Arc::clone(&self.types);
        let table = self.table_mut(kind);
        for (type_name, slots) in table.of_types(slots.iter().map(|(slot, _)| *slot)) {
            table.lists.by_type.delete(type_name, &slots);
        }
        table.delete(values, slots);
        let slots = slots.iter().map(|(slot, _)| *slot).collect();
        let instances = Box::new(DeletedInstances { kind, table: table.instances(), types });
        table.tell_together(slots, instances, Told::Deleted);
    }
}

impl Selected {
    /// `None` if it is there already.
    fn add_entity(&mut self, slot: u32, index: usize) -> Option<()> {
        let is_new = self.met[0].insert(slot);
        is_new.then(|| self.entities.push((slot, index)))
    }

    /// The same for a relationship.
    fn add_relationship(&mut self, slot: u32, index: usize) -> Option<()> {
        let is_new = self.met[1].insert(slot);
        is_new.then(|| self.relationships.push((slot, index)))
    }
}

/// True if a deletion says everything about the deleted version of an instance, whose lists are those of all.
fn fits(row: Row<'_>, context: &Context) -> bool {
    row.is_live()
        && row.header() == PLAIN
        && row.valid_from() <= context.valid_from
        && !row.is_classified()
        && !row.has_spilled()
}

/// Instances that were deleted together, in their table after that.
struct DeletedInstances {
    kind: TypeKind,
    table: Table,
    types: Arc<Types>,
}

impl Instances for DeletedInstances {
    fn event(&self, slot: u32) -> Option<Event> {
        // Nothing is read that could fail: none of them has spilled values.
        let [before, after] = self.table.around_deletion(slot).ok()??;
        let known = |instance: Arc<Instance>| {
            let names = instance.properties.iter().map(|(name, _)| name);
            let unindexed = self.types.unindexed_among(self.kind, instance.type_name, names);
            Known { instance, is_proxy: false, home: None, unindexed, child: None }
        };
        Some(Event::Put(Put { slot, before: Some(known(before)), after: known(after), changes: Vec::new() }))
    }
}

#[cfg(test)]
mod tests;
