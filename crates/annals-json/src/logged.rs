//! Records of the log with the values before and after, as JSON.

use annals::{LoggedChange, LoggedInstance, LoggedRecord};
use serde_json::{Value as Json, json};

use super::difference::{difference_to_json, kind_name};
use super::type_to_json;

/// The JSON form of a record of the log.
pub fn logged_record_to_json(record: &LoggedRecord) -> Json {
    json!({
        "position": record.position.0,
        "instant": record.instant.to_string(),
        "author": &*record.author,
        "message": &*record.message,
        "changes": record.changes.iter().map(change_to_json).collect::<Vec<_>>(),
    })
}

fn change_to_json(change: &LoggedChange) -> Json {
    match change {
        LoggedChange::Instance(instance) => instance_to_json(instance),
        LoggedChange::Type(definition) => {
            json!({ "action": change.verb(), "definition": type_to_json(definition) })
        }
        LoggedChange::Collection(name) => json!({ "action": change.verb(), "collection": &**name }),
    }
}

fn instance_to_json(instance: &LoggedInstance) -> Json {
    let mut json = json!({
        "action": instance.verb,
        "kind": kind_name(&instance.id),
        "id": instance.id.id().to_string(),
        "type": &*instance.type_name,
        "version": instance.version,
        "base": instance.base,
        "status": &*instance.status,
        "validFrom": instance.valid_from.to_string(),
        "difference": difference_to_json(&instance.difference),
    });
    if let Some([from, to]) = &instance.ends {
        json["from"] = from.to_string().into();
        json["to"] = to.to_string().into();
    }
    if let Some(path) = &instance.path {
        json["path"] = path.to_string().into();
    }
    if let Some(name) = &instance.classification {
        json["classification"] = (&**name).into();
    }
    if instance.relationships_count > 0 {
        json["relationshipsCount"] = instance.relationships_count.into();
    }
    if instance.contained_count > 0 {
        json["containedCount"] = instance.contained_count.into();
    }
    json
}
