//! Adjacent creations of a record, applied together: all are checked before anything changes, then rows, lists and links
//! are written, each in its own order.

mod checked;

use std::sync::Arc;

use super::apply::Done;
use super::context::Context;
use crate::graph::Graph;
use crate::graph::index::event::{Event, Instances, Known, Put, Together, Told};
use crate::graph::integrity::types::Types;
use crate::graph::structures::symbols::Symbol;
use crate::graph::table::Table;
use crate::model::{Change, TypeKind, Value};
use checked::{Checked, New};

/// Fewer instances are created one by one.
const TOGETHER_MIN: usize = 4;

/// Most instances that are created together: until all are checked, each takes memory.
const TOGETHER_MAX: usize = 1 << 14;

#[cfg(test)]
thread_local! {
    /// True while a test applies creations one by one, on this thread.
    pub(super) static ONE_BY_ONE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

impl Graph {
    /// Applies the first of adjacent creations of a record, as many as can be applied together. `context_of` gives the
    /// context of the change at an index.
    pub(super) fn create_together(
        &mut self,
        creations: &[Change],
        context_of: impl Fn(usize) -> Context,
    ) -> Done {
        let single = |single| Done { together: 0, single };
        // These rules ask for the place of each new child.
        if creations.len() < TOGETHER_MIN || self.types.has_constraints {
            return single(creations.len());
        }
        #[cfg(test)]
        if ONE_BY_ONE.get() {
            return single(creations.len());
        }
        let mut checked = Checked::new(self);
        let first = &creations[..creations.len().min(TOGETHER_MAX)];
        let mut together = 0;
        while let Some(creation) = first.get(together)
            && checked.add(self, context_of(together), &creation.action).is_some()
        {
            together += 1;
        }
        if together < TOGETHER_MIN {
            return single((together + 1).min(creations.len()));
        }
        self.create_checked(checked);
        Done { together, single: usize::from(together < first.len()) }
    }

    fn create_checked(&mut self, mut checked: Checked) {
        let links: Vec<(u32, Symbol, [u32; 2])> = checked.links().collect();
        let new = [std::mem::take(&mut checked.entities), std::mem::take(&mut checked.relationships)];
        for (kind, new) in [TypeKind::Entity, TypeKind::Relationship].into_iter().zip(new) {
            if new.is_empty() {
                continue;
            }
            let types = Arc::clone(&self.types);
            let table = self.table_mut(kind);
            let mut slots = Vec::with_capacity(new.len());
            for new in &new {
                let slot = checked.push_to(table, new);
                table.note_values(slot, checked.properties_of(new));
                checked.types[new.type_index].slots.push(slot);
                slots.push(slot);
            }
            table.enter_ids(new.iter().map(New::id).zip(slots.iter().copied()));
            for of_type in checked.types.iter_mut().filter(|of_type| !of_type.slots.is_empty()) {
                table.lists.by_type.create(of_type.name, &std::mem::take(&mut of_type.slots));
            }
            if kind == TypeKind::Relationship {
                table.lists.children.enter_together(&checked.named, &checked.ordered);
            }
            let instances = Box::new(NewInstances { kind, table: table.instances(), types });
            table.events.push(Told::Created(Arc::new(Together { slots, instances })));
            if kind == TypeKind::Entity {
                new.iter().for_each(|_| self.links.push());
            }
        }
        self.links.insert_together(&links);
    }
}

impl Table {
    /// Notes the values of a new instance in lists.
    fn note_values(&mut self, slot: u32, properties: &[(Symbol, &Value)]) {
        for (name, value) in properties {
            self.lists.sets.note(*name, value);
            if self.lists.unique.has(*name) {
                self.lists.unique.change(slot, *name, value, true);
            }
        }
    }
}

/// Instances that were created together, in their table after that.
struct NewInstances {
    kind: TypeKind,
    table: Table,
    types: Arc<Types>,
}

impl Instances for NewInstances {
    fn event(&self, slot: u32) -> Option<Event> {
        // Nothing is read that could fail: none of them has spilled values.
        let instance = self.table.get(slot).ok()??;
        let names = instance.properties.iter().map(|(name, _)| name);
        let unindexed = self.types.unindexed_among(self.kind, instance.type_name, names);
        let after = Known { instance, is_proxy: false, home: None, unindexed, child: None };
        Some(Event::Put(Put { slot, before: None, after, changes: Vec::new() }))
    }
}

#[cfg(test)]
mod tests;
