//! Entities, relationships, classifications, versions and differences as JSON.

use std::sync::Arc;

use annals::{
    ClassificationContent, ClassificationRef, Difference, Entity, InstanceChange, InstanceId,
    PropertyDifference, Relationship, Result, Stamp, Value, VersionInfo,
};
use serde_json::{Value as Json, json};

use super::{Object, object, only, text, value_from_json, value_to_json};

/// The JSON form of an entity: header, properties, classifications.
pub fn entity_to_json(entity: &Entity) -> Json {
    let classifications: Json = entity
        .classifications()
        .map(|known| (known.name().to_owned(), classification_to_json(&known)))
        .collect::<Object>()
        .into();
    json!({
        "id": entity.id().to_string(),
        "type": entity.type_name(),
        "version": entity.version(),
        "latestVersion": entity.latest_version(),
        "status": entity.status().name(),
        "created": stamp_to_json(&entity.created()),
        "updated": stamp_to_json(&entity.updated()),
        "validFrom": entity.valid_from().to_string(),
        "position": entity.position().0,
        "properties": properties_to_json(entity.properties()),
        "classifications": classifications,
    })
}

/// The JSON form of a relationship: header, ends, properties.
pub fn relationship_to_json(relationship: &Relationship) -> Json {
    json!({
        "id": relationship.id().to_string(),
        "type": relationship.type_name(),
        "from": relationship.from().to_string(),
        "to": relationship.to().to_string(),
        "version": relationship.version(),
        "latestVersion": relationship.latest_version(),
        "status": relationship.status().name(),
        "created": stamp_to_json(&relationship.created()),
        "updated": stamp_to_json(&relationship.updated()),
        "validFrom": relationship.valid_from().to_string(),
        "position": relationship.position().0,
        "properties": properties_to_json(relationship.properties()),
    })
}

/// The JSON form of a classification that an entity carries.
pub fn classification_to_json(known: &ClassificationRef) -> Json {
    json!({
        "version": known.version(),
        "created": stamp_to_json(&known.created()),
        "updated": stamp_to_json(&known.updated()),
        "properties": properties_to_json(known.properties()),
    })
}

fn stamp_to_json(stamp: &Stamp) -> Json {
    json!({ "instant": stamp.instant.to_string(), "author": &*stamp.author })
}

fn properties_to_json<'p>(properties: impl Iterator<Item = (&'p str, Value)>) -> Json {
    properties.map(|(name, value)| (name.to_owned(), value_to_json(&value))).collect::<Object>().into()
}

/// Properties from an object of values.
pub fn properties_from_json(json: Option<&Json>, what: &str) -> Result<Vec<(Arc<str>, Value)>> {
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
pub fn classification_from_json(json: &Json) -> Result<ClassificationContent> {
    let what = "classification";
    let fields = object(json, what)?;
    only(fields, what, &["name", "properties"])?;
    Ok(ClassificationContent {
        name: text(fields, what, "name")?.into(),
        properties: properties_from_json(fields.get("properties"), "classification properties")?,
    })
}

/// The JSON form of an entry of a history.
pub fn version_to_json(version: &VersionInfo) -> Json {
    json!({
        "version": version.version,
        "base": version.base,
        "position": version.position.0,
        "instant": version.instant.to_string(),
        "author": &*version.author,
        "message": &*version.message,
        "validFrom": version.valid_from.to_string(),
        "status": version.status.name(),
        "action": version.verb,
        "inForce": version.is_in_force,
    })
}

/// The JSON form of a difference of two versions.
pub fn difference_to_json(difference: &Difference) -> Json {
    let classifications: Vec<Json> = difference
        .classifications
        .iter()
        .map(|known| {
            json!({
                "name": &*known.name,
                "wasThere": known.was_there,
                "isThere": known.is_there,
                "properties": property_differences_to_json(&known.properties),
            })
        })
        .collect();
    json!({
        "status": difference.status.map(|(before, after)| json!({"before": before.name(), "after": after.name()})),
        "properties": property_differences_to_json(&difference.properties),
        "classifications": classifications,
    })
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
