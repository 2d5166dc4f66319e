//! Delete: deletes an entity with its live relationships, and a container with everything it contains.

use std::sync::Arc;

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use super::lifecycle::check_not_before;
use crate::Result;
use crate::graph::instance::unpacked::Instance;
use crate::graph::put::Later;
use crate::graph::structures::slot_set::SlotSet;
use crate::graph::{Graph, kind_of};
use crate::model::{InstanceId, Status, TypeKind};

/// Sets the status to deleted, for an entity also of its live relationships and of everything it contains.
#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    /// The instance.
    pub instance: InstanceId,
}

impl Act for Delete {
    const NAME: &'static str = "delete";
    const CODES: Codes = Codes::Both(7, 8);
    const FIELDS: &'static [Field] = &[Field::required(Key::Id, "id")];
    const TOUCHES: Touches = Touches::WithRelationships;
    const CAN_BE_TAKEN_BACK: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef::of(&self.instance)
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(Delete { instance: bag.instance()? })
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let Delete { instance } = self;
        let (slot, found) = graph.live(instance)?;
        graph.check_own(instance, found.header)?;
        check_not_before(context, &found)?;
        if kind_of(instance) == TypeKind::Relationship {
            return graph.delete_relationship(context, slot);
        }
        graph.delete_contained(context, slot)
    }
}

/// Instances that are deleted together.
#[derive(Default)]
struct Deletion {
    entities: Vec<Later>,
    relationships: Vec<Later>,
    /// Slots of those relationships; either end may have added one.
    met: SlotSet,
}

impl Graph {
    /// Deletes an entity with everything it contains, and all their relationships.
    fn delete_contained(&mut self, context: Context, slot: u32) -> Result<()> {
        let mut deletion = Deletion::default();
        let mut entities = vec![slot];
        while let Some(slot) = entities.pop() {
            entities.extend(self.child_links(slot).map(|link| link.other));
            self.take_along(context, slot, &mut deletion)?;
        }
        self.delete(deletion)
    }

    /// Deletes an entity with its relationships.
    pub(super) fn delete_entity(&mut self, context: Context, slot: u32) -> Result<()> {
        let mut deletion = Deletion::default();
        self.take_along(context, slot, &mut deletion)?;
        self.delete(deletion)
    }

    pub(super) fn delete_relationship(&mut self, context: Context, slot: u32) -> Result<()> {
        let found = self.deletable(TypeKind::Relationship, context, slot)?;
        let relationships = vec![self.deleted(context, slot, found)];
        self.delete(Deletion { relationships, ..Deletion::default() })
    }

    /// Adds an entity and its relationships to a deletion.
    fn take_along(&mut self, context: Context, slot: u32, deletion: &mut Deletion) -> Result<()> {
        let entity = self.deletable(TypeKind::Entity, context, slot)?;
        if context.valid_from < context.stamp.micros {
            // A relationship that was deleted as of a later time is still visible before that time.
            for relationship in self.past_relationships(slot) {
                check_not_before(context, &self.relationships.get(relationship)?.expect("it is linked"))?;
            }
        }
        for slot in self.live_relationships(slot) {
            if deletion.met.insert(slot) {
                let relationship = self.deletable(TypeKind::Relationship, context, slot)?;
                deletion.relationships.push(self.deleted(context, slot, relationship));
            }
        }
        deletion.entities.push(self.deleted(context, slot, entity));
        Ok(())
    }

    fn deletable(&self, kind: TypeKind, context: Context, slot: u32) -> Result<Arc<Instance>> {
        let found = self.table(kind).get(slot)?.expect("it was found, or is linked");
        check_not_before(context, &found)?;
        Ok(found)
    }

    fn deleted(&mut self, context: Context, slot: u32, before: Arc<Instance>) -> Later {
        let after = Instance { status: Status::Deleted, ..self.next_version_here(&before, context) };
        Later { slot, before, after: Arc::new(after) }
    }

    /// Deletes all, changing each list once.
    fn delete(&mut self, deletion: Deletion) -> Result<()> {
        let Deletion { mut entities, mut relationships, .. } = deletion;
        entities.sort_unstable_by_key(|entity| entity.slot);
        relationships.sort_unstable_by_key(|relationship| relationship.slot);
        self.leave_links_with(&entities, &relationships);
        self.put_sorted(TypeKind::Relationship, &relationships)?;
        self.put_sorted(TypeKind::Entity, &entities)
    }
}
