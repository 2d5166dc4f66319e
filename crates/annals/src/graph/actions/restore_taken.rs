//! Restores a list of instances, without what they contain: the rest of a restoration after a compaction, or the entities
//! that the lines of an import name, or copies that a take-back restores.

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use crate::graph::{Graph, kind_of};
use crate::model::{InstanceId, TypeKind};
use crate::{Error, ErrorKind, Result};

/// Restores these instances and no others. A compaction writes it for instances that were restored with a container
/// that was purged later, and an import for entities whose contents it does not name.
#[derive(Clone, Debug, PartialEq)]
pub struct RestoreTaken {
    /// The instances. Entities come before relationships.
    pub instances: Vec<InstanceId>,
}

impl Act for RestoreTaken {
    const NAME: &'static str = "restore";
    const CODES: Codes = Codes::Other(37);
    const FIELDS: &'static [Field] = &[Field::required(Key::Instances, "instances")];
    const TOUCHES: Touches = Touches::Everything;
    const CAN_BE_TAKEN_BACK: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef { instances: Some(&self.instances), ..BagRef::default() }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(RestoreTaken { instances: bag.instances? })
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        for instance in &self.instances {
            let (slot, found) = graph.known(instance)?;
            // Copies that were restored with a container are listed, too.
            match kind_of(instance) {
                _ if found.is_live() => {
                    let text = format!("{instance} is not deleted; nothing to restore");
                    return Err(Error::new(ErrorKind::NotDeleted, text));
                }
                TypeKind::Relationship => graph.restore_relationship(context, slot)?,
                TypeKind::Entity | TypeKind::Classification | TypeKind::Enum => {
                    graph.restore_entity(context, slot)?;
                }
            }
        }
        Ok(())
    }
}
