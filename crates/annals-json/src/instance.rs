//! Entities, relationships, classifications and versions as JSON.

use std::ops::Range;
use std::sync::Arc;

use annals::{
    ClassificationContent, ClassificationRef, Entity, History, InstanceId, Position, Relationship, Revision,
    Snapshot, StampRef, Value, ValueRef, VersionInfo,
};
use serde_json::Value as Json;
use smallvec::SmallVec;

use super::form::{Form, JsonText, Members};
use super::provenance::{PROVENANCE_FIELDS, optional_provenance, write_provenance};
use super::{object, only, text, value_from_json};

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
    /// The instance in that version, as `content`, if asked for.
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

    /// Its birth and its latest version.
    pub fn revision(&self) -> Revision {
        match self {
            Seen::Entity(entity) => entity.revision(),
            Seen::Relationship(relationship) => relationship.revision(),
        }
    }

    /// True if the record at `position` wrote this version, and no later record changed the instance.
    pub fn is_latest_of(&self, position: Position) -> bool {
        let (version, written) = match self {
            Seen::Entity(entity) => (entity.version(), entity.position()),
            Seen::Relationship(relationship) => (relationship.version(), relationship.position()),
        };
        written == position && version == self.revision().version
    }
}

impl Form for Seen<'_> {
    fn write(&self, to: &mut JsonText) {
        match self {
            Seen::Entity(entity) => entity.write(to),
            Seen::Relationship(relationship) => relationship.write(to),
        }
    }
}

// Members that most instances do not have. Entities and relationships have methods of the same names for them.
macro_rules! add_rare_members {
    ($members:expr, $instance:expr) => {
        if let Some(provenance) = $instance.provenance() {
            write_provenance($members, provenance);
        }
        // A copy that was classified here may have as many versions here as there.
        if $instance.home().is_some() || $instance.home_version() != u64::from($instance.version()) {
            $members.add("homeVersion", $instance.home_version());
        }
        if $instance.content_version() != $instance.version() {
            $members.add("contentVersion", $instance.content_version());
        }
        if let Some(id) = $instance.reidentified_from() {
            $members.add("reidentifiedFrom", id);
        }
        if let Some(status) = $instance.status_on_delete() {
            $members.add("statusOnDelete", status);
        }
    };
}

// Members that most instances do not have are left out if missing. They come after the common members, which are in the
// order of their names.
impl Form for Entity<'_> {
    fn write(&self, to: &mut JsonText) {
        to.object(|members| {
            members.add("classifications", ClassificationsForm(self));
            let created = members.add("created", self.created());
            members.add("id", self.id());
            members.add("latestVersion", self.latest_version());
            members.add("position", self.position().0);
            members.add("properties", PropertiesForm::new(self.property_refs()));
            members.add("status", self.status_name());
            members.add("type", self.type_name());
            add_updated(members, (self.created(), created), self.updated());
            members.add("validFrom", self.valid_from());
            members.add("version", self.version());
            add_rare_members!(members, self);
            if self.is_proxy() {
                members.add("isProxy", true);
            }
        });
    }
}

impl Form for Relationship<'_> {
    fn write(&self, to: &mut JsonText) {
        to.object(|members| {
            let created = members.add("created", self.created());
            members.add("from", self.from());
            members.add("id", self.id());
            members.add("latestVersion", self.latest_version());
            members.add("position", self.position().0);
            members.add("properties", PropertiesForm::new(self.property_refs()));
            members.add("status", self.status_name());
            members.add("to", self.to());
            members.add("type", self.type_name());
            add_updated(members, (self.created(), created), self.updated());
            members.add("validFrom", self.valid_from());
            members.add("version", self.version());
            add_rare_members!(members, self);
        });
    }
}

/// The classifications of an entity by name.
struct ClassificationsForm<'a>(&'a Entity<'a>);

impl Form for ClassificationsForm<'_> {
    fn write(&self, to: &mut JsonText) {
        let mut carried: Vec<(&str, ClassificationRef)> =
            self.0.classifications().map(|known| (known.name(), known)).collect();
        carried.sort_unstable_by_key(|(name, _)| *name);
        to.object(|members| carried.iter().for_each(|(name, known)| members.entry(name, known)));
    }
}

impl Form for ClassificationRef<'_> {
    fn write(&self, to: &mut JsonText) {
        to.object(|members| {
            let created = members.add("created", self.created());
            members.add("properties", PropertiesForm::new(self.property_refs()));
            add_updated(members, (self.created(), created), self.updated());
            members.add("version", self.version());
            if let Some(provenance) = self.provenance() {
                write_provenance(members, provenance);
            }
        });
    }
}

impl Form for StampRef<'_> {
    #[inline]
    fn write(&self, to: &mut JsonText) {
        to.object(|members| {
            members.add("author", self.author);
            members.add("instant", self.instant);
        });
    }
}

/// Adds a stamp that usually equals the one of the creation, which is written already.
fn add_updated(members: &mut Members, (created, there): (StampRef, Range<usize>), updated: StampRef) {
    if updated == created {
        members.add_again("updated", there);
    } else {
        members.add("updated", updated);
    }
}

/// Properties, by name.
pub(crate) struct PropertiesForm<'p>(SmallVec<[(&'p str, ValueRef<'p>); 8]>);

impl<'p> PropertiesForm<'p> {
    /// In any order.
    pub(crate) fn new(properties: impl Iterator<Item = (&'p str, ValueRef<'p>)>) -> PropertiesForm<'p> {
        let mut named: SmallVec<_> = properties.collect();
        named.sort_unstable_by_key(|(name, _)| *name);
        PropertiesForm(named)
    }
}

impl Form for PropertiesForm<'_> {
    fn write(&self, to: &mut JsonText) {
        to.object(|members| self.0.iter().for_each(|(name, value)| members.entry(name, value)));
    }
}

impl<'a> VersionForm<'a> {
    /// The entries of a history, each with the instance in it if asked for. Errors: those of reading them.
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

impl Form for VersionForm<'_> {
    fn write(&self, to: &mut JsonText) {
        let version = &self.version;
        to.object(|members| {
            members.add("action", version.verb);
            members.add("author", &*version.author);
            members.add("base", version.base);
            if let Some(content) = &self.content {
                members.add("content", content);
            }
            members.add("inForce", version.is_in_force);
            members.add("instant", version.instant);
            members.add("message", &*version.message);
            members.add("position", version.position.0);
            members.add("status", &*version.status_name);
            members.add("validFrom", version.valid_from);
            members.add("version", version.version);
            if version.content_version != version.version {
                members.add("contentVersion", version.content_version);
            }
            if let Some(home) = &version.home {
                members.add("home", &**home);
            }
            if let Some(id) = &version.former_id {
                members.add("formerId", id);
            }
            if version.is_proxy {
                members.add("isProxy", true);
            }
        });
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
