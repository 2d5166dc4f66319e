//! Delete, restore, purge. An entity takes its relationships along.

use super::context::Context;
use crate::graph::instance::past::Place;
use crate::graph::instance::unpacked::Instance;
use crate::graph::structures::link::Link;
use crate::graph::structures::wide::link_of_key;
use crate::graph::{Graph, kind_of, past_link_key, past_link_prefix};
use crate::model::time::display_micros;
use crate::model::{Direction, InstanceId, Status, TypeKind};
use crate::{Error, ErrorKind, Result};

const BOTH: [Direction; 2] = [Direction::Out, Direction::In];

impl Graph {
    pub(crate) fn delete(&mut self, context: Context, instance: &InstanceId) -> Result<()> {
        let (slot, found) = self.live(instance)?;
        self.check_own(instance, found.header)?;
        check_not_before(context, &found)?;
        if kind_of(instance) == TypeKind::Relationship {
            return self.delete_relationship(context, slot);
        }
        let relationships = self.live_relationships(slot);
        for &relationship in &relationships {
            check_not_before(context, &self.relationships.get(relationship)?.expect("it is linked"))?;
        }
        if context.valid_from < context.stamp.micros {
            // A relationship that was deleted from a later time on is still seen before that time.
            for relationship in self.past_relationships(slot) {
                check_not_before(context, &self.relationships.get(relationship)?.expect("it is linked"))?;
            }
        }
        for relationship in relationships {
            self.delete_relationship(context, relationship)?;
        }
        self.leave_indexes(TypeKind::Entity, slot, &found);
        let deleted = self.deleted(&found, context);
        self.entities.replace(slot, &deleted);
        Ok(())
    }

