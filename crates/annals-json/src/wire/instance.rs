//! Instances as reads return them.

use annals_json_form::form;
use serde_json::{Value as Json, json};

use super::provenance::joined;
use super::{ByName, Instant, Properties, ProvenanceMembers, Stamp};

named_forms![Entity, Relationship, Classification];

// The members that all instances have, and rare ones.
#[form(part)]
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
    pub home: Option<String>,
    /// For a copy, and for an instance that was one: the version number at its home.
    pub home_version: Option<u64>,
    /// The number of the version without those that changed only classifications, if it differs.
    pub content_version: Option<u64>,
    /// Its former id.
    pub reidentified_from: Option<String>,
    /// For a deleted instance: its status before.
    pub status_on_delete: Option<String>,
}

/// An entity.
#[form]
#[schemars(example = entity_example())]
pub struct Entity {
    #[serde(flatten)]
    pub header: Header,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    /// Its classifications by name.
    pub classifications: ByName<Classification>,
    /// True if it is a proxy: only its id, its type and its unique properties are here.
    pub is_proxy: Option<bool>,
}

/// A relationship.
#[form]
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
#[form]
#[schemars(example = classification_example())]
pub struct Classification {
    /// Number of its version, from 1.
    pub version: u64,
    pub created: Stamp,
    pub updated: Stamp,
    pub properties: Properties,
    /// Name of its collection, if it is not this one.
    pub home: Option<String>,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
}

// An entity or a relationship.
#[form(inline)]
#[schemars(transform = super::one_of)]
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
