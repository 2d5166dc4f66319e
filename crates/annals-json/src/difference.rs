//! Differences between versions, and changes of instances and of items of trees, as JSON.

use std::sync::Arc;

use annals::{
    Difference, Event, InstanceChange, InstanceId, PropertyDifference, Provenance, TreeChange,
    TreeChangeKind, TreeStep, Value, WatchedChange,
};
use serde_json::{Value as Json, json};

use super::provenance::provenance_differences;
use super::{Object, value_to_json};

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

/// The JSON form of the change of an instance between two positions.
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

/// The JSON form of the change of an item of a tree between two times.
pub fn tree_change_to_json(change: &TreeChange) -> Json {
    let mut json = json!({ "path": change.path.to_string(), "id": change.id.to_string() });
    json["change"] = match &change.kind {
        TreeChangeKind::Created => "created".into(),
        TreeChangeKind::Deleted => "deleted".into(),
        TreeChangeKind::Moved { from, after: [before, after] } => {
            json["from"] = from.to_string().into();
            json["previous"] = json!({ "before": step_to_json(before), "after": step_to_json(after) });
            "moved".into()
        }
        TreeChangeKind::Modified(difference) => {
            json["difference"] = difference_to_json(difference);
            "modified".into()
        }
    };
    json
}

fn step_to_json(step: &Option<TreeStep>) -> Json {
    step.as_ref().map_or(Json::Null, |step| step.to_string().trim_start_matches('/').into())
}

/// The JSON form of the changes of a watched part by one or several records.
pub fn event_to_json(event: &Event) -> Json {
    let change = |change: &WatchedChange| match change {
        WatchedChange::Tree(change) => tree_change_to_json(change),
        WatchedChange::Instance(change) => instance_change_to_json(change),
    };
    let mut json = json!({
        "from": event.from.0,
        "position": event.position.0,
        "records": event.records_count(),
        "changes": event.changes.iter().map(change).collect::<Vec<Json>>(),
    });
    if event.read_again {
        json["readAgain"] = true.into();
    }
    json
}

pub(super) fn kind_name(id: &InstanceId) -> &'static str {
    match id {
        InstanceId::Entity(_) => "entity",
        InstanceId::Relationship(_) => "relationship",
    }
}
