//! Delete: an entity takes its live relationships along, and a container all that it contains.

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use super::lifecycle::check_not_before;
use crate::Result;
use crate::graph::instance::unpacked::Instance;
use crate::graph::{Graph, kind_of};
use crate::model::{InstanceId, Status, TypeKind};

/// Sets the status to deleted; an entity takes its live relationships along, and all that it contains.
#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    /// Which instance.
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
        let mut entities = vec![slot];
        while let Some(slot) = entities.pop() {
            entities.extend(graph.child_links(slot).map(|link| link.other));
            graph.delete_entity(context, slot)?;
        }
        Ok(())
    }
}

impl Graph {
    pub(super) fn delete_entity(&mut self, context: Context, slot: u32) -> Result<()> {
        let found = self.entities.get(slot)?.expect("it was found");
        check_not_before(context, &found)?;
        if context.valid_from < context.stamp.micros {
            // A relationship that was deleted from a later time on is still seen before that time.
            for relationship in self.past_relationships(slot) {
                check_not_before(context, &self.relationships.get(relationship)?.expect("it is linked"))?;
            }
        }
        for relationship in self.live_relationships(slot) {
            self.delete_relationship(context, relationship)?;
        }
        let deleted = self.deleted(&found, context);
        self.put(TypeKind::Entity, slot, &found, deleted, Vec::new())
    }

    pub(super) fn delete_relationship(&mut self, context: Context, slot: u32) -> Result<()> {
        let found = self.relationships.get(slot)?.expect("it is linked");
        check_not_before(context, &found)?;
        self.leave_links(slot, &found);
        let deleted = self.deleted(&found, context);
        self.put(TypeKind::Relationship, slot, &found, deleted, Vec::new())
    }

    fn deleted(&mut self, before: &Instance, context: Context) -> Instance {
        Instance { status: Status::Deleted, ..self.next_version_here(before, context) }
    }
}
