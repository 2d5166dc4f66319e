//! Reads the line of an entity or relationship: an instance of this repository, a copy of an instance of another
//! collection, or a proxy. A line is written completely or not at all.

use std::sync::Arc;

use annals::action;
use annals::{Action, ClassificationCopy, Id, InstanceId, NewEntity, NewRelationship, Result, Value};
use annals_json::{
    ORIGIN_FIELDS, Object, PROVENANCE_FIELDS, PROXY_FIELDS, array, boolean, classification_copy,
    classification_from_json, entity_copy, invalid, object, only, optional_provenance, optional_text,
    proxy_from_json, relationship_copy, text, value_from_json,
};
use serde_json::Value as Json;

use super::operation::Operation;

/// The operations that write the entity of a line.
pub fn entity_operations(json: &Json) -> Result<Vec<Operation>> {
    let what = "entity";
    let fields = object(json, what)?;
    let actions = if boolean(fields, what, "isProxy", false)? {
        only(fields, what, &[&PROXY_FIELDS[..], &["isProxy", "validFrom"]].concat())?;
        proxy(fields, what)?
    } else if is_copy(fields) {
        let own = ["id", "type", "properties", "classifications", "validFrom", "status"];
        only(fields, what, &[&own, PROVENANCE_FIELDS, ORIGIN_FIELDS].concat())?;
        copied_entity(fields, what)?
    } else {
        let own = ["id", "type", "properties", "classifications", "validFrom", "status", "reidentifiedFrom"];
        only(fields, what, &[&own, PROVENANCE_FIELDS].concat())?;
        own_entity(fields, what)?
    };
    timed(fields, what, actions)
}

/// The operations that write the relationship of a line.
pub fn relationship_operations(json: &Json) -> Result<Vec<Operation>> {
    let what = "relationship";
    let fields = object(json, what)?;
    let own = ["id", "type", "from", "to", "properties", "validFrom", "status"];
    if is_copy(fields) {
        only(fields, what, &[&own, PROVENANCE_FIELDS, ORIGIN_FIELDS].concat())?;
        let copy = Action::SaveRelationship(Box::new(relationship_copy(fields, what)?));
        return timed(fields, what, vec![copy]);
    }
    only(fields, what, &[&own[..], &["reidentifiedFrom"], PROVENANCE_FIELDS].concat())?;
    let (id, named) = ids(fields, what)?;
    let instance = InstanceId::Relationship(id.clone());
    let new = NewRelationship {
        id,
        type_name: text(fields, what, "type")?.into(),
        from: Id::new(text(fields, what, "from")?)?,
        to: Id::new(text(fields, what, "to")?)?,
        properties: stated(fields.get("properties"))?,
        status: optional_text(fields, what, "status")?.map(Into::into),
        provenance: optional_provenance(fields, what)?,
    };
    let renamed = named.map(|id| Action::Reidentify(action::Reidentify { instance, id }));
    timed(fields, what, [Action::CreateRelationship(new)].into_iter().chain(renamed).collect())
}

/// The properties with a value. A null states that there is none.
pub fn stated(properties: Option<&Json>) -> Result<Vec<(Arc<str>, Value)>> {
    let Some(properties) = properties else { return Ok(Vec::new()) };
    let with_value = object(properties, "properties")?.iter().filter(|(_, value)| !value.is_null());
    with_value
        .map(|(name, value)| {
            let value = value_from_json(value).map_err(|error| error.with("property", name))?;
            Ok((name.as_str().into(), value))
        })
        .collect()
}

/// The properties whose value is null.
fn removed(fields: &Object) -> Vec<Arc<str>> {
    let properties = fields.get("properties").and_then(Json::as_object).into_iter().flatten();
    properties.filter(|(_, value)| value.is_null()).map(|(name, _)| name.as_str().into()).collect()
}

// A copy has the instant of its creation at its home.
fn is_copy(fields: &Object) -> bool {
    fields.contains_key("created")
}

