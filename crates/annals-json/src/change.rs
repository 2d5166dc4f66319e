//! Changes and records as JSON: the operations of a transaction, and the entries of the feed.

use annals::action;
use annals::{
    Action, Change, ClassificationContent, Id, InstanceId, Instant, NewEntity, NewRelationship, Patch,
    PatchStep, Position, Record, Result, TypeKind, Value,
};
use serde_json::{Value as Json, json};

use super::difference::kind_name;
use super::provenance::*;
use super::{
    Object, array, boolean, classification_from_json, invalid, kind, object, only, optional_text,
    properties_from_json, text, type_from_json, type_to_json, value_from_json, value_to_json,
};

/// The JSON form of a record of the feed.
pub fn record_to_json(position: Position, record: &Record) -> Json {
    let changes: Vec<Json> =
        record.changes.iter().map(|change| change_to_json(change, record.valid_from)).collect();
    json!({
        "position": position.0,
        "instant": record.instant.to_string(),
        "author": &*record.author,
        "message": &*record.message,
        "changes": changes,
    })
}

fn change_to_json(change: &Change, record_valid_from: Option<Instant>) -> Json {
    let mut json = action_to_json(&change.action);
    if let Some(instant) = change.valid_from.or(record_valid_from) {
        json["validFrom"] = instant.to_string().into();
    }
    json
}

/// The JSON form of an action; [`action_from_json`] reads it back.
pub fn action_to_json(action: &Action) -> Json {
    let mut json = json!({ "action": action.verb() });
    if let Some(id) = action.instance() {
        json["kind"] = kind_name(&id).into();
        json["id"] = id.id().to_string().into();
    }
    match action {
        Action::CreateEntity(new) => {
            json["type"] = (&*new.type_name).into();
            json["properties"] = properties_to_json(&new.properties);
            if !new.classifications.is_empty() {
                json["classifications"] = new.classifications.iter().map(content_to_json).collect();
            }
            add_header(&mut json, new.status.as_deref(), new.provenance.as_deref());
        }
        Action::CreateRelationship(new) => {
            json["type"] = (&*new.type_name).into();
            json["from"] = new.from.to_string().into();
            json["to"] = new.to.to_string().into();
            json["properties"] = properties_to_json(&new.properties);
            add_header(&mut json, new.status.as_deref(), new.provenance.as_deref());
        }
        Action::Update(action::Update { patch, .. }) => json["patch"] = patch_to_json(patch),
        Action::Replace(action::Replace { properties, classifications, .. }) => {
            json["properties"] = properties_to_json(properties);
            if let Some(classifications) = classifications {
                json["classifications"] = classifications.iter().map(content_to_json).collect();
            }
        }
        Action::Restore(action::Restore { with_relationships, .. }) => {
            json["withRelationships"] = (*with_relationships).into()
        }
        Action::Classify(action::Classify { content, .. }) => {
            json["classification"] = (&*content.name).into();
            json["properties"] = properties_to_json(&content.properties);
            add_header(&mut json, None, content.provenance.as_deref());
        }
        Action::Reclassify(action::Reclassify { name, patch, .. }) => {
            json["classification"] = (&**name).into();
            json["patch"] = patch_to_json(patch);
        }
        Action::Declassify(action::Declassify { name, .. }) => json["classification"] = (&**name).into(),
        Action::DefineType(definition) => json["type"] = type_to_json(definition),
        Action::SetStatus(action::SetStatus { status, .. }) => json["status"] = (&**status).into(),
        Action::SetProvenance(action::SetProvenance { provenance, .. }) => {
            add_provenance(&mut json, provenance)
        }
        Action::Rehome(action::Rehome { home, .. }) | Action::PurgeCopy(action::PurgeCopy { home, .. }) => {
            json["home"] = (&**home).into()
        }
        Action::Reidentify(action::Reidentify { id, .. }) => json["newId"] = id.to_string().into(),
        Action::Retype(action::Retype { type_name, .. }) => json["type"] = (&**type_name).into(),
        Action::Relink(action::Relink { from, to, .. }) => {
            for (name, end) in [("from", from), ("to", to)] {
                if let Some(end) = end {
                    json[name] = end.to_string().into();
                }
            }
        }
        Action::SaveEntity(copy) => add_entity_copy(&mut json, copy),
        Action::SaveProxy(proxy) => add_proxy(&mut json, proxy),
        Action::SaveRelationship(copy) => add_relationship_copy(&mut json, copy),
        Action::SaveClassification(action::SaveClassification { copy, .. }) => {
            json["classification"] = (&*copy.name).into();
            add_classification_copy(&mut json, copy);
        }
        Action::PurgeClassificationCopy(action::PurgeClassificationCopy { name, home, .. }) => {
            json["classification"] = (&**name).into();
            json["home"] = (&**home).into();
        }
        Action::NameCollection(action::NameCollection { name }) => json["collection"] = (&**name).into(),
        _ => {}
    }
    json
}

