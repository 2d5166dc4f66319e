//! Entities, relationships, classifications, versions and differences as JSON.

use std::fmt::Display;
use std::sync::Arc;

use annals::{
    ClassificationContent, ClassificationRef, Difference, Entity, InstanceChange, InstanceId,
    PropertyDifference, Provenance, Relationship, Snapshot, Stamp, Value, VersionInfo,
};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value as Json, json};

use super::provenance::{PROVENANCE_FIELDS, add_provenance, optional_provenance, provenance_differences};
use super::{Object, object, only, text, value_from_json, value_to_json};

/// The JSON form of an entity: header, properties, classifications. Writing it needs no tree of JSON values.
pub struct EntityForm<'a>(pub &'a Entity<'a>);

/// The JSON form of a relationship: header, ends, properties.
pub struct RelationshipForm<'a>(pub &'a Relationship<'a>);

/// Members of the header that most instances do not have, and that are left out then.
macro_rules! extra_members {
    ($instance:expr $(, $name:literal => $flag:expr)?) => {{
        let instance = $instance;
        let mut json = json!({});
        if let Some(provenance) = instance.provenance() {
            add_provenance(&mut json, provenance);
        }
        if instance.home_version() != u64::from(instance.version()) {
            json["homeVersion"] = instance.home_version().into();
        }
        if let Some(id) = instance.reidentified_from() {
            json["reidentifiedFrom"] = id.to_string().into();
        }
        if let Some(status) = instance.status_on_delete() {
            json["statusOnDelete"] = status.into();
        }
        $(if $flag {
            json[$name] = true.into();
        })?
        match json {
            Json::Object(members) => members,
            _ => Object::new(),
        }
    }};
}

// Members are written in the order of their names, as everywhere in our JSON.
impl Serialize for EntityForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let entity = self.0;
        let classifications: Object = entity
            .classifications()
            .map(|known| (known.name().to_owned(), classification_to_json(&known)))
            .collect();
        let extra = extra_members!(entity, "isProxy" => entity.is_proxy());
        let mut form = to.serialize_map(Some(11 + extra.len()))?;
        form.serialize_entry("classifications", &classifications)?;
        form.serialize_entry("created", &StampForm(&entity.created()))?;
        form.serialize_entry("id", &Text(entity.id()))?;
        form.serialize_entry("latestVersion", &entity.latest_version())?;
        form.serialize_entry("position", &entity.position().0)?;
        form.serialize_entry("properties", &PropertiesForm::new(entity.properties()))?;
        form.serialize_entry("status", entity.status_name())?;
        form.serialize_entry("type", entity.type_name())?;
        form.serialize_entry("updated", &StampForm(&entity.updated()))?;
        form.serialize_entry("validFrom", &Text(&entity.valid_from()))?;
        form.serialize_entry("version", &entity.version())?;
        extra.iter().try_for_each(|(name, value)| form.serialize_entry(name, value))?;
        form.end()
    }
}

impl Serialize for RelationshipForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let relationship = self.0;
        let extra = extra_members!(relationship);
        let mut form = to.serialize_map(Some(12 + extra.len()))?;
        form.serialize_entry("created", &StampForm(&relationship.created()))?;
        form.serialize_entry("from", &Text(relationship.from()))?;
        form.serialize_entry("id", &Text(relationship.id()))?;
        form.serialize_entry("latestVersion", &relationship.latest_version())?;
        form.serialize_entry("position", &relationship.position().0)?;
        form.serialize_entry("properties", &PropertiesForm::new(relationship.properties()))?;
        form.serialize_entry("status", relationship.status_name())?;
        form.serialize_entry("to", &Text(relationship.to()))?;
        form.serialize_entry("type", relationship.type_name())?;
        form.serialize_entry("updated", &StampForm(&relationship.updated()))?;
        form.serialize_entry("validFrom", &Text(&relationship.valid_from()))?;
        form.serialize_entry("version", &relationship.version())?;
        extra.iter().try_for_each(|(name, value)| form.serialize_entry(name, value))?;
        form.end()
    }
}

/// Anything that displays, as a string.
struct Text<'a, T>(&'a T);

impl<T: Display> Serialize for Text<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self.0)
    }
}

struct StampForm<'a>(&'a Stamp);

impl Serialize for StampForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut form = to.serialize_map(Some(2))?;
        form.serialize_entry("author", &*self.0.author)?;
        form.serialize_entry("instant", &Text(&self.0.instant))?;
        form.end()
    }
}

struct PropertiesForm<'p>(Vec<(&'p str, Value)>);

impl<'p> PropertiesForm<'p> {
    fn new(properties: impl Iterator<Item = (&'p str, Value)>) -> PropertiesForm<'p> {
        let mut named: Vec<_> = properties.collect();
        named.sort_unstable_by_key(|(name, _)| *name);
        PropertiesForm(named)
    }
}

impl Serialize for PropertiesForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut form = to.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            match value {
                Value::Boolean(boolean) => form.serialize_entry(name, boolean)?,
                Value::Integer(number) => form.serialize_entry(name, number)?,
                Value::String(text) => form.serialize_entry(name, &**text)?,
                value => form.serialize_entry(name, &value_to_json(value))?,
            }
        }
        form.end()
    }
}

