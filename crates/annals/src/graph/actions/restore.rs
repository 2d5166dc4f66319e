//! Restores a deleted instance.

use super::act::{Act, Codes, Touches};
use super::along::Along;
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use super::lifecycle::check_not_before;
use super::restore_together::restored;
use crate::graph::instance::unpacked::Instance;
use crate::graph::{Graph, kind_of};
use crate::model::{InstanceId, TypeKind};
use crate::{Error, ErrorKind, Result};

/// Restores a deleted instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Restore {
    /// The instance.
    pub instance: InstanceId,
    /// For an entity, whether the relationships that were deleted with it are restored, if their other ends are live.
    /// Its contained entities are always restored.
    pub with_relationships: bool,
}

impl Act for Restore {
    const NAME: &'static str = "restore";
    const CODES: Codes = Codes::Both(9, 10);
    const FIELDS: &'static [Field] =
        &[Field::required(Key::Id, "id"), Field::required(Key::WithRelationships, "withRelationships")];
    const TOUCHES: Touches = Touches::WithRelationships;
    const CAN_BE_TAKEN_BACK: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef { with_relationships: Some(self.with_relationships), ..BagRef::of(&self.instance) }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(Restore {
            instance: bag.instance()?,
            with_relationships: bag.with_relationships.unwrap_or_default(),
        })
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let Restore { instance, with_relationships } = self;
        let (slot, found) = graph.known(instance)?;
        if found.is_live() {
            return Err(Error::new(
                ErrorKind::NotDeleted,
                format!("{instance} is not deleted; nothing to restore"),
            ));
        }
        graph.check_own(instance, found.header)?;
        check_not_before(context, &found)?;
        if kind_of(instance) == TypeKind::Relationship {
            return graph.restore_relationship(context, slot);
        }
        let along = graph.restored_along(slot, *with_relationships, context.valid_from);
        let all = Along { entities: [vec![slot], along.entities].concat(), ..along };
        let rest = graph.restore_together(context, all)?;
        // Order: entities first, so that each relationship has both ends; containers come before their children.
        for entity in rest.entities {
            graph.restore_entity(context, entity)?;
        }
        rest.relationships.into_iter().try_for_each(|slot| graph.restore_relationship(context, slot))
    }
}

impl Graph {
    pub(super) fn restore_entity(&mut self, context: Context, slot: u32) -> Result<()> {
        let found = self.entities.known(slot)?;
        check_not_before(context, &found)?;
        let restored = self.restored(&found, context);
        self.check_instance(TypeKind::Entity, &restored, Some(slot))?;
        // Types may have been declared or extended while it was deleted.
        self.check_content(TypeKind::Entity, &restored)?;
        self.put(TypeKind::Entity, slot, &found, restored, Vec::new())
    }

    pub(super) fn restore_relationship(&mut self, context: Context, slot: u32) -> Result<()> {
        let found = self.relationships.known(slot)?;
        for end in found.ends {
            self.live_end(self.entities.id(end), context.valid_from)?;
        }
        self.check_ends(found.type_name, found.ends)?;
        let restored = self.restored(&found, context);
        self.check_instance(TypeKind::Relationship, &restored, Some(slot))?;
        self.enter_links(slot, &found);
        self.put(TypeKind::Relationship, slot, &found, restored, Vec::new())?;
        // As-of reads of the time in which it was deleted still need the link: they find the present one.
        Ok(())
    }

    fn restored(&mut self, before: &Instance, context: Context) -> Instance {
        restored(self.next_version_here(before, context), context)
    }
}
