//! The content of new and replaced instances.

use annals_json_form::form;
use serde_json::{Value as Json, json};

use super::{ByName, Instant, Properties, ProvenanceMembers, Stamp};

named_forms![
    NewEntity,
    NewRelationship,
    EntityContent,
    RelationshipContent,
    NamedClassification,
    ClassificationContent
];

/// A new entity.
#[form]
#[schemars(example = new_entity_example())]
pub struct NewEntity {
    /// A new UUID if left out.
    pub id: Option<String>,
    pub r#type: String,
    /// The initial status of its type if left out.
    pub status: Option<String>,
    pub properties: Option<Properties>,
    pub classifications: Option<GivenClassifications>,
    /// Name of its collection; this one if left out.
    pub home: Option<String>,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
}

/// A new relationship.
#[form]
#[schemars(example = new_relationship_example())]
pub struct NewRelationship {
    /// A new UUID if left out.
    pub id: Option<String>,
    pub r#type: String,
    /// Id of its start entity.
    pub from: String,
    /// Id of its end entity.
    pub to: String,
    /// The initial status of its type if left out.
    pub status: Option<String>,
    pub properties: Option<Properties>,
    /// Name of its collection; this one if left out.
    pub home: Option<String>,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
}

// The header members of a read, which may be sent back.
#[form(part)]
pub struct SentBack {
    pub version: Option<u64>,
    pub latest_version: Option<u64>,
    pub created: Option<Stamp>,
    pub updated: Option<Stamp>,
    pub valid_from: Option<Instant>,
    pub position: Option<u64>,
    pub home_version: Option<u64>,
    pub content_version: Option<u64>,
    pub reidentified_from: Option<String>,
}

/// A new entity, or new content of an existing one. You may send back the result of a read.
#[form]
#[schemars(example = new_entity_example())]
pub struct EntityContent {
    /// Must equal the id in the path, if given.
    pub id: Option<String>,
    /// Required for a new entity.
    pub r#type: Option<String>,
    pub status: Option<String>,
    pub properties: Option<Properties>,
    /// They do not change if left out.
    pub classifications: Option<GivenClassifications>,
    pub home: Option<String>,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    #[serde(flatten)]
    pub sent_back: SentBack,
}

/// A new relationship, or new content of an existing one. You may send back the result of a read.
#[form]
#[schemars(example = new_relationship_example())]
pub struct RelationshipContent {
    /// Must equal the id in the path, if given.
    pub id: Option<String>,
    /// Required for a new relationship, like the ends.
    pub r#type: Option<String>,
    pub from: Option<String>,
    pub to: Option<String>,
    pub status: Option<String>,
    pub properties: Option<Properties>,
    pub home: Option<String>,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    #[serde(flatten)]
    pub sent_back: SentBack,
}

// The classifications of an entity, in a list or by name.
#[form(inline)]
#[schemars(transform = super::one_of)]
pub enum GivenClassifications {
    List(Vec<NamedClassification>),
    ByName(ByName<ClassificationContent>),
}

/// A classification with its name.
#[form]
#[schemars(example = json!({ "name": "essential", "properties": { "since": 1996 } }))]
pub struct NamedClassification {
    pub name: String,
    pub properties: Option<Properties>,
    pub home: Option<String>,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
}

/// The content of a classification. You may send back the result of a read.
#[form]
#[schemars(example = json!({ "properties": { "since": 1996 } }))]
pub struct ClassificationContent {
    pub properties: Option<Properties>,
    pub version: Option<u64>,
    pub created: Option<Stamp>,
    pub updated: Option<Stamp>,
}

fn new_entity_example() -> Json {
    json!({ "id": "bash", "type": "package", "properties": { "name": "bash", "size": 7 } })
}

fn new_relationship_example() -> Json {
    json!({ "type": "depends", "from": "bash", "to": "libc6", "properties": {} })
}
