//! Where instances come from, copies of what belongs to other collections, and changes of headers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use super::{ByName, Instant, NamedForm, Properties};

/// The forms of this file.
pub fn forms() -> Vec<NamedForm> {
    named_forms![
        StatusChange,
        TypeChange,
        IdChange,
        HomeChange,
        EndsChange,
        CollectionName,
        Provenance,
        EntityCopy,
        RelationshipCopy,
        ClassificationCopy,
    ]
}

// Why an instance is here.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("enum" = annals::ProvenanceKind::ALL.map(annals::ProvenanceKind::name)))]
pub struct ProvenanceKindName(pub String);

/// Where something comes from.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({ "license": "CC0-1.0", "maintainedBy": ["ada"] }))]
pub struct Provenance {
    /// Name of the collection that it belongs to; this one if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
}

// The members that tell where something comes from, beside its home.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct ProvenanceMembers {
    /// `local` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<ProvenanceKindName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicated_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maintained_by: Option<Vec<String>>,
    /// What other systems call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mappings: Option<ByName<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effective_from: Option<Instant>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effective_to: Option<Instant>,
}

// When a copy was written at its home.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct OriginStamp {
    pub instant: Instant,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
}

// The members that tell what a copy has at its home, of which the creation must be told.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct CopyOrigin {
    /// Number of its version at its home; 1 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// When it was created at its home.
    pub created: OriginStamp,
    /// When it was written last at its home; when it was created, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<OriginStamp>,
}

// The same members, where there may be no copy.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct OriginMembers {
    /// Of a copy: number of its version at its home.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Of a copy: when it was created at its home.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<OriginStamp>,
    /// Of a copy: when it was written last at its home.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<OriginStamp>,
}

/// Another status.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "status": "approved" }))]
pub struct StatusChange {
    pub status: String,
}

/// Another type.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "type": "table" }))]
pub struct TypeChange {
    pub r#type: String,
}

/// Another id.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({ "newId": "9548390c" }))]
pub struct IdChange {
    pub new_id: String,
}

/// The home that is taken for the right one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "home": "there" }))]
pub struct HomeChange {
    pub home: String,
}

/// Other ends of a relationship; an end that is left out stays.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "to": "libc6" }))]
pub struct EndsChange {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// The name of this collection.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "collection": "here" }))]
pub struct CollectionName {
    pub collection: String,
}

/// An entity as its home has it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = copy_example(json!({ "type": "table", "properties": { "name": "sales" } })))]
pub struct EntityCopy {
    pub home: String,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    #[serde(flatten)]
    pub origin: CopyOrigin,
    pub r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classifications: Option<Vec<Map<String, Json>>>,
}

/// A relationship as its home has it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = copy_example(json!({
    "type": "holds", "from": "bash", "to": "libc6", "proxies": [{ "id": "libc6", "type": "package", "home": "there" }],
})))]
pub struct RelationshipCopy {
    pub home: String,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    #[serde(flatten)]
    pub origin: CopyOrigin,
    pub r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Of ends that may not be here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxies: Option<Vec<Proxy>>,
}

// All that is known here of an entity of another collection.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Proxy {
    pub id: String,
    pub r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
    pub home: String,
}

/// A classification as its home has it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = copy_example(json!({})))]
pub struct ClassificationCopy {
    pub home: String,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    #[serde(flatten)]
    pub origin: CopyOrigin,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
}

fn copy_example(own: Json) -> Json {
    let stamp = json!({ "instant": "2025-08-09T10:00:00Z", "author": "ada" });
    let copied = json!({ "home": "there", "version": 7, "created": stamp, "updated": stamp });
    joined(copied, own)
}

/// The members of both objects.
pub(super) fn joined(mut json: Json, more: Json) -> Json {
    if let (Json::Object(known), Json::Object(more)) = (&mut json, more) {
        known.extend(more);
    }
    json
}
