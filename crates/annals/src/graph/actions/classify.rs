//! Adds a classification to an entity.

use std::sync::Arc;

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key, filled};
use super::context::Context;
use super::draft::Draft;
use super::version::Part;
use crate::graph::Graph;
use crate::graph::put::Corrected;
use crate::model::{ClassificationContent, Id, InstanceId, TypeKind};
use crate::{Error, ErrorKind, Result};

/// Adds a classification to an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Classify {
    /// The entity.
    pub entity: Id,
    /// The classification with its properties.
    pub content: ClassificationContent,
}

impl Act for Classify {
    const NAME: &'static str = "classify";
    const CODES: Codes = Codes::Entity(13);
    const FIELDS: &'static [Field] = &[
        Field::required(Key::Id, "id"),
        Field::required(Key::Name, "classification"),
        Field::optional(Key::Properties, "properties"),
        Field::optional(Key::Provenance, "provenance"),
    ];
    const TOUCHES: Touches = Touches::Instance;
    const CAN_BE_TAKEN_BACK: bool = true;
    const IS_ANCHORED: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef {
            name: Some(&self.content.name),
            properties: filled(&self.content.properties),
            provenance: self.content.provenance.as_deref(),
            ..BagRef::of_entity(&self.entity)
        }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(Classify {
            entity: bag.id?,
            content: ClassificationContent {
                name: bag.name?,
                properties: bag.properties.unwrap_or_default(),
                provenance: bag.provenance.map(Arc::new),
            },
        })
    }

    fn classification(&self) -> Option<&Arc<str>> {
        Some(&self.content.name)
    }

    fn given_classifications(&self) -> &[ClassificationContent] {
        std::slice::from_ref(&self.content)
    }

    fn content(&self, draft: &mut dyn Draft) -> Result<()> {
        draft.classify(&self.content)
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let Classify { entity, content } = self;
        let instance = InstanceId::Entity(entity.clone());
        let (slot, before) = graph.live(&instance)?;
        let classification = graph.new_classification(context, &before, content)?;
        let name = classification.name;
        if context.valid_from < before.valid_from {
            let after = graph.corrected(&instance, &before, context, Part::Classifications)?;
            let (written, classified) = (context.stamp.micros, vec![name]);
            graph.correct(
                TypeKind::Entity,
                slot,
                &after,
                Corrected { written, values: Vec::new(), classified },
            );
            return Ok(());
        }
        if before.classification(name).is_some() {
            return Err(Error::new(
                ErrorKind::AlreadyExists,
                format!("{instance} already carries the classification {}; reclassify it", content.name),
            ));
        }
        let mut after = graph.next_classified_version(&before, context);
        let mut classifications = before.classifications().to_vec();
        classifications.push(classification);
        after.set_classifications(classifications);
        graph.put(TypeKind::Entity, slot, &before, after, Vec::new())?;
        Ok(())
    }
}
