//! Stores a copy of a classification of another collection on an entity.

use std::sync::Arc;

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use super::draft::Draft;
use super::lifecycle::check_not_before;
use crate::Result;
use crate::graph::Graph;
use crate::model::{ClassificationCopy, Id, InstanceId, TypeKind};

/// Stores a copy of a classification of another collection on an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct SaveClassification {
    /// The entity.
    pub entity: Id,
    /// The classification with its state there.
    pub copy: Box<ClassificationCopy>,
}

impl Act for SaveClassification {
    const NAME: &'static str = "save-classification-copy";
    const CODES: Codes = Codes::Entity(30);
    const FIELDS: &'static [Field] =
        &[Field::required(Key::Id, "id"), Field::required(Key::CopiedOne, "classification")];
    const TOUCHES: Touches = Touches::Instance;

    fn bag(&self) -> BagRef<'_> {
        BagRef { copied: Some(std::slice::from_ref(&self.copy)), ..BagRef::of_entity(&self.entity) }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(SaveClassification { entity: bag.id?, copy: Box::new(bag.copied?.pop()?) })
    }

    fn classification(&self) -> Option<&Arc<str>> {
        Some(&self.copy.name)
    }

    fn content(&self, draft: &mut dyn Draft) -> Result<()> {
        draft.save(&self.copy)
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let SaveClassification { entity, copy } = self;
        let instance = InstanceId::Entity(entity.clone());
        let (slot, before) = graph.live(&instance)?;
        check_not_before(context, &before)?;
        let home = graph.foreign_home(&copy.name, &copy.provenance)?;
        let copied = graph.copied_classification(copy)?;
        graph.check_applies(copied.name, &before)?;
        let name = copied.name;
        if let Some(known) = before.classification(name) {
            let what = format!("classification {} of {instance}", copy.name);
            graph.check_home(what, graph.headers.get(known.header).home(), &home)?;
        }
        let mut after = graph.next_classified_version(&before, context);
        let others = before.classifications().iter().filter(|other| other.name != name).cloned();
        after.set_classifications(others.chain([copied]).collect());
        graph.put(TypeKind::Entity, slot, &before, after, Vec::new())?;
        Ok(())
    }
}
