//! The log: records with the values before and after.

use annals::Action;
use annals_json_form::form;
use serde_json::{Value as Json, json};

use super::{Difference, InstanceKind, Instant, Page, Type};

named_forms![LogPage, LoggedRecord, LoggedInstance, LoggedType, LoggedCollection];

/// A page of the log.
#[form]
#[schemars(example = json!({ "items": [record_example()], "next": "42" }))]
pub struct LogPage(pub Page<LoggedRecord>);

/// A record of the log.
#[form]
#[schemars(example = record_example())]
pub struct LoggedRecord {
    pub position: u64,
    pub instant: Instant,
    pub author: String,
    pub message: String,
    pub changes: Vec<LoggedChange>,
}

// A change of the log.
#[form(inline)]
#[schemars(transform = super::one_of)]
pub enum LoggedChange {
    Instance(Box<LoggedInstance>),
    Type(Box<LoggedType>),
    Collection(LoggedCollection),
}

/// A change that made a version of an instance.
#[form]
#[schemars(example = instance_example())]
pub struct LoggedInstance {
    pub action: InstanceActionName,
    pub kind: InstanceKind,
    pub id: String,
    pub r#type: String,
    /// For a relationship: its start.
    pub from: Option<String>,
    /// For a relationship: its end.
    pub to: Option<String>,
    /// Its path in the tree of the default root as of the record, or right before it was deleted.
    pub path: Option<String>,
    /// Number of the new version.
    pub version: u64,
    /// Number of the version it is compared with; 0 for a first version.
    pub base: u64,
    pub status: String,
    pub valid_from: Instant,
    /// The classification that was added, changed or removed.
    pub classification: Option<String>,
    pub difference: Difference,
    /// Number of relationships that were deleted or restored with the entity.
    pub relationships_count: Option<u64>,
    /// Number of contained entities that were deleted or restored with it.
    pub contained_count: Option<u64>,
}

// The verbs of changes that make a version of an instance.
#[form(inline)]
#[schemars(extend("enum" = instance_verbs()))]
pub struct InstanceActionName(pub String);

fn instance_verbs() -> Vec<&'static str> {
    let others = ["define-type", "name-collection"];
    Action::verbs().into_iter().filter(|verb| !others.contains(verb)).collect()
}

/// The declaration of a type.
#[form]
#[schemars(example = json!({ "action": "define-type", "definition": { "kind": "entity", "name": "person" } }))]
pub struct LoggedType {
    pub action: DefineType,
    pub definition: Type,
}

/// The name of this collection.
#[form]
#[schemars(example = json!({ "action": "name-collection", "collection": "here" }))]
pub struct LoggedCollection {
    pub action: NameCollection,
    pub collection: String,
}

word!(DefineType, "define-type");
word!(NameCollection, "name-collection");

fn instance_example() -> Json {
    json!({
        "action": "update", "kind": "entity", "id": "ada", "type": "person", "version": 2, "base": 1,
        "status": "active", "validFrom": "2025-08-09T10:00:00Z",
        "difference": {
            "status": null, "properties": { "rows": { "before": 5, "after": 9 } }, "classifications": [],
        },
    })
}

fn record_example() -> Json {
    json!({
        "position": 42, "instant": "2025-08-09T10:00:00Z", "author": "bob", "message": "nightly",
        "changes": [instance_example()],
    })
}
