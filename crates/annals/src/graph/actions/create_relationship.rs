//! Creates a relationship between two entities that exist.

use std::sync::Arc;

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key, filled};
use super::context::Context;
use super::version::first_version;
use crate::Result;
use crate::graph::Graph;
use crate::model::{Id, NewRelationship, TypeKind};

/// Creates a relationship between two entities that exist.
pub type CreateRelationship = NewRelationship;

impl Act for CreateRelationship {
    const NAME: &'static str = "create";
    const CODES: Codes = Codes::Relationship(2);
    const FIELDS: &'static [Field] = &[
        Field::optional(Key::Id, "id"),
        Field::required(Key::Name, "type"),
        Field::required(Key::From, "from"),
        Field::required(Key::To, "to"),
        Field::optional(Key::Properties, "properties"),
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
            from: Some(&self.from),
            to: Some(&self.to),
            properties: filled(&self.properties),
            status: self.status.as_ref(),
            provenance: self.provenance.as_deref(),
            ..BagRef::of_relationship(&self.id)
        }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(NewRelationship {
            id: bag.id?,
            type_name: bag.name?,
            from: bag.from?,
            to: bag.to?,
            properties: bag.properties.unwrap_or_default(),
            status: bag.status,
            provenance: bag.provenance.map(Arc::new),
        })
    }

    fn new_id(&self) -> Option<&Id> {
        Some(&self.id)
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let new = self;
        graph.check_new(TypeKind::Relationship, &new.id)?;
        let ends =
            [graph.live_end(&new.from, context.valid_from)?, graph.live_end(&new.to, context.valid_from)?];
        let type_name = graph.symbol("type", &new.type_name)?;
        graph.check_ends(type_name, ends)?;
        let properties = graph.properties(&new.properties)?;
        let mut relationship = first_version(context, new.id.clone(), type_name, properties);
        relationship.ends = ends;
        let (status, provenance) = (new.status.as_ref(), new.provenance.as_ref());
        relationship.header = graph.new_header(TypeKind::Relationship, type_name, status, provenance)?;
        let child = graph.check_relationship(&relationship, None)?;
        graph.create_relationship(relationship, child);
        Ok(())
    }
}
