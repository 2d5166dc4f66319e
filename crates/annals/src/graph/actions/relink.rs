//! Moves the start, the end, or both, of a relationship to other entities.

use super::act::{Act, Codes, Touches, VersionStep};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use crate::graph::Graph;
use crate::graph::instance::headers::RowHeader;
use crate::model::{Id, InstanceId, TypeKind};
use crate::{Error, ErrorKind, Result};

/// Moves the start, the end, or both, of a relationship to other entities.
#[derive(Clone, Debug, PartialEq)]
pub struct Relink {
    /// The relationship.
    pub id: Id,
    /// Its new start, if that changes.
    pub from: Option<Id>,
    /// Its new end, if that changes.
    pub to: Option<Id>,
}

impl Act for Relink {
    const NAME: &'static str = "relink";
    const CODES: Codes = Codes::Relationship(27);
    const FIELDS: &'static [Field] =
        &[Field::required(Key::Id, "id"), Field::optional(Key::From, "from"), Field::optional(Key::To, "to")];
    const TOUCHES: Touches = Touches::Shape;
    const CAN_BE_TAKEN_BACK: bool = true;
    const IS_ANCHORED: bool = true;
    const MAY_CHANGE_NOTHING: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef { from: self.from.as_ref(), to: self.to.as_ref(), ..BagRef::of_relationship(&self.id) }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(Relink { id: bag.id?, from: bag.from, to: bag.to })
    }

    fn is_unchanged(&self, graph: &Graph) -> Result<bool> {
        let known = graph.own(&InstanceId::Relationship(self.id.clone()))?;
        let is_same =
            |end: &Option<Id>, slot: u32| end.as_ref().is_none_or(|id| graph.entities.slot(id) == Some(slot));
        let is_asked = self.from.is_some() || self.to.is_some();
        Ok(is_asked && is_same(&self.from, known.ends[0]) && is_same(&self.to, known.ends[1]))
    }

    fn undo(step: &VersionStep) -> Option<Self> {
        let (was, is) = (step.was.ends, step.is.ends);
        let end = |side: usize| (was[side] != is[side]).then(|| step.graph.entities.id(was[side]).clone());
        (was != is).then(|| Relink { id: step.instance.id().clone(), from: end(0), to: end(1) })
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let Relink { id, from, to } = self;
        let ends = [from.as_ref(), to.as_ref()];
        let instance = InstanceId::Relationship(id.clone());
        let (slot, before) = graph.own_live(context, &instance)?;
        if ends == [None, None] {
            let text = format!("{instance}: expected another start, another end, or both; found neither");
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        let mut after = before.next_version(context);
        for (own, end) in after.ends.iter_mut().zip(ends) {
            if let Some(end) = end {
                *own = graph.live_end(end, context.valid_from)?;
            }
        }
        let known = RowHeader::clone(graph.headers.get(before.header));
        after.header = graph.reshaped(&before, &after, known);
        graph.move_link(slot, &before, &after)?;
        graph.put(TypeKind::Relationship, slot, &before, after, Vec::new())?;
        Ok(())
    }
}