fn properties_to_json(properties: &[(std::sync::Arc<str>, Value)]) -> Json {
    properties.iter().map(|(name, value)| (name.to_string(), value_to_json(value))).collect::<Object>().into()
}

fn content_to_json(content: &ClassificationContent) -> Json {
    let mut json = json!({ "name": &*content.name, "properties": properties_to_json(&content.properties) });
    add_header(&mut json, None, content.provenance.as_deref());
    json
}

fn add_header(json: &mut Json, status: Option<&str>, provenance: Option<&annals::Provenance>) {
    if let Some(status) = status {
        json["status"] = status.into();
    }
    if let Some(provenance) = provenance {
        add_provenance(json, provenance);
    }
}

fn patch_to_json(patch: &Patch) -> Json {
    patch
        .steps
        .iter()
        .map(|step| match step {
            PatchStep::Set(name, value) => json!({ "set": &**name, "value": value_to_json(value) }),
            PatchStep::Unset(name) => json!({ "unset": &**name }),
            PatchStep::Add(name, value) => json!({ "add": &**name, "value": value_to_json(value) }),
            PatchStep::Remove(name, value) => json!({ "remove": &**name, "value": value_to_json(value) }),
            _ => json!({ "clear": true }),
        })
        .collect()
}

/// A patch: either its steps (`[{"set": "a", "value": 1}, {"unset": "b"}, {"add": "c", "value": 2}, {"remove": "c",
/// "value": 3}, {"clear": true}]`), or an object in the manner of JSON Merge Patch (`{"a": 1, "b": null}`).
///
/// Errors: `InvalidArgument` also for an object under `properties`, which is how instances hold them: it would become one
/// property of this name. A step can set such a one.
pub fn patch_from_json(json: &Json) -> Result<Patch> {
    let steps = match json {
        Json::Object(fields) if fields.get("properties").is_some_and(Json::is_object) => {
            let properties = &fields["properties"];
            return Err(invalid(format!(
                "patch: expected the properties themselves, such as {}, found them under \"properties\"; for a property \
                 of this name write [{{\"set\": \"properties\", \"value\": …}}]",
                shown(properties)
            )));
        }
        Json::Object(fields) => fields
            .iter()
            .map(|(name, value)| match value {
                Json::Null => Ok(PatchStep::Unset(name.as_str().into())),
                value => {
                    let value = value_from_json(value).map_err(|error| error.with("property", name))?;
                    Ok(PatchStep::Set(name.as_str().into(), value))
                }
            })
            .collect::<Result<_>>()?,
        Json::Array(steps) => steps.iter().map(step_from_json).collect::<Result<_>>()?,
        other => {
            return Err(invalid(format!("patch: expected an object or an array, found {}", kind(other))));
        }
    };
    Ok(Patch { steps })
}

