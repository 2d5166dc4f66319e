//! Stores a copy of an entity of another collection, replacing an older copy or a proxy.

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use crate::Result;
use crate::graph::Graph;
use crate::graph::instance::patch::differences;
use crate::model::{EntityCopy, Id, InstanceId, TypeKind};

/// Stores a copy of an entity of another collection, replacing an older copy or a proxy.
pub type SaveEntity = Box<EntityCopy>;

impl Act for SaveEntity {
    const NAME: &'static str = "save-copy";
    const CODES: Codes = Codes::Entity(28);
    const FIELDS: &'static [Field] = &[
        Field::required(Key::Id, "id"),
        Field::required(Key::Name, "type"),
        Field::required(Key::Properties, "properties"),
        Field::optional(Key::Status, "status"),
        Field::required(Key::Provenance, "provenance"),
        Field::required(Key::Origin, "origin"),
        Field::required(Key::Copied, "classifications"),
    ];
    const TOUCHES: Touches = Touches::Everything;
    const IS_WHOLE: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef {
            name: Some(&self.type_name),
            properties: Some(&self.properties),
            copied: Some(&self.classifications),
            ..BagRef::of_entity(&self.id).with_header(&self.header)
        }
    }

    fn of(mut bag: Bag) -> Option<Self> {
        Some(Box::new(EntityCopy {
            header: bag.copy_header()?,
            id: bag.id?,
            type_name: bag.name?,
            properties: bag.properties.unwrap_or_default(),
            classifications: bag.copied.unwrap_or_default(),
        }))
    }

    fn new_id(&self) -> Option<&Id> {
        Some(&self.id)
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let copy: &EntityCopy = self;
        let instance = InstanceId::Entity(copy.id.clone());
        let type_name = graph.symbol("type", &copy.type_name)?;
        let properties = graph.properties(&copy.properties)?;
        let classifications = graph.copied_classifications(&copy.id, &copy.classifications)?;
        let known = graph.known_copy(context, &instance, &copy.header.provenance)?;
        let mut after =
            graph.copied(context, known.as_ref(), &copy.id, type_name, [u32::MAX; 2], &copy.header)?;
        after.properties = properties;
        after.set_classifications(classifications);
        graph.check_content(TypeKind::Entity, &after)?;
        let Some((slot, before)) = known else {
            graph.create_entity(after);
            return Ok(());
        };
        let changes = differences(&before.properties, &after.properties);
        graph.put(TypeKind::Entity, slot, &before, after, changes)?;
        Ok(())
    }
}
