//! Entities, relationships, classifications and versions as JSON.

use std::sync::Arc;

use annals::{
    ClassificationContent, ClassificationRef, Entity, History, Id, InstanceId, InstantText, Position,
    Provenance, Relationship, Snapshot, StampRef, Value, ValueRef, VersionInfo,
};
use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::Value as Json;

use super::form::Text;
use super::provenance::{PROVENANCE_FIELDS, optional_provenance, write_provenance};
use super::value::ValueRefForm;
use super::{object, only, text, value_from_json};

/// The JSON form of an entity: header, properties, classifications. Writing it needs no tree of JSON values.
pub struct EntityForm<'a>(pub &'a Entity<'a>);

/// The JSON form of a relationship: header, ends, properties.
pub struct RelationshipForm<'a>(pub &'a Relationship<'a>);

/// The JSON form of a classification that an entity carries.
pub struct ClassificationForm<'a>(pub &'a ClassificationRef<'a>);

/// An instance of either kind; writes itself as its JSON form.
pub enum Seen<'s> {
    /// An entity.
    Entity(Entity<'s>),
    /// A relationship.
    Relationship(Relationship<'s>),
}

/// The JSON form of an entry of a history.
pub struct VersionForm<'a> {
    /// The entry.
    pub version: VersionInfo,
    /// The instance in that version, as `content`, if it is asked for.
    pub content: Option<Seen<'a>>,
}

impl<'s> Seen<'s> {
    /// The instance, if the snapshot sees it.
    pub fn find(snapshot: &'s Snapshot, id: &InstanceId) -> annals::Result<Option<Seen<'s>>> {
        Ok(match id {
            InstanceId::Entity(id) => snapshot.entity(id)?.map(Seen::Entity),
            InstanceId::Relationship(id) => snapshot.relationship(id)?.map(Seen::Relationship),
        })
    }

    /// One version of the instance.
    pub fn version(snapshot: &'s Snapshot, id: &InstanceId, number: u32) -> annals::Result<Option<Seen<'s>>> {
        Ok(match id {
            InstanceId::Entity(id) => snapshot.entity_version(id, number)?.map(Seen::Entity),
            InstanceId::Relationship(id) => {
                snapshot.relationship_version(id, number)?.map(Seen::Relationship)
            }
        })
    }

    /// Number of the version written last.
    pub fn latest_version(&self) -> u32 {
        match self {
            Seen::Entity(entity) => entity.latest_version(),
            Seen::Relationship(relationship) => relationship.latest_version(),
        }
    }

    /// Position of the record that wrote this version.
    pub fn position(&self) -> Position {
        match self {
            Seen::Entity(entity) => entity.position(),
            Seen::Relationship(relationship) => relationship.position(),
        }
    }
}

impl Serialize for Seen<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Seen::Entity(entity) => EntityForm(entity).serialize(to),
            Seen::Relationship(relationship) => RelationshipForm(relationship).serialize(to),
        }
    }
}

// Members that most instances do not have are left out then, and stand behind those that all have, which are in the order
// of their names.
impl Serialize for EntityForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let entity = self.0;
        let created = StampForm::new(entity.created(), None);
        let updated = StampForm::new(entity.updated(), Some(&created));
        let mut form = to.serialize_struct("Entity", 11)?;
        form.serialize_field("classifications", &ClassificationsForm(entity))?;
        form.serialize_field("created", &created)?;
        form.serialize_field("id", &Text(entity.id()))?;
        form.serialize_field("latestVersion", &entity.latest_version())?;
        form.serialize_field("position", &entity.position().0)?;
        form.serialize_field("properties", &PropertiesForm::new(entity.property_refs()))?;
        form.serialize_field("status", entity.status_name())?;
        form.serialize_field("type", entity.type_name())?;
        form.serialize_field("updated", &updated)?;
        form.serialize_field("validFrom", &*entity.valid_from().to_text())?;
        form.serialize_field("version", &entity.version())?;
        Extra {
            provenance: entity.provenance(),
            home_version: (entity.home_version() != u64::from(entity.version()))
                .then(|| entity.home_version()),
            reidentified_from: entity.reidentified_from(),
            status_on_delete: entity.status_on_delete(),
        }
        .write(&mut form)?;
        if entity.is_proxy() {
            form.serialize_field("isProxy", &true)?;
        }
        form.end()
    }
}

