//! Instances as reads return them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::provenance::joined;
use super::{ByName, Instant, NamedForm, Properties, ProvenanceMembers, Stamp};

/// The forms of this file.
pub fn forms() -> Vec<NamedForm> {
    named_forms![Entity, Relationship, Classification]
}

// The members that all instances have, and rare ones.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct Header {
    pub id: String,
    /// Name of its type.
    pub r#type: String,
    /// Number of this version, from 1.
    pub version: u64,
    /// Number of the latest version.
    pub latest_version: u64,
    pub status: String,
    pub created: Stamp,
    pub updated: Stamp,
    /// Valid time of this version.
    pub valid_from: Instant,
    /// Position of the record that wrote this version.
    pub position: u64,
    pub properties: Properties,
    /// Name of its collection, if it is not this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// For a copy: the version number at its home.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home_version: Option<u64>,
    /// Its former id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reidentified_from: Option<String>,
    /// For a deleted instance: its status before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_on_delete: Option<String>,
}

/// An entity.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = entity_example())]
pub struct Entity {
    #[serde(flatten)]
    pub header: Header,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    /// Its classifications by name.
    pub classifications: ByName<Classification>,
    /// True if it is a proxy: only its id, its type and its unique properties are here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_proxy: Option<bool>,
}

/// A relationship.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = relationship_example())]
pub struct Relationship {
    #[serde(flatten)]
    pub header: Header,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    /// Id of its start entity.
    pub from: String,
    /// Id of its end entity.
    pub to: String,
}

/// A classification of an entity.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = classification_example())]
pub struct Classification {
    /// Number of its version, from 1.
    pub version: u64,
    pub created: Stamp,
    pub updated: Stamp,
    pub properties: Properties,
    /// Name of its collection, if it is not this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
}

// An entity or a relationship.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline, transform = super::one_of)]
pub enum Instance {
    Entity(Box<Entity>),
    Relationship(Box<Relationship>),
}

fn header_example(id: &str, type_name: &str, properties: Json) -> Json {
    let stamp = json!({ "instant": "2025-08-09T10:00:00Z", "author": "ada" });
    json!({
        "id": id, "type": type_name, "version": 1, "latestVersion": 1, "status": "active",
        "created": stamp, "updated": stamp, "validFrom": "2025-08-09T10:00:00Z", "position": 42,
        "properties": properties,
    })
}

/// An entity.
pub fn entity_example() -> Json {
    joined(
        header_example("bash", "package", json!({ "name": "bash", "size": 7 })),
        json!({ "classifications": { "essential": classification_example() } }),
    )
}

/// A relationship.
pub fn relationship_example() -> Json {
    joined(header_example("bash-libc6", "depends", json!({})), json!({ "from": "bash", "to": "libc6" }))
}

fn classification_example() -> Json {
    let stamp = json!({ "instant": "2025-08-09T10:00:00Z", "author": "ada" });
    json!({ "version": 1, "created": stamp, "updated": stamp, "properties": { "since": 1996 } })
}
