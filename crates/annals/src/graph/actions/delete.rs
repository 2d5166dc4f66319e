//! Delete: an entity takes its live relationships along.

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use super::lifecycle::check_not_before;
use crate::Result;
use crate::graph::instance::unpacked::Instance;
use crate::graph::{Graph, kind_of};
use crate::model::{InstanceId, Status, TypeKind};

/// Sets the status to deleted; an entity takes its live relationships along.
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
        let relationships = graph.live_relationships(slot);
        for &relationship in &relationships {
            check_not_before(context, &graph.relationships.get(relationship)?.expect("it is linked"))?;
        }
        if context.valid_from < context.stamp.micros {
            // A relationship that was deleted from a later time on is still seen before that time.
            for relationship in graph.past_relationships(slot) {
                check_not_before(context, &graph.relationships.get(relationship)?.expect("it is linked"))?;
            }
        }
        for relationship in relationships {
            graph.delete_relationship(context, relationship)?;
        }
        let deleted = graph.deleted(&found, context);
        graph.put(TypeKind::Entity, slot, &found, deleted, Vec::new());
        Ok(())
    }
}

impl Graph {
    fn delete_relationship(&mut self, context: Context, slot: u32) -> Result<()> {
        let found = self.relationships.get(slot)?.expect("it is linked");
        self.leave_links(slot, &found);
        let deleted = self.deleted(&found, context);
        self.put(TypeKind::Relationship, slot, &found, deleted, Vec::new());
        Ok(())
    }

    fn deleted(&mut self, before: &Instance, context: Context) -> Instance {
        Instance { status: Status::Deleted, ..self.next_version_here(before, context) }
    }
}
