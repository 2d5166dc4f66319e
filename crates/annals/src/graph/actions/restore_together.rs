//! The instances that a restoration takes along, restored together: those that one deletion deleted together, with the
//! relationships between them.

use std::sync::Arc;

use super::along::Along;
use super::context::Context;
use crate::graph::Graph;
use crate::graph::index::event::{Event, Instances, Known, Put, Told};
use crate::graph::instance::unpacked::Instance;
use crate::graph::integrity::types::Types;
use crate::graph::structures::slot_set::SlotSet;
use crate::graph::structures::symbols::Symbol;
use crate::graph::table::Table;
use crate::model::{Status, TypeKind};
use crate::{Error, Result};

/// Fewer instances are restored one by one.
const TOGETHER_MIN: usize = 4;

/// Places of children that are made at once.
const PLACES_TOGETHER: usize = 1 << 14;

impl Graph {
    /// Restores most of `along`, the instances that a deletion deleted, and returns the rest, which the caller restores
    /// one by one: its entities, and then its relationships.
    ///
    /// They fit the rules as they did before their deletion, if no type has changed since: no other relationship can
    /// have come to a deleted entity. So only relationships between the restored entities are restored here.
    ///
    /// Errors: those of reading spilled values.
    pub(super) fn restore_together(&mut self, context: Context, along: Along) -> Result<Along> {
        if !self.may_restore_together(context, &along) {
            return Ok(along);
        }
        let (mut entities, single_entities) =
            split(along.entities, |slot| self.is_plain(TypeKind::Entity, slot));
        let mut is_restored = SlotSet::new();
        entities.sort_unstable();
        is_restored.insert_sorted(&entities);
        let (mut relationships, single_relationships) = split(along.relationships, |slot| {
            self.is_plain(TypeKind::Relationship, slot) && {
                let row = self.relationships.known_row(slot);
                row.ends().into_iter().all(|end| is_restored.contains(end))
                    && self.check_end_types(row.type_name(), row.ends()).is_ok()
            }
        });
        relationships.sort_unstable();
        self.restore_in(TypeKind::Entity, context, &entities);
        let links: Vec<(u32, Symbol, [u32; 2])> = relationships
            .iter()
            .map(|slot| {
                let row = self.relationships.known_row(*slot);
                (*slot, row.type_name(), row.ends())
            })
            .collect();
        self.enter_links_with(&links);
        self.restore_in(TypeKind::Relationship, context, &relationships);
        self.enter_places(&links)?;
        Ok(Along { entities: single_entities, relationships: single_relationships })
    }

    fn may_restore_together(&self, context: Context, along: &Along) -> bool {
        #[cfg(test)]
        if super::delete_together::ONE_BY_ONE.get() {
            return false;
        }
        let Some(deleted) = along.entities.first().and_then(|slot| self.entities.row(*slot)) else {
            return false;
        };
        let types_changed =
            self.type_changes.len().checked_sub(1).map_or(0, |last| self.type_changes[last].0);
        along.entities.len() + along.relationships.len() >= TOGETHER_MIN
            && types_changed < deleted.place().position
            // These rules ask for each instance before and after the record.
            && !self.types.has_constraints
            && !context.is_anchored
            && !context.is_amending
    }

    /// True if an instance was deleted together with others: then it has no classifications, no spilled values, and the
    /// state of this repository.
    fn is_plain(&self, kind: TypeKind, slot: u32) -> bool {
        self.table(kind).deletions.get(slot).is_some()
    }

    fn restore_in(&mut self, kind: TypeKind, context: Context, slots: &[u32]) {
        if slots.is_empty() {
            return;
        }
        let types = Arc::clone(&self.types);
        let table = self.table_mut(kind);
        for (type_name, slots) in table.of_types(slots.iter().copied()) {
            table.lists.by_type.restore(type_name, &slots);
        }
        let before = table.instances();
        table.restore(slots, |before| restored(before.next_version(context), context));
        let instances = Box::new(RestoredInstances { kind, before, after: table.instances(), types });
        table.tell_together(slots.to_vec(), instances, Told::Restored);
    }

    /// Adds the children of restored relationships at their places.
    fn enter_places(&mut self, links: &[(u32, Symbol, [u32; 2])]) -> Result<()> {
        let containing = links.iter().filter(|(_, type_name, _)| self.types.containments.contains(type_name));
        let containing: Vec<u32> = containing.map(|(slot, _, _)| *slot).collect();
        for slots in containing.chunks(PLACES_TOGETHER) {
            let place = |slot: &u32| {
                let relationship = self.relationships.known(*slot)?;
                let child = self.child_of(&relationship, None)?;
                Ok::<_, Error>(child.map(|child| (*slot, child)))
            };
            let children =
                slots.iter().filter_map(|slot| place(slot).transpose()).collect::<Result<Vec<_>>>()?;
            self.relationships.lists.children.enter_again(&children);
        }
        Ok(())
    }
}

/// The restored version of an instance.
pub(super) fn restored(next: Instance, context: Context) -> Instance {
    Instance { status: Status::Active, live_from: context.valid_from, ..next }
}

/// Those for which `is_first` is true, and the others.
pub(super) fn split(slots: Vec<u32>, is_first: impl Fn(u32) -> bool) -> (Vec<u32>, Vec<u32>) {
    slots.into_iter().partition(|slot| is_first(*slot))
}

/// Instances that were restored together, in their table before and after that.
struct RestoredInstances {
    kind: TypeKind,
    before: Table,
    after: Table,
    types: Arc<Types>,
}

impl Instances for RestoredInstances {
    fn event(&self, slot: u32) -> Option<Event> {
        // Nothing is read that could fail: none of them has spilled values.
        let known = |table: &Table| {
            let instance = table.get(slot).ok()??;
            let names = instance.properties.iter().map(|(name, _)| name);
            let unindexed = self.types.unindexed_among(self.kind, instance.type_name, names);
            Some(Known { instance, is_proxy: false, home: None, unindexed, child: None })
        };
        let before = Some(known(&self.before)?);
        Some(Event::Put(Put { slot, before, after: known(&self.after)?, changes: Vec::new() }))
    }
}
