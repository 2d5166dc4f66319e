//! The content of new and replaced instances.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{ByName, Instant, NamedForm, Properties, ProvenanceMembers, Stamp};

/// The forms of this file.
pub fn forms() -> Vec<NamedForm> {
    named_forms![
        NewEntity,
        NewRelationship,
        EntityContent,
        RelationshipContent,
        NamedClassification,
        ClassificationContent
    ]
}

/// A new entity.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = new_entity_example())]
pub struct NewEntity {
    /// A new UUID if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub r#type: String,
    /// The initial status of its type if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classifications: Option<GivenClassifications>,
    /// Name of its collection; this one if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
}

/// A new relationship.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = new_relationship_example())]
pub struct NewRelationship {
    /// A new UUID if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub r#type: String,
    /// Id of its start entity.
    pub from: String,
    /// Id of its end entity.
    pub to: String,
    /// The initial status of its type if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
    /// Name of its collection; this one if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
}

// The header members of a read, which may be sent back.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct SentBack {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_version: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Stamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<Stamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Instant>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home_version: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reidentified_from: Option<String>,
}

/// A new entity, or new content of an existing one. You may send back the result of a read.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = new_entity_example())]
pub struct EntityContent {
    /// Must equal the id in the path, if given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Required for a new entity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
    /// They do not change if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classifications: Option<GivenClassifications>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    #[serde(flatten)]
    pub sent_back: SentBack,
}

/// A new relationship, or new content of an existing one. You may send back the result of a read.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = new_relationship_example())]
pub struct RelationshipContent {
    /// Must equal the id in the path, if given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Required for a new relationship, like the ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    #[serde(flatten)]
    pub sent_back: SentBack,
}

// The classifications of an entity, in a list or by name.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline, transform = super::one_of)]
pub enum GivenClassifications {
    List(Vec<NamedClassification>),
    ByName(ByName<ClassificationContent>),
}

/// A classification with its name.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({ "name": "essential", "properties": { "since": 1996 } }))]
pub struct NamedClassification {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
}

/// The content of a classification. You may send back the result of a read.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({ "properties": { "since": 1996 } }))]
pub struct ClassificationContent {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Stamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<Stamp>,
}

fn new_entity_example() -> Json {
    json!({ "id": "bash", "type": "package", "properties": { "name": "bash", "size": 7 } })
}

fn new_relationship_example() -> Json {
    json!({ "type": "depends", "from": "bash", "to": "libc6", "properties": {} })
}