/// The JSON form of an entity, as a tree.
pub fn entity_to_json(entity: &Entity) -> Json {
    serde_json::to_value(EntityForm(entity)).expect("all keys are strings")
}

/// The JSON form of a relationship, as a tree.
pub fn relationship_to_json(relationship: &Relationship) -> Json {
    serde_json::to_value(RelationshipForm(relationship)).expect("all keys are strings")
}

/// The JSON form of a classification that an entity carries.
pub fn classification_to_json(known: &ClassificationRef) -> Json {
    let mut json = json!({
        "version": known.version(),
        "created": stamp_to_json(&known.created()),
        "updated": stamp_to_json(&known.updated()),
        "properties": properties_to_json(known.properties()),
    });
    if let Some(provenance) = known.provenance() {
        add_provenance(&mut json, provenance);
    }
    json
}

fn stamp_to_json(stamp: &Stamp) -> Json {
    json!({ "instant": stamp.instant.to_string(), "author": &*stamp.author })
}

fn properties_to_json<'p>(properties: impl Iterator<Item = (&'p str, Value)>) -> Json {
    properties.map(|(name, value)| (name.to_owned(), value_to_json(&value))).collect::<Object>().into()
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

/// The JSON form of an entry of a history.
pub fn version_to_json(version: &VersionInfo) -> Json {
    let mut json = json!({
        "version": version.version,
        "base": version.base,
        "position": version.position.0,
        "instant": version.instant.to_string(),
        "author": &*version.author,
        "message": &*version.message,
        "validFrom": version.valid_from.to_string(),
        "status": &*version.status_name,
        "action": version.verb,
        "inForce": version.is_in_force,
    });
    if let Some(home) = &version.home {
        json["home"] = (&**home).into();
    }
    if let Some(id) = &version.former_id {
        json["formerId"] = id.to_string().into();
    }
    if version.is_proxy {
        json["isProxy"] = true.into();
    }
    json
}

/// The JSON form of a version with the instance in it, as `content`.
pub fn version_with_content(
    snapshot: &Snapshot,
    id: &InstanceId,
    version: &VersionInfo,
) -> annals::Result<Json> {
    let mut json = version_to_json(version);
    json["content"] = match id {
        InstanceId::Entity(id) => {
            snapshot.entity_version(id, version.version)?.map(|entity| entity_to_json(&entity)).into()
        }
        InstanceId::Relationship(id) => {
            let found = snapshot.relationship_version(id, version.version)?;
            found.map(|relationship| relationship_to_json(&relationship)).into()
        }
    };
    Ok(json)
}

/// The JSON form of a difference of two versions.
pub fn difference_to_json(difference: &Difference) -> Json {
    let classifications: Vec<Json> = difference
        .classifications
        .iter()
        .map(|known| {
            let mut json = json!({
                "name": &*known.name,
                "wasThere": known.was_there,
                "isThere": known.is_there,
                "properties": property_differences_to_json(&known.properties),
            });
            add_provenance_difference(&mut json, known.provenance.as_ref());
            json
        })
        .collect();
    let status = difference.status.as_ref();
    let mut json = json!({
        "status": status.map(|(before, after)| json!({"before": &**before, "after": &**after})),
        "properties": property_differences_to_json(&difference.properties),
        "classifications": classifications,
    });
    for (name, ids) in [("id", &difference.id), ("from", &difference.from), ("to", &difference.to)] {
        if let Some((before, after)) = ids {
            json[name] = json!({ "before": before.to_string(), "after": after.to_string() });
        }
    }
    if let Some((before, after)) = &difference.type_name {
        json["type"] = json!({ "before": &**before, "after": &**after });
    }
    if let Some((before, after)) = difference.is_proxy {
        json["isProxy"] = json!({ "before": before, "after": after });
    }
    add_provenance_difference(&mut json, difference.provenance.as_ref());
    json
}

fn add_provenance_difference(json: &mut Json, difference: Option<&(Arc<Provenance>, Arc<Provenance>)>) {
    let Some((before, after)) = difference else { return };
    for (name, before, after) in provenance_differences(before, after) {
        json[name] = json!({ "before": before, "after": after });
    }
}

fn property_differences_to_json(differences: &[PropertyDifference]) -> Json {
    let side = |value: &Option<Value>| value.as_ref().map_or(Json::Null, value_to_json);
    differences
        .iter()
        .map(|known| {
            (known.name.to_string(), json!({"before": side(&known.before), "after": side(&known.after)}))
        })
        .collect::<Object>()
        .into()
}

/// The JSON form of what became of an instance between two positions.
pub fn instance_change_to_json(change: &InstanceChange) -> Json {
    let (verb, id, difference) = match change {
        InstanceChange::Appeared(id) => ("appeared", id, None),
        InstanceChange::Disappeared(id) => ("disappeared", id, None),
        InstanceChange::Changed(id, difference) => ("changed", id, Some(difference)),
    };
    let mut json = json!({ "change": verb, "kind": kind_name(id), "id": id.id().to_string() });
    if let Some(difference) = difference {
        json["difference"] = difference_to_json(difference);
    }
    json
}

pub(super) fn kind_name(id: &InstanceId) -> &'static str {
    match id {
        InstanceId::Entity(_) => "entity",
        InstanceId::Relationship(_) => "relationship",
    }
}