fn timed(fields: &Object, what: &str, actions: Vec<Action>) -> Result<Vec<Operation>> {
    let valid_from = optional_text(fields, what, "validFrom")?.map(str::parse).transpose()?;
    let has_fresh_id = what == "relationship" && !fields.contains_key("id");
    let states_classifications = fields.contains_key("classifications");
    let removed = removed(fields);
    let operation = |action| Operation {
        action,
        valid_from,
        has_fresh_id,
        removed: removed.clone(),
        untyped: None,
        states_classifications,
    };
    Ok(actions.into_iter().map(operation).collect())
}

// The id to create it with, and the id to change it to, if it had another id before.
fn ids(fields: &Object, what: &str) -> Result<(Id, Option<Id>)> {
    let id = optional_text(fields, what, "id")?.map(Id::new).transpose()?;
    match (optional_text(fields, what, "reidentifiedFrom")?, id) {
        (None, id) => Ok((id.unwrap_or_else(Id::random), None)),
        (Some(before), Some(id)) => Ok((Id::new(before)?, Some(id))),
        (Some(_), None) => Err(invalid(format!("{what}: expected an id beside \"reidentifiedFrom\""))),
    }
}

fn own_entity(fields: &Object, what: &str) -> Result<Vec<Action>> {
    let (id, named) = ids(fields, what)?;
    let mut new = NewEntity {
        id: id.clone(),
        type_name: text(fields, what, "type")?.into(),
        properties: stated(fields.get("properties"))?,
        classifications: Vec::new(),
        status: optional_text(fields, what, "status")?.map(Into::into),
        provenance: optional_provenance(fields, what)?,
    };
    let mut later = Vec::new();
    for json in array(fields, what, "classifications")? {
        match foreign_classification(json)? {
            Some(copy) => later.push(Action::SaveClassification(action::SaveClassification {
                entity: id.clone(),
                copy: Box::new(copy),
            })),
            None => new.classifications.push(classification_from_json(json)?),
        }
    }
    later.extend(
        named.map(|named| {
            Action::Reidentify(action::Reidentify { instance: InstanceId::Entity(id), id: named })
        }),
    );
    later.insert(0, Action::CreateEntity(new));
    Ok(later)
}

fn copied_entity(fields: &Object, what: &str) -> Result<Vec<Action>> {
    let mut copy = entity_copy(&without_classifications(fields), what)?;
    let (id, home) = (copy.id.clone(), copy.header.provenance.home.clone());
    let (own, mut later) = classifications_of(fields, what, &id, home.as_ref())?;
    copy.classifications = own;
    later.insert(0, Action::SaveEntity(Box::new(copy)));
    Ok(later)
}

fn proxy(fields: &Object, what: &str) -> Result<Vec<Action>> {
    let mut proxy = proxy_from_json(&without_classifications(fields), what)?;
    let (own, mut later) = classifications_of(fields, what, &proxy.id, proxy.provenance.home.as_ref())?;
    proxy.classifications = own;
    later.insert(0, Action::SaveProxy(Box::new(proxy)));
    Ok(later)
}

fn without_classifications(fields: &Object) -> Object {
    let mut bare = fields.clone();
    bare.remove("classifications");
    bare
}

/// The classifications of an entity of another collection: those of its home, and the actions for all others.
fn classifications_of(
    fields: &Object,
    what: &str,
    id: &Id,
    home: Option<&Arc<str>>,
) -> Result<(Vec<ClassificationCopy>, Vec<Action>)> {
    let (mut own, mut later) = (Vec::new(), Vec::new());
    for json in array(fields, what, "classifications")? {
        match foreign_classification(json)? {
            Some(known) if known.provenance.home.as_ref() == home => own.push(known),
            Some(known) => later.push(Action::SaveClassification(action::SaveClassification {
                entity: id.clone(),
                copy: Box::new(known),
            })),
            None => later.push(Action::Classify(action::Classify {
                entity: id.clone(),
                content: classification_from_json(json)?,
            })),
        }
    }
    Ok((own, later))
}

fn foreign_classification(json: &Json) -> Result<Option<ClassificationCopy>> {
    let what = "classification";
    let fields = object(json, what)?;
    if !is_copy(fields) {
        return Ok(None);
    }
    only(fields, what, &[&["name", "properties"], PROVENANCE_FIELDS, ORIGIN_FIELDS].concat())?;
    classification_copy(fields, what, text(fields, what, "name")?).map(Some)
}
