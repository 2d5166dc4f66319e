//! Stores a copy of a relationship of another collection.

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use crate::Result;
use crate::graph::Graph;
use crate::graph::instance::patch::differences;
use crate::model::{Id, InstanceId, RelationshipCopy, TypeKind};

/// Stores a copy of a relationship of another collection.
pub type SaveRelationship = Box<RelationshipCopy>;

impl Act for SaveRelationship {
    const NAME: &'static str = "save-copy";
    const CODES: Codes = Codes::Relationship(29);
    const FIELDS: &'static [Field] = &[
        Field::required(Key::Id, "id"),
        Field::required(Key::Name, "type"),
        Field::required(Key::Properties, "properties"),
        Field::optional(Key::Status, "status"),
        Field::required(Key::Provenance, "provenance"),
        Field::required(Key::Origin, "origin"),
        Field::required(Key::From, "from"),
        Field::required(Key::To, "to"),
    ];
    const TOUCHES: Touches = Touches::Everything;
    const IS_WHOLE: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef {
            name: Some(&self.type_name),
            properties: Some(&self.properties),
            from: Some(&self.from),
            to: Some(&self.to),
            ..BagRef::of_relationship(&self.id).with_header(&self.header)
        }
    }

    fn of(mut bag: Bag) -> Option<Self> {
        Some(Box::new(RelationshipCopy {
            header: bag.copy_header()?,
            id: bag.id?,
            type_name: bag.name?,
            from: bag.from?,
            to: bag.to?,
            properties: bag.properties.unwrap_or_default(),
        }))
    }

    fn new_id(&self) -> Option<&Id> {
        Some(&self.id)
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let copy: &RelationshipCopy = self;
        let instance = InstanceId::Relationship(copy.id.clone());
        let type_name = graph.symbol("type", &copy.type_name)?;
        let properties = graph.properties(&copy.properties)?;
        let known = graph.known_copy(context, &instance, &copy.header.provenance)?;
        let valid_from = context.valid_from;
        let ends = [graph.live_end(&copy.from, valid_from)?, graph.live_end(&copy.to, valid_from)?];
        graph.check_end_types(type_name, ends)?;
        let mut after = graph.copied(context, known.as_ref(), &copy.id, type_name, ends, &copy.header)?;
        after.properties = properties;
        graph.check_content(TypeKind::Relationship, &after)?;
        let child = graph.check_contained(&after, known.as_ref().map(|(slot, _)| *slot))?;
        let Some((slot, before)) = known else {
            graph.create_relationship(after, child);
            return Ok(());
        };
        graph.leave_links(slot, &before);
        graph.enter_links(slot, &after);
        let changes = differences(&before.properties, &after.properties);
        graph.put(TypeKind::Relationship, slot, &before, after, changes)?;
        Ok(())
    }
}
