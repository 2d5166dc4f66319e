//! The writes of the suite as operations of a transaction over HTTP.

use annals::{ClassificationCopy, CopyHeader, InstanceId};
use annals_json::value_to_json;
use serde_json::{Value as Json, json};

use super::call::{Call, ELSEWHERE};
use super::values::Properties;

/// The operation of a write.
pub fn operation(call: &Call) -> Json {
    match call {
        Call::CreateEntity(one) => json!({
            "action": "create", "kind": "entity", "id": one.id.to_string(), "type": &*one.type_name,
            "properties": properties(&one.properties),
        }),
        Call::CreateRelationship(one) => json!({
            "action": "create", "kind": "relationship", "id": one.id.to_string(), "type": &*one.type_name,
            "from": one.from.to_string(), "to": one.to.to_string(), "properties": properties(&one.properties),
        }),
        Call::SaveEntity(copy) => with(
            header(&copy.header),
            json!({
                "action": "save-copy", "kind": "entity", "id": copy.id.to_string(), "type": &*copy.type_name,
                "properties": properties(&copy.properties),
            }),
        ),
        Call::SaveRelationship(copy, proxies) => {
            let proxies = proxies.iter().map(|one| {
                json!({
                    "id": one.id.to_string(), "type": &*one.type_name, "home": one.provenance.home.as_deref(),
                    "properties": properties(&one.properties),
                })
            });
            with(
                header(&copy.header),
                json!({
                    "action": "save-copy", "kind": "relationship", "id": copy.id.to_string(), "type": &*copy.type_name,
                    "from": copy.from.to_string(), "to": copy.to.to_string(), "proxies": proxies.collect::<Json>(),
                    "properties": properties(&copy.properties),
                }),
            )
        }
        Call::SaveClassification(id, copy) => with(
            classification_header(copy),
            json!({
                "action": "save-classification-copy", "kind": "entity", "id": id.to_string(), "classification": &*copy.name,
                "properties": properties(&copy.properties),
            }),
        ),
        Call::Replace(id, new) => with(named("replace", id), json!({ "properties": properties(new) })),
        Call::Undo(id) => named("undo", id),
        Call::Delete(id, type_name) => with(named("delete", id), json!({ "type": &**type_name })),
        Call::Restore(id) => with(named("restore", id), json!({ "withRelationships": false })),
        Call::Purge(id) => with(named("purge", id), json!({ "deletedOnly": true })),
        Call::PurgeCopy(id) => with(named("purge-copy", id), json!({ "home": ELSEWHERE })),
        Call::Rehome(id) => with(named("rehome", id), json!({ "home": ELSEWHERE })),
        Call::Retype(id, type_name) => with(named("retype", id), json!({ "type": &**type_name })),
        Call::Reidentify(id, new) => with(named("reidentify", id), json!({ "newId": new.to_string() })),
        Call::Classify(id, one) => json!({
            "action": "classify", "id": id.to_string(), "classification": &*one.name,
            "properties": properties(&one.properties),
        }),
        Call::Reclassify(id, name, new) => json!({
            "action": "reclassify", "id": id.to_string(), "classification": &**name, "patch": properties(new),
        }),
        Call::Declassify(id, name) => {
            json!({ "action": "declassify", "id": id.to_string(), "classification": &**name })
        }
        Call::PurgeClassification(id, name) => json!({
            "action": "purge-classification-copy", "kind": "entity", "id": id.to_string(), "classification": &**name,
            "home": ELSEWHERE,
        }),
        read => unreachable!("{read:?} changes nothing"),
    }
}

/// Properties by name.
pub fn properties(properties: &Properties) -> Json {
    let members = properties.iter().map(|(name, value)| (name.to_string(), value_to_json(value)));
    Json::Object(members.collect())
}

fn named(action: &str, id: &InstanceId) -> Json {
    let kind = match id {
        InstanceId::Entity(_) => "entity",
        InstanceId::Relationship(_) => "relationship",
    };
    json!({ "action": action, "kind": kind, "id": id.id().to_string() })
}

fn header(header: &CopyHeader) -> Json {
    json!({
        "home": header.provenance.home.as_deref(), "version": header.version, "status": header.status.as_deref(),
        "created": { "instant": header.created.instant.to_string(), "author": &*header.created.author },
        "updated": { "instant": header.updated.instant.to_string(), "author": &*header.updated.author },
    })
}

fn classification_header(copy: &ClassificationCopy) -> Json {
    json!({
        "home": copy.provenance.home.as_deref(), "version": copy.version,
        "created": { "instant": copy.created.instant.to_string(), "author": &*copy.created.author },
        "updated": { "instant": copy.updated.instant.to_string(), "author": &*copy.updated.author },
    })
}

fn with(mut json: Json, more: Json) -> Json {
    if let (Json::Object(members), Json::Object(more)) = (&mut json, more) {
        members.extend(more);
    }
    json
}