impl Serialize for RelationshipForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let relationship = self.0;
        let created = StampForm::new(relationship.created(), None);
        let updated = StampForm::new(relationship.updated(), Some(&created));
        let mut form = to.serialize_struct("Relationship", 12)?;
        form.serialize_field("created", &created)?;
        form.serialize_field("from", &Text(relationship.from()))?;
        form.serialize_field("id", &Text(relationship.id()))?;
        form.serialize_field("latestVersion", &relationship.latest_version())?;
        form.serialize_field("position", &relationship.position().0)?;
        form.serialize_field("properties", &PropertiesForm::new(relationship.property_refs()))?;
        form.serialize_field("status", relationship.status_name())?;
        form.serialize_field("to", &Text(relationship.to()))?;
        form.serialize_field("type", relationship.type_name())?;
        form.serialize_field("updated", &updated)?;
        form.serialize_field("validFrom", &*relationship.valid_from().to_text())?;
        form.serialize_field("version", &relationship.version())?;
        Extra {
            provenance: relationship.provenance(),
            home_version: (relationship.home_version() != u64::from(relationship.version()))
                .then(|| relationship.home_version()),
            reidentified_from: relationship.reidentified_from(),
            status_on_delete: relationship.status_on_delete(),
        }
        .write(&mut form)?;
        form.end()
    }
}

/// Members of a header that most instances do not have.
struct Extra<'a> {
    provenance: Option<&'a Provenance>,
    home_version: Option<u64>,
    reidentified_from: Option<&'a Id>,
    status_on_delete: Option<&'a str>,
}

impl Extra<'_> {
    fn write<M: SerializeStruct>(&self, form: &mut M) -> Result<(), M::Error> {
        if let Some(provenance) = self.provenance {
            write_provenance(form, provenance)?;
        }
        if let Some(version) = self.home_version {
            form.serialize_field("homeVersion", &version)?;
        }
        if let Some(id) = self.reidentified_from {
            form.serialize_field("reidentifiedFrom", &Text(id))?;
        }
        if let Some(status) = self.status_on_delete {
            form.serialize_field("statusOnDelete", status)?;
        }
        Ok(())
    }
}

/// The classifications of an entity by name.
struct ClassificationsForm<'a>(&'a Entity<'a>);

impl Serialize for ClassificationsForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut carried: Vec<(&str, ClassificationRef)> =
            self.0.classifications().map(|known| (known.name(), known)).collect();
        carried.sort_unstable_by_key(|(name, _)| *name);
        to.collect_map(carried.iter().map(|(name, known)| (*name, ClassificationForm(known))))
    }
}

impl Serialize for ClassificationForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let known = self.0;
        let created = StampForm::new(known.created(), None);
        let updated = StampForm::new(known.updated(), Some(&created));
        let mut form = to.serialize_struct("Classification", 4)?;
        form.serialize_field("created", &created)?;
        form.serialize_field("properties", &PropertiesForm::new(known.property_refs()))?;
        form.serialize_field("updated", &updated)?;
        form.serialize_field("version", &known.version())?;
        if let Some(provenance) = known.provenance() {
            write_provenance(&mut form, provenance)?;
        }
        form.end()
    }
}

/// When, and by whom.
struct StampForm<'a> {
    stamp: StampRef<'a>,
    text: InstantText,
}

