//! Removes the copy of an instance of the named home, with its history.

use std::sync::Arc;

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use crate::Result;
use crate::graph::{Graph, kind_of};
use crate::model::InstanceId;

/// Removes the copy of an instance of the named home, with its history.
#[derive(Clone, Debug, PartialEq)]
pub struct PurgeCopy {
    /// The instance.
    pub instance: InstanceId,
    /// The home that it must have.
    pub home: Arc<str>,
}

impl Act for PurgeCopy {
    const NAME: &'static str = "purge-copy";
    const CODES: Codes = Codes::Both(31, 32);
    const FIELDS: &'static [Field] = &[Field::required(Key::Id, "id"), Field::required(Key::Text, "home")];
    const TOUCHES: Touches = Touches::Everything;
    const IS_LOGGED: bool = false;

    fn bag(&self) -> BagRef<'_> {
        BagRef { text: Some(&self.home), ..BagRef::of(&self.instance) }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(PurgeCopy { instance: bag.instance()?, home: bag.text? })
    }

    fn apply(&self, graph: &mut Graph, _: Context) -> Result<()> {
        let PurgeCopy { instance, home } = self;
        let (slot, found) = graph.known(instance)?;
        graph.check_home(instance, graph.headers.get(found.header).home(), home)?;
        graph.purge_at(kind_of(instance), slot)
    }
}