    /// Slots of the live relationships of an entity, each once.
    fn live_relationships(&self, slot: u32) -> Vec<u32> {
        let mut slots: Vec<u32> = BOTH
            .into_iter()
            .flat_map(|direction| self.neighbors(slot, direction).iter(None))
            .map(|link| link.relationship)
            .collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    fn delete_relationship(&mut self, context: Context, slot: u32) -> Result<()> {
        let found = self.relationships.get(slot)?.expect("it is linked");
        self.leave_links(slot, &found);
        self.leave_indexes(TypeKind::Relationship, slot, &found);
        let deleted = self.deleted(&found, context);
        self.relationships.replace(slot, &deleted);
        Ok(())
    }

    /// Moves the links of a live relationship to the past.
    pub(crate) fn leave_links(&mut self, slot: u32, relationship: &Instance) {
        self.links.remove(slot, relationship.type_name, relationship.ends);
        for (end, direction, link) in links_of(slot, relationship) {
            self.past_links.insert(&past_link_key(end, direction, link));
        }
    }

    /// Lists a relationship at its ends; it may have been there before.
    pub(crate) fn enter_links(&mut self, slot: u32, relationship: &Instance) {
        for (end, direction, link) in links_of(slot, relationship) {
            self.past_links.remove(&past_link_key(end, direction, link));
        }
        self.links.insert(slot, relationship.type_name, relationship.ends);
    }

    pub(crate) fn restore(
        &mut self,
        context: Context,
        instance: &InstanceId,
        with_relationships: bool,
    ) -> Result<()> {
        let (slot, found) = self.known(instance)?;
        if found.is_live() {
            return Err(Error::new(
                ErrorKind::NotDeleted,
                format!("{instance} is not deleted; nothing to restore"),
            ));
        }
        self.check_own(instance, found.header)?;
        check_not_before(context, &found)?;
        if kind_of(instance) == TypeKind::Relationship {
            return self.restore_relationship(context, slot);
        }
        let restored = self.restored(&found, context);
        self.check_instance(TypeKind::Entity, &restored, Some(slot))?;
        // Types may have been declared or extended while it was deleted.
        self.check_content(TypeKind::Entity, &restored)?;
        self.entities.replace(slot, &restored);
        self.enter_indexes(TypeKind::Entity, slot, &restored);
        if with_relationships {
            for relationship in self.relationships_deleted_at(slot, found.place) {
                let ends = self.relationships.row(relationship).expect("it is in the past links").ends();
                let is_possible = ends.iter().all(|&end| {
                    self.entities
                        .row(end)
                        .is_some_and(|entity| entity.is_live() && entity.live_from() <= context.valid_from)
                });
                if is_possible {
                    self.restore_relationship(context, relationship)?;
                }
            }
        }
        Ok(())
    }

    /// Slots of the relationships of an entity that went with it when it was deleted at `place`.
    fn relationships_deleted_at(&self, slot: u32, place: Place) -> Vec<u32> {
        let mut slots = self.past_relationships(slot);
        slots.retain(|&relationship| {
            self.relationships.row(relationship).is_some_and(|found| found.place() == place)
        });
        slots
    }

    /// Slots of the deleted relationships of an entity, each once.
    fn past_relationships(&self, slot: u32) -> Vec<u32> {
        let mut slots: Vec<u32> = BOTH
            .into_iter()
            .flat_map(|direction| self.past_links.prefix(&past_link_prefix(slot, direction)))
            .map(|key| link_of_key(key).relationship)
            .collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    fn restore_relationship(&mut self, context: Context, slot: u32) -> Result<()> {
        let found = self.relationships.get(slot)?.expect("it was found");
        for end in found.ends {
            self.live_end(self.entities.id(end), context.valid_from)?;
        }
        self.check_ends(found.type_name, found.ends)?;
        let restored = self.restored(&found, context);
        self.check_instance(TypeKind::Relationship, &restored, Some(slot))?;
        self.enter_links(slot, &found);
        self.relationships.replace(slot, &restored);
        self.enter_indexes(TypeKind::Relationship, slot, &restored);
        // As-of reads of the time in which it was deleted still need to find the link: the current one serves.
        Ok(())
    }

    pub(crate) fn purge(&mut self, instance: &InstanceId) -> Result<()> {
        let (slot, found) = self.known(instance)?;
        self.check_own(instance, found.header)?;
        self.purge_at(kind_of(instance), slot)
    }

    pub(crate) fn purge_at(&mut self, kind: TypeKind, slot: u32) -> Result<()> {
        if kind == TypeKind::Relationship {
            return self.purge_relationship(slot);
        }
        for relationship in self.live_relationships(slot) {
            self.purge_relationship(relationship)?;
        }
        for relationship in self.past_relationships(slot) {
            self.purge_relationship(relationship)?;
        }
        self.forget(TypeKind::Entity, slot)
    }

    fn purge_relationship(&mut self, slot: u32) -> Result<()> {
        let found = self.relationships.get(slot)?.expect("it was found");
        self.links.remove(slot, found.type_name, found.ends);
        for (end, direction, link) in links_of(slot, &found) {
            self.past_links.remove(&past_link_key(end, direction, link));
        }
        self.forget(TypeKind::Relationship, slot)
    }

    /// Takes an instance out of every index, of the present and of the past, and frees its slot for good.
    fn forget(&mut self, kind: TypeKind, slot: u32) -> Result<()> {
        let instance = self.table(kind).get(slot)?.expect("it was found");
        if let Some(purged) = &mut self.purged {
            purged.extend(instance.all_versions().into_iter().map(|version| (version.place, kind)));
        }
        if instance.is_live() {
            self.leave_indexes(kind, slot, &instance);
        }
        let table = self.table_mut(kind);
        table.forget_extent(instance.type_name, slot);
        table.forget_past_values(slot);
        table.forget_past_classified(slot);
        self.forget_headers(kind, slot, &instance);
        self.table_mut(kind).remove(slot);
        Ok(())
    }

    fn deleted(&mut self, before: &Instance, context: Context) -> Instance {
        Instance { status: Status::Deleted, ..self.next_version_here(before, context) }
    }

    fn restored(&mut self, before: &Instance, context: Context) -> Instance {
        let live_from = context.valid_from;
        Instance { status: Status::Active, live_from, ..self.next_version_here(before, context) }
    }
}

fn links_of(slot: u32, relationship: &Instance) -> [(u32, Direction, Link); 2] {
    let [from, to] = relationship.ends;
    let link = |other| Link { type_name: relationship.type_name, relationship: slot, other };
    [(from, Direction::Out, link(to)), (to, Direction::In, link(from))]
}

/// Lifecycle changes follow each other in valid time, so that no relationship ever lacks an end in any view.
pub(crate) fn check_not_before(context: Context, instance: &Instance) -> Result<()> {
    if context.valid_from >= instance.valid_from {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::InvalidArgument,
        format!(
            "valid from {}: {} has a version valid from {}; delete or restore from then on, or later",
            display_micros(context.valid_from),
            instance.id,
            display_micros(instance.valid_from)
        ),
    ))
}
