//! Removes an instance with its history; an entity with all its relationships.

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use crate::Result;
use crate::graph::{Graph, kind_of};
use crate::model::InstanceId;

/// Removes an instance with its history; an entity with all its relationships.
#[derive(Clone, Debug, PartialEq)]
pub struct Purge {
    /// The instance.
    pub instance: InstanceId,
}

impl Act for Purge {
    const NAME: &'static str = "purge";
    const CODES: Codes = Codes::Both(11, 12);
    const FIELDS: &'static [Field] = &[Field::required(Key::Id, "id")];
    const TOUCHES: Touches = Touches::WithRelationships;
    const IS_LOGGED: bool = false;

    fn bag(&self) -> BagRef<'_> {
        BagRef::of(&self.instance)
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(Purge { instance: bag.instance()? })
    }

    fn apply(&self, graph: &mut Graph, _: Context) -> Result<()> {
        let Purge { instance } = self;
        let (slot, found) = graph.known(instance)?;
        graph.check_own(instance, found.header)?;
        graph.purge_at(kind_of(instance), slot)
    }
}
