//! Stores the known fields of an entity of another collection, so that relationships can lead to it.

use std::sync::Arc;

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key, filled};
use super::context::Context;
use super::version::first_version;
use crate::Result;
use crate::graph::Graph;
use crate::graph::instance::headers::Header;
use crate::graph::instance::unpacked::Instance;
use crate::model::{EntityProxy, Id, InstanceId, Provenance, TypeKind};

/// Stores the known fields of an entity of another collection, so that relationships can lead to it.
pub type SaveProxy = Box<EntityProxy>;

impl Act for SaveProxy {
    const NAME: &'static str = "save-proxy";
    const CODES: Codes = Codes::Entity(35);
    const FIELDS: &'static [Field] = &[
        Field::required(Key::Id, "id"),
        Field::required(Key::Name, "type"),
        Field::optional(Key::Properties, "properties"),
        Field::required(Key::Text, "home"),
    ];
    const TOUCHES: Touches = Touches::Instance;
    const IS_CREATE: bool = true;
    const IS_WHOLE: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef {
            name: Some(&self.type_name),
            properties: filled(&self.properties),
            text: Some(&self.home),
            ..BagRef::of_entity(&self.id)
        }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(Box::new(EntityProxy {
            id: bag.id?,
            type_name: bag.name?,
            properties: bag.properties.unwrap_or_default(),
            home: bag.text?,
        }))
    }

    fn new_id(&self) -> Option<&Id> {
        Some(&self.id)
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let proxy: &EntityProxy = self;
        graph.check_new(TypeKind::Entity, &proxy.id)?;
        let provenance = Provenance::of_home(&proxy.home);
        graph.foreign_home(InstanceId::Entity(proxy.id.clone()), &provenance)?;
        let type_name = graph.symbol("type", &proxy.type_name)?;
        let properties = graph.properties(&proxy.properties)?;
        let touched = properties.iter().map(|(name, _)| name);
        graph.check_touched(TypeKind::Entity, type_name, &properties, touched)?;
        let header = Header { provenance: Some(Arc::new(provenance)), is_proxy: true, ..Header::default() };
        let header = graph.enter_header(header);
        let first = first_version(context, proxy.id.clone(), type_name, properties);
        let proxy = Instance { header, ..first };
        graph.create(TypeKind::Entity, proxy)?;
        Ok(())
    }
}
