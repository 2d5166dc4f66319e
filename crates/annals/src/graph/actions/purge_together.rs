//! The instances that a purge takes along, removed together.

use std::sync::Arc;

use super::along::Along;
use super::restore_together::split;
use crate::Result;
use crate::graph::Graph;
use crate::graph::index::event::{Event, Instances, Known, Purge, Told};
use crate::graph::instance::headers::PLAIN;
use crate::graph::integrity::types::Types;
use crate::graph::structures::symbols::Symbol;
use crate::graph::table::Table;
use crate::model::TypeKind;

/// Fewer instances are purged one by one.
const TOGETHER_MIN: usize = 4;

impl Graph {
    /// Purges entities and relationships, among them all relationships that these entities have or ever had.
    ///
    /// Errors: those of reading spilled values.
    pub(super) fn purge_along(&mut self, along: Along) -> Result<()> {
        let is_one_by_one = !self.may_purge_together(&along);
        let is_together =
            |kind| move |graph: &Graph, slot| !is_one_by_one && graph.is_fit_to_purge(kind, slot);
        let (mut relationships, single) =
            split(along.relationships, |slot| is_together(TypeKind::Relationship)(self, slot));
        // Order: relationships first, because they need their ends.
        single.into_iter().try_for_each(|slot| self.purge_relationship(slot))?;
        let (mut entities, single) = split(along.entities, |slot| is_together(TypeKind::Entity)(self, slot));
        relationships.sort_unstable();
        entities.sort_unstable();
        self.purge_links_of(&entities, &relationships)?;
        self.purge_in(TypeKind::Relationship, &relationships);
        self.purge_in(TypeKind::Entity, &entities);
        single.into_iter().try_for_each(|slot| self.remove(TypeKind::Entity, slot))
    }

    fn may_purge_together(&self, along: &Along) -> bool {
        #[cfg(test)]
        if super::delete_together::ONE_BY_ONE.get() {
            return false;
        }
        along.entities.len() + along.relationships.len() >= TOGETHER_MIN
            // These rules ask for each instance before and after the record.
            && !self.types.has_constraints
            // A compaction asks for each version.
            && self.purged.is_none()
    }

    /// True if an instance has always had one id, one type and one collection, and the lists of all have it.
    fn is_fit_to_purge(&self, kind: TypeKind, slot: u32) -> bool {
        let table = self.table(kind);
        let row = table.known_row(slot);
        let was_plain = || {
            let past = table.past(slot);
            past.iter().flat_map(|past| past.iter()).all(|version| version.header == PLAIN)
        };
        row.header() == PLAIN
            && !row.is_classified()
            && !row.has_spilled()
            && !table.lists.classified.was_classified(slot)
            && (self.headers.len() == 1 || was_plain())
    }

    /// Removes the places of children, and all links.
    fn purge_links_of(&mut self, entities: &[u32], relationships: &[u32]) -> Result<()> {
        if relationships.is_empty() {
            return Ok(());
        }
        let links = |is_wanted: &dyn Fn(bool) -> bool| -> Vec<(u32, Symbol, [u32; 2])> {
            let rows = relationships.iter().map(|slot| (*slot, self.relationships.known_row(*slot)));
            let wanted = rows.filter(|(_, row)| is_wanted(row.is_live()));
            wanted.map(|(slot, row)| (slot, row.type_name(), row.ends())).collect()
        };
        let (live, all) = (links(&|is_live| is_live), links(&|_| true));
        // Order: before their links go, which tell how many children a container has.
        self.leave_places(&live)?;
        self.links.remove_with(entities, live.iter().copied());
        self.forget_past_links(&all);
        self.purged_relationship_at = self.position.next();
        Ok(())
    }

    fn purge_in(&mut self, kind: TypeKind, slots: &[u32]) {
        if slots.is_empty() {
            return;
        }
        self.note_purged(kind, slots);
        let types = Arc::clone(&self.types);
        let table = self.table_mut(kind);
        for (type_name, slots) in table.of_types(slots.iter().copied()) {
            table.lists.by_type.purge(type_name, &slots);
        }
        let instances = Box::new(PurgedInstances { kind, before: table.instances(), types });
        table.remove_sorted(slots);
        table.tell_together(slots.to_vec(), instances, Told::Purged);
    }
}

/// Instances that were purged together, in their table before that.
struct PurgedInstances {
    kind: TypeKind,
    before: Table,
    types: Arc<Types>,
}

impl Instances for PurgedInstances {
    fn event(&self, slot: u32) -> Option<Event> {
        // Nothing is read that could fail: none of them has spilled values.
        let instance = self.before.get(slot).ok()??;
        let names = instance.properties.iter().map(|(name, _)| name);
        let unindexed = self.types.unindexed_among(self.kind, instance.type_name, names);
        let types = vec![instance.type_name];
        let last = Known { instance, is_proxy: false, home: None, unindexed, child: None };
        Some(Event::Purge(Purge { slot, last, types, homes: Vec::new() }))
    }
}
