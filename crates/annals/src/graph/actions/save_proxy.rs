//! Stores the known fields of an entity of another collection, so that relationships can lead to it.

use std::sync::Arc;

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key, filled};
use super::context::Context;
use super::copies::check_version;
use super::version::first_version;
use crate::Result;
use crate::graph::Graph;
use crate::graph::instance::headers::RowHeader;
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
        Field::optional(Key::Status, "status"),
        Field::optional(Key::Provenance, "provenance"),
        Field::required(Key::Text, "home"),
        Field::optional(Key::Origin, "origin"),
        Field::optional(Key::Copied, "classifications"),
    ];
    const TOUCHES: Touches = Touches::Instance;
    const IS_CREATE: bool = true;
    const IS_WHOLE: bool = true;

    fn bag(&self) -> BagRef<'_> {
        let is_of_home = |home: &Arc<str>| self.provenance == Provenance::of_home(home);
        BagRef {
            name: Some(&self.type_name),
            properties: filled(&self.properties),
            status: self.status.as_ref(),
            provenance: Some(&self.provenance).filter(|given| !given.home.as_ref().is_some_and(is_of_home)),
            text: self.provenance.home.as_ref(),
            origin: self.origin.as_ref().map(|(version, created, updated)| (*version, created, updated)),
            copied: filled(&self.classifications),
            ..BagRef::of_entity(&self.id)
        }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(Box::new(EntityProxy {
            id: bag.id?,
            type_name: bag.name?,
            properties: bag.properties.unwrap_or_default(),
            classifications: bag.copied.unwrap_or_default(),
            provenance: Provenance { home: Some(bag.text?), ..bag.provenance.unwrap_or_default() },
            status: bag.status,
            origin: bag.origin,
        }))
    }

    fn new_id(&self) -> Option<&Id> {
        Some(&self.id)
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let proxy: &EntityProxy = self;
        graph.check_new(TypeKind::Entity, &proxy.id)?;
        graph.foreign_home(InstanceId::Entity(proxy.id.clone()), &proxy.provenance)?;
        let type_name = graph.symbol("type", &proxy.type_name)?;
        let properties = graph.properties(&proxy.properties)?;
        let touched = properties.iter().map(|(name, _)| name);
        graph.check_touched(TypeKind::Entity, type_name, &properties, touched)?;
        let classifications = graph.copied_classifications(&proxy.id, &proxy.classifications)?;
        let (version, created, updated) = match &proxy.origin {
            Some((version, created, updated)) => {
                (*version, graph.stamp_from(created), graph.stamp_from(updated))
            }
            None => (1, context.stamp, context.stamp),
        };
        check_version(&proxy.id, version)?;
        let status = match &proxy.status {
            Some(status) => graph.new_status(TypeKind::Entity, type_name, Some(status))?,
            None => None,
        };
        let header = graph.enter_header(RowHeader {
            status,
            provenance: Some(Arc::new(proxy.provenance.clone())),
            version_offset: i64::from(version) - 1,
            is_proxy: true,
            ..RowHeader::default()
        });
        let first = first_version(context, proxy.id.clone(), type_name, properties);
        let mut proxy = Instance { header, created, updated, ..first };
        for known in &classifications {
            graph.check_applies(known.name, &proxy)?;
        }
        proxy.set_classifications(classifications);
        graph.create_entity(proxy);
        Ok(())
    }
}