impl<'a> StampForm<'a> {
    /// What is like another one, as most updates are like the creation, takes its text.
    fn new(stamp: StampRef<'a>, known: Option<&StampForm>) -> StampForm<'a> {
        let known = known.filter(|known| known.stamp.instant == stamp.instant);
        StampForm { stamp, text: known.map_or_else(|| stamp.instant.to_text(), |known| known.text) }
    }
}

impl Serialize for StampForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut form = to.serialize_struct("Stamp", 2)?;
        form.serialize_field("author", self.stamp.author)?;
        form.serialize_field("instant", &*self.text)?;
        form.end()
    }
}

/// Properties, by name.
struct PropertiesForm<'p>(Vec<(&'p str, ValueRef<'p>)>);

impl<'p> PropertiesForm<'p> {
    /// In any order.
    fn new(properties: impl Iterator<Item = (&'p str, ValueRef<'p>)>) -> PropertiesForm<'p> {
        let mut named: Vec<_> = properties.collect();
        named.sort_unstable_by_key(|(name, _)| *name);
        PropertiesForm(named)
    }
}

impl Serialize for PropertiesForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(name, value)| (name, ValueRefForm(value))))
    }
}

impl<'a> VersionForm<'a> {
    /// The entries of a history, each with the instance in it if that is asked for. Errors: those of reading them.
    pub fn history(
        snapshot: &'a Snapshot,
        id: &InstanceId,
        history: &History,
        with_content: bool,
    ) -> annals::Result<Vec<VersionForm<'a>>> {
        let form = |(version, content)| VersionForm { version, content };
        Ok(match id {
            _ if !with_content => {
                let versions = snapshot.history(id, history)?.into_iter();
                versions.map(|version| form((version, None))).collect()
            }
            InstanceId::Entity(id) => {
                let versions = snapshot.entity_history(id, history)?.into_iter();
                versions.map(|(version, one)| form((version, Some(Seen::Entity(one))))).collect()
            }
            InstanceId::Relationship(id) => {
                let versions = snapshot.relationship_history(id, history)?.into_iter();
                versions.map(|(version, one)| form((version, Some(Seen::Relationship(one))))).collect()
            }
        })
    }
}

impl Serialize for VersionForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let version = &self.version;
        let mut form = to.serialize_struct("Version", 10)?;
        form.serialize_field("action", version.verb)?;
        form.serialize_field("author", &*version.author)?;
        form.serialize_field("base", &version.base)?;
        if let Some(content) = &self.content {
            form.serialize_field("content", content)?;
        }
        form.serialize_field("inForce", &version.is_in_force)?;
        form.serialize_field("instant", &Text(&version.instant))?;
        form.serialize_field("message", &*version.message)?;
        form.serialize_field("position", &version.position.0)?;
        form.serialize_field("status", &*version.status_name)?;
        form.serialize_field("validFrom", &Text(&version.valid_from))?;
        form.serialize_field("version", &version.version)?;
        if let Some(home) = &version.home {
            form.serialize_field("home", &**home)?;
        }
        if let Some(id) = &version.former_id {
            form.serialize_field("formerId", &Text(id))?;
        }
        if version.is_proxy {
            form.serialize_field("isProxy", &true)?;
        }
        form.end()
    }
}

/// Properties from an object of values.
pub fn properties_from_json(json: Option<&Json>, what: &str) -> annals::Result<Vec<(Arc<str>, Value)>> {
    let Some(json) = json else { return Ok(Vec::new()) };
    object(json, what)?
        .iter()
        .map(|(name, value)| {
            let value = value_from_json(value).map_err(|error| error.with("property", name))?;
            Ok((name.as_str().into(), value))
        })
        .collect()
}

/// A classification from `{"name": …, "properties": {…}}`.
pub fn classification_from_json(json: &Json) -> annals::Result<ClassificationContent> {
    let what = "classification";
    let fields = object(json, what)?;
    only(fields, what, &[&["name", "properties"], PROVENANCE_FIELDS].concat())?;
    Ok(ClassificationContent {
        provenance: optional_provenance(fields, what)?,
        name: text(fields, what, "name")?.into(),
        properties: properties_from_json(fields.get("properties"), "classification properties")?,
    })
}