/// The patch that was meant, or another one if it is long.
fn shown(properties: &Json) -> String {
    const SHOWN_BYTES_MAX: usize = 200;
    let text = properties.to_string();
    if text.len() > SHOWN_BYTES_MAX { r#"{"name": "x"}"#.to_owned() } else { text }
}

fn step_from_json(json: &Json) -> Result<PatchStep> {
    let what = "patch step";
    let fields = object(json, what)?;
    let verbs = ["set", "unset", "add", "remove", "clear"];
    only(fields, what, &["set", "unset", "add", "remove", "clear", "value"])?;
    let mut found = verbs.into_iter().filter(|verb| fields.contains_key(*verb));
    let (Some(verb), None) = (found.next(), found.next()) else {
        return Err(invalid("patch step: expected exactly one of set, unset, add, remove, clear"));
    };
    let name = || text(fields, what, verb).map(Into::into);
    let value = || {
        let value =
            fields.get("value").ok_or_else(|| invalid(format!("patch step {verb}: expected a \"value\"")))?;
        value_from_json(value)
    };
    Ok(match verb {
        "set" => PatchStep::Set(name()?, value()?),
        "unset" => PatchStep::Unset(name()?),
        "add" => PatchStep::Add(name()?, value()?),
        "remove" => PatchStep::Remove(name()?, value()?),
        _ => PatchStep::Clear,
    })
}

/// The actions that operations may have.
pub const ACTIONS: &[&str] = &[
    "create",
    "upsert",
    "update",
    "replace",
    "delete",
    "restore",
    "purge",
    "undo",
    "set-status",
    "set-provenance",
    "rehome",
    "reidentify",
    "retype",
    "relink",
    "classify",
    "reclassify",
    "declassify",
    "save-copy",
    "save-proxy",
    "save-classification-copy",
    "purge-copy",
    "purge-classification-copy",
    "define-type",
    "patch-type",
    "name-collection",
    "expect",
];

const FIELDS: &[&str] = &[
    "action",
    "kind",
    "id",
    "type",
    "from",
    "to",
    "properties",
    "classifications",
    "classification",
    "patch",
    "withRelationships",
    "validFrom",
    "status",
    "newId",
    "collection",
];

fn status(fields: &Object) -> Result<Option<std::sync::Arc<str>>> {
    Ok(optional_text(fields, "operation", "status")?.map(Into::into))
}

/// The creation of an entity, or of a relationship. One without id gets a fresh one.
pub fn creation_from_json(kind: TypeKind, fields: &Object) -> Result<Action> {
    let what = "operation";
    let id = new_id(fields)?;
    let type_name = text(fields, what, "type")?.into();
    let properties = properties_from_json(fields.get("properties"), "properties")?;
    let (status, provenance) = (status(fields)?, optional_provenance(fields, what)?);
    Ok(if kind == TypeKind::Entity {
        let classifications = classifications(fields)?;
        Action::CreateEntity(NewEntity { id, type_name, properties, classifications, status, provenance })
    } else {
        let from = Id::new(text(fields, what, "from")?)?;
        let to = Id::new(text(fields, what, "to")?)?;
        Action::CreateRelationship(NewRelationship {
            id,
            type_name,
            from,
            to,
            properties,
            status,
            provenance,
        })
    })
}

/// An action from its JSON form. A create without id gets a fresh one.
pub fn action_from_json(json: &Json) -> Result<Action> {
    let what = "operation";
    let fields = object(json, what)?;
    only(fields, what, &[FIELDS, PROVENANCE_FIELDS, ORIGIN_FIELDS].concat())?;
    let verb = text(fields, what, "action")?;
    Ok(match verb {
        "create" if instance_kind(fields)? == "entity" => creation_from_json(TypeKind::Entity, fields)?,
        "create" => creation_from_json(TypeKind::Relationship, fields)?,
        "update" => Action::Update(action::Update { instance: instance(fields)?, patch: patch(fields)? }),
        "replace" => {
            let classifications =
                if fields.contains_key("classifications") { Some(classifications(fields)?) } else { None };
            let properties = properties_from_json(fields.get("properties"), "properties")?;
            Action::Replace(action::Replace { instance: instance(fields)?, properties, classifications })
        }
        "delete" => Action::Delete(action::Delete { instance: instance(fields)? }),
        "restore" => Action::Restore(action::Restore {
            instance: instance(fields)?,
            with_relationships: boolean(fields, what, "withRelationships", true)?,
        }),
        "purge" => Action::Purge(action::Purge { instance: instance(fields)? }),
        "classify" => Action::Classify(action::Classify {
            entity: entity(fields)?,
            content: ClassificationContent {
                name: text(fields, what, "classification")?.into(),
                properties: properties_from_json(fields.get("properties"), "properties")?,
                provenance: optional_provenance(fields, what)?,
            },
        }),
        "reclassify" => Action::Reclassify(action::Reclassify {
            entity: entity(fields)?,
            name: text(fields, what, "classification")?.into(),
            patch: patch(fields)?,
        }),
        "declassify" => Action::Declassify(action::Declassify {
            entity: entity(fields)?,
            name: text(fields, what, "classification")?.into(),
        }),
        "define-type" => {
            let definition =
                fields.get("type").ok_or_else(|| invalid("operation define-type: expected a \"type\""))?;
            Action::DefineType(Box::new(type_from_json(definition)?))
        }
        "set-status" => Action::SetStatus(action::SetStatus {
            instance: instance(fields)?,
            status: text(fields, what, "status")?.into(),
        }),
        "set-provenance" => Action::SetProvenance(action::SetProvenance {
            instance: instance(fields)?,
            provenance: Box::new(provenance_from_json(fields, what)?),
        }),
        "rehome" => Action::Rehome(action::Rehome {
            instance: instance(fields)?,
            home: text(fields, what, "home")?.into(),
        }),
        "reidentify" => Action::Reidentify(action::Reidentify {
            instance: instance(fields)?,
            id: Id::new(text(fields, what, "newId")?)?,
        }),
        "retype" => Action::Retype(action::Retype {
            instance: instance(fields)?,
            type_name: text(fields, what, "type")?.into(),
        }),
        "relink" => {
            let end = |name: &str| optional_text(fields, what, name)?.map(Id::new).transpose();
            Action::Relink(action::Relink { id: entity(fields)?, from: end("from")?, to: end("to")? })
        }
        "save-copy" if instance_kind(fields)? == "entity" => {
            Action::SaveEntity(Box::new(entity_copy(fields, what)?))
        }
        "save-copy" => Action::SaveRelationship(Box::new(relationship_copy(fields, what)?)),
        "save-proxy" => Action::SaveProxy(Box::new(proxy_from_json(fields, what)?)),
        "save-classification-copy" => {
            let copy = classification_copy(fields, what, text(fields, what, "classification")?)?;
            Action::SaveClassification(action::SaveClassification {
                entity: entity(fields)?,
                copy: Box::new(copy),
            })
        }
        "purge-copy" => Action::PurgeCopy(action::PurgeCopy {
            instance: instance(fields)?,
            home: text(fields, what, "home")?.into(),
        }),
        "purge-classification-copy" => Action::PurgeClassificationCopy(action::PurgeClassificationCopy {
            entity: entity(fields)?,
            name: text(fields, what, "classification")?.into(),
            home: text(fields, what, "home")?.into(),
        }),
        "name-collection" => {
            Action::NameCollection(action::NameCollection { name: text(fields, what, "collection")?.into() })
        }
        "void" => Action::Void(action::Void),
        unknown => {
            let known = ACTIONS.join(", ");
            return Err(invalid(format!("operation: unknown action {unknown:?}; expected one of {known}")));
        }
    })
}

fn new_id(fields: &Object) -> Result<Id> {
    optional_text(fields, "operation", "id")?.map_or_else(|| Ok(Id::random()), Id::new)
}

fn instance_kind(fields: &Object) -> Result<&str> {
    match text(fields, "operation", "kind")? {
        kind @ ("entity" | "relationship") => Ok(kind),
        unknown => {
            Err(invalid(format!("operation: expected kind entity or relationship, found {unknown:?}")))
        }
    }
}

pub(super) fn instance(fields: &Object) -> Result<InstanceId> {
    let id = Id::new(text(fields, "operation", "id")?)?;
    Ok(match instance_kind(fields)? {
        "entity" => InstanceId::Entity(id),
        _ => InstanceId::Relationship(id),
    })
}

fn entity(fields: &Object) -> Result<Id> {
    Id::new(text(fields, "operation", "id")?)
}

fn patch(fields: &Object) -> Result<Patch> {
    patch_from_json(
        fields.get("patch").ok_or_else(|| invalid("operation: expected a \"patch\", found nothing"))?,
    )
}

/// Either `[{"name": …, "properties": {…}}]`, or `{name: {"properties": {…}}}` as an entity shows them.
pub(super) fn classifications(fields: &Object) -> Result<Vec<ClassificationContent>> {
    let Some(Json::Object(named)) = fields.get("classifications") else {
        return array(fields, "operation", "classifications")?.iter().map(classification_from_json).collect();
    };
    named
        .iter()
        .map(|(name, content)| {
            let content = object(content, "classification")?;
            let own = ["properties", "version", "created", "updated"];
            only(content, "classification", &[&own, PROVENANCE_FIELDS].concat())?;
            Ok(ClassificationContent {
                provenance: optional_provenance(content, "classification")?,
                name: name.as_str().into(),
                properties: properties_from_json(content.get("properties"), "classification properties")?,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_read_back_as_written() {
        let lines = [
            r#"{"action":"create","kind":"entity","id":"a","type":"t","properties":{"p":1},"classifications":[{"name":"c","properties":{}}]}"#,
            r#"{"action":"create","kind":"relationship","id":"r","type":"t","from":"a","to":"b","properties":{}}"#,
            r#"{"action":"update","kind":"entity","id":"a","patch":[{"set":"p","value":2},{"unset":"q"},{"clear":true}]}"#,
            r#"{"action":"replace","kind":"relationship","id":"r","properties":{"x":[1]}}"#,
            r#"{"action":"restore","kind":"entity","id":"a","withRelationships":false}"#,
            r#"{"action":"create","kind":"entity","id":"a","type":"t","properties":{},"status":"draft","license":"CC0-1.0","mappings":{"k":"v"},"maintainedBy":["m"],"effectiveFrom":"2025-01-01T00:00:00Z"}"#,
            r#"{"action":"set-status","kind":"relationship","id":"r","status":"draft"}"#,
            r#"{"action":"set-provenance","kind":"entity","id":"a","license":"MIT","provenance":"unknown"}"#,
            r#"{"action":"rehome","kind":"entity","id":"a","home":"h"}"#,
            r#"{"action":"reidentify","kind":"entity","id":"a","newId":"b"}"#,
            r#"{"action":"retype","kind":"entity","id":"a","type":"u"}"#,
            r#"{"action":"relink","kind":"relationship","id":"r","to":"b"}"#,
            r#"{"action":"save-proxy","kind":"entity","id":"a","type":"t","properties":{},"home":"h"}"#,
            r#"{"action":"save-copy","kind":"entity","id":"a","type":"t","properties":{"p":1},"status":"draft","home":"h","version":7,"created":{"instant":"2025-01-01T00:00:00Z","author":"x"},"updated":{"instant":"2025-01-02T00:00:00Z","author":""},"classifications":[{"name":"c","properties":{},"home":"g","version":1,"created":{"instant":"2025-01-01T00:00:00Z","author":"x"},"updated":{"instant":"2025-01-01T00:00:00Z","author":"x"}}]}"#,
            r#"{"action":"save-copy","kind":"relationship","id":"r","type":"t","from":"a","to":"b","properties":{},"home":"h","version":1,"created":{"instant":"2025-01-01T00:00:00Z","author":"x"},"updated":{"instant":"2025-01-01T00:00:00Z","author":"x"}}"#,
            r#"{"action":"save-classification-copy","kind":"entity","id":"a","classification":"c","properties":{},"home":"h","version":2,"created":{"instant":"2025-01-01T00:00:00Z","author":"x"},"updated":{"instant":"2025-01-01T00:00:00Z","author":"x"}}"#,
            r#"{"action":"purge-copy","kind":"entity","id":"a","home":"h"}"#,
            r#"{"action":"purge-classification-copy","kind":"entity","id":"a","classification":"c","home":"h"}"#,
            r#"{"action":"name-collection","collection":"h"}"#,
            r#"{"action":"reclassify","kind":"entity","id":"a","classification":"c","patch":[{"add":"p","value":2}]}"#,
        ];
        for line in lines {
            let json: Json = serde_json::from_str(line).unwrap();
            assert_eq!(action_to_json(&action_from_json(&json).unwrap()), json);
        }
    }

    #[test]
    fn misspelt_fields_are_refused() {
        let json = json!({"action": "delete", "kind": "entity", "id": "a", "idd": 1});
        assert!(action_from_json(&json).unwrap_err().to_string().contains("idd"));
    }
}
