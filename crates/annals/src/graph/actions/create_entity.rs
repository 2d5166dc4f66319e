//! Creates an entity.

use std::sync::Arc;

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key, filled};
use super::context::Context;
use super::version::first_version;
use crate::Result;
use crate::graph::Graph;
use crate::model::{ClassificationContent, Id, NewEntity, TypeKind};

/// Creates an entity.
pub type CreateEntity = NewEntity;

impl Act for CreateEntity {
    const NAME: &'static str = "create";
    const CODES: Codes = Codes::Entity(1);
    const FIELDS: &'static [Field] = &[
        Field::optional(Key::Id, "id"),
        Field::required(Key::Name, "type"),
        Field::optional(Key::Properties, "properties"),
        Field::optional(Key::Classifications, "classifications"),
        Field::optional(Key::Status, "status"),
        Field::optional(Key::Provenance, "provenance"),
    ];
    const TOUCHES: Touches = Touches::Instance;
    const CAN_BE_TAKEN_BACK: bool = true;
    const IS_CREATE: bool = true;
    const IS_WHOLE: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef {
            name: Some(&self.type_name),
            properties: filled(&self.properties),
            classifications: filled(&self.classifications),
            status: self.status.as_ref(),
            provenance: self.provenance.as_deref(),
            ..BagRef::of_entity(&self.id)
        }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(NewEntity {
            id: bag.id?,
            type_name: bag.name?,
            properties: bag.properties.unwrap_or_default(),
            classifications: bag.classifications.unwrap_or_default(),
            status: bag.status,
            provenance: bag.provenance.map(Arc::new),
        })
    }

    fn new_id(&self) -> Option<&Id> {
        Some(&self.id)
    }

    fn given_classifications(&self) -> &[ClassificationContent] {
        &self.classifications
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let new = self;
        graph.check_new(TypeKind::Entity, &new.id)?;
        let type_name = graph.symbol("type", &new.type_name)?;
        let properties = graph.properties(&new.properties)?;
        let mut entity = first_version(context, new.id.clone(), type_name, properties);
        let (status, provenance) = (new.status.as_ref(), new.provenance.as_ref());
        entity.header = graph.new_header(TypeKind::Entity, type_name, status, provenance)?;
        let classifications = graph.new_classifications(context, &entity, &new.classifications)?;
        entity.set_classifications(classifications);
        graph.check_instance(TypeKind::Entity, &entity, None)?;
        graph.create_entity(entity);
        Ok(())
    }
}
