//! Removes a classification of the named home from an entity.

use std::sync::Arc;

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use super::draft::Draft;
use super::lifecycle::check_not_before;
use crate::Result;
use crate::graph::Graph;
use crate::model::{Id, InstanceId, TypeKind};

/// Removes a classification of the named home from an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct PurgeClassificationCopy {
    /// The entity.
    pub entity: Id,
    /// The name of the classification.
    pub name: Arc<str>,
    /// The home that the classification must have.
    pub home: Arc<str>,
}

impl Act for PurgeClassificationCopy {
    const NAME: &'static str = "purge-classification-copy";
    const CODES: Codes = Codes::Entity(33);
    const FIELDS: &'static [Field] = &[
        Field::required(Key::Id, "id"),
        Field::required(Key::Name, "classification"),
        Field::required(Key::Text, "home"),
    ];
    const TOUCHES: Touches = Touches::Instance;

    fn bag(&self) -> BagRef<'_> {
        BagRef { name: Some(&self.name), text: Some(&self.home), ..BagRef::of_entity(&self.entity) }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(PurgeClassificationCopy { entity: bag.id?, name: bag.name?, home: bag.text? })
    }

    fn classification(&self) -> Option<&Arc<str>> {
        Some(&self.name)
    }

    fn content(&self, draft: &mut dyn Draft) -> Result<()> {
        draft.declassify(&self.name)
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let PurgeClassificationCopy { entity, name, home } = self;
        let instance = InstanceId::Entity(entity.clone());
        let (slot, before) = graph.live(&instance)?;
        check_not_before(context, &before)?;
        let symbol = graph.symbol("classification", name)?;
        let known = before
            .classification(symbol)
            .ok_or_else(|| crate::graph::actions::content::not_classified(&instance, name))?;
        let what = format!("classification {name} of {instance}");
        graph.check_home(what, graph.headers.get(known.header).home(), home)?;
        let mut after = graph.next_classified_version(&before, context);
        let others = before.classifications().iter().filter(|other| other.name != symbol).cloned();
        after.set_classifications(others.collect());
        graph.put(TypeKind::Entity, slot, &before, after, Vec::new())?;
        Ok(())
    }
}
