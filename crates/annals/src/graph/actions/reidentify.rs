//! Changes the id of an instance; its history continues.

use super::act::{Act, Codes, Touches, VersionStep};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use crate::Result;
use crate::graph::instance::headers::RowHeader;
use crate::graph::instance::unpacked::Instance;
use crate::graph::{Graph, kind_of};
use crate::model::{Id, InstanceId};

/// Changes the id of an instance; its history continues.
#[derive(Clone, Debug, PartialEq)]
pub struct Reidentify {
    /// The instance.
    pub instance: InstanceId,
    /// Its new id.
    pub id: Id,
}

impl Act for Reidentify {
    const NAME: &'static str = "reidentify";
    const CODES: Codes = Codes::Both(23, 24);
    const FIELDS: &'static [Field] = &[Field::required(Key::Id, "id"), Field::required(Key::NewId, "newId")];
    const TOUCHES: Touches = Touches::Everything;

    fn bag(&self) -> BagRef<'_> {
        BagRef { new_id: Some(&self.id), ..BagRef::of(&self.instance) }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(Reidentify { instance: bag.instance()?, id: bag.new_id? })
    }

    fn new_id(&self) -> Option<&Id> {
        Some(&self.id)
    }

    fn undo(step: &VersionStep) -> Option<Self> {
        let id = || step.was.id.clone();
        (step.was.id != step.is.id).then(|| Reidentify { instance: step.instance.clone(), id: id() })
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let Reidentify { instance, id } = self;
        let kind = kind_of(instance);
        let (slot, before) = graph.own_live(context, instance)?;
        // An instance may get one of its own former ids back.
        if graph.table(kind).former_ids.slot(id) != Some(slot) {
            graph.check_new(kind, id)?;
        }
        let mut after = Instance { id: id.clone(), ..before.next_version(context) };
        let known = RowHeader::clone(graph.headers.get(before.header));
        let reidentified_from = Some(before.id.clone());
        after.header = graph.reshaped(&before, &after, RowHeader { reidentified_from, ..known });
        // Relationships refer to slots, so they need no change.
        graph.table_mut(kind).set_id(slot, id);
        graph.put(kind, slot, &before, after, Vec::new())?;
        Ok(())
    }
}
