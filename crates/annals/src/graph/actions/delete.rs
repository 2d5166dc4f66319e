//! Delete: deletes an entity with its live relationships, and a container with everything it contains.

use std::sync::Arc;

use super::act::{Act, Codes, Touches};
use super::along::Along;
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use super::lifecycle::check_not_before;
use crate::Result;
use crate::graph::instance::unpacked::Instance;
use crate::graph::put::Later;
use crate::graph::structures::symbols::Symbol;
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
        let along = graph.deleted_along(slot);
        graph.delete_all(context, slot, along)
    }
}

/// Instances that are deleted together.
#[derive(Default)]
struct Deletion {
    entities: Vec<Later>,
    relationships: Vec<Later>,
}

impl Graph {
    /// Deletes an entity with its relationships, but not its content.
    pub(super) fn delete_entity(&mut self, context: Context, slot: u32) -> Result<()> {
        let relationships = self.live_relationships(slot);
        self.delete_all(context, slot, Along { entities: Vec::new(), relationships })
    }

    pub(super) fn delete_relationship(&mut self, context: Context, slot: u32) -> Result<()> {
        let found = self.deletable(TypeKind::Relationship, context, slot)?;
        let relationships = vec![self.deleted(context, slot, found)];
        self.delete(Deletion { relationships, ..Deletion::default() })
    }

    /// Deletes an entity and the instances that go with it.
    fn delete_all(&mut self, context: Context, slot: u32, along: Along) -> Result<()> {
        let mut deletion = Deletion::default();
        for slot in std::iter::once(slot).chain(along.entities) {
            let entity = self.deletable(TypeKind::Entity, context, slot)?;
            if context.valid_from < context.stamp.micros {
                // A relationship that was deleted as of a later time is still visible before that time.
                for relationship in self.past_relationships(slot) {
                    check_not_before(context, &*self.relationships.known(relationship)?)?;
                }
            }
            deletion.entities.push(self.deleted(context, slot, entity));
        }
        for slot in along.relationships {
            let relationship = self.deletable(TypeKind::Relationship, context, slot)?;
            deletion.relationships.push(self.deleted(context, slot, relationship));
        }
        self.delete(deletion)
    }

    fn deletable(&self, kind: TypeKind, context: Context, slot: u32) -> Result<Arc<Instance>> {
        let found = self.table(kind).known(slot)?;
        check_not_before(context, &found)?;
        Ok(found)
    }

    fn deleted(&mut self, context: Context, slot: u32, before: Arc<Instance>) -> Later {
        let after = Instance { status: Status::Deleted, ..self.next_version_here(&before, context) };
        Later { slot, before, after: Arc::new(after) }
    }

    /// Deletes all, changing each list once.
    fn delete(&mut self, deletion: Deletion) -> Result<()> {
        let Deletion { mut entities, mut relationships } = deletion;
        entities.sort_unstable_by_key(|entity| entity.slot);
        relationships.sort_unstable_by_key(|relationship| relationship.slot);
        let left: Vec<(u32, Symbol, [u32; 2])> =
            relationships.iter().map(|left| (left.slot, left.before.type_name, left.before.ends)).collect();
        let slots: Vec<u32> = entities.iter().map(|entity| entity.slot).collect();
        self.leave_links_with(&slots, &left);
        self.put_sorted(TypeKind::Relationship, &relationships)?;
        self.put_sorted(TypeKind::Entity, &entities)
    }
}
