//! The rest of a deletion after a compaction: the deleted children that outlived their purged container.

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use crate::Result;
use crate::graph::{Graph, kind_of};
use crate::model::{InstanceId, TypeKind};

/// Deletes instances that were deleted with a container that was purged later. Only a compaction writes it.
#[derive(Clone, Debug, PartialEq)]
pub struct DeleteTaken {
    /// The instances. Relationships come before entities.
    pub instances: Vec<InstanceId>,
}

impl Act for DeleteTaken {
    const NAME: &'static str = "delete";
    const CODES: Codes = Codes::Other(36);
    const FIELDS: &'static [Field] = &[Field::required(Key::Instances, "instances")];
    const TOUCHES: Touches = Touches::Everything;
    const CAN_BE_TAKEN_BACK: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef { instances: Some(&self.instances), ..BagRef::default() }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(DeleteTaken { instances: bag.instances? })
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        for instance in &self.instances {
            let (slot, found) = graph.known(instance)?;
            // Copies that were deleted with a container are listed, too.
            match kind_of(instance) {
                // It was deleted with the entity before it.
                _ if !found.is_live() => {}
                TypeKind::Relationship => graph.delete_relationship(context, slot)?,
                TypeKind::Entity | TypeKind::Classification | TypeKind::Enum => {
                    graph.delete_entity(context, slot)?;
                }
            }
        }
        Ok(())
    }
}
