//! Removes a classification from an entity.

use std::sync::Arc;

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key};
use super::content::not_classified;
use super::context::Context;
use super::draft::Draft;
use super::version::Part;
use crate::Result;
use crate::graph::Graph;
use crate::graph::put::Corrected;
use crate::model::{Id, InstanceId, TypeKind};

/// Removes a classification from an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Declassify {
    /// The entity.
    pub entity: Id,
    /// The name of the classification.
    pub name: Arc<str>,
}

impl Act for Declassify {
    const NAME: &'static str = "declassify";
    const CODES: Codes = Codes::Entity(15);
    const FIELDS: &'static [Field] =
        &[Field::required(Key::Id, "id"), Field::required(Key::Name, "classification")];
    const TOUCHES: Touches = Touches::Instance;
    const CAN_BE_TAKEN_BACK: bool = true;
    const IS_ANCHORED: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef { name: Some(&self.name), ..BagRef::of_entity(&self.entity) }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(Declassify { entity: bag.id?, name: bag.name? })
    }

    fn classification(&self) -> Option<&Arc<str>> {
        Some(&self.name)
    }

    fn content(&self, draft: &mut dyn Draft) -> Result<()> {
        draft.declassify(&self.name)
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let Declassify { entity, name } = self;
        let instance = InstanceId::Entity(entity.clone());
        let (slot, before) = graph.live(&instance)?;
        let symbol = graph.symbol("classification", name)?;
        if context.valid_from < before.valid_from {
            let after = graph.corrected(&instance, &before, context, Part::Classifications)?;
            let (written, values, classified) = (context.stamp.micros, Vec::new(), Vec::new());
            graph.correct(TypeKind::Entity, slot, &after, Corrected { written, values, classified });
            return Ok(());
        }
        let known = before.classification(symbol).ok_or_else(|| not_classified(&instance, name))?;
        graph.check_own(format_args!("classification {name} of {instance}"), known.header)?;
        let mut after = graph.next_classified_version(&before, context);
        let others = before.classifications().iter().filter(|other| other.name != symbol).cloned();
        after.set_classifications(others.collect());
        graph.put(TypeKind::Entity, slot, &before, after, Vec::new())?;
        Ok(())
    }
}
