//! Shared steps of delete, restore and purge: an entity with its relationships, and a container with everything it
//! contains.

use std::ops::Bound;

use super::along::Along;
use super::context::Context;
use crate::graph::instance::past::ChangePlace;
use crate::graph::instance::unpacked::Instance;
use crate::graph::structures::link::Link;
use crate::graph::structures::symbols::Symbol;
use crate::graph::structures::wide::{LINK_BYTES, link_of_key};
use crate::graph::{Graph, past_link_key, past_link_prefix};
use crate::model::time::display_micros;
use crate::model::{Direction, TypeKind};
use crate::structures::key_set::Key;
use crate::{Error, ErrorKind, Result};

/// After so many keys of other entities, a search leads to those of the next one.
const SKIPPED_MAX: usize = 16;

pub(super) const BOTH: [Direction; 2] = [Direction::Out, Direction::In];

impl Graph {
    /// Slots of the live relationships of an entity, each once.
    pub(crate) fn live_relationships(&self, slot: u32) -> Vec<u32> {
        let mut slots: Vec<u32> = BOTH
            .into_iter()
            .flat_map(|direction| self.neighbors(slot, direction).iter(None))
            .map(|link| link.relationship)
            .collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// Moves the links of a live relationship to the past.
    pub(crate) fn leave_links(&mut self, slot: u32, relationship: &Instance) {
        self.links.remove(slot, relationship.type_name, relationship.ends);
        for (end, direction, link) in links_of(slot, relationship.type_name, relationship.ends) {
            self.past_links.insert(&past_link_key(end, direction, link));
        }
    }

    /// Adds relationships to the lists of their ends again. Shape: slots, types and ends.
    pub(super) fn enter_links_with(&mut self, relationships: &[(u32, Symbol, [u32; 2])]) {
        self.forget_past_links(relationships);
        self.links.insert_together(relationships);
    }

    /// Removes links of relationships from the past. Shape: slots, types and ends.
    pub(super) fn forget_past_links(&mut self, relationships: &[(u32, Symbol, [u32; 2])]) {
        self.past_links.remove_sorted(&past_keys(relationships));
    }

    /// Moves the links of live relationships to the past. They include all relationships of `entities`.
    ///
    /// Shape: slots; of relationships also types and ends. Both ascending by slot.
    pub(super) fn leave_links_with(&mut self, entities: &[u32], relationships: &[(u32, Symbol, [u32; 2])]) {
        self.links.remove_with(entities, relationships.iter().copied());
        self.past_links.insert_sorted(&past_keys(relationships), &mut |_| {});
    }

    /// Adds a relationship to the lists of its ends; it may have been there before.
    pub(crate) fn enter_links(&mut self, slot: u32, relationship: &Instance) {
        for (end, direction, link) in links_of(slot, relationship.type_name, relationship.ends) {
            self.past_links.remove(&past_link_key(end, direction, link));
        }
        self.links.insert(slot, relationship.type_name, relationship.ends);
    }

    /// Slots of the deleted relationships of an entity, each once.
    pub(super) fn past_relationships(&self, slot: u32) -> Vec<u32> {
        let mut slots: Vec<u32> = BOTH
            .into_iter()
            .flat_map(|direction| self.past_links.prefix(&past_link_prefix(slot, direction)))
            .map(|key| link_of_key(key).relationship)
            .collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// The deleted relationships of these entities, in one pass over those of neighbouring slots.
    pub(super) fn past_relationships_of(&self, entities: &[u32]) -> PastRelationships {
        let mut sorted = entities.to_vec();
        sorted.sort_unstable();
        let from = |slot: u32| {
            let first = past_link_prefix(slot, Direction::Out);
            self.past_links.range(Bound::Included(&first[..]), Bound::Unbounded).peekable()
        };
        let (mut found, mut keys) = (Vec::new(), from(sorted.first().copied().unwrap_or(0)));
        for slot in sorted {
            let start_of = |key: &Key<'_>| u32::from_be_bytes(key.bytes_at(0));
            let skipped = (0..SKIPPED_MAX).take_while(|_| keys.next_if(|key| start_of(key) < slot).is_some());
            if skipped.count() == SKIPPED_MAX {
                keys = from(slot);
            }
            while let Some(key) = keys.next_if(|key| start_of(key) == slot) {
                found.push((slot, link_of_key(key).relationship));
            }
        }
        found.sort_unstable();
        found.dedup();
        PastRelationships(found)
    }

    /// Slots of the relationships that were deleted with an entity at `place`.
    pub(crate) fn relationships_deleted_at(&self, slot: u32, place: ChangePlace) -> Vec<u32> {
        let mut slots = self.past_relationships(slot);
        slots.retain(|&relationship| {
            self.relationships.row(relationship).is_some_and(|found| found.place() == place)
        });
        slots
    }

    /// The child of a containing relationship that was deleted with its parent at `place`, unless it is restored or
    /// purged.
    pub(super) fn child_deleted_at(&self, parent: u32, relationship: u32, place: ChangePlace) -> Option<u32> {
        let found = self.relationships.row(relationship)?;
        self.containment(found.type_name())?;
        let [from, child] = found.ends();
        let entity = self.entities.row(child)?;
        (from == parent && !entity.is_live() && entity.place() == place).then_some(child)
    }

    pub(crate) fn purge_at(&mut self, kind: TypeKind, slot: u32) -> Result<()> {
        if kind == TypeKind::Relationship {
            return self.purge_relationship(slot);
        }
        // Order: find everything first, because each removal changes what leads to the rest.
        let along = self.purged_along(slot);
        self.purge_along(Along { entities: [vec![slot], along.entities].concat(), ..along })
    }

    pub(super) fn purge_relationship(&mut self, slot: u32) -> Result<()> {
        let found = self.relationships.known(slot)?;
        if found.is_live() {
            self.links.remove(slot, found.type_name, found.ends);
        }
        for version in found.all_versions() {
            let shape = self.shape_of(&found, version.header);
            for (end, direction, link) in links_of(slot, shape.type_name, shape.ends) {
                self.past_links.remove(&past_link_key(end, direction, link));
            }
        }
        // The position of the graph may still be the one before this record.
        self.purged_relationship_at = self.position.next();
        self.remove(TypeKind::Relationship, slot)
    }
}

/// The deleted relationships of several entities.
pub(super) struct PastRelationships(Vec<(u32, u32)>);

impl PastRelationships {
    /// Those of one of the entities: slots, ascending, each once.
    pub(super) fn of(&self, entity: u32) -> impl Iterator<Item = u32> {
        let from = self.0.partition_point(|(other, _)| *other < entity);
        let of_entity = self.0[from..].iter().take_while(move |(other, _)| *other == entity);
        of_entity.map(|(_, relationship)| *relationship)
    }
}

/// The keys of the past links of relationships, ascending.
fn past_keys(relationships: &[(u32, Symbol, [u32; 2])]) -> Vec<[u8; 5 + LINK_BYTES]> {
    // Keys of one side often come in order, so that there is little to sort.
    let of_side = |side: usize| {
        let links =
            relationships.iter().map(move |(slot, type_name, ends)| links_of(*slot, *type_name, *ends)[side]);
        links.map(|(end, direction, link)| past_link_key(end, direction, link))
    };
    let mut keys: Vec<_> = [0, 1].into_iter().flat_map(of_side).collect();
    keys.sort();
    keys
}

fn links_of(slot: u32, type_name: Symbol, [from, to]: [u32; 2]) -> [(u32, Direction, Link); 2] {
    let link = |other| Link { type_name, relationship: slot, other };
    [(from, Direction::Out, link(to)), (to, Direction::In, link(from))]
}

/// Lifecycle changes are in the order of valid time, so that every relationship has both ends in every view.
pub(crate) fn check_not_before(context: Context, instance: &Instance) -> Result<()> {
    if context.valid_from >= instance.valid_from {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::InvalidArgument,
        format!(
            "{}: expected a change valid from {} or later, because its present version begins there, found {}; use a later \
             instant",
            instance.id,
            display_micros(instance.valid_from),
            display_micros(context.valid_from)
        ),
    ))
}
